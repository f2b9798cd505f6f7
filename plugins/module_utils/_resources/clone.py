# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Clones: a blueprint of what the source shows, with parts between its own that copy what is in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

from .._api.errors import HostedError
from .._api.models import Service
from .._api.values import ServiceStatus
from .applications.repository import copy_image, open_repository
from .blueprint import Assembly, planned, whole_plan
from .blueprints.contents import Contents, read_contents
from .blueprints.document import HIDDEN_SECTION, PLAIN_SECTION, Document, Entry, OnBlueprint
from .blueprints.parts import Part
from .clones.content import DATABASE, FilesResource, address_of, await_database
from .clones.rules import blueprint_of, names_of, own_values, read_environments
from .clones.source import CloneOptions, Data, FilledOptions, SourceProject, check_filled, read_source
from .clones.target import CloneRecord, check_target
from .service import SERVICE, ServiceResource
from .services.options import CommitmentOptions, ServiceOptions
from .shared.budget import read_budget
from .shared.made_record import MadeRecord
from .shared.names import same_name
from .shared.options import Options, required
from .shared.plan import Plan, Resource, Step, Task
from .shared.task_errors import Invalid, NoSuchItem

HIDDEN = (PLAIN_SECTION, HIDDEN_SECTION, "variables", "allow_duplicate_name")
"""What the blueprint in the result lacks: it may hold secrets, and to delete a clone takes none of it."""


class CloneResource(OnBlueprint[CloneOptions]):
    result_key = "parts"
    rules: ClassVar[dict[str, Any]] = {}

    def plan(self, task: Task[CloneOptions]) -> Plan:
        options = task.options
        described = options.src is not None or options.blueprint is not None
        check_filled(options, "environments", "secret_environments")
        if options.copy_secrets and not described:
            raise Invalid("copy_secrets copies secret_environment from the blueprint of the source; set src")
        task.composition = replace(task.composition, copies=True)
        CloneRecord.take_turns(task, options.project)
        source = read_source(task)
        check_data(task, source)
        own = own_values(options.overrides, source.originals, source.key_of)
        file = read_contents(options.read()) if described else None
        check_variables(source, own)
        environments = read_environments(task, source, file)
        names = names_of(options.rename, source.originals, own, source.key_of)
        record = CloneRecord.read(options, options.project)
        there = check_target(task, source, names, record)
        for key, member in there.items():
            if not same_name(member.name, names[key]):
                task.warn(
                    f"{member.label} is the clone that would be named {names[key]!r} now, and keeps its name"
                )
        data, states = blueprint_of(options, source, own, environments, names=names, there=there)
        assembly = CloneAssembly(task, data, states, source, record)
        tighten(task, assembly.contents.project)
        return assembly.plan("clone")


CLONE = CloneResource()
FILES = FilesResource(SERVICE)


def tighten(task: Task[CommitmentOptions], project: str) -> None:
    """Let ``max_monthly`` hold for all that is in the project of the clone."""
    if task.options.max_monthly is not None:
        limit = read_budget({"projects": {project: task.options.max_monthly}}, "max_monthly")
        task.guard.tighten(limit, "max_monthly")


def check_data(task: Task[CloneOptions], source: SourceProject) -> None:
    without = {source.key_of(each, "without_data") for each in task.options.without_data}
    empty = [
        f"{each.label} of family {each.record['family']}"
        for each in source.originals
        if each.data is Data.NONE and each.key not in without and each.ran
    ]
    if empty:
        raise Invalid(
            f"what {', '.join(empty)} holds cannot be copied: it has neither files over SFTP nor a database. "
            "Nothing was ordered. without_data lists services to clone without what they hold"
        )


def check_variables(source: SourceProject, own: Mapping[str, Mapping[str, Any]]) -> None:
    missing = [
        f"{each.label} lacks {', '.join(each.referring)}"
        for each in source.originals
        if not each.app and each.referring and not own[each.key].get("variables")
    ]
    if missing:
        raise Invalid(
            "the platform does not show the variables of orders, and these are not given: "
            f"{'; '.join(missing)}. Nothing was ordered. Give variables of the service in overrides"
        )


# --- Parts ------------------------------------------------------------------------------------------


class FilledAssembly(Assembly):
    """The parts of a blueprint whose services get what they hold from elsewhere, before anything uses it."""

    task: Task[FilledOptions]

    def __init__(
        self, task: Task[Any], contents: Contents, states: Mapping[str, str], record: MadeRecord
    ) -> None:
        super().__init__(task, contents)
        self.states, self.record = states, record
        self.made_for = {each.key: each.key for each in contents.described}
        """By what the record knows an entry."""

    def plan(self, subject: str) -> Plan:
        """Return the plan for the whole, which remembers what it makes before and after that."""
        parts = planned(self.task, self.add_all())
        begins = any(part.plan and part.plan.steps for part in parts.found)
        note = Step("remember what is made", self.remember, changes=False)
        plan = whole_plan(self.task, self.contents, parts, subject, [note] if begins else [])
        failure = plan.failure

        def failed() -> HostedError | None:
            if (begins or self.record.known) and not self.task.check_mode:
                self.remember()
            self.tell()
            return failure() if failure else None

        plan.failure = failed
        self.tell()
        return plan

    def tell(self) -> None:
        raise NotImplementedError

    def remember(self) -> None:
        raise NotImplementedError

    def fill(self, entry: Entry, needs: Sequence[Part]) -> Part | None:
        """Add the part that brings what a service holds, and return it; ``None`` if there is nothing."""
        raise NotImplementedError

    def check_made(self, key: str, id: str) -> None:
        """Refuse what is there by the name of a service, unless it was made for this or may be used."""
        made = self.made[key]
        if not self.record.takes(self.made_for[key], id, made.task.account):
            raise Invalid(
                f"{made.label} ({id}) appeared meanwhile, and this {self.record.subject} did not make it, so "
                "nothing was written to it. Run this again, which decides by existing what becomes of it"
            )

    def note_id(self, key: str, id: str) -> None:
        self.record.note_id(self.made_for[key], id)

    def add_image_copy(self, entry: Entry, source_slug: str) -> Part:
        made = self.made[entry.key]
        given = {"source_slug": source_slug, "slug": entry.name, "digest": entry.values["image"]["digest"]}
        return self.add(entry, IMAGE, lambda part: {**given, "exists": made.id is not None}, [made])

    def add_filling(
        self, entry: Entry, resource: Resource[Any], own: Mapping[str, Any], needs: Sequence[Part]
    ) -> Part:
        made = self.made[entry.key]

        def arguments(part: Part) -> Mapping[str, Any]:
            return {**own, "service": made.id, "project_id": self.project.id}

        return self.add(entry, resource, arguments, needs)

    def add_files(
        self, entry: Entry, files: Resource[Any], own: Mapping[str, Any], needs: Sequence[Part]
    ) -> Part:
        options = self.task.options
        given = {"private_key_file": options.private_key_file, "delete": options.delete, **own}
        given |= {"known_hosts": options.known_hosts} if options.known_hosts else {}
        return self.add_filling(entry, files, given, needs)

    def add_database(
        self,
        entry: Entry,
        database: Resource[Any],
        own: Mapping[str, Any],
        needs: Sequence[Part],
        facts: Callable[[Task[Any], Service], dict[str, Any]] = address_of,
    ) -> Part:
        """Add the restore of a dump, once the new database answers where ``facts`` say."""
        made, given = self.made[entry.key], {"public": entry.values.get("public", False), **own}
        part = self.add_filling(entry, database, given, needs)
        part.prepare = lambda part: await_database(part.task, made.id, facts)
        return part

    def add_service(self, entry: Entry) -> None:
        super().add_service(entry)
        self.note(entry)
        self.add_content(entry, [self.made[entry.key]])

    def add_application(self, entry: Entry) -> None:
        super().add_application(entry)
        self.note(entry)

    def note(self, entry: Entry) -> None:
        made = self.made[entry.key]
        made.note = partial(self.note_id, entry.key)
        made.task.composition = replace(
            made.task.composition,
            creating=partial(self.record.ordering, self.made_for[entry.key], self.task.client.clock),
            adopting=partial(self.check_made, entry.key),
            created=made.note,
        )

    def add_settings(self, entry: Entry) -> list[Part]:
        settings = super().add_settings(entry)
        if "image" in entry.values:
            self.add_content(entry, [self.made[entry.key], *settings, *self.running_parts([entry.key])])
        return settings

    def add_content(self, entry: Entry, needs: Sequence[Part]) -> None:
        filled = self.fill(entry, needs)
        ready = [filled] if filled else list(needs)
        state = self.states.get(entry.key)
        if state and state != "present":
            made = self.made[entry.key]
            ready = [self.add(entry, STATE, lambda part: {"id": made.id, "state": state}, [made, *ready])]
        self.running[entry.key] = ready[-1]


class CloneAssembly(FilledAssembly):
    task: Task[CloneOptions]
    record: CloneRecord

    def __init__(
        self,
        task: Task[CloneOptions],
        data: Mapping[str, Any],
        states: Mapping[str, str],
        source: SourceProject,
        record: CloneRecord,
    ) -> None:
        super().__init__(task, read_contents(Document(data, "")), states, record)
        self.data, self.source = data, source
        self.originals = {each.key: each for each in source.originals}
        self.made_for = {each.key: each.id for each in source.originals}
        self.without = {source.key_of(each, "without_data") for each in task.options.without_data}

    def plan(self, subject: str) -> Plan:
        plan = super().plan(subject)
        for remark in self.source.export.remarks:
            if not remark.startswith("SSH keys"):
                self.task.warn(f"{remark}, was not cloned")
        for each in self.source.originals:
            if each.record["status"] == ServiceStatus.SUSPENDED:
                self.task.warn(f"{each.label} is suspended; its clone is in service, billed at the full rate")
        return plan

    def remember(self) -> None:
        record = self.record
        record.source = self.source.project.id
        for entry in self.contents.described:
            original = self.made_for[entry.key]
            record.names[original] = entry.name
            if id := self.made[entry.key].id:
                record.ids[original] = id
        record.write()

    def check_made(self, key: str, id: str) -> None:
        if self.task.options.existing != "adopt":
            super().check_made(key, id)

    def tell(self) -> None:
        """Put what deletes the clone into the result: its blueprint, without what may be secret."""
        shown: dict[str, Any] = {"project": self.data["project"]}
        for section in {"services", "applications"} & self.data.keys():
            shown[section] = {}
            for key, values in self.data[section].items():
                id = self.made[key].id if section == "services" else None
                own = {name: value for name, value in values.items() if name not in HIDDEN}
                shown[section][key] = {**own, "id": id} if id else own
        self.task.effects.facts["blueprint"] = shown

    def in_registry(self, entry: Entry) -> Part:
        if "digest" not in entry.values["image"]:
            return self.made[entry.key]
        return self.add_image_copy(entry, self.originals[entry.key].was)

    def fill(self, entry: Entry, needs: Sequence[Part]) -> Part | None:
        original = self.originals[entry.key]
        if entry.key in self.without or original.data is Data.NONE:
            return None
        own: dict[str, Any] = {"source_id": original.id}
        if original.data is Data.DATABASE:
            return self.add_database(entry, DATABASE, own, needs)
        own |= {"source_name": original.was, "checksum": self.task.options.checksum, "in_use": True}
        return self.add_files(entry, FILES, own, needs)


class StateResource(ServiceResource):
    """Whether a service runs, once what it holds is there."""

    name = SERVICE.name

    def plan(self, task: Task[ServiceOptions]) -> Plan:
        """Plan the state. A new service is started by its order."""
        if task.options.id is not None:
            return super().plan(task)
        state = task.options.state
        steps = [] if state == "started" else [Step(f"leave it {state}", lambda: None)]
        return Plan(result=None, steps=steps)


STATE = StateResource()


# --- Images -----------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class ImageOptions(Options):
    source_slug: str = required()
    slug: str = required()
    digest: str = required()
    exists: bool = True
    """Whether the application is there, and so its repository."""


class ImageResource(Resource[ImageOptions]):
    result_key = "image"
    name = "image"

    def plan(self, task: Task[ImageOptions]) -> Plan:
        options = task.options
        source, target = (open_repository(task, slug) for slug in (options.source_slug, options.slug))
        if source.digest_of(options.digest) is None:
            raise NoSuchItem(
                f"{source.name} no longer has the image {options.digest} that {options.source_slug!r} runs, "
                "so it cannot be cloned. Push and deploy it again first"
            )
        result = {"repository": target.name, "digest": options.digest, "mounted": 0, "sent": 0}
        after = {"digest": options.digest}
        if options.exists and target.digest_of(options.digest):
            return Plan(result=result, before=after, after=after)

        def run() -> None:
            result.update(copy_image(task, source, target, options.digest))

        summary = f"copy image {options.digest} from {source.name} to {target.name}"
        return Plan(result=result, steps=[Step(summary, run)], after=after)


IMAGE = ImageResource()
