# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Samples of the random plays that judge money: their prices against the bill, and their budgets.

Each comes with proof that the judge sees a lie, or a budget that is broken. `make test-billed` and
`make test-budget` run as many as you like; `test_costs.py` reads what ansible-playbook writes to its file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources import service
from ansible_collections.hosted.services.plugins.plugin_utils._cost.summary import Entry, read_result
from faults.runner import Runner, runner
from hosted_sandbox.embedded import Embedded
from hosted_sandbox.gaps import Profile
from hosted_sandbox.testing import Sandbox
from money import billed
from money.billed import Outcome, run_on
from money.budget import Result, Stage
from money.budget_plays import LARGE, BudgetPlay, Change, Limits, RunOf, draw_play, price
from money.plays import MoneyTask, Play, plays

BASE = {"cpu_cores": 1, "ram_gb": 2, "storage_gb": 20}
SAMPLE = (1, 6, 14)
"""One without faults, two runs at once, and one with faults, each on another profile."""
SLOW_LIST = {"route": "GET /api/resources", "kind": "latency", "latency": 1.0, "count": None}
"""What is read is old when it arrives, so that parallel tasks decide by the same figures."""


# --- Prices ---------------------------------------------------------------------------------------------


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
            after = entry.amount("monthly_after")
            wrong = {} if after is None else {"monthly_after": str(after + Decimal("0.10"))}
            yield replace(entry, cost={**entry.cost, **wrong}) if "order" in entry.moves else entry

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


# --- Budgets --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def platform() -> Iterator[Sandbox]:
    """A sandbox of its own: what is called here is no part of what the other tests cover."""
    with Sandbox() as sandbox:
        yield sandbox


def problems(platform: Sandbox, folder: Path, seed: int, profile: str) -> Sequence[str]:
    result = Stage(platform, folder).run(draw_play(seed), profile)
    assert result.tasks > 0
    return result.problems


@pytest.mark.parametrize("seed", SAMPLE)
def test_a_sample_of_plays_stays_within_its_budget(platform: Sandbox, tmp_path: Path, seed: int) -> None:
    assert problems(platform, tmp_path, seed, Profile.NAMES[seed % 3]) == []


def parallel_orders() -> BudgetPlay:
    """Return a play of five hosts, each of which orders at the same time; one order fits."""
    order = Change(1, "order", LARGE, "shop")
    run = RunOf("a", [f"a{number}" for number in range(1, 6)], [order], looped=False)
    limits = Limits(account=price(LARGE) * 3 / 2, places={"account": "variable"})
    return BudgetPlay(0, "quiet", [run], limits, faults=[SLOW_LIST])


def above(result: Result) -> bool:
    """Tell whether a play went above its budget."""
    return any(
        Decimal(text.split(" costs ")[1].split(",")[0]) > price(LARGE) for text in result.verdict.breaches
    )


@pytest.mark.night
def test_parallel_tasks_keep_the_budget(platform: Sandbox, tmp_path: Path) -> None:
    result = Stage(platform, tmp_path).run(parallel_orders())
    assert result.problems == []
    assert (result.verdict.commitments, result.verdict.refusals) == (1, 4)


@pytest.mark.night
@pytest.mark.parametrize("defect", ["blind", "stale"])
def test_a_guard_with_a_defect_is_caught(platform: Sandbox, tmp_path: Path, defect: str) -> None:
    """One ignores what parallel tasks reserve; the other does not look again before the call."""
    result = Stage(platform, tmp_path, planted=defect).run(parallel_orders())
    assert above(result)


@pytest.mark.night
def test_a_refusal_of_what_fits_is_caught(platform: Sandbox, tmp_path: Path) -> None:
    order = Change(1, "order", LARGE, "shop")
    run = RunOf("a", ["a1"], [order])
    limits = Limits(account=price(LARGE), places={"account": "option"})
    stage = Stage(platform, tmp_path)
    assert stage.run(BudgetPlay(0, "quiet", [run], limits)).problems == []
    result = Stage(platform, tmp_path, planted="stingy").run(BudgetPlay(0, "quiet", [run], limits))
    [told] = result.problems
    assert "refusal of what fits: t1 order of t1-a1 (+10.74)" in told
