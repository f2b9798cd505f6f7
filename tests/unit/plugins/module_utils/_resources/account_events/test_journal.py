# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What types of the activity journal say."""

from __future__ import annotations

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.models import Event
from ansible_collections.hosted.services.plugins.module_utils._resources.account_events.journal import (
    Order,
    last_order,
)


def entries(*types: str) -> list[Event]:
    """Return entries of an activity journal, oldest first."""
    return [
        Event(id=str(number), type=type, at=f"2026-01-01T00:00:{number:02}Z")
        for number, type in enumerate(types)
    ]


@pytest.mark.parametrize("type", ["POWER_STOP", "POWER_KILL", "SUSPENDED"])
def test_a_stop(type: str) -> None:
    assert last_order(entries("POWER_START", type))[0] is Order.STOP


@pytest.mark.parametrize("type", ["POWER_START", "POWER_RESTART", "PROVISIONED", "DEPLOYED"])
def test_a_start(type: str) -> None:
    assert last_order(entries("POWER_STOP", type))[0] is Order.START


@pytest.mark.parametrize(
    "type",
    ["BACKUP_RESTORED", "RESUMED", "RELEASED", "INTERVENTION", ""],
)
def test_other_entries_order_nothing(type: str) -> None:
    assert last_order(entries(type)) == (None, None)
