# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Blueprints applied to a server, and exports that make the same account again."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.hosted.services.plugins.module_utils._resources.app_deploy import APP_DEPLOY
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprint import BLUEPRINT
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprint_info import BLUEPRINT_INFO
from hosted_sandbox.gaps import Profile
from hosted_sandbox.registry.images import build_image
from hosted_sandbox.testing import NO_DELAYS, Sandbox
from unit.plugins.accounts import random_account
from unit.plugins.module_utils._resources.platform import run, writes
from unit.plugins.responder import responding
from unit.tiers import sample

SIZE = {"cpu_cores": 1, "ram_gb": 2, "storage_gb": 10}
ORDERED = {"host": "node-paris-1", "dimensions": SIZE}
SHOP: dict[str, Any] = {
    "project": "shop",
    "defaults": {"services": ORDERED},
    "services": {"db": {"product": "postgresql"}, "world": {"name": "Survival", "product": "minecraft"}},
    "applications": {
        "api": {"slug": "acme-api", "environment": {"DATABASE_URL": "${db.URL}"}},
        "acme-web": {
            "environment": {"API": "${api.URL}", "LOG_LEVEL": "info"},
            "secret_environment": {"SESSION_KEY": "hunter2hunter2"},
        },
    },
}


@pytest.fixture
def apply(sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Apply a blueprint with records of its own: a sandbox that was reset is another account."""
    monkeypatch.setenv("HOSTED_SERVICES_HOME", str(tmp_path))

    def go(blueprint: dict[str, Any], check_mode: bool = False, **given: Any) -> dict[str, Any]:
        options = {"blueprint": blueprint, "state_dir": str(tmp_path), "secrets_dir": str(tmp_path), **given}
        return run(sandbox, BLUEPRINT, check_mode, **options)

    return go


def commits(sandbox: Sandbox) -> list[str]:
    """Return the routes of all calls that change something; a quote does not."""
    return [route for route in writes(sandbox) if not route.endswith("quote")]


def environment(sandbox: Sandbox, slug: str) -> dict[str, str]:
    records = sandbox.control("GET", "/state")["records"]
    [found] = [each for each in records["service"] if each["name"] == slug]
    kept: dict[str, str] = found["environment"]
    return kept


def test_references_take_the_alias_of_the_platform(sandbox: Sandbox, apply: Any) -> None:
    services = {**SHOP["services"], "db": {"product": "postgresql", "name": "Main database"}}
    apply({**SHOP, "services": services})
    url = environment(sandbox, "acme-api")["DATABASE_URL"]
    assert url != "${db.URL}"
    assert environment(sandbox, "acme-web")["API"] == "${acme-api.URL}"
    [found] = [
        node["alias"]
        for project in sandbox.api("GET", "/api/projects").json()
        for node in sandbox.api("GET", f"/api/projects/{project['id']}/graphe").json()["nodes"]
        if node["name"] == "Main database"
    ]
    assert url == f"${{{found}.URL}}"


def test_a_failure_stops_what_needs_it_alone(sandbox: Sandbox, apply: Any) -> None:
    sandbox.fault("POST /api/order", "status", status=409)  # the first one in the file, which is the database
    failed = apply(SHOP, max_parallel=1)
    assert failed["msg"].startswith("1 of 7 parts failed:\n- service 'db': ")
    assert "Not begun, because they need these: environment 'acme-api'" in failed["msg"]
    assert "run this again: it goes on from there" in failed["msg"]
    left = {(part["module"], part["key"]): part["skipped"] for part in failed["parts"] if not part["changed"]}
    assert left == {("service", "db"): False, ("environment", "api"): True}
    assert failed["cost"]["monthly_after"] == "13.14"  # of the other three
    sandbox.clear_journal()
    assert apply(SHOP)["changed"]
    assert commits(sandbox) == ["order.create", "apps.environment"]


def test_a_part_of_a_secret_is_not_quoted(sandbox: Sandbox, apply: Any) -> None:
    """It looks like a reference to a platform that reads letters of any case."""
    secret = {"environment": {"A": "b"}, "secret_environment": {"KEY": "pre${VerySecret.Part}post"}}
    done = apply({"project": "web", "applications": {"acme-web": secret}})
    assert "VerySecret" not in json.dumps(done)


@pytest.mark.parametrize("secret", ["hunter2hunter2", "x"])
def test_the_invocation_hides_the_blueprint(sandbox: Sandbox, apply: Any, secret: str) -> None:
    applications = {"acme-web": {"secret_environment": {"KEY": secret}}}
    done = apply({"project": "web", "applications": applications}, check_mode=True)
    assert done["invocation"]["module_args"]["blueprint"] not in ({}, applications)
    assert secret not in str(done["invocation"]["module_args"]["blueprint"])
    assert "project 'web'" not in done["msg"] if done.get("failed") else True
    assert done["parts"][0]["name"] == "web"  # what is not secret is shown


# --- Images and settings of applications ------------------------------------------------------------


@pytest.fixture
def images(sandbox: Sandbox) -> dict[str, str]:
    """Put an application on the platform that runs v1, and return the digests of its releases."""
    tags = ("v1", "v2")
    sandbox.seed(
        {
            "apps": [
                {
                    "slug": "acme-shop",
                    "project": "web",
                    "images": [{"tag": "v1"}, {"tag": "v2", "packages": {"zlib": "1:1.2.8.dfsg-1"}}],
                    "deployed": "v1",
                }
            ]
        }
    )
    scans = {tag: sandbox.api("GET", f"/api/apps/acme-shop/releases/{tag}/scan").json() for tag in tags}
    sandbox.clear_journal()
    return {tag: str(scan["digest"]) for tag, scan in scans.items()}


def shop_app(**values: Any) -> dict[str, Any]:
    return {"project": "web", "applications": {"shop-app": {"slug": "acme-shop", **values}}}


def in_service(sandbox: Sandbox) -> str:
    [app] = [each for each in sandbox.api("GET", "/api/apps").json()["items"] if each["slug"] == "acme-shop"]
    return str(app["imageRef"]).partition("@")[2]


@pytest.mark.parametrize("by", ["tag", "digest"])
def test_another_image_is_put_in_service(
    sandbox: Sandbox, apply: Any, images: dict[str, str], by: str
) -> None:
    image = {"tag": "v2"} if by == "tag" else {"tag": "stable", "digest": images["v2"]}
    planned = apply(shop_app(image=image), check_mode=True)
    assert commits(sandbox) == []
    done = apply(shop_app(image=image))
    assert in_service(sandbox) == images["v2"]
    assert [part["module"] for part in done["parts"] if part["changed"]] == [
        part["module"] for part in planned["parts"] if part["changed"]
    ]
    assert "cost" not in planned
    assert not apply(shop_app(image=image))["changed"]


def test_a_new_environment_is_deployed_in_the_same_run(
    sandbox: Sandbox, apply: Any, images: dict[str, str]
) -> None:
    apply(shop_app(image={"tag": "v1"}, environment={"LEVEL": "info"}))
    sandbox.clear_journal()
    changed = shop_app(image={"tag": "v1"}, environment={"LEVEL": "debug"})
    planned = apply(changed, check_mode=True)
    assert [part["module"] for part in planned["parts"] if part["changed"]] == ["environment", "app_deploy"]
    assert any("again: its environment changes" in action for action in planned["actions"])
    done = apply(changed)
    assert commits(sandbox) == ["apps.environment", "apps.deploy"]
    assert [part["changed"] for part in done["parts"]] == [False, False, True, True]
    sandbox.clear_journal()
    assert not apply(changed)["changed"]
    assert commits(sandbox) == []


def test_archives_are_pushed_and_deployed_after_what_they_refer_to(
    sandbox: Sandbox, apply: Any, tmp_path: Path
) -> None:
    image = {"tag": "v1", "archive": str(tmp_path / "layout")}
    digest = build_image(tmp_path / "layout", {"app/server": b"1"})
    wanted = {
        "project": "fresh",
        "applications": {
            "web": {"slug": "acme-web", "environment": {"API": "${api.URL}"}, "image": image},
            "api": {"slug": "acme-api", "image": image, "command": "serve"},
        },
    }
    planned = apply(wanted, check_mode=True)
    assert commits(sandbox) == []
    done = apply(wanted)
    modules = [part["module"] for part in done["parts"] if part["changed"]]
    assert modules == [part["module"] for part in planned["parts"] if part["changed"]]
    deploys = [line["path"] for line in sandbox.journal("apps.deploy")]
    assert deploys == ["/api/apps/acme-api/deploy", "/api/apps/acme-web/deploy"]
    apps = sandbox.api("GET", "/api/apps").json()["items"]
    assert [app["imageRef"].partition("@")[2] for app in apps] == [digest, digest]
    assert not apply(wanted)["changed"]


@pytest.mark.parametrize("deploys", [True, False])
def test_an_application_gets_the_values_of_a_neighbor_that_is_ordered_anew(
    sandbox: Sandbox, apply: Any, tmp_path: Path, deploys: bool
) -> None:
    """Its environment is as written, and resolved at a start alone (Cross-service references)."""
    image = {"tag": "v1", "archive": str(tmp_path / "layout")}
    build_image(tmp_path / "layout", {"app/server": b"1"})
    web = {"slug": "acme-web", "environment": {"URL": "${db.URL}"}, "image": image}
    wanted = {
        "project": "fresh",
        "defaults": {"services": ORDERED},
        "services": {"db": {"product": "postgresql"}},
        "applications": {"web": web},
    }
    apply(wanted)
    services = {each["name"]: each["id"] for each in sandbox.api("GET", "/api/resources").json()["items"]}

    def used() -> str:
        container = sandbox.control("GET", f"/services/{services['acme-web']}")["container"]
        return str(container["configuration"]["environment"]["URL"])

    former = used()
    sandbox.api("DELETE", f"/api/resources/{services['db']}")
    if not deploys:
        del web["image"]
    planned = apply(wanted, check_mode=True)
    sandbox.clear_journal()
    done = apply(wanted)
    changed = [[part["module"] for part in each["parts"] if part["changed"]] for each in (planned, done)]
    assert changed[0] == changed[1]
    assert commits(sandbox) == ["order.create", *["apps.deploy"] * deploys]
    assert (used() != former) is deploys
    again = apply(wanted)
    assert not again["changed"]
    [environment] = [part["result"] for part in again["parts"] if part["module"] == "environment"]
    assert environment["pending_deploy"] == ([] if deploys else ["environment"])


def test_a_neighbor_that_an_earlier_run_ordered_anew_is_new_to_an_application(
    sandbox: Sandbox, apply: Any, tmp_path: Path
) -> None:
    """That run failed before the turn of the application. If nothing was ordered, nothing is deployed."""
    image = {"tag": "v1", "archive": str(tmp_path / "layout")}
    build_image(tmp_path / "layout", {"app/server": b"1"})
    wanted: dict[str, Any] = {
        "project": "fresh",
        "defaults": {"services": ORDERED},
        "services": {"db": {"product": "postgresql", "state": "stopped"}},
        "applications": {
            "web": {"slug": "acme-web", "environment": {"URL": "${db.URL}"}, "image": image},
            "new": {"slug": "acme-new", "environment": {"URL": "${db.URL}"}},
        },
    }
    without_new = {**wanted, "applications": {"web": wanted["applications"]["web"]}}
    assert not (first := apply(without_new)).get("failed"), first
    services = {each["name"]: each["id"] for each in sandbox.api("GET", "/api/resources").json()["items"]}
    sandbox.api("DELETE", f"/api/resources/{services['db']}")
    deploying = {"slug": "acme-web", "tag": "v1", "state_dir": str(tmp_path)}
    sandbox.fault("order.create", "status", status=402)
    assert apply(without_new)["failed"]
    sandbox.clear_faults()
    planned = run(sandbox, APP_DEPLOY, True, **deploying)
    assert not planned["changed"], planned
    sandbox.fault("resources.power", "status", status=409)
    assert apply(wanted)["failed"]
    sandbox.clear_faults()
    sandbox.clear_journal()
    done = apply(wanted)
    assert not done.get("failed")
    assert sorted(commits(sandbox)) == ["apps.deploy", "apps.environment", "resources.power"]
    assert not apply(wanted)["changed"]


def runs(sandbox: Sandbox, slug: str = "acme-shop") -> str:
    """Return the command that the container of an application was made with."""
    services = sandbox.api("GET", "/api/resources").json()["items"]
    [id] = [each["id"] for each in services if each["name"] == slug]
    container = sandbox.control("GET", f"/services/{id}")["container"]
    return " ".join(container["configuration"]["command"])


def acted_on(result: dict[str, Any]) -> list[list[str]]:
    return [part["actions"] for part in result["parts"] if part["changed"]]


def test_a_deploy_brings_an_earlier_command_into_effect(
    sandbox: Sandbox, apply: Any, images: dict[str, str]
) -> None:
    command = "serve --port 80"
    sandbox.fault("resources.power", "status", status=409)
    assert apply(shop_app(image={"tag": "v1"}, command=command))["failed"]
    sandbox.clear_faults()
    wanted = shop_app(image={"tag": "v2"}, command=command)
    planned = apply(wanted, check_mode=True)
    sandbox.clear_journal()
    done = apply(wanted)
    assert acted_on(done) == acted_on(planned) and commits(sandbox) == ["apps.deploy"]
    assert runs(sandbox) == command
    again = apply(wanted)
    assert not again["changed"] and not again.get("warnings")


def test_an_application_that_is_not_healthy_goes_back(
    sandbox: Sandbox, apply: Any, images: dict[str, str], tmp_path: Path
) -> None:
    """And what refers to it is not begun."""
    seen: list[str] = []

    def answer(number: int) -> int:
        seen.append(in_service(sandbox))
        return 200 if seen[-1] == images["v1"] else 500

    with responding(answer) as workload:
        check = {"url": workload.url, "timeout": 0.3, "interval": 0.1}
        wanted = shop_app(image={"tag": "v2", "rollback": True}, health_check=check, command="serve")
        build_image(tmp_path / "layout", {"app/server": b"1"})
        wanted["applications"]["front"] = {
            "slug": "acme-front",
            "environment": {"API": "${shop-app.URL}"},
            "image": {"tag": "v1", "archive": str(tmp_path / "layout")},
        }
        apply(wanted, check_mode=True)
        assert not workload.requests and commits(sandbox) == []
        failed = apply(wanted)
        assert failed["failed"] and in_service(sandbox) == images["v1"]
        assert "/health responds with status 500, not 200" in failed["msg"]
        assert "Rolled back to the previous version" in failed["msg"]
        assert set(seen) == {images["v2"]}, "the settings and the deploy come first"
        assert "settings.deploy" in commits(sandbox)
        deploys = [line["path"] for line in sandbox.journal("apps.deploy")]
        assert set(deploys) == {"/api/apps/acme-shop/deploy"} and len(deploys) == 2
        good = apply(shop_app(image={"tag": "v1"}, health_check=check, command="serve"))
        assert not good["changed"] and seen[-1] == images["v1"]


def test_a_blocked_image_is_refused_before_anything_is_done(sandbox: Sandbox, apply: Any) -> None:
    blocked = {"tag": "v3", "packages": {"runc": "1.0.0~rc6"}}
    sandbox.seed({"apps": [{"slug": "acme-shop", "project": "web", "images": [blocked]}]})
    digest = sandbox.api("GET", "/api/apps/acme-shop/releases/v3/scan").json()["digest"]
    sandbox.clear_journal()
    refused = apply(shop_app(image={"tag": "v3", "digest": digest}, environment={"A": "b"}))
    assert "is blocked" in refused["msg"] or "Blocked" in refused["msg"]
    assert commits(sandbox) == []


FIRST, __, LAST = os.environ.get("BLUEPRINT_EXPORTS", "0-11").partition("-")
ACCOUNTS = range(int(FIRST), int(LAST or FIRST) + 1)
MADE_AGAIN = ACCOUNTS if "BLUEPRINT_EXPORTS" in os.environ else ACCOUNTS[::3]
"""To order everything takes longer than to look at it."""


@pytest.fixture(autouse=True)
def records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each test records of its own: a sandbox that was reset is another account."""
    monkeypatch.setenv("HOSTED_SERVICES_HOME", str(tmp_path))


def start_over(sandbox: Sandbox, number: int, seed: dict[str, Any]) -> None:
    """Start over with an account on one of the platforms."""
    profile = Profile.NAMES[number % len(Profile.NAMES)]
    sandbox.reset(profile=profile, delays=NO_DELAYS, seed=seed)


def export(sandbox: Sandbox, project: str | None = None) -> list[dict[str, Any]]:
    done = run(sandbox, BLUEPRINT_INFO, project=project)
    assert not done.get("failed"), done["msg"]
    found: list[dict[str, Any]] = done["blueprints"]
    return found


def apply_text(sandbox: Sandbox, folder: Path, text: str, check_mode: bool = False) -> dict[str, Any]:
    """Apply the text of a blueprint as a file."""
    file = folder / "exported.yml"
    file.write_text(text)
    done = run(sandbox, BLUEPRINT, check_mode, src=str(file), state_dir=str(folder), secrets_dir=str(folder))
    assert not done.get("failed"), done["msg"]
    return done


def comparable(blueprints: list[dict[str, Any]], undeployed: set[str]) -> dict[str, Any]:
    """Return blueprints by project, without what is not read of an application before its first deploy."""
    found = {each["project"]: each["blueprint"] for each in blueprints}
    for blueprint in found.values():
        for key, app in blueprint.get("applications", {}).items():
            if app.get("slug", key) in undeployed:
                app.pop("public", None)
    return found


@pytest.mark.parametrize("number", sample(ACCOUNTS, 2))
def test_an_export_changes_nothing(sandbox: Sandbox, tmp_path: Path, number: int) -> None:
    start_over(sandbox, number, random_account(number))
    blueprints = export(sandbox)
    sandbox.clear_journal()
    for each in blueprints:
        done = apply_text(sandbox, tmp_path, each["text"], check_mode=True)
        assert not done["changed"], (each["text"], done["actions"])
        assert yaml.safe_load(each["text"]) == each["blueprint"]
    assert writes(sandbox) == []
    assert {each["project"]: export(sandbox, each["project"]) for each in blueprints} == {
        each["project"]: [each] for each in blueprints
    }


@pytest.mark.parametrize("number", sample(MADE_AGAIN))
def test_an_export_makes_the_same_account_again(sandbox: Sandbox, tmp_path: Path, number: int) -> None:
    seed = random_account(number)
    start_over(sandbox, number, seed)
    before = export(sandbox)
    start_over(sandbox, number, {})
    for each in before:
        apply_text(sandbox, tmp_path, each["text"])
    slugs = {app["slug"] for app in seed["apps"]}
    assert comparable(export(sandbox), slugs) == comparable(before, slugs)
