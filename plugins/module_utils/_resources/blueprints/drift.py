# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a blueprint and the platform differ, which of them was changed, and which of them prevails."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from ..._api.errors import HostedError
from ..._api.text import HIDDEN
from ..._api.values import ServiceStatus
from ..shared.fingerprints import Fingerprints
from ..shared.options import StateDirOptions
from ..shared.plan import Plan
from ..shared.task_errors import Ambiguous, Invalid, NoSuchItem, WaitEnded
from .applied import ENTRY, as_text, name_path, path_of
from .contents import Contents
from .document import Entry
from .export import Export
from .members import described_entries, names_in
from .needed import needed_for
from .parts import Part, service_ids

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

    @property
    def path(self) -> str:
        """Where it is in the blueprint."""
        return ".".join(filter(None, (self.section, self.key, self.field)))

    @property
    def line(self) -> str:
        """The difference in one line, for people."""
        who = {FILE: "; changed in the file", PLATFORM: "; changed on the platform", None: ""}
        wins = {FILE: "; the file prevails", PLATFORM: "; the platform prevails", None: ""}
        return f"{self.path}: {self.said}{who[self.changed_by]}{wins[self.prevails]}"

    def as_dict(self) -> dict[str, Any]:
        """Return it for results."""
        given = {name: value for name, value in asdict(self).items() if name != "said"}
        return {**given, "path": self.path, "line": self.line, "drift": self.kind in DRIFT}


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

    def differences(self) -> list[Difference]:
        """Return what differs, in the order of the blueprint's parts."""
        return list(self._differences())

    def _differences(self) -> Iterator[Difference]:
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
                yield self._not_compared(part)
            elif entry is None:
                yield from self._of_project(part)
            else:
                found = list(self._of_entry(entry, part, part.plan))
                if any(each.kind == MISSING or each.field == "image" for each in found):
                    told.add(place)
                yield from found

    def _refused(self, part: Part, error: HostedError, field: str | None = None) -> Difference:
        """Return what an apply would be refused for."""
        if not isinstance(error, OF_THE_FILE):
            raise error
        return difference(part, REFUSED, f"cannot be applied: {error.message}", field=field)

    def _not_compared(self, part: Part) -> Difference:
        """Return that a part was not compared, because what it needs cannot be applied."""
        blocked = part.blocked_by
        reason = f", because {blocked.label} cannot be applied" if blocked is not None else ""
        return difference(part, UNKNOWN, f"not compared{reason}; mend that, and compare again")

    def _of_project(self, part: Part) -> Iterator[Difference]:
        """Yield what differs of the project itself."""
        if part.plan is not None and part.plan.changed:
            said = f"an apply would {'; '.join(part.plan.actions)}"
            yield difference(part, MISSING, said, prevails=FILE)

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
        """Return that a field differs."""
        by = None
        if field is not None and field in entry.values:
            by = self._changed_by(path_of(entry, field), as_text(entry.values[field]))
        values = {"file": file, "platform": platform}
        return difference(entry, DIFFERS, said, field=field, changed_by=by, prevails=FILE, **values)

    def _of_fields(self, entry: Entry, plan: Plan) -> Iterator[Difference]:
        """Yield the fields of a service that differ."""
        before, after = (side if isinstance(side, Mapping) else {} for side in (plan.before, plan.after))
        fields = [name for name in after if name not in NOT_FIELDS and after[name] != before.get(name)]
        for name in fields:
            yield self._of_field(entry, FIELDS.get(name, name), before.get(name), after[name])
        if not fields:
            yield self._differs(entry, None, None, None, f"an apply would {'; '.join(plan.actions)}")

    def _of_field(self, entry: Entry, field: str, old: Any, new: Any) -> Difference:
        """Return that a field has another value. A command that was encrypted is not shown."""
        if field == "command" and entry.hides_command:
            old, new = HIDDEN, HIDDEN
        said = f"{describe(new)} in the file, {describe(old)} on the platform"
        return self._differs(entry, field, new, old, said)

    def _of_environment(self, entry: Entry, plan: Plan) -> Iterator[Difference]:
        """Yield what differs of an environment, of which the platform shows nothing."""
        found = plan.result
        if not plan.changed:
            return
        if not found["known_before"]:
            said = "this controller has not written it, and the platform does not show it"
            yield difference(entry, UNKNOWN, said, field="environment")
            return
        kinds = ("added", "changed", "removed")
        names = "; ".join(f"{kind} {', '.join(found[kind])}" for kind in kinds if found[kind])
        said = f"not as last written: {names}"
        yield difference(entry, DIFFERS, said, field="environment", changed_by=FILE, prevails=FILE)

    def _of_image(self, entry: Entry, part: Part, plan: Plan) -> Iterator[Difference]:
        """Yield that another image runs, or none, or with another command.

        A deploy for a new environment is no difference of the image.
        """
        before, after = (side if isinstance(side, Mapping) else {} for side in (plan.before, plan.after))
        again = part.resource.name == "app_deploy" and before.get("digest") == after.get("digest")
        if plan.changed and not again:
            said = f"an apply would {'; '.join(plan.actions)}"
            file, platform = entry.values["image"], before.get("digest")
            yield self._differs(entry, "image", file, platform, said)
        if "command" in after:  # which the deploy brings along
            yield self._of_field(entry, "command", before.get("command"), after["command"])

    def _changed_by(self, path: str, value: str) -> str | None:
        """Return whether the file or the platform was changed since the last apply."""
        if not self.last.known:
            return None
        return PLATFORM if self.last.prints.get(path) == self.last.of(path, value) else FILE

    def added_by(self, name: str) -> str | None:
        """Return where a service that the file lacks came from: a file that had it, or the platform."""
        if not self.last.known:
            return None
        return FILE if name_path(name) in self.last.prints else PLATFORM


def not_in_file(options: StateDirOptions, export: Export, comparison: Comparison) -> list[Difference]:
    """Return what a project has and its blueprint does not describe, also if its creation failed.

    What a relocation needs is no drift: prune leaves it alone as well.
    """
    described = service_ids(comparison.parts)
    entries = described_entries(comparison.contents)
    names = {entry.name for entry in entries if "id" not in entry.values}
    found = [
        (section, entry, how)
        for sections, how in ((export.sections, ""), (export.failed, ", and its creation failed"))
        for section, entries_there in sections.items()
        for entry in entries_there
        if entry.id not in described and entry.name not in names
    ]
    needed = needed_for(options, names_in(comparison.contents)) if found else None
    differences = []
    for section, entry, how in found:
        why = needed(entry) if needed else None
        differences.append(
            Difference(
                kind=NOT_IN_FILE if why is None else UNKNOWN,
                section=section,
                key=entry.key,
                platform=dict(entry.values),
                changed_by=comparison.added_by(entry.name),
                prevails=PLATFORM,
                said=f"{entry.name!r} ({entry.id}) is not in the file{how}{f': {why}' if why else ''}",
            )
        )
    return differences


def describe(value: Any) -> str:
    """Return a value for a line."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {each}" for name, each in value.items())
    return "nothing" if value in (None, "") else str(value).lower() if isinstance(value, bool) else str(value)
