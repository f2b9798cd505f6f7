# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Clones on a real server: what is in them, what they cost, and that their sources are never written to."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.client import Client
from ansible_collections.hosted.services.plugins.module_utils._api.errors import Interrupted
from ansible_collections.hosted.services.plugins.module_utils._api.platform_clock import PlatformClock
from ansible_collections.hosted.services.plugins.module_utils._api.routes import APP_CREATE
from ansible_collections.hosted.services.plugins.module_utils._resources import app as app_module
from ansible_collections.hosted.services.plugins.module_utils._resources.clone import IMAGE
from ansible_collections.hosted.services.plugins.module_utils._resources.clones.target import CloneRecord
from ansible_collections.hosted.services.plugins.module_utils._resources.services.order import Ordering
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.options import StateDirOptions
from hosted_sandbox.testing import Sandbox
from unit.plugins.module_utils._resources.clones.platform import (
    SEED,
    WEB,
    cloned,
    environment,
    files,
    ids_of,
    monthly_rate,
    plain_files,
    records,
    writes_to,
)
from unit.plugins.module_utils._resources.platform import before_first_call, run

Clone = Callable[..., dict[str, Any]]


@pytest.fixture
def clone(sandbox: Sandbox, key_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Clone:
    """Clone with a key of the account, and records of its own."""
    return cloned(sandbox, key_file, tmp_path, monkeypatch)


NO_APPS: dict[str, Any] = {
    "services": ["Survival", "lobby"],
    "environments": None,
    "secret_environments": None,
}


def commits(sandbox: Sandbox) -> list[str]:
    """Return the calls that change something; a quote does not."""
    return [each for each in sandbox.writes() if "quote" not in each]


def test_a_project_is_cloned_at_the_price_that_was_announced(
    sandbox: Sandbox, clone: Clone, tmp_path: Path
) -> None:
    originals = ids_of(sandbox, "shop")
    planned = clone(check_mode=True)
    assert planned["changed"] and commits(sandbox) == []
    assert "order minecraft as service 'Survival-staging'" in " ".join(planned["actions"])
    before = monthly_rate(sandbox)
    done = clone()
    assert not done.get("failed"), done.get("msg")
    made = ids_of(sandbox, "shop-staging")
    assert set(made) == {"Survival-staging", "lobby-staging", "acme-api-staging", "acme-web-staging"}
    assert Decimal(planned["cost"]["monthly_after"]) == Decimal(done["cost"]["monthly_after"])
    assert Decimal(done["cost"]["monthly_after"]) == monthly_rate(sandbox) - before
    for name in ("Survival", "lobby"):
        assert files(sandbox, made[f"{name}-staging"]) == files(sandbox, originals[name])
    assert environment(sandbox, "acme-web-staging") == {**WEB, "SESSION_KEY": "hunter2hunter2"}
    apps = {app["slug"]: app["imageRef"] for app in sandbox.api("GET", "/api/apps").json()["items"]}
    for slug in ("acme-api", "acme-web"):
        old, new = apps[slug], apps[f"{slug}-staging"]
        assert new.partition("@")[2] == old.partition("@")[2] and f"{slug}-staging" in new
    assert writes_to(sandbox, originals) == []
    assert "hunter2" not in str(done)
    check_unchanged(sandbox, clone)


def check_unchanged(sandbox: Sandbox, clone: Clone) -> None:
    """Check that another run finds nothing to do, in check mode either."""
    sandbox.clear_journal()
    for again in (clone(check_mode=True), clone()):
        assert not again.get("failed"), again.get("msg")
        assert not again["changed"] and again["actions"] == []
    assert commits(sandbox) == []


def test_what_changed_in_the_source_is_brought_over(sandbox: Sandbox, clone: Clone) -> None:
    """Changed and new files come, extra ones go, and what runs is stopped only for that."""
    alone = {**NO_APPS, "services": ["Survival"], "rename": None}
    clone(**alone)
    source = ids_of(sandbox, "shop")["Survival"]
    made = ids_of(sandbox, "shop-staging")["Survival"]
    for id, path, content in (
        (source, "motd", "new"),
        (source, "ops.json", "[]"),
        (made, "extra", "gone soon"),
    ):
        sandbox.api("POST", f"/api/resources/{id}/files/write", {"path": path, "content": content})
    sandbox.clear_journal()
    done = clone(**alone)
    assert [action.split(" ")[0] for action in done["actions"]] == ["stop", "copy", "start"]
    assert "create 2, delete 1" in done["actions"][1]
    assert files(sandbox, made) == files(sandbox, source)
    assert [line["body"] for line in sandbox.journal("resources.power")] != []
    assert writes_to(sandbox, {"Survival": source}) == []
    kept = clone(delete=False, **alone)
    assert not kept["changed"]


def test_a_new_release_of_the_source_is_deployed_in_the_clone(sandbox: Sandbox, clone: Clone) -> None:
    given = {"services": ["acme-api"], "environments": None, "secret_environments": None}
    clone(**given)
    sandbox.api("POST", "/api/apps/acme-api/deploy", {"tag": "v1"})
    sandbox.clear_journal()
    done = clone(**given)
    words = [action.split(" ")[0] for action in done["actions"]]
    assert words == ["copy", "declare", "deploy"]
    assert {
        line["path"].split("/")[3] for line in sandbox.journal(method="POST") if "/apps/" in line["path"]
    } == {"acme-api-staging"}


def test_what_somebody_made_after_an_order_that_came_to_nothing_is_left_alone(
    sandbox: Sandbox, clone: Clone
) -> None:
    """It has the name of what was ordered, and no id is known; but the order was refused."""
    sandbox.fault("order.create", "status", status=400, count=20)
    assert clone(**NO_APPS)["failed"]
    sandbox.clear_faults()
    own = {"name": "Survival-staging", "product": "minecraft", "project": "shop-staging"}
    sandbox.seed({"services": [{**own, "files": {"precious.txt": "mine"}}]})
    refused = clone(**NO_APPS)
    assert refused["failed"] and "not known to be made by it" in refused["msg"]
    assert files(sandbox, ids_of(sandbox, "shop-staging")["Survival-staging"]) == {"/precious.txt": "mine"}


# --- What somebody else makes meanwhile ----------------------------------------------


SERVICES: dict[str, Any] = {"services": ["lobby"], "environments": None, "secret_environments": None}
APPS: dict[str, Any] = {"services": ["acme-api"], "environments": None, "secret_environments": None}


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


# --- Images --------------------------------------------------------------------------


SHOP = {"slug": "acme-shop", "images": [{"tag": "v1"}], "deployed": "v1"}


@pytest.fixture
def digest(sandbox: Sandbox) -> str:
    """The digest that an application runs, beside one that runs nothing."""
    sandbox.seed({"apps": [SHOP, {"slug": "acme-copy"}]})
    apps = sandbox.api("GET", "/api/apps").json()["items"]
    return str(next(app["imageRef"] for app in apps if app["slug"] == "acme-shop").partition("@")[2])


def test_an_image_that_is_gone_is_refused(sandbox: Sandbox, digest: str) -> None:
    gone = f"sha256:{'0' * 64}"
    refused = run(sandbox, IMAGE, source_slug="acme-shop", slug="acme-copy", digest=gone)
    assert f"no longer has the image {gone} that 'acme-shop' runs" in refused["msg"]
