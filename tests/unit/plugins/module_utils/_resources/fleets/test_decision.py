# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a container was started since a restart was begun."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from ansible_collections.hosted.services.plugins.module_utils._api.models import Metrics
from ansible_collections.hosted.services.plugins.module_utils._resources.fleets.decision import started_since

NOW = datetime(2027, 3, 1, tzinfo=UTC)


def test_a_restart_that_happened_is_seen_by_the_uptime() -> None:
    """Only of a container that runs, and whose uptime is told."""

    def sample(**fields: Any) -> Metrics:
        return Metrics.model_validate({"state": "running", **fields})

    begun = NOW - timedelta(seconds=30)
    assert started_since(sample(uptimeSeconds=31), begun, NOW)
    assert not started_since(sample(uptimeSeconds=32), begun, NOW)
    assert not started_since(sample(uptimeSeconds=3, state="stopping"), begun, NOW)
    assert not started_since(sample(uptimeSeconds=None), begun, NOW)
    assert not started_since(None, begun, NOW)
