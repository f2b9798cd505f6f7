# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What somebody else makes while a clone goes on is never taken for what it made, unless it adopts."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.client import Client
from ansible_collections.hosted.services.plugins.module_utils._api.errors import Interrupted
from ansible_collections.hosted.services.plugins.module_utils._api.platform_clock import PlatformClock
from ansible_collections.hosted.services.plugins.module_utils._api.routes import APP_CREATE
from ansible_collections.hosted.services.plugins.module_utils._resources import app as app_module
from ansible_collections.hosted.services.plugins.module_utils._resources.clones.target import CloneRecord
from ansible_collections.hosted.services.plugins.module_utils._resources.services.order import Ordering
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.options import StateDirOptions
from hosted_sandbox.testing import Sandbox
from unit.plugins.module_utils._resources.clones.platform import SEED, cloned, ids_of, plain_files, records
from unit.plugins.module_utils._resources.platform import before_first_call

Clone = Callable[..., dict[str, Any]]
SERVICES: dict[str, Any] = {"services": ["lobby"], "environments": None, "secret_environments": None}
APPS: dict[str, Any] = {"services": ["acme-api"], "environments": None, "secret_environments": None}


@pytest.fixture
def clone(sandbox: Sandbox, key_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Clone:
    """Clone with a key of the account, and records of its own."""
    return cloned(sandbox, key_file, tmp_path, monkeypatch)


def record_of(sandbox: Sandbox) -> CloneRecord:
    """Return the record of the clone, as the module reads it."""
    return CloneRecord.read(StateDirOptions(base_url=sandbox.base_url, token="x"), "shop-staging")


def own_files(sandbox: Sandbox, name: str) -> dict[str, Any]:
    """Return the files of a service in the project of the clone."""
    return plain_files(sandbox, ids_of(sandbox, "shop-staging")[name])


def make_another(sandbox: Sandbox) -> None:
    """Order a service of the name of the clone, as somebody else does."""
    own = {"name": "lobby-staging", "project": "shop-staging", "files": {"precious.txt": "mine"}}
    sandbox.seed({"services": [{**SEED["services"][1], **own}]})
    sandbox.clear_journal()


def make_another_app(sandbox: Sandbox) -> None:
    """Create an application of the slug of the clone, as somebody else does."""
    own = {"slug": "acme-api-staging", "project": "shop-staging", "images": [{"tag": "theirs"}]}
    sandbox.seed({"apps": [{**own, "deployed": "theirs"}]})
    sandbox.clear_journal()


def test_a_service_that_somebody_orders_meanwhile_is_left_alone(
    sandbox: Sandbox, clone: Clone, monkeypatch: pytest.MonkeyPatch
) -> None:
    before_first_call(monkeypatch, Ordering, "place", lambda: make_another(sandbox))
    found = clone(**SERVICES)
    theirs = ids_of(sandbox, "shop-staging")["lobby-staging"]
    said = f"service 'lobby-staging' ({theirs}) appeared meanwhile, and this clone did not make it"
    assert found.get("failed") and said in found["msg"]
    assert own_files(sandbox, "lobby-staging") == {"/precious.txt": "mine"}
    assert [each for each in sandbox.writes() if theirs in each] == [] and record_of(sandbox).ids == {}
    assert "existing: adopt takes it" in clone(**SERVICES)["msg"]


def test_a_service_that_appears_is_adopted_if_that_is_said(
    sandbox: Sandbox, clone: Clone, monkeypatch: pytest.MonkeyPatch
) -> None:
    before_first_call(monkeypatch, Ordering, "place", lambda: make_another(sandbox))
    done = clone(**SERVICES, existing="adopt")
    assert not done.get("failed"), done["msg"]
    assert own_files(sandbox, "lobby-staging") == {"/a": "b"}


def let_another_run_create(monkeypatch: pytest.MonkeyPatch, sandbox: Sandbox, late: bool) -> None:
    """Let somebody else create the application before the turn of this run, or right before its call."""
    if late:
        call = Client.call

        def send(client: Client, route: Any, *given: Any, **named: Any) -> Any:
            if route is APP_CREATE:
                monkeypatch.setattr(Client, "call", call)
                make_another_app(sandbox)
            return call(client, route, *given, **named)

        monkeypatch.setattr(Client, "call", send)
    else:
        before_first_call(monkeypatch, app_module, "make", lambda: make_another_app(sandbox))


@pytest.mark.parametrize("late", [False, True])
def test_an_application_that_somebody_creates_meanwhile_is_left_alone(
    sandbox: Sandbox, clone: Clone, monkeypatch: pytest.MonkeyPatch, late: bool
) -> None:
    """Also one that appears so late that the platform refuses to create another."""
    let_another_run_create(monkeypatch, sandbox, late)
    found = clone(**APPS)
    theirs = ids_of(sandbox, "shop-staging")["acme-api-staging"]
    said = f"app 'acme-api-staging' ({theirs}) appeared meanwhile, and this clone did not make it"
    assert found.get("failed") and said in found["msg"]
    [left] = [each for each in records(sandbox, "service") if each["id"] == theirs]
    assert "theirs" in str(left) and record_of(sandbox).ids == {}
    assert record_of(sandbox).sent == {}, "the next run does not take it for what this one created"
    changes = [each for each in sandbox.writes() if "acme-api-staging" in each or theirs in each]
    assert [each for each in changes if not each.endswith("/api/apps")] == []


@pytest.mark.parametrize("late", [False, True])
def test_what_a_killed_run_created_is_the_own_however_late_it_shows(
    sandbox: Sandbox, clone: Clone, monkeypatch: pytest.MonkeyPatch, late: bool
) -> None:
    """Also if it shows so late that it is the platform that refuses to create another."""
    original = ids_of(sandbox, "shop")["acme-api"]
    record = record_of(sandbox)
    record.names = {original: "acme-api-staging"}
    with suppress(Interrupted), record.ordering(original, PlatformClock()):
        raise Interrupted("lost")
    let_another_run_create(monkeypatch, sandbox, late)
    done = clone(**APPS)
    assert not done.get("failed"), done["msg"]
    assert record_of(sandbox).ids == {original: ids_of(sandbox, "shop-staging")["acme-api-staging"]}
    assert record_of(sandbox).sent == {}
