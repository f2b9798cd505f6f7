# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The event source against the sandbox: each event, kills, and secrets."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from hosted_sandbox.testing import NO_DELAYS, Sandbox
from integration.ansible_run import PROFILE
from integration.event_watch import LOG, Child, Watched, arguments, recorded, run_source, wait_until
from integration.leak_detection import canary, core, find_leaks
from unit.plugins.module_utils._resources.account_events.test_changes import FILE

SCHEMA = Draft202012Validator(json.loads(FILE.read_text()))
OLD = {"name": "old", "created_at": "2020-01-01T00:00:00Z"}
SEED: dict[str, Any] = {
    "projects": ["games"],
    "services": [
        {"name": "world", "product": "minecraft", "project": "games"},
        {"name": "db", "product": "postgresql", "backups": [OLD]},
        {"name": "files", "product": "bucket"},
    ],
    "apps": [
        {
            "slug": "shop",
            "images": [{"tag": "v1"}, {"tag": "v2"}],
            "deployed": "v1",
            "environment": {"PASSWORD": canary("environment")},
        },
        {"slug": "empty", "images": [{"tag": "v1"}]},
    ],
}


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the folder of the collection apart, and the environment of whoever runs the tests out."""
    monkeypatch.setenv("HOSTED_SERVICES_HOME", str(tmp_path / "home"))
    for name in ("URL", "TOKEN", "TOKEN_FILE"):
        monkeypatch.delenv(f"HOSTED_SERVICES_{name}", raising=False)


@pytest.fixture
def account(sandbox: Sandbox) -> Sandbox:
    """An account with services, on a platform where nothing takes time."""
    sandbox.reset(profile=PROFILE, seed=SEED, delays=NO_DELAYS)
    return sandbox


def ids(sandbox: Sandbox) -> dict[str, str]:
    return {item["name"]: item["id"] for item in listed(sandbox)}


def listed(sandbox: Sandbox) -> list[dict[str, Any]]:
    answer = sandbox.api("GET", "/api/resources").json()
    return list(answer["items"] if isinstance(answer, dict) else answer)


def test_a_service_has_its_events(account: Sandbox, tmp_path: Path) -> None:
    world = ids(account)["world"]

    async def use(watched: Watched) -> None:
        await watched.polls(account)
        account.api("POST", f"/api/resources/{world}/power", {"signal": "stop"})
        assert await watched.polls(account) == []
        account.api("POST", f"/api/resources/{world}/power", {"signal": "start"})
        # Once it was seen to run after a start, a stop is told at once, not half a minute after that start.
        assert await watched.polls(account) == []
        account.operator(f"services/{world}", state="stopped")
        assert (await watched.until("service_stopped"))["service"]["name"] == "world"
        account.api("POST", f"/api/resources/{world}/power", {"signal": "start"})
        assert (await watched.until("service_back"))["after"] == "service_stopped"
        account.operator(f"services/{world}", state="stopped")
        assert (await watched.until("service_stopped"))["stops"] == 2
        account.operator(f"services/{world}", status="AWAITING_ADMIN")
        await watched.until("service_awaiting_admin")
        account.operator(f"services/{world}", status="FAILED", reason="no room")
        assert (await watched.until("service_failed"))["reason"] == "no room"
        account.seed({"services": [{"name": "new", "product": "minecraft"}]})
        assert (await watched.until("service_ordered"))["service"]["name"] == "new"
        account.api("DELETE", f"/api/resources/{world}")
        await watched.until("service_deleted")
        assert await watched.polls(account) == []

    watched = run_source(arguments(account, tmp_path), use)
    assert [error.message for event in watched.events for error in SCHEMA.iter_errors(event)] == []
    assert [event["sequence"] for event in watched.events] == list(range(1, len(watched.events) + 1))
    own = [line for line in account.journal() if line["method"] != "GET"]
    assert own == [], "the source reads"


# --- Kills ------------------------------------------------------------------------------------------

KILLS = int(os.environ.get("EVENT_KILLS", "2"))
"""After how many requests of a start it is killed, at most: a poll takes four or so."""


def start(sandbox: Sandbox, id: str) -> None:
    sandbox.api("POST", f"/api/resources/{id}/power", {"signal": "start"})


CHANGES: tuple[tuple[str, Callable[[Sandbox, str], object]], ...] = (
    ("service_stopped", lambda sandbox, id: sandbox.operator(f"services/{id}", state="stopped")),
    ("service_back", start),
    ("service_failed", lambda sandbox, id: sandbox.operator(f"services/{id}", status="FAILED")),
    ("service_deleted", lambda sandbox, id: sandbox.api("DELETE", f"/api/resources/{id}")),
)


@pytest.mark.night
def test_kills_at_any_request_lose_nothing_and_repeat_nothing(account: Sandbox, tmp_path: Path) -> None:
    """The source is killed after its first, second, third request and so on, while things happen."""
    world = ids(account)["world"]
    given = arguments(account, tmp_path)

    def start_and_kill(condition: Callable[[], object]) -> None:
        account.clear_journal()
        child = Child(tmp_path, given)
        try:
            asyncio.run(wait_until(lambda: condition() or child.process.poll() is not None))
            assert child.process.poll() is None, (tmp_path / LOG).read_text()
        finally:
            child.kill()

    start_and_kill((tmp_path / "state.json").exists)
    for number, (type, change) in enumerate(CHANGES, 1):
        change(account, world)
        for count in range(1, KILLS + 1):
            start_and_kill(lambda count=count: len(account.journal()) >= count)  # type: ignore[misc]
        start_and_kill(lambda number=number: len(once(tmp_path)) >= number)  # type: ignore[misc]
        assert once(tmp_path)[number - 1 :] == [type]
    seen: set[str] = set()
    for event in recorded(tmp_path):
        assert event["redelivered"] or event["id"] not in seen
        seen.add(event["id"])


def once(folder: Path) -> list[str]:
    """Return the types of the events that were sent, each event once."""
    return list({event["id"]: event["type"] for event in recorded(folder)}.values())


# --- Secrets ----------------------------------------------------------------------------------------


def test_no_secret_is_in_an_event_or_a_file_or_the_log(
    account: Sandbox, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The token is one, and so is whatever a blueprint, an environment or a database keeps."""
    account.seed({"tokens": [{"id": core("token")}]})
    blueprint = tmp_path / "games.yml"
    world = {"product": "minecraft", "variables": {"RCON_PASSWORD": canary("order")}}
    missing = {
        "product": "minecraft",
        "variables": {"RCON_PASSWORD": canary("missing")},
        "host": "node-paris-1",
    }
    blueprint.write_text(yaml.safe_dump({"project": "games", "services": {"world": world, "lost": missing}}))
    caplog.set_level("DEBUG")

    async def use(watched: Watched) -> None:
        await watched.until("blueprint_drifted")
        failed = f"the token {core('token')} is not {canary('token')}"
        account.operator(f"services/{ids(account)['world']}", status="FAILED", reason=failed)
        await watched.until("service_failed")

    watched = run_source(arguments(account, tmp_path, token=core("token"), blueprints=[str(blueprint)]), use)
    places = {
        path.name: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file() and path != blueprint
    }
    places |= {"events": json.dumps(watched.events).encode(), "log": caplog.text.encode()}
    secrets = {name: core(name) for name in ("token", "environment", "order", "missing")}
    assert find_leaks(secrets, places) == []
    assert "state.json" in places
