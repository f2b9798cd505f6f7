# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Drift: in what a project and its blueprint differ, which of them was changed, and which prevails."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

from ..._api.errors import HostedError
from ..._api.text import HIDDEN
from ..._api.values import ServiceStatus
from ..shared.options import StateDirOptions
from ..shared.pending import Fingerprints
from ..shared.plan import Plan, Task
from ..shared.task_errors import Ambiguous, Invalid, NoSuchItem, WaitEnded
from .applied import ENTRY, NAMES, as_text, path_of
from .contents import Contents
from .document import Entry
from .export import Export
from .members import described_entries, needed_by_relocations
from .parts import Arguments, Part, Parts, service_ids

FILE, PLATFORM = "file", "platform"
DIFFERS, MISSING, NOT_IN_FILE, REFUSED, UNKNOWN = "differs", "missing", "not_in_file", "refused", "unknown"
DRIFT = (DIFFERS, MISSING, NOT_IN_FILE, REFUSED)
"""The kinds that count as drift. What cannot be known does not."""
IMAGE_MODULES = ("app_image", "app_release", "app_deploy")
NOT_FIELDS = ("monthly", "name", "project")
"""What a diff of a service shows and a blueprint does not say of it."""
FIELDS = {"status": "state"}
"""What a blueprint calls the fields of a diff, where that is another name."""
OF_THE_FILE = (Invalid, NoSuchItem, Ambiguous, WaitEnded)
"""The errors that tell of a difference. Any other is a failure of the comparison itself."""


def plan_without_size(parts: Parts) -> dict[Part, HostedError]:
    """Plan what is refused once more without its size, so that the rest of it and of the file is compared.

    A disk that was made larger by hand cannot shrink. Return what was refused.
    """

    def without_size(given: Arguments, part: Part) -> Mapping[str, Any]:
        return {name: value for name, value in given(part).items() if name != "dimensions"}

    refused: dict[Part, HostedError] = {
        part: part.error
        for part in parts.found
        if isinstance(part.error, Invalid) and "dimensions" in part.resource.options
    }
    for part in refused:
        part.error, part.arguments = None, partial(without_size, part.arguments)
    if refused:
        parts.make_plans()
    return refused


# --- Differences ------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Difference:
    """One thing in which the file and the platform differ, or of which that is not known."""

    kind: str
    section: str
    key: str
    field: str | None = None
    """The key below the entry; ``None`` for the entry as a whole."""
    file: Any = None
    platform: Any = None
    changed_by: str | None = None
    """Which of the two was changed since the last apply from this controller; ``None`` if unknown."""
    prevails: str | None = None
    """Which of the two the next apply leaves; ``None`` if it is refused or nothing is known."""
    said: str

    def as_dict(self) -> dict[str, Any]:
        """Return it for results, with a line for people."""
        path = ".".join(filter(None, (self.section, self.key, self.field)))
        who = {FILE: "; changed in the file", PLATFORM: "; changed on the platform", None: ""}
        wins = {FILE: "; the file prevails", PLATFORM: "; the platform prevails", None: ""}
        line = f"{path}: {self.said}{who[self.changed_by]}{wins[self.prevails]}"
        given = {name: value for name, value in asdict(self).items() if name != "said"}
        return {**given, "path": path, "line": line, "drift": self.kind in DRIFT}


def difference(place: Entry | Part, kind: str, said: str, **facts: Any) -> Difference:
    """Return a difference of an entry, or of one of its parts."""
    return Difference(kind=kind, section=place.section, key=place.key, said=said, **facts)


@dataclass(frozen=True)
class Comparison:
    """A blueprint, what each of its parts found on the platform, and what was last applied."""

    contents: Contents
    parts: Sequence[Part]
    last: Fingerprints
    """What was last applied from this controller."""
    refused: Mapping[Part, HostedError] = field(default_factory=dict)
    """What was refused with its size, and is compared without."""

    def differences(self) -> Iterator[Difference]:
        """Yield what differs, in the order of the blueprint's parts."""
        entries = {(entry.section, entry.key): entry for entry in self.contents.entries}
        told: set[tuple[str, str]] = set()
        for part in self.parts:
            place = part.section, part.key
            if place in told:  # nothing else can be said of what is not there
                continue
            entry = entries.get(place)
            if part.error is None and part in self.refused:
                yield self._refused(part, self.refused[part], "dimensions")
            if part.error is not None:
                yield self._refused(part, part.error)
            elif part.plan is None:
                told.add(place)
                blocked = part.blocked_by
                reason = f", because {blocked.label} cannot be applied" if blocked is not None else ""
                yield difference(part, UNKNOWN, f"not compared{reason}; mend that, and compare again")
            elif entry is not None:
                found = list(self._of_entry(entry, part, part.plan))
                if any(each.kind == MISSING or each.field == "image" for each in found):
                    told.add(place)
                yield from found
            elif part.plan.changed:
                yield difference(part, MISSING, actions_of(part.plan), prevails=FILE)

    def _refused(self, part: Part, error: HostedError, field: str | None = None) -> Difference:
        """Return what an apply would be refused for."""
        if not isinstance(error, OF_THE_FILE):
            raise error
        return difference(part, REFUSED, f"cannot be applied: {error.message}", field=field)

    def _of_entry(self, entry: Entry, part: Part, plan: Plan) -> Iterator[Difference]:
        """Yield what differs of an entry, as one of its parts sees it."""
        module = part.resource.name
        if module == "environment":
            yield from self._of_environment(entry, plan)
        elif module in IMAGE_MODULES:
            yield from self._of_image(entry, part, plan)
        elif part.is_new:
            by = self._changed_by(path_of(entry, ENTRY), entry.name)
            said = f"{entry.name!r} is not on the platform"
            yield difference(entry, MISSING, said, changed_by=by, prevails=FILE)
        elif isinstance(part.result, Mapping) and part.result.get("status") == ServiceStatus.PROVISIONING:
            yield difference(entry, UNKNOWN, "it is still being created, so it was not compared")
        elif plan.changed:
            yield from self._of_fields(entry, plan)

    # --- Kinds --------------------------------------------------------------------------------------

    def _differs(self, entry: Entry, field: str | None, file: Any, platform: Any, said: str) -> Difference:
        by = None
        if field is not None and field in entry.values:
            by = self._changed_by(path_of(entry, field), as_text(entry.values[field]))
        values = {"file": file, "platform": platform}
        return difference(entry, DIFFERS, said, field=field, changed_by=by, prevails=FILE, **values)

    def _of_fields(self, entry: Entry, plan: Plan) -> Iterator[Difference]:
        """Yield the fields of a service that differ."""
        before, after = sides_of(plan)
        fields = [name for name in after if name not in NOT_FIELDS and after[name] != before.get(name)]
        for name in fields:
            yield self._of_field(entry, FIELDS.get(name, name), before.get(name), after[name])
        if not fields:
            yield self._differs(entry, None, None, None, actions_of(plan))

    def _of_field(self, entry: Entry, field: str, old: Any, new: Any) -> Difference:
        """Return that a field has another value. A command that was encrypted is not shown."""
        if field == "command" and entry.hides_command:
            old, new = HIDDEN, HIDDEN
        said = f"{describe(new)} in the file, {describe(old)} on the platform"
        return self._differs(entry, field, new, old, said)

    def _of_environment(self, entry: Entry, plan: Plan) -> Iterator[Difference]:
        """Yield what differs of an environment, of which the platform shows nothing."""
        found = plan.result
        if plan.changed and not found["known_before"]:
            said = "this controller has not written it, and the platform does not show it"
            yield difference(entry, UNKNOWN, said, field="environment")
        elif plan.changed:
            kinds = ("added", "changed", "removed")
            names = "; ".join(f"{kind} {', '.join(found[kind])}" for kind in kinds if found[kind])
            said = f"not as last written: {names}"
            yield difference(entry, DIFFERS, said, field="environment", changed_by=FILE, prevails=FILE)

    def _of_image(self, entry: Entry, part: Part, plan: Plan) -> Iterator[Difference]:
        """Yield that another image runs, or none, or with another command.

        A deploy for a new environment is no difference of the image.
        """
        before, after = sides_of(plan)
        again = part.resource.name == "app_deploy" and before.get("digest") == after.get("digest")
        if plan.changed and not again:
            yield self._differs(entry, "image", entry.values["image"], before.get("digest"), actions_of(plan))
        if "command" in after:  # which the deploy brings along
            yield self._of_field(entry, "command", before.get("command"), after["command"])

    def _changed_by(self, path: str, value: str) -> str | None:
        """Return whether the file or the platform was changed since the last apply."""
        if not self.last.known:
            return None
        return PLATFORM if self.last.prints.get(path) == self.last.of(path, value) else FILE


def sides_of(plan: Plan) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return the states before and after a plan, as far as they have fields."""
    before, after = (side if isinstance(side, Mapping) else {} for side in (plan.before, plan.after))
    return before, after


def actions_of(plan: Plan) -> str:
    """Return what an apply would do, for a line."""
    return f"an apply would {'; '.join(plan.actions)}"


def not_in_file(task: Task[StateDirOptions], export: Export, comparison: Comparison) -> Iterator[Difference]:
    """Yield what a project has and its blueprint does not describe, also if its creation failed.

    What a relocation needs is no drift: prune leaves it alone as well.
    """
    described, last = service_ids(comparison.parts), comparison.last
    names = {each.name for each in described_entries(comparison.contents) if "id" not in each.values}
    found = [
        (entry, how)
        for entries, how in ((export.entries, ""), (export.failed, ", and its creation failed"))
        for entry in entries
        if entry.id not in described and entry.name not in names
    ]
    needed = needed_by_relocations(task.options, comparison.contents, [entry for entry, _ in found])
    for entry, how in found:
        why = needed.get(entry.id)
        # It comes from a file that had it, or from the platform.
        by = FILE if f"{NAMES}{entry.name}" in last.prints else PLATFORM
        yield difference(
            entry,
            NOT_IN_FILE if why is None else UNKNOWN,
            f"{entry.name!r} ({entry.id}) is not in the file{how}{f': {why}' if why else ''}",
            platform=dict(entry.values),
            changed_by=by if last.known else None,
            prevails=PLATFORM,
        )


def describe(value: Any) -> str:
    """Return a value as the text of a difference, ``nothing`` for an empty one."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {each}" for name, each in value.items())
    return "nothing" if value in (None, "") else str(value).lower() if isinstance(value, bool) else str(value)
