# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What types of the activity journal say."""

from __future__ import annotations

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.models import Event
from ansible_collections.hosted.services.plugins.module_utils._resources.account_events.journal import (
    MAX_TYPES,
    Order,
    has_failed_deploy,
    last_order,
    types_of,
)


def entries(*types: str) -> list[Event]:
    """Return entries of an activity journal, oldest first."""
    return [
        Event(id=str(number), type=type, at=f"2026-01-01T00:00:{number:02}Z")
        for number, type in enumerate(types)
    ]


@pytest.mark.parametrize("type", ["POWER_STOP", "POWER_KILL", "SUSPENDED"])
def test_a_stop(type: str) -> None:
    assert last_order(entries(type)) is Order.STOP


@pytest.mark.parametrize("type", ["POWER_START", "POWER_RESTART", "PROVISIONED", "DEPLOYED"])
def test_a_start(type: str) -> None:
    assert last_order(entries(type)) is Order.START


@pytest.mark.parametrize(
    "type",
    ["BACKUP_STARTED", "SNAPSHOT_STOPPED", "POWER_START_FAILED", "RESUMED", "RELEASED", "INTERVENTION", ""],
)
def test_other_entries_order_nothing(type: str) -> None:
    assert last_order(entries(type)) is None
    assert last_order([Event(id="1", type=None)]) is None


def test_the_last_order_counts() -> None:
    assert last_order(entries("POWER_START", "POWER_STOP", "BACKUP_CREATED")) is Order.STOP
    assert last_order(entries("POWER_STOP", "POWER_START")) is Order.START


def test_a_deploy_that_failed_is_told_from_others() -> None:
    assert has_failed_deploy(entries("DEPLOY_FAILED"))
    assert not has_failed_deploy(entries("DEPLOYED", "BACKUP_FAILED"))


def test_an_event_lists_the_last_types_alone() -> None:
    many = entries(*(f"T{number}" for number in range(50)))
    assert types_of(many) == [f"T{number}" for number in range(50 - MAX_TYPES, 50)]
