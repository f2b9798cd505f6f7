# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Random fleets, run for real: how many at once, in which order, and what is begun once some fail."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.hosted.services.plugins.module_utils._api.errors import HostedError
from ansible_collections.hosted.services.plugins.module_utils._resources.fleets.batches import (
    Share,
    batch_sizes,
    plan_batches,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.fleets.rollout import (
    Gate,
    NotBegun,
    Rollout,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.services.start_order import order_of
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Branch, Plan, Step
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.runner import apply_plan
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from unit.plugins.module_utils._resources.shared.test_runner import new_task

IDS = list("abcdefgh")
FLEETS = st.lists(st.sampled_from(IDS), unique=True, min_size=1)
REFERENCES = st.dictionaries(st.sampled_from(IDS), st.sets(st.sampled_from(IDS), max_size=2))


class Fleet:
    """Services, some of which fail, and what was seen of them."""

    def __init__(self, ids: list[str], before: dict[str, set[str]], broken: set[str], allowed: int) -> None:
        self.task = new_task()
        effects = self.task.effects
        self.branches = {id: Branch(replace(self.task, effects=effects.branch())) for id in ids}
        self.gate: Gate[Branch] = Gate(self.branches, before, allowed, self.name)
        self.broken, self.lock = broken, threading.Lock()
        self.lines: list[tuple[str, str, int]] = []
        self.under_way = self.most = 0

    def name(self, branch: Branch) -> str:
        return next(id for id, one in self.branches.items() if one is branch)

    def work(self, id: str) -> None:
        """Do the work of one service."""
        self.gate.enter(id)
        with self.lock:
            self.lines.append(("begin", id, len(self.gate.failed)))
            self.under_way += 1
            self.most = max(self.most, self.under_way)
        with self.lock:
            self.under_way -= 1
            self.lines.append(("end", id, 0))
        if id in self.broken:
            raise Invalid(f"{id} is broken")

    def run(self, batches: list[list[str]], **given: Any) -> None:
        """Run the batches."""
        steps = Rollout(batches, self.gate, **given).build(
            Step("first", lambda: None, changes=False),
            lambda id: Step(f"work on {id}", partial(self.work, id), branch=self.branches[id]),
        )
        apply_plan(Plan(result=None, steps=steps, max_parallel=4), self.task)


@settings(deadline=None)
@given(FLEETS, REFERENCES, st.sets(st.sampled_from(IDS)), st.integers(1, 4), st.integers(0, 3))
def test_random_fleets(
    ids: list[str], references: dict[str, set[str]], broken: set[str], size: int, allowed: int
) -> None:
    """Never more at once than a batch, never one begun beyond the bound, never one before what it needs."""
    before = {id: set(others) for id, others in order_of(ids, references).needs.items()}
    batches = plan_batches(ids, before, batch_sizes([Share(size)], len(ids), False))
    fleet = Fleet(ids, before, broken, allowed)
    fleet.run(batches)
    begun = [id for what, id, _failed in fleet.lines if what == "begin"]
    assert len(begun) == len(set(begun))
    assert fleet.most <= size
    assert all(failed <= allowed for what, _id, failed in fleet.lines if what == "begin")
    turn = {id: number for number, batch in enumerate(batches) for id in batch}
    places = {(what, id): number for number, (what, id, _failed) in enumerate(fleet.lines)}
    for id in begun:
        for other in (one for one in begun if turn[one] < turn[id]):
            assert places["end", other] < places["begin", id]
        assert before[id] <= set(begun) - broken
    left = {id for id, one in fleet.branches.items() if isinstance(one.error, NotBegun)}
    assert left == set(ids) - set(begun)
    assert {fleet.name(one) for one in fleet.gate.failed} == set(begun) & broken
    if not broken & set(ids):
        assert sorted(begun) == sorted(ids)


def test_pauses_are_between_batches_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not after the last one, nor once the bound is passed."""
    pauses: list[float] = []
    monkeypatch.setattr("time.sleep", pauses.append)
    told: list[str] = []
    progress: Callable[[str], None] = told.append
    Fleet(["a", "b", "c"], {}, set(), 0).run([["a"], ["b"], ["c"]], pause=5.0, progress=progress)
    assert pauses == [5.0, 5.0] and told[0] == "pausing for 5 s after batch 1 of 3"
    Fleet(["a", "b", "c"], {}, {"a"}, 0).run([["a"], ["b"], ["c"]], pause=7.0)
    assert 7.0 not in pauses


def test_what_is_not_begun_says_why() -> None:
    """It names the service that it comes after, or the bound."""
    fleet = Fleet(["a", "b", "c", "d"], {"b": {"a"}, "c": {"b"}}, {"a"}, 1)
    fleet.run([["a"], ["b"], ["c"], ["d"]])
    errors: dict[str, HostedError | None] = {id: one.error for id, one in fleet.branches.items()}
    assert str(errors["b"]) == "not begun: it comes after a, which failed"
    assert str(errors["c"]) == "not begun: it comes after b, which was not begun"
    assert errors["d"] is None
    assert not fleet.gate.passed and not fleet.gate.closed
    fleet = Fleet(["a", "d"], {}, {"a"}, 0)
    fleet.run([["a"], ["d"]])
    assert str(fleet.branches["d"].error) == "not begun: 1 failed, and max_failures allows 0"
    assert fleet.gate.closed and not fleet.gate.passed
    fleet = Fleet(["a", "d"], {}, {"a"}, 1)
    fleet.run([["a"], ["d"]])
    assert fleet.gate.failed and fleet.gate.passed
