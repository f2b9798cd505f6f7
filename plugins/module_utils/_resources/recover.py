# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recoveries: a project as its blueprint describes it, with the content of its off-site copies.

What is needed for that is the file and the copies alone: the platform may have nothing left of the project.
The plan is that of the blueprint, with parts between its own that bring the content, as for a clone. The
content of a service is restored once: from then on it is in use, and newer than any copy.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, ClassVar

from .._api.errors import HostedError
from .._api.models import ServiceSummary
from .applications.repository import open_repository
from .blueprint import planned, whole_plan
from .blueprints.contents import Contents, read_contents
from .blueprints.document import Entry, OnBlueprint
from .blueprints.members import Member, Members, check_neighbors, read_members
from .blueprints.parts import Part
from .blueprints.removal import deletion_parts, list_members, project_deletion
from .clone import FilledAssembly, tighten
from .clones.rules import names_of, own_values
from .clones.target import found_elsewhere, locations, members_named, recognize
from .project import PROJECT
from .recoveries.content import RecoveredDatabase, RecoveredFiles, own_address
from .recoveries.copies import DESCRIPTION, Choice, Copy, check_content, read_shelves
from .recoveries.target import (
    RecoverOptions,
    RecoveryRecord,
    Target,
    check_options,
    contents_of,
    find_target,
    is_beside,
    key_of,
    latest_of,
    projects_of,
    wanted_of,
)
from .service import SERVICE
from .shared.change import BILLED_SECONDS
from .shared.identify import existing, label
from .shared.names import same_name
from .shared.plan import Plan, Step, Task
from .shared.restore_points import parse_moment
from .shared.task_errors import Invalid
from .shared.waiting import poll_for

CONTENT = ("files", "database")
"""The parts that bring what a service holds."""


class RecoverResource(OnBlueprint[RecoverOptions]):
    result_key = "parts"
    rules: ClassVar[dict[str, Any]] = {
        "required_if": [
            ("state", "present", ("copies",)),
            ("state", "present", ("src", "blueprint"), True),
            ("state", "absent", ("project",)),
        ],
        "mutually_exclusive": [("src", "blueprint")],
    }

    def plan(self, task: Task[RecoverOptions]) -> Plan:
        check_options(task.options)
        if task.options.state == "absent":
            return plan_removal(task)
        return plan_recovery(task)


RECOVER = RecoverResource()


def plan_recovery(task: Task[RecoverOptions]) -> Plan:
    started = time.monotonic()
    document = task.options.read()
    file = read_contents(document)
    wanted, keys = wanted_of(file), partial(key_of, file)
    own = own_values(task.options.overrides, wanted, keys)
    names = names_of(task.options.rename, wanted, own, keys, "recovery", beside=False)
    project = task.options.project or file.project
    RecoveryRecord.take_turns(task, project)
    record = RecoveryRecord.read(task.options, project)
    task.composition = replace(task.composition, copies=task.options.drill or is_beside(task.options, file))
    if task.options.drill:
        record.check_claim(task.client, project)
    target = find_target(task, file, names, record)
    contents, states = contents_of(task.options, file, own, names=names, there=target.there, kept=target.kept)
    check_neighbors(task.account, document, contents)
    chosen = choose_copies(task, file, target)
    contents, sources = find_images(task, file, contents, target.there)
    task.guard.tighten(contents.budget)
    tighten(task, contents.project)
    assembly = RecoveryAssembly(task, contents, sources=sources, states=states, target=target, chosen=chosen)
    assembly.started = started  # for what the recovery takes, its planning counts
    return assembly.plan("recovery")


def choose_copies(task: Task[RecoverOptions], file: Contents, target: Target) -> dict[str, Copy]:
    options, described = task.options, wanted_of(file)
    entries = {each.key: each for each in file.described}
    without = [key_of(file, each, "without_data") for each in options.without_data]
    given = {key_of(file, key, "copies_of"): str(value) for key, value in (options.copies_of or {}).items()}
    lacking = [each for each in described if each.key not in without and target.lacks_content(each.key)]
    wanted = [each for each in lacking if can_hold(task, entries[each.key])]
    if not wanted:
        return {}
    shelves, unfilled = read_shelves(options.copies or ""), target.record.unfilled()
    choice = Choice(shelves, projects_of(file), latest_of(options), unfilled)
    chosen: dict[str, Copy] = {}
    missing: list[str] = []
    for each in wanted:
        try:
            name = given.get(each.key)
            found = choice.known(each) if name is None else choice.given(each.label, name)
            check_content(found, entries[each.key].values.get("product"))
            chosen[each.key] = found
        except HostedError as error:
            missing.append(error.message)
    if missing:
        raise Invalid(
            f"{'; '.join(missing)}. Nothing was ordered. copies_of says by key which copy a service gets; "
            "without_data lists services to recover without what they hold"
        )
    choice.warn_of_newer(chosen.values(), described)
    choice.warn_of_writable(options.copies or "", chosen.values())
    for remark in choice.remarks:
        task.warn(remark)
    return chosen


def can_hold(task: Task[RecoverOptions], entry: Entry) -> bool:
    if entry.section == "applications" and "image" not in entry.values:
        task.warn(
            f"application {entry.name!r} has no image in the blueprint, so it is not deployed and gets no "
            "files"
        )
        return False
    return True


def find_images(
    task: Task[RecoverOptions], file: Contents, contents: Contents, there: Mapping[str, Member]
) -> tuple[Contents, dict[str, str]]:
    """Return what is made with the digests of its images, and by key the slug whose repository has one."""
    slugs, sources = {each.key: each.name for each in file.applications}, dict[str, str]()
    missing: list[str] = []
    applications = []
    for entry in contents.applications:
        image = dict(entry.values.get("image") or {})
        if not image or "archive" in image or entry.key in there:
            applications.append(entry)
            continue
        slug = slugs[entry.key]
        digest = digest_in_registry(task, slug, image)
        if digest is None:
            missing.append(f"{slug!r} with tag {image['tag']!r}")
            continue
        sources[entry.key] = slug
        applications.append(replace(entry, values={**entry.values, "image": {**image, "digest": digest}}))
    if missing:
        raise Invalid(
            f"the registry has no image of {', '.join(missing)}, and the blueprint names no archive of it. "
            "Nothing was ordered. Keep the images as archives, and name them with archive under image"
        )
    if sources:
        task.warn(
            f"the images of {', '.join(sources)} come from the registry of the account, which is gone "
            "with the account. Keep archives of them, and name these with archive under image"
        )
    return replace(contents, applications=applications), sources


def digest_in_registry(task: Task[RecoverOptions], slug: str, image: Mapping[str, Any]) -> str | None:
    try:
        digest = image.get("digest")
        if digest is None and (release := task.account.releases(slug).get(image["tag"])):
            digest = release.digest
        return open_repository(task, slug).digest_of(digest) if digest else None
    except HostedError as error:
        task.progress(f"the image of {slug} cannot be looked up: {error.message}")
        return None


class RecoveryAssembly(FilledAssembly):
    """The parts of a recovery: those of its blueprint, and what brings the content of each."""

    task: Task[RecoverOptions]
    record: RecoveryRecord

    def __init__(
        self,
        task: Task[RecoverOptions],
        contents: Contents,
        *,
        sources: Mapping[str, str],
        states: Mapping[str, str],
        target: Target,
        chosen: Mapping[str, Copy],
    ) -> None:
        super().__init__(task, contents, states, target.record)
        self.sources, self.target, self.chosen = sources, target, chosen
        self.started, self.now = time.monotonic(), datetime.now(UTC)
        self.files = RecoveredFiles(SERVICE, target)
        self.database = RecoveredDatabase(target)
        before = len(self.parts)
        for entry in contents.ssh_keys:
            super().add_key(entry)
        self.keys = self.parts[before:]
        """The keys come first, as they open the files of the services."""

    def add_key(self, entry: Entry) -> None:
        """Add nothing: the keys are there already."""

    def remember(self) -> None:
        record, entries = self.record, self.contents.described
        record.drill = self.task.options.drill
        if record.drill:
            record.claim(self.task.client)
        own = [each for each in entries if self.target.is_own(each.key)]
        record.names.update({each.key: each.name for each in own})
        ids = {each.key: id for each in own if (id := self.made[each.key].id)}
        record.note(self.project.id, ids)
        without = {key: id for key, id in ids.items() if key not in self.chosen}
        record.leave(id for key, id in without.items() if self.target.lacks_content(key))

    def check_made(self, key: str, id: str) -> None:
        """Refuse what the recovery neither made nor found when it began."""
        found = self.target.there.get(key)
        if found is None or found.id != id:
            super().check_made(key, id)

    def note_id(self, key: str, id: str) -> None:
        if self.target.is_own(key):
            super().note_id(key, id)

    def in_registry(self, entry: Entry) -> Part:
        """Add the copy of an image out of the repository that has it, if any; return what comes first."""
        source = self.sources.get(entry.key)
        if source is None or source == entry.name:
            return self.made[entry.key]
        return self.add_image_copy(entry, source)

    def fill(self, entry: Entry, needs: Sequence[Part]) -> Part | None:
        copy = self.chosen.get(entry.key)
        if copy is None:
            return None
        ready = [*needs, *self.keys]
        existing = "replace" if self.task.options.drill else self.task.options.existing
        own: dict[str, Any] = {"key": entry.key, "name": entry.name, "existing": existing}
        if copy.dump:
            own["dump"] = copy.dump
            return self.add_database(entry, self.database, own, ready, own_address)
        left_out, is_known = copy.left_out()
        own |= {
            "src": copy.path,
            "delete": self.task.options.delete and (is_known or not self._may_be_left_out(entry, copy)),
            "exclude": left_out,
            "allow_empty_source": True,
            "start": entry.key not in self.states,
        }
        return self.add_files(entry, self.files, own, ready)

    def _may_be_left_out(self, entry: Entry, copy: Copy) -> bool:
        """Tell whether the copy may lack a file of the service because its plan left that out; warn of it."""
        if not self.target.holds_anything(entry.key):
            return False
        if self.task.options.delete:
            self.task.warn(
                f"{DESCRIPTION} does not say what copy {copy.name} leaves out, so what service "
                f"{entry.name!r} has and that copy does not is not deleted. It is known of the copies that "
                "role backups makes"
            )
        return True

    def tell(self) -> None:
        services = [self.told_of(key, copy) for key, copy in self.chosen.items()]
        seconds = None if self.task.check_mode else round(time.monotonic() - self.started, 1)
        self.task.effects.facts["recovery"] = {
            "project": self.contents.project,
            "project_id": self.project.id,
            "services": services,
            "rpo_seconds": max((each["rpo_seconds"] for each in services), default=None),
            "rto_seconds": seconds,
        }

    def told_of(self, key: str, copy: Copy) -> dict[str, Any]:
        found = (each for each in self.parts if each.key == key and each.resource.name in CONTENT)
        part, made = next(found, None), self.made[key]
        result = part.result if part and isinstance(part.result, Mapping) and not part.error else {}
        return {
            "key": key,
            "name": made.name,
            "service_id": made.id,
            "copy": copy.path,
            "content": "dump" if copy.dump else "files",
            "copied_at": copy.made_at,
            "rpo_seconds": max(0, round((self.now - copy.moment).total_seconds())),
            "seconds": result.get("seconds"),
            "verified": result.get("verified"),
        }


def plan_removal(task: Task[RecoverOptions]) -> Plan:
    project = str(task.options.project)
    RecoveryRecord.take_turns(task, project)
    record = RecoveryRecord.read(task.options, project)
    record.check_claim(task.client, project)
    parts = planned(task, removal_parts(task, project, record))
    plan = whole_plan(task, Contents(project), parts, "drill")
    if record.known and record.drill:
        left = still_there(task, record, parts.found)
        if left is not None:
            failure = plan.failure
            plan.failure = lambda: (failure() if failure else None) or left
        elif not parts.found or any(part.section == "project" for part in parts.found):
            plan.steps = [*plan.steps, Step("forget the drill", record.forget, changes=False)]
    return plan


def removal_parts(task: Task[RecoverOptions], project: str, record: RecoveryRecord) -> list[Part]:
    # A drill that was killed may not know the id of its project. There was none of its name when it began.
    by_id = record.project_id
    members = read_members(task.account, by_id) if by_id else members_named(task.account, project)
    found = members.found if members else ()
    if not record.known:
        if found:
            task.warn(
                f"project {project!r} has {list_members(found)}, and no drill from this controller made it. "
                "Nothing was deleted. If a drill from another controller did, delete it there, or with its "
                "state_dir"
            )
        return []
    if not record.drill:
        raise Invalid(
            f"project {project!r} was made by a recovery that is meant to last, so nothing was deleted. "
            "state: absent deletes drills. hosted.services.blueprint deletes what a blueprint describes"
        )
    if moved := found_elsewhere(task.account, record.ids.values(), members):
        task.warn(
            f"the drill made {', '.join(map(label, moved))}, which is in another project by now and stays. "
            "If nobody needs it, delete it with hosted.services.service"
        )
    if members is None:
        return []
    recognize(task, record, members)
    going = [each for each in found if record.made(each)]
    staying = [each for each in found if not record.made(each)]
    deleting, given = [(each.name, each) for each in going], {"delete_backups": True}  # of other plans, too
    parts = deletion_parts(task, members, deleting, given, SERVICE)
    if staying:
        task.warn(
            f"project {members.project.name!r} stays: it has {list_members(staying)}, which the drill did "
            "not make"
        )
        return parts
    deletion = project_deletion(task, members.project, parts, PROJECT)
    deletion.prepare = lambda part: await_lost_orders(part.task, members, record)
    return [*parts, deletion]


def await_lost_orders(task: Task[Any], members: Members, record: RecoveryRecord) -> None:
    """Give an order whose response was lost the time to be carried out, before the drill is forgotten."""
    lost = {record.names.get(key, ""): sent for key, sent in record.sent.items() if key not in record.ids}
    sent = [moment for moment in map(parse_moment, lost.values()) if moment is not None]
    ages = [(task.client.clock.now() - moment).total_seconds() for moment in sent]
    left = BILLED_SECONDS - min(ages, default=BILLED_SECONDS)
    if left <= 0:
        return
    known = {each.id for each in members.found}
    late: list[ServiceSummary] = []

    def appears() -> bool:
        new = [each for each in existing(task.account.members(members.project)) if each.id not in known]
        late[:] = [each for each in new if any(same_name(each.name, name) for name in lost)]
        return bool(late)

    task.progress(f"watching for up to {left:.0f} s for a service of an order whose response was lost")
    if poll_for(appears, left):
        raise Invalid(
            f"{label(late[0])} appeared late, from an order whose response was lost. Project "
            f"{members.project.name!r} stays. Run this again, which deletes the service"
        )


def still_there(task: Task[RecoverOptions], record: RecoveryRecord, parts: Sequence[Part]) -> Invalid | None:
    """Return the error for what somebody moved: nobody but the record knows that the drill made it."""
    going = {part.arguments(part).get("id") for part in parts}
    found = found_elsewhere(task.account, [id for id in record.ids.values() if id not in going], None)
    if not found:
        return None
    return Invalid(
        f"the drill made {locations(task.account, found)}, outside its project by now and still billed. It "
        "was not deleted, as somebody may use it, and the drill is not forgotten. Delete it with "
        f"hosted.services.service and run this again. To keep it, remove {record.path}"
    )
