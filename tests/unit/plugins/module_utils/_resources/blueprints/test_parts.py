# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parts: which are planned for real and which foreseen, in which order they run, what an error stops.

BLUEPRINT_GRAPHS is the number of random graphs (stage release-histories).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.hosted.services.plugins.module_utils._api.errors import HostedError
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.parts import Part, Parts
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.report import Report
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.effects import Effects
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.options import Options
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import (
    Composition,
    Plan,
    Resource,
    Step,
    Task,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.runner import apply_plan
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from unit.plugins.module_utils._resources.shared.test_runner import new_task


class Account:
    """What there is by now, and what was done to it in which order."""

    def __init__(self, there: Sequence[str] = (), broken: Sequence[str] = ()) -> None:
        self.there = set(there)
        self.broken = set(broken)
        self.lines: list[str] = []
        self.lock = threading.Lock()


class Thing(Resource[Options]):
    """Something that needs other things, and cannot be planned for real before they are there."""

    result_key = "thing"
    name = "thing"

    def __init__(self, account: Account, key: str, needs: Sequence[str]) -> None:
        self.account, self.key, self.needs = account, key, needs

    def plan(self, task: Task[Options]) -> Plan:
        missing = set(self.needs) - self.account.there
        if missing and not task.check_mode:
            raise Invalid(f"{missing} is not there")
        if self.key in self.account.there:
            return Plan(result={"id": self.key})
        return Plan(result={"id": None}, steps=[Step(f"make {self.key}", self.make)], after={"key": self.key})

    def make(self) -> None:
        with self.account.lock:
            assert set(self.needs) <= self.account.there
            if self.key in self.account.broken:
                raise HostedError(f"{self.key} is broken")
            self.account.there.add(self.key)
            self.account.lines.append(self.key)


def parts_of(account: Account, needs: Mapping[str, Sequence[str]], check_mode: bool = False) -> Parts:
    """Return parts for a graph whose nodes come after those that they need."""
    task = new_task()
    task.check_mode = check_mode
    found: dict[str, Part] = {}
    for key, keys in needs.items():
        own = Task(task.client, Options(), check_mode, effects=Effects(), composition=Composition(part=True))
        thing = Thing(account, key, keys)
        found[key] = Part(own, "things", key, key, thing, lambda part: {}, [found[each] for each in keys])
    return Parts(task, list(found.values()), max_parallel=4)


def apply(parts: Parts) -> Report:
    """Plan and apply all parts."""
    parts.make_plans()
    report = Report(parts.task, parts.found)
    apply_plan(Plan(result=[], steps=parts.steps()), parts.task)
    return report


def test_an_error_stops_what_needs_it_and_nothing_else() -> None:
    account = Account(broken=["a"])
    report = apply(parts_of(account, {"a": (), "b": ["a"], "c": ["b"], "d": ()}))
    assert account.lines == ["d"]
    failure = report.failure()
    assert failure is not None
    assert failure.message.startswith("1 of 4 parts failed:\n- thing 'a': a is broken\nNot begun")
    entries = {entry["key"]: entry for entry in failure.details["parts"]}
    assert [entries[key]["failed"] for key in "abcd"] == [True, False, False, False]
    assert [entries[key]["skipped"] for key in "abcd"] == [False, True, True, False]
    assert entries["c"]["msg"] == "not begun, because thing 'a' failed"
    assert failure.details["changed"]
    assert failure.details["actions"] == ["make d"]


def test_what_one_part_makes_was_not_there_before_another_part_of_it() -> None:
    """Such as a service that is ordered, and started once it was restored."""
    parts = parts_of(Account(), {"a": (), "b": ()})
    first, second = parts.found
    second.name, second.key = first.name, first.key
    first.plan = Plan(result={}, after={"status": "ACTIVE", "state": "stopped"})
    second.plan = Plan(result={}, before={"state": "stopped"}, after={"state": "running"})
    plan = Plan(result=[])
    Report(parts.task, parts.found).update(plan)
    assert (plan.before, plan.after) == ({}, {"thing 'a' status": "ACTIVE", "thing 'a' state": "running"})


KEYS = [f"k{number}" for number in range(10)]


@st.composite
def graphs(draw: st.DrawFn) -> dict[str, list[str]]:
    """Return a graph in which each node needs only earlier ones."""
    return {
        key: draw(st.lists(st.sampled_from(KEYS[:number]), max_size=3, unique=True)) if number else []
        for number, key in enumerate(KEYS)
    }


@settings(max_examples=int(os.environ.get("BLUEPRINT_GRAPHS", "100")), deadline=None)
@given(graphs(), st.sets(st.sampled_from(KEYS)), st.sets(st.sampled_from(KEYS), max_size=2))
def test_no_part_starts_before_what_it_needs(
    needs: dict[str, list[str]], there: set[str], broken: set[str]
) -> None:
    account = Account(there=sorted(there), broken=sorted(broken))
    report = apply(parts_of(account, needs))  # a thing asserts that all it needs is there
    made = [entry["key"] for entry in report.entries() if entry["changed"]]
    assert set(made) == set(account.lines)
    again = Account(there=sorted(account.there))
    assert apply(parts_of(again, needs)).failure() is None
    assert again.there == set(KEYS)
    assert len(account.lines) + len(again.lines) == len(set(account.lines + again.lines))
