# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A sample of the random plays whose announced prices are held against the bill, and proof that it sees lies.

`make test-billed` runs as many as you like. `test_costs.py` reads what ansible-playbook writes to its file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources import service
from ansible_collections.hosted.services.plugins.plugin_utils._cost.entries import Entry, read_result
from faults.runner import Runner, runner
from hosted_sandbox.embedded import Embedded
from money import billed
from money.billed import Outcome, run_on
from money.plays import MoneyTask, Play, plays

BASE = {"cpu_cores": 1, "ram_gb": 2, "storage_gb": 20}


@pytest.fixture
def work() -> Iterator[Runner]:
    """A sandbox of its own, as its clock jumps, and what runs tasks on it in this process."""
    with Embedded() as platform, runner(platform) as work:
        yield work


@pytest.mark.parametrize("profile", ["plain", "terse"])
def test_what_a_sample_of_plays_announces_is_billed(work: Runner, profile: str) -> None:
    outcome = run_on(work, seed=1, profile=profile, count=15)
    assert outcome.problems == []
    assert outcome.largest <= 1 and outcome.unpriced == 0
    assert outcome.announced >= 5 and outcome.services >= 5


def spoil(outcome: Outcome) -> str:
    """Return the one text of all problems."""
    assert outcome.problems
    return "\n".join(outcome.problems)


@pytest.mark.night
def test_a_price_that_is_announced_wrong_is_named_by_seed_play_and_task(
    work: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = read_result

    def dearer(result: Mapping[str, Any], *rest: Any) -> Iterator[Entry]:
        for entry in right(result, *rest):
            wrong = entry.after is not None and "order" in entry.moves
            yield replace(entry, after=(entry.after or Decimal(0)) + Decimal("0.10")) if wrong else entry

    monkeypatch.setattr(billed, "read_result", dearer)
    outcome = run_on(work, seed=1, profile="plain", count=6)
    told = spoil(outcome)
    first = next(play for play in plays(1, 6, 1) if f"after play {play.number}:" in told)
    assert "plain, seed 1, after play" in told and "a month is announced" in told
    assert any(str(task) in told for task in first.tasks)
    assert outcome.largest > 1 and "in the end: " in told


@pytest.mark.night
def test_the_price_that_was_quoted_is_not_billed_for_a_creation_that_fails(
    work: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = {"name": "new", "product": "broken-game", "dimensions": BASE}
    task = MoneyTask("service", {"host": "node-paris-1", **new})
    monkeypatch.setattr(billed, "plays", lambda *given: [Play(1, [task], 10 * billed.DAY)])
    assert run_on(work, seed=1, profile="plain", count=1).problems == []
    monkeypatch.setattr(service, "note_billed", lambda *given: None)
    assert str(task) in spoil(run_on(work, seed=1, profile="plain", count=1))
