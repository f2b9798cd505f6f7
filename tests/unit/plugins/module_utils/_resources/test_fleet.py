# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fleets on a real server: batches in their order, the bound on failures, and what ran before."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.fleet import FLEET
from ansible_collections.hosted.services.plugins.module_utils._resources.fleets.members import FLEETS, Memory
from hosted_sandbox.testing import Sandbox
from unit.plugins.module_utils._resources.platform import id_of, run, writes

SHOP: dict[str, list[dict[str, Any]]] = {
    "services": [
        {"name": "web", "product": "minecraft", "project": "shop", "environment": {"URL": "${db.URL}"}},
        {"name": "db", "product": "postgresql", "project": "shop"},
        {"name": "alone", "product": "minecraft", "project": "shop"},
        {"name": "idle", "product": "minecraft", "project": "shop", "state": "stopped"},
        {"name": "asleep", "product": "minecraft", "project": "shop", "status": "SUSPENDED"},
        {"name": "bucket", "product": "bucket", "project": "shop"},
    ]
}
Go = Callable[..., dict[str, Any]]


@pytest.fixture
def go(sandbox: Sandbox, tmp_path: Path) -> Go:
    sandbox.seed(SHOP)
    sandbox.clear_journal()

    def run_fleet(state: str, check_mode: bool = False, **given: Any) -> dict[str, Any]:
        given = given if "services" in given else {"project": "shop", **given}
        options = {"name": "shop", "state_dir": str(tmp_path), "healthy_for": 0.0, "batch_size": ["1"]}
        return run(sandbox, FLEET, check_mode, **{**options, "state": state, **given})

    return run_fleet


def states(sandbox: Sandbox) -> dict[str, Any]:
    ids = {one["name"]: id_of(sandbox, one["name"]) for one in SHOP["services"][:-1]}
    metrics = sandbox.api("GET", f"/api/resources/metrics?ids={','.join(ids.values())}").json()
    return {name: (metrics[id] or {}).get("state") for name, id in ids.items()}


def signals(sandbox: Sandbox) -> list[tuple[str, str]]:
    """Return the signals that were sent, in their order: the service, and the signal."""
    names = {one["id"]: one["name"] for one in sandbox.api("GET", "/api/resources").json()["items"]}
    return [
        (names[line["path"].split("/")[3]], line["body"]["signal"])
        for line in sandbox.journal("resources.power")
    ]


def outcomes(result: dict[str, Any]) -> dict[str, str]:
    return {one["service"]: one["outcome"] for one in result["services"]}


def dead(*services: str) -> list[dict[str, Any]]:
    """Return health checks that these services fail."""
    url = "http://127.0.0.1:9/"
    return [{"services": list(services), "url": url, "status": [200], "tcp": False, "timeout": 1.0}]


def test_nothing_is_begun_beyond_the_bound(sandbox: Sandbox, go: Go) -> None:
    """The next run does what is left: it looks at the health of the one that failed again."""
    order = {"start_after": {"alone": "web"}}
    sandbox.clock(advance=60)  # so that an uptime shows a restart at once
    failed = go("restarted", wait_timeout=1.0, health_checks=dead("web"), **order)
    assert failed["failed"] and "1 of 5 services failed, and max_failures allows 0" in failed["msg"]
    assert outcomes(failed)["db"] == "changed"
    assert (outcomes(failed)["web"], outcomes(failed)["alone"]) == ("failed", "not begun")
    assert failed["fleet"]["not_begun"] == ["alone"]
    assert "Not begun: service 'alone'" in failed["msg"]
    assert [name for name, _signal in signals(sandbox)] == ["db", "web"]
    sandbox.clear_journal()
    rest = go("restarted", **order)
    assert not rest.get("failed") and rest["fleet"]["done_before"] == ["db"]
    assert [name for name, _signal in signals(sandbox)] == ["alone"]
    sandbox.clear_journal()
    go("restarted", **order)
    assert [name for name, _signal in signals(sandbox)] == ["db", "web", "alone"]


def test_a_release_reaches_one_application_after_the_other(sandbox: Sandbox, go: Go) -> None:
    """The one without the release keeps the rest from being begun; the next run does what is left."""
    images = [{"tag": "v1"}, {"tag": "v2", "packages": {"zlib": "1:1.2.8.dfsg-1"}}]
    slugs = ("acme-api", "acme-shop", "acme-web")
    known = {"acme-api": images, "acme-shop": images[:1], "acme-web": images}
    sandbox.seed({"apps": [{"slug": slug, "images": known[slug], "deployed": "v1"} for slug in slugs]})
    ids = {app["slug"]: app["id"] for app in sandbox.api("GET", "/api/apps").json()["items"]}

    def update(**given: Any) -> dict[str, Any]:
        chosen = [ids[slug] for slug in slugs]
        return go("updated", **{"services": chosen, "tag": "v2", "canary": True, **given})

    failed = update()
    assert failed["failed"] and "release 'v2' of application 'acme-shop' is not declared" in failed["msg"]
    assert not failed["changed"] and writes(sandbox) == []
    done = update(max_failures="1")
    assert list(outcomes(done).values()) == ["changed", "failed", "changed"]
    assert [line["path"].split("/")[3] for line in sandbox.journal("apps.deploy")] == ["acme-api", "acme-web"]
    assert not update(services=[ids["acme-api"], ids["acme-web"]])["changed"]


@pytest.fixture
def endpoint() -> Iterator[tuple[str, list[int]]]:
    """A server that responds with each of these statuses in turn, the last one for ever."""
    statuses = [200]

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(statuses.pop(0) if len(statuses) > 1 else statuses[0])
            self.end_headers()

        def log_message(self, *_arguments: Any) -> None:
            """Print nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/health", statuses
        server.shutdown()


def test_health_checks_hold_the_next_batch(sandbox: Sandbox, go: Go, endpoint: tuple[str, list[int]]) -> None:
    url, statuses = endpoint
    statuses[:] = [503, 302, 200]
    checks = [{"services": ["db"], "url": url, "status": [200], "tcp": False, "timeout": 5.0}]
    assert not go("restarted", health_checks=checks).get("failed") and statuses == [200]
    statuses[:] = [500]
    sandbox.clock(advance=60)
    failed = go("restarted", health_checks=checks, wait_timeout=1.0)
    assert "responds with status 500, not 200" in failed["msg"]
    assert outcomes(failed)["web"] == "not begun"


def test_a_restart_is_not_sent_twice(sandbox: Sandbox, go: Go, tmp_path: Path) -> None:
    """A run that was killed between the restart and the note of it looks at the uptime."""
    go("restarted", services=["alone"], health_checks=dead("alone"), wait_timeout=1.0)
    memory = Memory(FLEETS.of(sandbox.base_url, "shop", str(tmp_path)))
    assert not memory.record.begun[id_of(sandbox, "alone")].done
    sandbox.clear_journal()
    assert not go("restarted", services=["alone"]).get("failed")
    assert signals(sandbox) == []
    go("restarted", services=["alone"], start_over=True)
    assert signals(sandbox) == [("alone", "restart")]
