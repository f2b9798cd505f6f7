# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosts that two sources of an inventory call alike."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.plugin_utils._inventory.hosts import (
    is_other_source,
    warning_of_conflicts,
)

NEW = {"hosted_service_id": "1", "hosted_url": "https://a.example.com", "hosted_token_env": "A"}
BY_FILE = {"hosted_token_env": None, "hosted_token_file": "A"}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, False),
        ({"hosted_url": "https://a.example.com/"}, False),
        ({"hosted_service_id": "2"}, True),
        ({"hosted_url": "https://b.example.com"}, True),
        ({"hosted_token_env": "B"}, True),
        ({"hosted_token_env": None}, True),
        (BY_FILE, True),
        ({"hosted_token_handed_on": False}, True),
        ({"hosted_service_id": None, "hosted_url": None, "hosted_token_env": "B"}, False),
        ({"hosted_service_id": None, "hosted_url": "https://b.example.com"}, True),
        ({"hosted_service_id": None, "hosted_token_env": "B"}, False),
        ({"hosted_url": None, "hosted_token_env": None}, False),
    ],
)
def test_is_another(changes: dict[str, Any], expected: bool) -> None:
    """What names no service adds to a host; otherwise service, platform and token have to be the same."""
    there = {name: value for name, value in {**NEW, **changes}.items() if value is not None}
    assert is_other_source(there, NEW) is expected


def test_the_error_names_three_hosts_and_counts_the_others() -> None:
    there = {f"h{n}": {**NEW, "hosted_service_id": f"old-{n}"} for n in range(5)}
    message = warning_of_conflicts(there, dict.fromkeys((*there, "free"), NEW))
    for n in range(3):
        assert f"h{n} is service old-{n} on https://a.example.com (token_env A) there" in message
    assert "; and 2 more. " in message
    assert "h3" not in message and "free" not in message
