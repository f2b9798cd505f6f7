# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a container counts as running for long enough, and what else its health needs."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.models import Service
from ansible_collections.hosted.services.plugins.module_utils._resources.fleets import health
from ansible_collections.hosted.services.plugins.module_utils._resources.fleets.health import Health
from ansible_collections.hosted.services.plugins.module_utils._resources.fleets.options import (
    FleetOptions,
    HealthCheckOptions,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Task
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import WaitEnded
from unit.plugins.fakes import FakeClient


def checked(
    client: Any, *checks: HealthCheckOptions, address: str | None = "10.0.0.1:80", least: float = 0.0
) -> Health:
    """Return the health of a service."""
    options = FleetOptions(name="a", state="started", healthy_for=least, wait_timeout=1.0)
    fields = {"id": "svc", "name": "web", "family": "APP", "status": "ACTIVE", "address": address}
    service = Service.model_validate(fields)
    return Health(Task(client, options), service, checks)


def test_the_uptime_decides() -> None:
    """Of a container that runs; the state of another one is told."""
    client = FakeClient()
    client.add_service("svc")
    client.uptimes["svc"] = 3
    assert checked(client, least=10.0).problem() == "it has run for 3 of 10 seconds"
    client.uptimes["svc"] = 10
    assert checked(client, least=10.0).problem() is None
    client.states["svc"] = None
    assert "its node cannot be reached" in str(checked(client).problem())


def test_a_container_that_stops_again_ends_the_wait() -> None:
    """Once it was seen so twice, as metrics may lag."""
    client = FakeClient()
    client.add_service("svc", state="stopped")
    with pytest.raises(WaitEnded, match="stopped again after it was started"):
        checked(client).wait()
    lagging = checked(client)
    for state in ("stopped", "starting", "stopped", "running", "stopped"):
        client.states["svc"] = state
        lagging.is_healthy(lagging.problem())
    with pytest.raises(WaitEnded):
        lagging.is_healthy(lagging.problem())


def test_probes_are_asked_once_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the address of the service in the URL, if it has one."""
    asked: list[str] = []
    monkeypatch.setattr(health, "probe_url", lambda url, *_more: asked.append(url))
    monkeypatch.setattr(health, "probe_tcp", lambda address, _seconds: f"{address} is closed")
    client = FakeClient()
    client.add_service("svc")
    url, tcp = HealthCheckOptions(url="http://{address}/up"), HealthCheckOptions(tcp=True)
    assert checked(client, url).problem() is None and asked == ["http://10.0.0.1:80/up"]
    assert checked(client, url, tcp).problem() == "10.0.0.1:80 is closed"
    for check in (url, tcp):
        assert checked(client, check, address=None).problem() == "it has no address"
    client.states["svc"] = "stopped"
    asked.clear()
    assert checked(client, url).problem() == "the container's state is stopped" and asked == []
