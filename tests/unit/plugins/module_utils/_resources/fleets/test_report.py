# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the result tells of a fleet: each service, the whole, and when the run has failed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.errors import HostedError
from ansible_collections.hosted.services.plugins.module_utils._resources.fleets.decision import leave
from ansible_collections.hosted.services.plugins.module_utils._resources.fleets.memory import Memory
from ansible_collections.hosted.services.plugins.module_utils._resources.fleets.report import (
    Report,
    outcome_of,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.fleets.rollout import Gate, NotBegun
from ansible_collections.hosted.services.plugins.module_utils._resources.services.many_services import (
    ServiceJob,
    SomeFailed,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Plan, Step
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from unit.plugins.fakes import FakeClient
from unit.plugins.module_utils._resources.fleets.test_members import member_of

NAMES = ("web", "db", "idle")
RESTART = Step("restart it", lambda: None)


class Shop:
    """A fleet of three services, the ids of which are their names, and its report."""

    def __init__(self, folder: Path, allowed: int = 0, check_mode: bool = False, memory: Any = None) -> None:
        client = FakeClient()
        for name in NAMES:
            client.add_service(name, name)
        first = member_of(folder)
        self.task = first.job.task
        self.task.check_mode = check_mode
        self.members = {name: self.add(folder, client, name, memory or first.memory) for name in NAMES}
        self.jobs = {name: member.job for name, member in self.members.items()}
        self.gate: Gate[ServiceJob] = Gate(self.jobs, {"idle": {"db"}}, allowed, lambda job: job.label)
        batches = [["web", "db"], ["idle"]]
        self.report = Report(self.task, list(self.jobs.values()), self.members, batches, self.gate)

    def add(self, folder: Path, client: FakeClient, name: str, memory: Memory) -> Any:
        """Return a member, planned to be restarted."""
        member = member_of(folder)
        member.service = member.job.service = client.service(name)  # type: ignore[assignment]
        member.memory, member.batch = memory, 1
        member.job.plan = Plan({}, [RESTART])
        return member

    @property
    def told(self) -> dict[str, Any]:
        """What the result says of the whole."""
        self.report.tell()
        found: dict[str, Any] = self.task.effects.facts["fleet"]
        return found


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    """A fleet in which none may fail."""
    return Shop(tmp_path)


def outcomes(entries: Any) -> dict[str, str]:
    """Return what became of each service."""
    return {one["service"]: one["outcome"] for one in entries}


# --- Services ---------------------------------------------------------------------------------------


def test_an_entry_has_the_batch_and_the_outcome(shop: Shop) -> None:
    """Beside all that a job tells, in the order of the task."""
    shop.members["db"].batch = 2
    first, second, _third = shop.report.entries(ServiceJob.planned)
    assert first == {
        **shop.jobs["web"].entry(["restart it"]),
        "batch": 1,
        "outcome": "changed",
    }
    assert (second["service_id"], second["batch"]) == ("db", 2)


def test_what_was_not_begun_neither_failed_nor_changed(shop: Shop) -> None:
    """Though a plan for it was made."""
    job = shop.jobs["web"]
    job.error = NotBegun("not begun: why")
    entry = shop.report.entry(job, job.planned())
    assert (entry["failed"], entry["changed"], entry["actions"]) == (False, False, [])
    assert (entry["msg"], entry["outcome"]) == ("not begun: why", "not begun")
    job.error = Invalid("broken")
    entry = shop.report.entry(job, job.planned())
    assert (entry["failed"], entry["actions"], entry["msg"]) == (True, ["restart it"], "broken")


def test_what_is_left_alone_says_why(shop: Shop) -> None:
    """Unless it has an error, which says more."""
    shop.members["web"].verdict = leave("it is suspended")
    entry = shop.report.entry(shop.jobs["web"], [])
    assert (entry["msg"], entry["outcome"]) == ("it is suspended", "left alone")
    shop.jobs["web"].error = Invalid("broken")
    assert shop.report.entry(shop.jobs["web"], [])["msg"] == "broken"


def test_a_service_that_nothing_was_decided_on_has_an_entry(shop: Shop) -> None:
    """Without a batch."""
    job = ServiceJob(shop.task, wanted="bucket", by_name=False, skipped="skipped: it has no power")
    entry = shop.report.entry(job, [])
    assert (entry["service"], entry["service_id"], entry["batch"]) == ("bucket", None, None)
    assert (entry["msg"], entry["outcome"]) == ("skipped: it has no power", "skipped")


@pytest.mark.parametrize(
    ("error", "skipped", "left_alone", "expected"),
    [
        (Invalid("x"), "skipped", "left", "failed"),
        (NotBegun("x"), "skipped", "left", "not begun"),
        (None, "skipped", "left", "skipped"),
        (None, None, "left", "left alone"),
        (None, None, None, "changed"),
    ],
)
def test_the_outcome(
    shop: Shop, error: HostedError | None, skipped: str | None, left_alone: str | None, expected: str
) -> None:
    """What is worse comes first."""
    job = shop.jobs["web"]
    job.error, job.skipped = error, skipped
    assert outcome_of(job, {"changed": True}, left_alone) == expected
    job.error = job.skipped = None
    assert outcome_of(job, {"changed": False}, None) == "unchanged"


# --- The whole --------------------------------------------------------------------------------------


def test_the_whole_is_told_by_names(shop: Shop) -> None:
    """What failed, what was not begun, and what was left alone."""
    shop.jobs["db"].error, shop.jobs["idle"].error = Invalid("broken"), NotBegun("not begun")
    shop.members["web"].verdict = leave("it is suspended")
    assert shop.told == {
        "name": "shop",
        "state": "restarted",
        "batches": [["web", "db"], ["idle"]],
        "goes_on_since": None,
        "done_before": [],
        "failures": 1,
        "max_failures": 0,
        "failed": ["db"],
        "not_begun": ["idle"],
        "left_alone": ["web"],
        "cost": None,
    }


def test_how_far_an_earlier_run_came_is_noted_at_once(tmp_path: Path) -> None:
    """What this run does is not added, nor is a service told that is not in the fleet."""
    memory = member_of(tmp_path).memory
    memory.record.begin(member_of(tmp_path).job.task.options.what, False)
    memory.record.done |= {"web", "gone"}
    shop, since = Shop(tmp_path, memory=memory), memory.record.since
    memory.record.done.add("db")
    memory.record.end()
    assert since is not None and shop.told["goes_on_since"] == since.isoformat()
    assert shop.told["done_before"] == ["web"]
    memory.record.begin("something else", False)
    memory.record.done.add("web")
    other = Shop(tmp_path, memory=memory)
    assert (other.told["goes_on_since"], other.told["done_before"]) == (None, [])


def test_check_mode_tells_what_would_be_done(tmp_path: Path) -> None:
    """Outside of it, what was done counts. What failed already has no plan, and no batch."""
    for check_mode, actions in ((True, ["restart it"] * 2), (False, [])):
        shop = Shop(tmp_path, check_mode=check_mode)
        shop.report.batches = [["db"], ["idle"]]
        shop.jobs["web"].error, shop.jobs["web"].plan = Invalid("broken"), None
        failure = shop.report.failure()
        assert failure is not None and failure.details["actions"] == actions


def price(service: str, change: str | None) -> dict[str, Any]:
    """Return the entry of a service with a price of 1.00 before."""
    known = {"monthly_before": "1.00", "monthly_after": "9.00", "monthly_change": change}
    return {"cost": {**known, "service": service}}


def test_the_cost_is_the_sum_of_all_that_is_known(shop: Shop) -> None:
    """With the currency, and the names of those without a price; nothing if no price changes."""
    shop.task.client.currency = "EUR"  # type: ignore[attr-defined]
    entries = [price("web", "8.10"), {"cost": None}, {}, price("db", None), price("idle", "-0.05")]
    assert shop.report.cost(entries) == {
        "monthly_before": "2.00",
        "monthly_after": "18.00",
        "monthly_change": "8.05",
        "currency": "EUR",
        "unpriced": ["db"],
    }
    assert shop.report.cost([{"cost": None}, {}]) is None


# --- Errors -----------------------------------------------------------------------------------------


def test_without_a_failure_there_is_no_error(shop: Shop) -> None:
    """And the whole is told."""
    assert shop.report.failure() is None
    assert shop.task.effects.facts["fleet"]["failures"] == 0 and shop.task.warnings == []


def test_failures_within_the_bound_are_a_warning(tmp_path: Path) -> None:
    """It says which, and why."""
    shop = Shop(tmp_path, allowed=1)
    shop.jobs["web"].error = Invalid("broken")
    assert shop.report.failure() is None
    assert shop.task.warnings == [
        "1 of 3 services failed, which max_failures allows:\n- service 'web' (web): broken"
    ]


def test_failures_beyond_the_bound_are_an_error(shop: Shop) -> None:
    """With the bound, what was not begun, and the entry of each service."""
    shop.jobs["db"].error, shop.jobs["idle"].error = Invalid("broken"), NotBegun("not begun: why")
    shop.jobs["web"].task.effects.finish("restart it")
    error = shop.report.failure()
    assert isinstance(error, SomeFailed) and error.message == (
        "1 of 3 services failed, and max_failures allows 0:\n- service 'db' (db): broken\n"
        "Not begun: service 'idle' (idle)"
    )
    assert outcomes(error.details["services"]) == {"web": "changed", "db": "failed", "idle": "not begun"}
    assert error.details["changed"] is True and error.details["actions"] == ["restart it"]
    assert shop.task.warnings == []


def test_what_was_not_begun_is_an_error_within_the_bound(tmp_path: Path) -> None:
    """Because it is not done."""
    shop = Shop(tmp_path, allowed=1)
    shop.jobs["db"].error, shop.jobs["idle"].error = Invalid("broken"), NotBegun("not begun: why")
    error = shop.report.failure()
    assert error is not None and error.message == (
        "1 of 3 services failed:\n- service 'db' (db): broken\nNot begun: service 'idle' (idle)"
    )


def test_check_mode_foresees_what_would_not_be_begun(tmp_path: Path) -> None:
    """Outside of it, the gate alone decides."""
    shop = Shop(tmp_path, allowed=1, check_mode=True)
    shop.jobs["db"].error = Invalid("broken")
    error = shop.report.failure()
    assert error is not None and outcomes(error.details["services"])["idle"] == "not begun"
    assert str(shop.jobs["idle"].error) == "not begun: it comes after service 'db' (db), which failed"
    assert shop.jobs["web"].error is None
    real = Shop(tmp_path, allowed=1)
    real.jobs["db"].error = Invalid("broken")
    assert real.report.failure() is None and real.jobs["idle"].error is None
