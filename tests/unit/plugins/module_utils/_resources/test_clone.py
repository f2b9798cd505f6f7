# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Clones on a real server: what is in them, what they cost, and that their sources are never written to."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.blueprint import BLUEPRINT
from hosted_sandbox.testing import Sandbox
from unit.plugins.module_utils._resources.clones.platform import (
    WEB,
    cloned,
    environment,
    files,
    ids_of,
    monthly_rate,
    writes_to,
)
from unit.plugins.module_utils._resources.platform import run

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


def test_a_key_that_is_not_registered_says_how_to_register_one(
    sandbox: Sandbox, clone: Clone, tmp_path: Path
) -> None:
    """A password would be a change of the source, so none is generated."""
    for key in sandbox.api("GET", "/api/users/me/ssh-keys").json():
        sandbox.api("DELETE", f"/api/users/me/ssh-keys/{key['id']}")
    sandbox.clear_journal()
    refused = clone()
    assert "Register a key with hosted.services.ssh_key" in refused["msg"]
    assert commits(sandbox) == []


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


def test_a_clone_is_deleted_by_its_own_blueprint(sandbox: Sandbox, clone: Clone, tmp_path: Path) -> None:
    made = clone()
    assert "environment" not in str(made["blueprint"])
    originals = ids_of(sandbox, "shop")
    gone = run(sandbox, BLUEPRINT, blueprint=made["blueprint"], state="absent", state_dir=str(tmp_path))
    assert not gone.get("failed"), gone.get("msg")
    assert "shop-staging" not in [each["name"] for each in sandbox.api("GET", "/api/projects").json()]
    assert ids_of(sandbox, "shop") == originals
