# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plans for backups and sleep of a blueprint: their checks, and the form in which the roles take them.

The module installs nothing. The roles `backups` and `sleep_schedule` do, with what is returned here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ..shared.budget import read_budget
from ..shared.identify import near_miss
from ..shared.money import read_amount
from ..shared.options import check_max_parallel
from ..shared.retention import read_policy, read_span
from ..shared.task_errors import Invalid
from ..shared.time_zones import zone_named
from ..sleeping.options import SleepPlanOptions, check_limits, schedule_of
from ..sleeping.schedule import days_of_exception, read_hours
from .document import Document, Entry, Path
from .schema import BackupSection, Blueprint, HoursSection, PlanSection, SleepSection

BACKUPS, SLEEP = "backups", "sleep"
VARIABLES = {BACKUPS: "backups_plans", SLEEP: "sleep_schedule_plans"}
"""The variables of the roles that take the plans of a section."""
PLAN_NAME = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?")
TIME_OF_DAY = re.compile(r"([01][0-9]|2[0-3]):[0-5][0-9]")
MAY_BE_EMPTY = (("awake",), ("exceptions",), ("start_after",), ("budget",))
RUNS = ("started", "stopped", "suspended", "resumed")
"""The states of a service that leave a plan for sleep nothing to decide."""


def read_plans(
    document: Document, form: Blueprint, entries: Sequence[Entry]
) -> dict[str, Sequence[Mapping[str, Any]]]:
    """Check the plans, and return those of each section that the blueprint has."""
    for path, __ in document.decrypted:
        if path[:1] in ((BACKUPS,), (SLEEP,)):
            document.add_problem(path, "a plan is shown, so nothing in it may be encrypted by itself")
    sections: dict[str, Mapping[str, PlanSection] | None] = {BACKUPS: form.backups, SLEEP: form.sleep}
    plans: dict[str, Sequence[Mapping[str, Any]]] = {}
    for section, found in sections.items():
        if found is not None:
            readers = [PlanReader(document, section, key, plan, entries) for key, plan in found.items()]
            plans[section] = [reader.read(form.project) for reader in readers]
            seen: dict[str, PlanReader] = {}
            for reader in readers:  # the roles keep a file for each name
                first = seen.setdefault(reader.name, reader)
                if first is not reader:
                    told = f"it has the name {reader.name!r} of {document.where(first.path)}; give it another"
                    document.add_problem(reader.path, told)
    return plans


class PlanReader:
    """One plan of a section."""

    def __init__(
        self, document: Document, section: str, key: str, plan: PlanSection, entries: Sequence[Entry]
    ) -> None:
        self.document = document
        self.path: Path = (section, key)
        self.plan = plan
        self.entries = {entry.key: entry for entry in entries}
        sections = (document.data.get(each) for each in ("services", "applications"))
        self.keys = [str(key) for each in sections if isinstance(each, Mapping) for key in each]
        """Of all entries, those that are wrong themselves included."""
        self.name = plan.name or key

    def read(self, project: str) -> dict[str, Any]:
        """Check the plan, and return it as its role takes it."""
        before = len(self.document.problems)
        self.check_common()
        if isinstance(self.plan, BackupSection):
            self.check_backups(self.plan)
        if isinstance(self.plan, SleepSection):
            self.check_sleep(self.plan)
            if len(self.document.problems) == before:
                self.note((), check_whole, self.name, self.plan, self.calendar)
        given = self.plan.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude_none=True)
        plan = {**given, "name": self.name, "project": project}
        for option in {"services", "may_skip"} & plan.keys():
            plan[option] = [self.target(key) for key in plan[option]]
        if "start_after" in plan:
            order = plan["start_after"].items()
            plan["start_after"] = {self.target(key): [*map(self.target, needs)] for key, needs in order}
        if "calendar" in plan:
            plan["calendar"] = self.calendar
        return plan

    def problem(self, where: Path, message: str) -> None:
        """Note what is wrong at a place below the plan."""
        self.document.add_problem((*self.path, *where), message)

    def note(self, where: Path, check: Callable[..., object], *given: Any) -> None:
        """Run a check of what is below the plan, and note what it refuses."""
        self.document.note((*self.path, *where), check, *given)

    def target(self, key: str) -> str:
        """Return what the roles find a service by: its id if the blueprint has it, else its name."""
        entry = self.entries.get(key)
        return str(entry.values.get("id") or entry.name) if entry else key

    # --- Both kinds ---------------------------------------------------------------------------------

    def check_common(self) -> None:
        """Check what plans of both kinds have."""
        if not PLAN_NAME.fullmatch(self.name):
            self.problem(
                ("name",) if self.plan.name else (),
                f"the name {self.name!r} of a plan must be of lowercase letters, digits and hyphens, and "
                "begin and end with a letter or a digit",
            )
        for where in empty_in(self.plan.model_dump(by_alias=True, exclude_unset=True, exclude_none=True)):
            self.problem(where, "it is empty; give it a value, or leave it out")
        self.check_keys(("services",), self.plan.services or ())
        if self.plan.max_parallel is not None:
            self.note(("max_parallel",), check_max_parallel, self.plan.max_parallel)
        if self.plan.wait_timeout is not None and not 0 <= self.plan.wait_timeout < float("inf"):
            self.problem(("wait_timeout",), "it must be a number of seconds of 0 or more")

    def check_keys(self, where: Path, keys: Sequence[str]) -> None:
        """Note the keys that the blueprint does not have."""
        for number, key in enumerate(keys):
            if key and key not in self.keys:
                hint = near_miss(key, self.keys)
                self.problem((*where, number), f"{key!r} is no service or application of this file{hint}")

    # --- Backups ------------------------------------------------------------------------------------

    def check_backups(self, plan: BackupSection) -> None:
        """Check what only a plan for backups has."""
        self.check_keys(("may_skip",), plan.may_skip or ())
        if plan.at is not None and not TIME_OF_DAY.fullmatch(plan.at):
            self.problem(("at",), f"it is {plan.at!r}; write a time from 00:00 to 23:59, such as 02:00")
        for name in ("max_age", "critical_age"):
            self.note((name,), read_span, getattr(plan, name))
        if plan.offsite is not None and not os.path.isabs(plan.offsite.dest):
            self.problem(("offsite", "dest"), "it must be an absolute path on the machine of the runs")
        rules = plan.keep.model_dump(exclude_unset=True, exclude_none=True)
        zone = rules.pop("time_zone", "UTC")
        self.note(("keep", "time_zone"), zone_named, zone)
        below = [name for name, count in rules.items() if isinstance(count, int) and count < 0]
        for name in below:
            self.problem(("keep", name), f"it is {rules[name]}; it must be 0 or more")
        if not below:
            self.note(("keep",), check_policy, rules, self.name)

    # --- Sleep --------------------------------------------------------------------------------------

    @property
    def calendar(self) -> str | None:
        """The absolute path of the calendar. A relative one begins at the folder of the file."""
        given = self.plan.calendar if isinstance(self.plan, SleepSection) else None
        return given and os.path.join(self.document.folder, os.path.expanduser(given))

    def check_sleep(self, plan: SleepSection) -> None:
        """Check what only a plan for sleep has."""
        known = self.keys if plan.services is None else plan.services
        for key, needs in (plan.start_after or {}).items():
            for where, each in [((), key), *(((number,), need) for number, need in enumerate(needs))]:
                if each and each not in known:
                    told = f"{each!r} is no service of the plan{near_miss(each, known)}"
                    self.problem(("start_after", key, *where), told)
        if plan.budget is not None:
            self.note(("budget",), read_budget, plan.budget, "budget")
        if plan.max_monthly is not None:
            self.note(("max_monthly",), read_amount, plan.max_monthly, "max_monthly")
        self.check_calendar(plan)
        # Each run of the blueprint would undo what the plan did to a service whose state is fixed.
        for entry in (self.entries[key] for key in known if key in self.entries):
            if entry.values.get("state") in RUNS:
                self.document.add_problem(
                    (*entry.path, "state"),
                    f"the plan {self.document.where(self.path)} decides whether it runs; remove one of them",
                )

    def check_calendar(self, plan: SleepSection) -> None:
        """Check each time of the calendar where it is written. The whole is checked if nothing is wrong."""
        if plan.time_zone:
            self.note(("time_zone",), zone_named, plan.time_zone)
        windows: dict[Path, HoursSection] = {("awake", n): each for n, each in enumerate(plan.awake or ())}
        for number, exception in enumerate(plan.exceptions or ()):
            where = ("exceptions", number)
            self.note(where, days_of_exception, exception.date, exception.until)
            windows |= {(*where, "awake", n): each for n, each in enumerate(exception.awake)}
        for path, window in windows.items():
            self.note(path, read_hours, window.begins or "00:00", window.ends or "24:00")
        if self.calendar is not None and not os.path.isabs(self.calendar):
            self.problem(("calendar",), "it must be an absolute path, as there is no file that it is beside")


def empty_in(value: Any, path: Path = ()) -> Iterator[Path]:
    """Yield where a plan holds nothing. To a role, that would be the same as to leave it out."""
    if isinstance(value, str) and not value.strip():
        yield path
    elif isinstance(value, (Mapping, list)):
        if not value and path[-1:] not in MAY_BE_EMPTY:
            yield path
        pairs = value.items() if isinstance(value, Mapping) else enumerate(value)
        for key, inner in pairs:
            yield from empty_in(inner, (*path, key))


def check_policy(rules: Mapping[str, Any], name: str) -> None:
    """Check that a plan keeps something, in the words of a blueprint."""
    try:
        read_policy({f"keep_{rule}": count for rule, count in rules.items()}, f"{name}-*", zone_named("UTC"))
    except Invalid as error:
        raise Invalid(error.message.replace("keep_", "")) from None


def check_whole(name: str, plan: SleepSection, calendar: str | None) -> None:
    """Check a plan for sleep as its module does.

    :raises HostedError: if it contradicts itself, says nothing, or names a calendar that cannot be read.
    """
    given = plan.model_dump(exclude_unset=True, exclude_none=True)
    options = SleepPlanOptions.from_ansible({**given, "name": name, "calendar": calendar})
    check_limits(options)
    schedule_of(options)
