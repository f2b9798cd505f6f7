# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Time zones by their names."""

from __future__ import annotations

from datetime import UTC
from zoneinfo import ZoneInfo

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.time_zones import (
    time_zone,
    zone_named,
)


def test_a_zone_is_known_by_its_name() -> None:
    """UTC needs no database, and none is the local time."""
    assert time_zone(None) is None
    assert zone_named("UTC") is UTC
    assert zone_named("Europe/Paris") == ZoneInfo("Europe/Paris")


@pytest.mark.parametrize("name", ["Mars/Crater", "", "../../etc/passwd"])
def test_an_unknown_zone_is_refused(name: str) -> None:
    """With its name."""
    with pytest.raises(Invalid, match="is not known here"):
        zone_named(name)
