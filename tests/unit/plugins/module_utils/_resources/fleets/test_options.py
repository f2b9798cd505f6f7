# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is derived from the options of a fleet."""

from __future__ import annotations

import re
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.fleets.options import (
    FleetOptions,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.services.options import Size

UPDATE: dict[str, Any] = {"state": "updated"}


def options_with(**given: Any) -> FleetOptions:
    """Return the options of a restart, or what else is given."""
    return FleetOptions(**{"name": "shop", "state": "restarted", **given})


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, True),
        ({"ca_path": "/ca.pem"}, "/ca.pem"),
        ({"validate_certs": False}, False),
        ({"validate_certs": False, "ca_path": "/ca.pem"}, False),
    ],
)
def test_how_certificates_are_verified(given: dict[str, Any], expected: bool | str) -> None:
    """As the calls to the platform do."""
    assert options_with(**given).verify == expected


def test_what_tells_one_run_from_another() -> None:
    """By all that is done to a service, and by nothing else; a command is not readable in it."""
    others: list[dict[str, Any]] = [
        {"state": "started"},
        UPDATE,
        {**UPDATE, "tag": "v1"},
        {**UPDATE, "tag": "v2"},
        {**UPDATE, "command": "v1"},
        {**UPDATE, "dimensions": Size(ram_gb=1)},
        {**UPDATE, "dimensions": Size(ram_gb=2)},
    ]
    found = [options_with(**given).what for given in others]
    assert len(set(found)) == len(others)
    assert options_with(batch_size=["2"], pause=3.0, start_over=True).what == options_with().what
    secret = options_with(**UPDATE, command="run --password=hunter2").what
    assert "hunter2" not in secret and re.fullmatch("updated [0-9a-f]{16}", secret)
