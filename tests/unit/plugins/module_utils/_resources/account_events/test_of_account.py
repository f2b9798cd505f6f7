# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Events about backups, money and blueprints, one poll after the other."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.models import Backup, BillingOverview
from ansible_collections.hosted.services.plugins.module_utils._resources.account_events.arguments import (
    SourceOptions,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.account_events.observation import (
    Drift,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.account_events.of_account import (
    due,
    unmatched_patterns,
)
from unit.plugins.module_utils._resources.account_events.polls import BEGIN, Polls, service, types


def backup(id: str, status: str = "COMPLETED", hours: float = 0) -> Backup:
    """Return a backup that is some hours old when the polls begin."""
    return Backup(id=id, name=id, status=status, created_at=(BEGIN - timedelta(hours=hours)).isoformat())


def overview(days: int | None = 30, balance: int | None = 1000, **cents: Any) -> BillingOverview:
    """Return the billing overview."""
    burn = {"currentDailyBurnCents": 10, **cents}
    return BillingOverview.model_validate({"daysLeftEstimate": days, "balanceCents": balance, **burn})


def look(polls: Polls, *backups: Backup, **seen: Any) -> list[dict[str, Any]]:
    """Poll, and return the events."""
    return polls.see(service(), backups={"s1": backups}, **seen)


# --- Backups ----------------------------------------------------------------------------------------


def test_backups_grow_stale_and_are_fresh_again() -> None:
    polls = Polls(backup_max_age=26.0)
    assert look(polls, backup("b", hours=25)) == []
    [event] = look(polls, backup("b", hours=25), backup("c", "PENDING"), minutes=70)
    assert (event["type"], event["max_age_hours"]) == ("backups_stale", 26)
    assert "older than 26 hours: its newest completed backup is of" in event["message"]
    assert look(polls, backup("b", hours=25)) == []
    assert types(look(polls, backup("d", hours=0))) == ["backups_fresh"]


def test_a_service_that_must_have_a_backup_is_named() -> None:
    for patterns, expected in ((None, []), (["other*"], []), (["name of *"], ["backups_stale"])):
        polls = Polls(backup_max_age=1.0, backup_services=patterns)
        old = service().model_copy(update={"created_at": (BEGIN - timedelta(days=2)).isoformat()})
        assert types(polls.see(old, backups={"s1": []})) == expected


@pytest.mark.parametrize(
    ("patterns", "age", "expected"),
    [
        (["name of *", "db-*", "*s1"], 1, ["db-*"]),
        (["Name of *"], 1, ["Name of *"]),
        (["db-*"], None, []),
        (None, 1, []),
    ],
)
def test_a_pattern_that_matches_no_service_is_found(
    patterns: list[str] | None, age: int | None, expected: list[str]
) -> None:
    rules = SourceOptions(backup_max_age=age, backup_services=patterns)
    assert unmatched_patterns(rules, [service(), service("s2")]) == expected
    assert unmatched_patterns(rules, []) == ([] if age is None else list(patterns or ()))


# --- Money ------------------------------------------------------------------------------------------


def test_an_account_that_spends_nothing_does_not_run_out() -> None:
    polls = Polls()
    assert polls.see(overview=overview(0, currentDailyBurnCents=0)) == []
    [event] = polls.see(overview=overview(0, balance=-5, currentDailyBurnCents=0))
    assert (event["type"], event["threshold_days"], event["balance"]) == ("balance_low", 1, "-0.05")


@pytest.mark.parametrize(
    ("rule", "field", "measure"),
    [
        ("max_daily_spend", "currentDailyBurnCents", "daily"),
        ("max_monthly_spend", "projectedMonthCents", "monthly"),
    ],
)
def test_spend_above_a_limit_is_told_until_it_is_not(rule: str, field: str, measure: str) -> None:
    polls = Polls(**{rule: Decimal("5")})
    assert polls.see(overview=overview(**{field: 500})) == []
    [event] = polls.see(overview=overview(**{field: 501}))
    assert (event["type"], event["measure"]) == ("spend_high", measure)
    assert (event["amount"], event["limit"]) == ("5.01", "5.00")
    assert polls.see(overview=overview(**{field: None})) == polls.see(overview=overview(**{field: 900})) == []
    assert types(polls.see(overview=overview(**{field: 100}))) == ["spend_recovered"]


# --- Blueprints -------------------------------------------------------------------------------------


def drift(polls: Polls, *paths: str) -> list[dict[str, Any]]:
    """Poll, with these differences, and return the events."""
    differences = [
        {"kind": "differs", "path": path, "file": "secret", "platform": "secret"} for path in paths
    ]
    return polls.see(drift={"games.yml": Drift("games", differences)})


def test_values_that_differ_are_not_shown() -> None:
    [event] = drift(Polls(), "services.world.variables")
    assert "secret" not in str(event)
    assert event["differences"] == [
        {"kind": "differs", "path": "services.world.variables", "changed_by": None}
    ]


def test_a_clock_that_is_set_back_stops_no_schedule() -> None:
    assert due(None, BEGIN, 3600)
    assert not due((BEGIN - timedelta(minutes=59)).isoformat(), BEGIN, 3600)
    assert due((BEGIN - timedelta(minutes=60)).isoformat(), BEGIN, 3600)
    assert due((BEGIN + timedelta(days=1)).isoformat(), BEGIN, 3600)
