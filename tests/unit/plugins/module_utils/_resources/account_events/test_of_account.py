# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Events about backups, money and blueprints, one poll after the other."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

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

# --- Backups ----------------------------------------------------------------------------------------


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
