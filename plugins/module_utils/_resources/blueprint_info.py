# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading projects as blueprints, and telling how one differs from its blueprint, and who changed what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

from .._api.errors import HostedError
from .._api.models import Project
from .._api.text import HIDDEN
from .._api.values import ServiceStatus
from .blueprints.contents import Contents
from .blueprints.document import Entry, OnBlueprint, SourceOptions
from .blueprints.export import Found, as_key, export_project, export_text, free_key
from .blueprints.members import (
    ENTRY,
    NAMES,
    as_text,
    find_home,
    last_applied,
    needed_by_relocations,
    path_of,
)
from .blueprints.parts import Arguments, Part, Parts, service_ids, sides_of
from .services.listing import ServiceQuery, read_listing, read_project
from .shared.options import option
from .shared.plan import Plan, Task
from .shared.relocation_record import left_over
from .shared.task_errors import Ambiguous, Invalid, NoSuchItem, WaitEnded

FILE, PLATFORM = "file", "platform"
DIFFERS, MISSING, NOT_IN_FILE, REFUSED, UNKNOWN = "differs", "missing", "not_in_file", "refused", "unknown"
DRIFT = (DIFFERS, MISSING, NOT_IN_FILE, REFUSED)
"""The kinds that count as drift. What cannot be known does not."""
NOT_FIELDS = ("monthly", "name", "project")
"""What a diff of a service shows and a blueprint does not say of it."""
FIELDS = {"status": "state"}
"""What a blueprint calls the fields of a diff, where that is another name."""
OF_THE_FILE = (Invalid, NoSuchItem, Ambiguous, WaitEnded)
"""The errors that tell of a difference. Any other is a failure of the comparison itself."""

Difference = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class BlueprintInfoOptions(SourceOptions):
    """Which project to read, all if it is ``None``; or which blueprint to compare with its project."""

    project: str | None = option(None, selects=True)
    allow_lookups: bool = False
    """Read by the action, which renders the file."""


class BlueprintInfoResource(OnBlueprint[BlueprintInfoOptions]):
    result_key = "blueprints"
    rules: ClassVar[dict[str, Any]] = {"mutually_exclusive": [("project", "src", "blueprint")]}

    def plan(self, task: Task[BlueprintInfoOptions]) -> Plan:
        if task.options.src is None and task.options.blueprint is None:
            return Plan(result=exported(task))
        task.effects.facts["drift"] = compared(task)
        return Plan(result=[])


BLUEPRINT_INFO = BlueprintInfoResource()


# --- Projects as blueprints ---------------------------------------------------------------------------


def exported(task: Task[BlueprintInfoOptions]) -> list[dict[str, Any]]:
    account, wanted = task.account, task.options.project
    projects = [account.project_to_come(wanted)] if wanted else account.projects()
    known = [project for project in projects if project.id]
    services = read_services(task, known)
    apps, keys = account.apps_by_id(), account.ssh_keys()
    graphs = account.each(known, lambda reader, project: reader.graph(project.id))
    edges = {project.id: graph.edges or [] for project, graph in zip(known, graphs, strict=True)}
    left = left_over(task.options, task.warn).surely
    blueprints, files = [], dict[str, int]()
    for project in sorted(projects, key=lambda each: each.name):
        id, file = project.id, free_key(as_key(project.name), files)
        own = [each for each in services if id and each["project_id"] == id]
        export = export_project(Found(project.name, own, apps, edges.get(id, []), keys, left))
        blueprint = {"project": project.name, "blueprint": export.data, "text": export_text(export)}
        place = {"project_id": id, "file_name": f"{file}.yml"}
        blueprints.append({**blueprint, "left_out": list(export.remarks), **place})
    return blueprints


def read_services(task: Task[BlueprintInfoOptions], projects: Sequence[Project]) -> Sequence[dict[str, Any]]:
    if not projects:
        return []
    query = ServiceQuery(settings=True, commands=True, metrics=True)
    of_one = task.options.project is not None
    listing = read_project(task.account, projects[0], query) if of_one else read_listing(task.account, query)
    for warning in listing.warnings:
        task.warn(f"{warning}. The blueprint may lack something that was set")
    return listing.services


# --- A project beside its blueprint -------------------------------------------------------------------


def compared(task: Task[BlueprintInfoOptions]) -> dict[str, Any]:
    # It takes a third of a second to import what makes a project, which an export does without.
    from .blueprint import Assembly, planned, read_checked  # noqa: PLC0415

    # What an apply would warn of is none of this.
    task = replace(task, check_mode=True, warnings=[])
    contents = read_checked(task)
    parts = planned(task, Assembly(task, contents).add_all())
    comparison = Comparison(task, contents, parts)
    found = [*comparison.differences(), *comparison.not_in_file()]
    return {
        "project": contents.project,
        "drifted": any(each["drift"] for each in found),
        "differences": found,
    }


def plan_without_size(parts: Parts) -> dict[Part, HostedError]:
    """Plan again without its size what is refused, such as a disk that would shrink; return what was."""

    def without_size(given: Arguments, part: Part) -> Mapping[str, Any]:
        return {**given(part), "dimensions": None}

    refused: dict[Part, HostedError] = {}
    for part in parts.found:
        if isinstance(part.error, Invalid) and "dimensions" in part.resource.options:
            refused[part] = part.error
            part.error, part.arguments = None, partial(without_size, part.arguments)
    parts.make_plans()
    return refused


def difference(
    place: Entry | Part, kind: str, said: str, field: str | None = None, **facts: Any
) -> Difference:
    """Return a difference of an entry or a part. What the next apply leaves ``prevails``, if it is known."""
    path = ".".join(filter(None, (place.section, place.key, field)))
    told = {"file": None, "platform": None, "changed_by": None, "prevails": None, **facts}
    by, wins = told["changed_by"], told["prevails"]
    who = {FILE: "; changed in the file", PLATFORM: "; changed on the platform", None: ""}[by]
    line = f"{path}: {said}{who}{f'; the {wins} prevails' if wins else ''}"
    where = {"kind": kind, "section": place.section, "key": place.key, "field": field}
    return {**where, **told, "path": path, "line": line, "drift": kind in DRIFT}


class Comparison:
    """A blueprint, what each of its parts found on the platform, and what was last applied."""

    def __init__(self, task: Task[BlueprintInfoOptions], contents: Contents, parts: Parts) -> None:
        self.task, self.contents, self.parts = task, contents, parts.found
        self.refused = plan_without_size(parts)
        self.last = last_applied(task.options, contents.project)

    def differences(self) -> Iterator[Difference]:
        entries = {entry.path: entry for entry in self.contents.entries}
        told: set[tuple[str, str]] = set()
        for part in self.parts:
            place = part.section, part.key
            if place in told:  # nothing else can be said of what is not there
                continue
            found = list(self.of_part(part, entries.get(place)))
            yield from found
            if any(each["kind"] == MISSING or each["field"] == "image" for each in found) or (
                part.plan is None and part.error is None
            ):
                told.add(place)

    def of_part(self, part: Part, entry: Entry | None) -> Iterator[Difference]:
        if part.error is None and part in self.refused:
            yield self.not_applicable(part, self.refused[part], "dimensions")
        if part.error is not None:
            yield self.not_applicable(part, part.error)
        elif part.plan is None:
            blocked = part.blocked_by
            reason = f", because {blocked.label} cannot be applied" if blocked is not None else ""
            yield difference(part, UNKNOWN, f"not compared{reason}; mend that, and compare again")
        elif entry is not None:
            yield from self.of_entry(entry, part, part.plan)
        elif part.plan.changed:
            yield difference(part, MISSING, actions_of(part.plan), prevails=FILE)

    def not_applicable(self, part: Part, error: HostedError, field: str | None = None) -> Difference:
        if not isinstance(error, OF_THE_FILE):
            raise error
        return difference(part, REFUSED, f"cannot be applied: {error.message}", field)

    def of_entry(self, entry: Entry, part: Part, plan: Plan) -> Iterator[Difference]:
        module = part.resource.name
        if module == "environment":
            yield from self.of_environment(entry, plan)
        elif module in ("app_image", "app_release", "app_deploy"):
            yield from self.of_image(entry, module, plan)
        elif part.is_new:
            by = self.changed_by(path_of(entry, ENTRY), entry.name)
            said = f"{entry.name!r} is not on the platform"
            yield difference(entry, MISSING, said, changed_by=by, prevails=FILE)
        elif isinstance(part.result, Mapping) and part.result.get("status") == ServiceStatus.PROVISIONING:
            yield difference(entry, UNKNOWN, "it is still being created, so it was not compared")
        elif plan.changed:
            before, after = sides_of(plan)
            fields = [name for name in after if name not in NOT_FIELDS and after[name] != before.get(name)]
            for name in fields:
                yield self.of_field(entry, FIELDS.get(name, name), before.get(name), after[name])
            if not fields:
                yield self.differs(entry, None, None, None, actions_of(plan))

    def of_environment(self, entry: Entry, plan: Plan) -> Iterator[Difference]:
        """Yield what differs of an environment, of which the platform shows nothing."""
        found = plan.result
        if plan.changed and not found["known_before"]:
            said = "this controller has not written it, and the platform does not show it"
            yield difference(entry, UNKNOWN, said, "environment")
        elif plan.changed:
            kinds = ("added", "changed", "removed")
            names = "; ".join(f"{kind} {', '.join(found[kind])}" for kind in kinds if found[kind])
            said = f"not as last written: {names}"
            yield difference(entry, DIFFERS, said, "environment", changed_by=FILE, prevails=FILE)

    def of_image(self, entry: Entry, module: str, plan: Plan) -> Iterator[Difference]:
        """Yield that another image or command runs. A deploy for an environment alone is no difference."""
        before, after = sides_of(plan)
        again = module == "app_deploy" and before.get("digest") == after.get("digest")
        if plan.changed and not again:
            yield self.differs(entry, "image", entry.values["image"], before.get("digest"), actions_of(plan))
        if "command" in after:  # which the deploy brings along
            yield self.of_field(entry, "command", before.get("command"), after["command"])

    def of_field(self, entry: Entry, field: str, old: Any, new: Any) -> Difference:
        """Return that a field has another value. A command that was encrypted is not shown."""
        if field == "command" and entry.hides_command:
            old, new = HIDDEN, HIDDEN
        said = f"{describe(new)} in the file, {describe(old)} on the platform"
        return self.differs(entry, field, new, old, said)

    def differs(self, entry: Entry, field: str | None, file: Any, platform: Any, said: str) -> Difference:
        by = None
        if field is not None and field in entry.values:
            by = self.changed_by(path_of(entry, field), as_text(entry.values[field]))
        values = {"file": file, "platform": platform}
        return difference(entry, DIFFERS, said, field, changed_by=by, prevails=FILE, **values)

    def changed_by(self, path: str, value: str) -> str | None:
        """Return whether the file or the platform was changed since the last apply."""
        if not self.last.known:
            return None
        return PLATFORM if self.last.prints.get(path) == self.last.of(path, value) else FILE

    def not_in_file(self) -> Iterator[Difference]:
        """Yield what a project has and its blueprint does not describe, but for what a relocation needs."""
        task, contents = self.task, self.contents
        home = find_home(task.account.projects(), contents)
        if home is None:
            return
        listing = read_project(task.account, home, ServiceQuery())
        export = export_project(Found(home.name, listing.services, task.account.apps_by_id()))
        described = service_ids(self.parts)
        names = {each.name for each in contents.described if "id" not in each.values}
        found = [
            (entry, how)
            for entries, how in ((export.entries, ""), (export.failed, ", and its creation failed"))
            for entry in entries
            if entry.id not in described and entry.name not in names
        ]
        needed = needed_by_relocations(task.options, contents, [entry for entry, _ in found])
        for entry, how in found:
            # It comes from a file that had it, or from the platform.
            by = FILE if f"{NAMES}{entry.name}" in self.last.prints else PLATFORM
            why = f": {needed[entry.id]}" if entry.id in needed else ""
            yield difference(
                entry,
                UNKNOWN if why else NOT_IN_FILE,
                f"{entry.name!r} ({entry.id}) is not in the file{how}{why}",
                platform=dict(entry.values),
                changed_by=by if self.last.known else None,
                prevails=PLATFORM,
            )


def actions_of(plan: Plan) -> str:
    return f"an apply would {'; '.join(plan.actions)}"


def describe(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {each}" for name, each in value.items())
    return "nothing" if value in (None, "") else str(value).lower() if isinstance(value, bool) else str(value)
