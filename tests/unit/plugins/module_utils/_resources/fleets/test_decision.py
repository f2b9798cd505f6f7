# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What to do with a service, by how it is and what is remembered of it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.models import Metrics
from ansible_collections.hosted.services.plugins.module_utils._resources.fleets.decision import (
    Situation,
    decide,
    started_since,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.fleets.options import FleetOptions

NOW = datetime(2027, 3, 1, tzinfo=UTC)
UP: dict[str, Any] = {"status": "ACTIVE", "state": "running"}
DOWN: dict[str, Any] = {"status": "ACTIVE", "state": "stopped"}


@pytest.mark.parametrize(
    ("state", "given", "case", "expected"),
    [
        ("stopped", {}, UP, "act"),
        ("stopped", {}, {**UP, "state": "stopping"}, "act"),
        ("stopped", {}, DOWN, None),
        ("stopped", {}, {"status": "SUSPENDED", "state": None}, "it is suspended"),
        ("started", {"resume": True, "only_what_ran": False}, {"status": "SUSPENDED", "state": None}, "act"),
        ("started", {"resume": True}, {"status": "SUSPENDED", "state": None}, "it is not known"),
        ("started", {}, {**DOWN, "ran": True}, "act"),
        ("started", {}, {**UP, "ran": True}, "act"),
        ("started", {}, {**DOWN, "ran": False}, "it did not run before"),
        ("started", {}, DOWN, "it is not known"),
        (
            "started",
            {},
            {**DOWN, "back": True},
            "it ran since then, and it was not the fleet that stopped it",
        ),
        ("started", {}, UP, None),
        ("started", {"only_what_ran": False}, DOWN, "act"),
        ("started", {"only_what_ran": False}, UP, None),
        ("started", {"only_what_ran": False}, {**UP, "begun": True}, "act"),
        ("started", {"only_what_ran": False}, {**UP, "begun": True, "done": True}, None),
        ("restarted", {}, UP, "act"),
        ("restarted", {}, {**UP, "done": True}, None),
        ("restarted", {}, {**DOWN, "begun": True, "done": True}, None),
        ("restarted", {}, DOWN, "it does not run"),
        ("restarted", {}, {**UP, "state": "stopping"}, "act"),
        ("updated", {"tag": "v1"}, {**UP, "state": "stopping"}, "act"),
        ("restarted", {}, {**DOWN, "begun": True}, "act"),
        ("updated", {"tag": "v1"}, DOWN, "it does not run"),
        ("updated", {"tag": "v1"}, {**UP, "begun": True, "done": True}, "act"),
        ("updated", {"tag": "v1"}, {**DOWN, "begun": True}, "act"),
        ("updated", {"tag": "v1"}, {**DOWN, "begun": True, "done": True}, "it does not run"),
        ("updated", {"command": "x"}, DOWN, "act"),
        ("updated", {"command": "x"}, {**UP, "begun": True, "done": True}, "act"),
    ],
)
def test_decisions(state: Any, given: dict[str, Any], case: dict[str, Any], expected: str | None) -> None:
    """An act, nothing, or the reason for leaving it alone."""
    verdict = decide(Situation(**case), FleetOptions(name="a", state=state, **given))
    assert verdict.act == (expected == "act")
    assert (verdict.left_alone or "").startswith(expected or "") or verdict.act
    assert (verdict.left_alone is None) == (expected in ("act", None))


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
