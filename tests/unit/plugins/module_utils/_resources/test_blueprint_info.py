# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Exports: what they say of a project, that they change nothing, and that they make the same project again.

Accounts are made at random, on platforms that fill the gaps of the specification differently.
BLUEPRINT_EXPORTS=0-999 takes that many of them (stage release-histories).
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.hosted.services.plugins.module_utils._resources.blueprint import BLUEPRINT
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprint_info import BLUEPRINT_INFO
from hosted_sandbox.gaps import Profile
from hosted_sandbox.testing import NO_DELAYS, Sandbox
from unit.plugins.accounts import KEY, random_account
from unit.plugins.module_utils._resources.platform import run, writes

FIRST, __, LAST = os.environ.get("BLUEPRINT_EXPORTS", "0-11").partition("-")
ACCOUNTS = range(int(FIRST), int(LAST or FIRST) + 1)
MADE_AGAIN = ACCOUNTS if "BLUEPRINT_EXPORTS" in os.environ else ACCOUNTS[::3]
"""To order everything takes longer than to look at it."""
WEB: dict[str, Any] = {
    "services": [{"name": "db", "product": "postgresql", "project": "shop"}],
    "apps": [
        {
            "slug": "acme-web",
            "project": "shop",
            "environment": {"DATABASE_URL": "${db.URL}", "LOG_LEVEL": "info"},
            "images": [{"tag": "v1"}],
            "deployed": "v1",
        }
    ],
    "ssh_keys": [{"name": "laptop", "public_key": KEY}],
}


@pytest.fixture(autouse=True)
def records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each test records of its own: a sandbox that was reset is another account."""
    monkeypatch.setenv("HOSTED_SERVICES_HOME", str(tmp_path))


def start(sandbox: Sandbox, number: int, seed: dict[str, Any]) -> None:
    """Start over with an account on one of the platforms."""
    profile = Profile.NAMES[number % len(Profile.NAMES)]
    sandbox.reset(profile=profile, delays=NO_DELAYS, seed=seed)


def export(sandbox: Sandbox, project: str | None = None) -> list[dict[str, Any]]:
    """Return the blueprints of all projects, or of one."""
    done = run(sandbox, BLUEPRINT_INFO, project=project)
    assert not done.get("failed"), done["msg"]
    found: list[dict[str, Any]] = done["blueprints"]
    return found


def apply(sandbox: Sandbox, folder: Path, text: str, check_mode: bool = False) -> dict[str, Any]:
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


@pytest.mark.parametrize("number", ACCOUNTS)
def test_an_export_changes_nothing(sandbox: Sandbox, tmp_path: Path, number: int) -> None:
    start(sandbox, number, random_account(number))
    blueprints = export(sandbox)
    sandbox.clear_journal()
    for each in blueprints:
        done = apply(sandbox, tmp_path, each["text"], check_mode=True)
        assert not done["changed"], (each["text"], done["actions"])
        assert yaml.safe_load(each["text"]) == each["blueprint"]
    assert writes(sandbox) == []
    assert {each["project"]: export(sandbox, each["project"]) for each in blueprints} == {
        each["project"]: [each] for each in blueprints
    }


@pytest.mark.parametrize("number", MADE_AGAIN)
def test_an_export_makes_the_same_account_again(sandbox: Sandbox, tmp_path: Path, number: int) -> None:
    seed = random_account(number)
    start(sandbox, number, seed)
    before = export(sandbox)
    start(sandbox, number, {})
    for each in before:
        apply(sandbox, tmp_path, each["text"])
    slugs = {app["slug"] for app in seed["apps"]}
    assert comparable(export(sandbox), slugs) == comparable(before, slugs)


def test_remarks_say_what_cannot_be_read(sandbox: Sandbox) -> None:
    sandbox.reset(delays=NO_DELAYS, seed=WEB)
    [shop] = export(sandbox, "shop")
    [key] = sandbox.api("GET", "/api/users/me/ssh-keys").json()
    text = shop["text"]
    assert text.startswith("# yaml-language-server: $schema=https://")
    assert "    # environment: DATABASE_URL refers to db\n    host: node-paris-1\n" in text
    assert "  # image: {tag: v1} # which runs, with digest sha256:" in text
    assert f"# - SSH keys of the account: laptop ({key['fingerprint']})\n" in text
    assert "LOG_LEVEL" not in text
    assert shop["blueprint"]["applications"]["acme-web"]["host"] == "node-paris-1"


def test_services_of_one_name_are_told_apart_by_id(sandbox: Sandbox, tmp_path: Path) -> None:
    twins = [{"name": "twin", "product": product, "project": "web"} for product in ("minecraft", "factorio")]
    alike = [{"name": name, "product": "valkey", "project": "web"} for name in ("cache 1", "cache-1")]
    sandbox.reset(delays=NO_DELAYS, seed={"services": [*twins, *alike]})
    [web] = export(sandbox, "web")
    services = web["blueprint"]["services"]
    assert sorted(services) == ["cache-1", "cache-1-2", "twin", "twin-2"]
    ids = {services[key]["id"]: services[key]["product"] for key in ("twin", "twin-2")}
    listed = sandbox.api("GET", "/api/resources").json()["items"]
    assert ids == {each["id"]: each["product"]["slug"] for each in listed if each["name"] == "twin"}
    assert [set(services[key]) & {"name", "id"} for key in ("cache-1", "cache-1-2")] == [{"name"}] * 2
    assert not apply(sandbox, tmp_path, web["text"], check_mode=True)["changed"]


def test_a_service_with_the_name_of_an_application_has_an_id(sandbox: Sandbox, tmp_path: Path) -> None:
    service = {"name": "acme-web", "product": "minecraft", "project": "shop"}
    sandbox.reset(delays=NO_DELAYS, seed={**WEB, "services": [*WEB["services"], service]})
    [shop] = export(sandbox, "shop")
    assert "acme-web" in shop["blueprint"]["applications"]
    assert shop["blueprint"]["services"]["acme-web-2"]["id"]
    assert not apply(sandbox, tmp_path, shop["text"], check_mode=True)["changed"]


def test_a_service_that_failed_is_named_and_left_out(sandbox: Sandbox) -> None:
    failed = {"name": "lost", "product": "minecraft", "status": "FAILED", "failure_reason": "no room"}
    made = sandbox.reset(delays=NO_DELAYS, seed={"services": [{**failed, "project": "web"}]})
    [web] = export(sandbox, "web")
    assert web["blueprint"] == {"project": "web"}
    assert web["left_out"] == [f"service 'lost' ({made['services']['lost']}), whose creation failed"]
    assert f"# - {web['left_out'][0]}\n" in web["text"]


def test_no_remark_ends_its_comment(sandbox: Sandbox, tmp_path: Path) -> None:
    key = {"name": "laptop\nbudget: 0\n#", "public_key": KEY}
    sandbox.reset(delays=NO_DELAYS, seed={"projects": ["web"], "ssh_keys": [key]})
    [web] = export(sandbox, "web")
    assert yaml.safe_load(web["text"]) == {"project": "web"}
    assert not apply(sandbox, tmp_path, web["text"], check_mode=True)["changed"]


def test_the_command_and_the_network_are_kept(sandbox: Sandbox, tmp_path: Path) -> None:
    made = sandbox.reset(delays=NO_DELAYS, seed=WEB)
    id = made["services"]["acme-web"]
    sandbox.api("PUT", f"/api/resources/{id}/deploy", {"command": "serve --port 80"})
    sandbox.api("PUT", f"/api/resources/{id}/network", {"isPublic": False})
    [shop] = export(sandbox, "shop")
    assert shop["blueprint"]["applications"]["acme-web"]["command"] == "serve --port 80"
    assert shop["blueprint"]["applications"]["acme-web"]["public"] is False
    assert not apply(sandbox, tmp_path, shop["text"], check_mode=True)["changed"]


def test_check_mode_knows_a_project_that_the_play_creates(sandbox: Sandbox) -> None:
    done = run(sandbox, BLUEPRINT_INFO, check_mode=True, project="soon")
    assert [each["blueprint"] for each in done["blueprints"]] == [{"project": "soon"}]


def test_a_project_that_is_not_there_is_refused(sandbox: Sandbox) -> None:
    sandbox.reset(delays=NO_DELAYS, seed=WEB)
    done = run(sandbox, BLUEPRINT_INFO, project="shopp")
    assert done["failed"]
    assert "did you mean 'shop'?" in done["msg"]


def test_what_looks_like_a_template_reads_back_as_it_is(sandbox: Sandbox, tmp_path: Path) -> None:
    seed = {"services": [{"name": "a {{ b }}", "product": "minecraft", "project": "shop"}]}
    sandbox.reset(delays=NO_DELAYS, seed=seed)
    [shop] = [each for each in export(sandbox) if each["project"] == "shop"]
    assert "name: !unsafe 'a {{ b }}'" in shop["text"]
    sandbox.clear_journal()
    assert not apply(sandbox, tmp_path, shop["text"])["changed"]
    assert writes(sandbox) == []
