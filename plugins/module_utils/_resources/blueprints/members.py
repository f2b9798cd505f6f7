# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is in a project, what a blueprint describes of it, and did before, and what relocations need."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from ..._api.errors import NotFoundResponse
from ..._api.models import Edge, Project, ServiceSummary
from ..shared.account import Account
from ..shared.identify import (
    Named,
    aliases_of,
    existing,
    label,
    near_miss,
    oldest_projects,
    project_with_name,
)
from ..shared.names import same_name
from ..shared.options import StateDirOptions
from ..shared.pending import Fingerprints, Prints
from ..shared.plan import Task
from ..shared.relocation_record import Phase, Relocation, known_relocations
from ..shared.store import Kind
from ..shared.task_errors import Ambiguous, Invalid
from .contents import Contents, describe_reference, references_in
from .document import HIDDEN_SECTION, Document, Entry
from .parts import Part, service_ids


@dataclass(frozen=True)
class Member:
    service: ServiceSummary
    slug: str | None = None
    """Set for an application made from an image of the account."""

    @property
    def id(self) -> str:
        return self.service.id

    @property
    def name(self) -> str:
        """What a blueprint calls it: its slug or its name."""
        return self.slug or self.service.name

    @property
    def created_at(self) -> str | None:
        return self.service.created_at

    @property
    def section(self) -> str:
        return "applications" if self.slug else "services"

    @property
    def label(self) -> str:
        kind = "application" if self.slug else "service"
        return f"{kind} {self.name!r} ({self.id})"

    def is_described_by(self, entry: Entry) -> bool:
        """Tell whether it has the id of an entry or, if that says none, its exact name."""
        id = entry.values.get("id")
        return self.section == entry.section and (self.id == id if id else same_name(self.name, entry.name))


@dataclass(frozen=True)
class Members:
    project: Project
    found: Sequence[Member] = ()
    edges: Sequence[Edge] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)
    may_be_default: bool = False
    """Whether it may be the default project of the account, which the platform does not show."""

    def of(self, entry: Entry) -> Member | None:
        alike = [each for each in self.found if each.is_described_by(entry)]
        if len(alike) > 1:
            ids = [each.id for each in alike]
            raise Ambiguous(
                f"project {self.project.name!r} has {len(alike)} services named {entry.name!r} "
                f"({', '.join(ids)}). Nothing was deleted. Write the id of the one that is meant",
                ids=ids,
            )
        return alike[0] if alike else None

    def users_of(self, going: Collection[str]) -> list[Edge]:
        staying = {each.id for each in self.found} - {*going}
        return [each for each in self.edges if each.to in going and each.from_ in staying]


def check_no_id(name: str, projects: Sequence[Project]) -> None:
    meant = next((each.name for each in projects if each.id == name), None)
    if meant is not None and project_with_name(projects, name) is None:
        raise Invalid(f"project is {name!r}, the id of project {meant!r}; write its name")


def find_home(projects: Sequence[Project], contents: Contents) -> Project | None:
    """Return the project that a blueprint describes, by its name or its former one, if not both are there."""
    names = filter(None, (contents.project, contents.was))
    found = {each.id: each for name in names if (each := project_with_name(projects, name))}
    if len(found) > 1:
        told = " and ".join(f"{each.name!r} ({each.id})" for each in found.values())
        raise Invalid(
            f"project and was name two projects, and both are there: {told}. Nothing was done. Remove was if "
            "they are different ones; if the first was made by mistake, delete it, and the second is renamed"
        )
    return next(iter(found.values()), None)


def check_neighbors(account: Account, document: Document, contents: Contents) -> None:
    """Check the references to neighbors in the project that the blueprint does not describe."""
    keys = {entry.key for entry in contents.described}
    outside = [
        each for entry in contents.applications for each in references_in(entry) if each[1] not in keys
    ]
    if not outside:
        return
    home = find_home(account.projects(), contents)
    aliases = {*aliases_of(account.graph(home.id)).values()} if home else set()
    for path, target, what in outside:
        if target not in aliases:
            hint = "" if HIDDEN_SECTION in path else near_miss(target, {*keys, *aliases})
            document.add_problem(
                path,
                f"{describe_reference(path, target, what)} names neither a key of the blueprint nor the "
                f"alias of a neighbor{hint}",
            )
    document.check()


def read_members(account: Account, project_id: str) -> Members | None:
    projects = account.projects()
    project = next((each for each in projects if each.id == project_id), None)
    if project is None:
        return None
    try:
        graph = account.graph(project.id)
    except NotFoundResponse:  # a list may be late to lose it
        return None
    return Members(
        project,
        members_among(account, sorted(account.members(project), key=lambda each: each.name)),
        graph.edges or [],
        aliases_of(graph),
        may_be_default=project.id in oldest_projects(projects),
    )


def members_among(account: Account, services: Sequence[ServiceSummary]) -> list[Member]:
    slugs = account.slugs()
    return [Member(each, slugs.get(each.id)) for each in existing(services)]


# --- What relocations need ----------------------------------------------------------------------------


def needed_by_relocations(
    options: StateDirOptions, contents: Contents, services: Sequence[Named]
) -> dict[str, str]:
    """Return by id for what relocations need some services that nothing describes, and what to do."""
    if not services:
        return {}
    known = known_relocations(options)
    if known.damaged:
        raise Invalid(f"which services a relocation needs is not known: {known.damaged[0]}")
    names, found = [entry.name for entry in contents.described], dict[str, str]()
    for service in services:
        # What was relocated once more is told by its own relocation.
        latest = sorted(reversed(known.relocations), key=lambda each: each.old_id != service.id)
        if needs := [told for each in latest if (told := what_for(each, service, names))]:
            found[service.id] = needs[0]
    return found


def what_for(relocation: Relocation, service: Named, described: Sequence[str]) -> str | None:
    """Return what a relocation needs a service for; one that is over, if the other one is described."""
    made_none = relocation.new_id is None and not relocation.sent
    ordered = relocation.new_id is None and not made_none and same_name(service.name, relocation.new_name)
    if relocation.phase is Phase.NONE or not (
        ordered or service.id in (relocation.old_id, relocation.new_id)
    ):
        return None
    other = relocation.new_name if service.id == relocation.old_id else relocation.old_name
    is_over = relocation.gone or (relocation.phase is Phase.RETURNED and made_none)
    if is_over and not any(same_name(other, name) for name in described):
        return None
    pair, moved = relocation.pair, f"{relocation.old_name!r} ({relocation.old_id})"
    relocated = f"the relocation of service {moved} to {relocation.new_name!r}"
    if pair is None and not is_over:
        told = f"{relocated} is under way. Complete it with hosted.services.relocate, or go back"
    elif pair is not None and service.id == pair[0]:
        told = f"{relocated} keeps it for a while. hosted.services.relocate with state: finished deletes it"
    else:
        told = f"it is in service since {relocated}. Write its name, {service.name!r}, in place of {other!r}"
    return f"{told}. The record is {relocation.path!r}"


# --- What was last applied ----------------------------------------------------------------------------
# It is no state that anything is compared with: the platform is. Where the two differ, it tells which of them
# was changed since, the file or the platform.

APPLIED = Kind("blueprints", Prints, "the record of what a blueprint said", hint=True)
NAMES = "names."
"""Followed by a name, whatever key it had in the file."""
ENTRY = "entry"
"""The field that stands for an entry as such."""


def last_applied(options: StateDirOptions, project: str) -> Fingerprints:
    """Return what was last applied to a project; nothing is known if its file is damaged."""
    record = APPLIED.of(options.base_url, f"blueprint of {project}", options.state_dir)
    return Fingerprints.at(record, project)


def remember(task: Task[StateDirOptions], contents: Contents, failed: Collection[tuple[str, str]]) -> None:
    """Remember what was applied. Of entries that failed, by section and key, keep what was known before."""
    last = last_applied(task.options, contents.project)
    kept = tuple(f"{section}.{key}." for section, key in failed)
    prints = {name: value for name, value in last.prints.items() if name.startswith((NAMES, *kept))}
    for entry in contents.entries:
        if entry.path not in failed:
            said = {f"{NAMES}{entry.name}": "", path_of(entry, ENTRY): entry.name}
            said |= {path_of(entry, name): as_text(value) for name, value in entry.values.items()}
            prints |= {name: last.of(name, value) for name, value in said.items()}
    try:
        last.restore(prints)
    except Invalid as error:
        task.warn(
            f"{error.message}. Until then, blueprint_info cannot tell which of file and platform was changed"
        )


def warn_of_dropped(task: Task[StateDirOptions], contents: Contents, parts: Sequence[Part]) -> None:
    """Warn of services that an earlier file of this controller had, and that are still there without it."""
    last, home, described = last_applied(task.options, contents.project), parts[0].id, service_ids(parts)
    names = {entry.name for entry in contents.entries}
    dropped = {path.removeprefix(NAMES) for path in last.prints if path.startswith(NAMES)} - names
    page = task.account.page(home) if dropped and home else None
    there = [each for each in existing(page.resources if page else []) if each.name in dropped]
    found = [each for each in there if each.id not in described]
    needed = needed_by_relocations(task.options, contents, found)
    for service in found:
        if service.id not in needed:
            task.warn(
                f"{label(service)} is not in the blueprint any more, and still billed. prune: true deletes it"
            )


def path_of(entry: Entry, name: str) -> str:
    return f"{entry.section}.{entry.key}.{name}"


def as_text(value: object) -> str:
    return json.dumps(value, sort_keys=True, default=str)
