# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Data, money and time: what public reports on comparable projects showed, as users would meet it.

The clock of the sandbox is moved where that of the platform and that of this machine have to differ.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import asyncssh
import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.client import Client
from ansible_collections.hosted.services.plugins.module_utils._api.routes import APP_DEPLOY as DEPLOY
from ansible_collections.hosted.services.plugins.module_utils._api.routes import Route
from ansible_collections.hosted.services.plugins.module_utils._resources.app_deploy import APP_DEPLOY
from ansible_collections.hosted.services.plugins.module_utils._resources.backup_info import BACKUP_INFO
from ansible_collections.hosted.services.plugins.module_utils._resources.backup_retention import (
    BACKUP_RETENTION,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.environment import ENVIRONMENT
from ansible_collections.hosted.services.plugins.module_utils._resources.report_info import REPORT_INFO
from ansible_collections.hosted.services.plugins.module_utils._resources.sleep_plan import SLEEP_PLAN
from hosted_sandbox.testing import Sandbox
from integration import proxy_server
from integration.ansible_run import Ansible
from integration.backup_machine import NIGHTLY, BackupMachine
from unit.plugins.module_utils._resources.platform import SEED, add, backups, calls, id_of, run
from unit.plugins.module_utils._resources.relocations import platform
from unit.plugins.module_utils._resources.relocations.platform import done, pair, status_of

DAY = 86400
Run = Callable[..., dict[str, Any]]


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Remember nothing in the folder of whoever runs the tests."""
    monkeypatch.setenv("HOSTED_SERVICES_HOME", str(tmp_path / "home"))


@pytest.fixture
def relocate(sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """What relocates a service with files."""
    key, generated = tmp_path / "key", asyncssh.generate_private_key("ssh-ed25519")
    key.touch(mode=0o600)
    key.write_bytes(generated.export_private_key())
    key.with_suffix(".pub").write_bytes(generated.export_public_key())
    return platform.relocating(sandbox, key, tmp_path, monkeypatch)


class Dateless(proxy_server.Handler):
    """Passes calls on, and leaves the Date out of the responses."""

    send_response = proxy_server.Handler.send_response_only


def told(result: dict[str, Any]) -> list[str]:
    """Return what was said of clocks that differ."""
    return [each for each in result.get("warnings", []) if "the clock of this machine is" in each]


# --- Two clocks -----------------------------------------------------------------------------------------


def test_backups_are_as_old_as_the_platform_says(sandbox: Sandbox) -> None:
    """A backup of 48 hours is not fresh because this machine has lost two days. That is said once."""
    sandbox.seed(SEED)
    for name in ("one", "two"):
        add(sandbox, name, "nightly-1", 0.001)
    asked: dict[str, Any] = {"services": ["one", "two"], "max_age": "26h"}
    assert told(run(sandbox, BACKUP_INFO, **asked)) == []
    sandbox.clock(advance=2 * DAY)
    found = run(sandbox, BACKUP_INFO, **asked)
    assert [(each["freshness"], each["age_hours"]) for each in found["services"]] == [("stale", 48)] * 2
    [said] = told(found)
    assert "48 h 0 min behind the platform's" in said
    assert found["at"][:13] == sandbox.clock()["now"][:13]
    assert told(run(sandbox, BACKUP_INFO, services=["one"])) == [], "no age decides"
    report = run(sandbox, REPORT_INFO)
    assert report["report"]["as_of"][:13] == sandbox.clock()["now"][:13] and told(report)


@pytest.mark.night
def test_the_check_of_a_plan_goes_by_the_platform(tmp_path: Path, sandbox: Sandbox) -> None:
    """For the newest backup, and for the last run."""
    sandbox.seed({"services": [{"name": "one", "product": "minecraft", "project": "web"}]})
    machine = BackupMachine(tmp_path, sandbox)
    machine.install(NIGHTLY).succeed()
    machine.good("run", "nightly")
    sandbox.clock(advance=2 * DAY)
    code, line = machine.run("check", "nightly")
    assert code == 1 and "one was last backed up 48 h ago" in line, line
    assert "the last run ended 48 h ago" in line


def test_a_wrong_date_deletes_nothing(sandbox: Sandbox) -> None:
    """A backup that is dated in the future stays, and takes the place of none that is not.

    Without a date of the platform none goes.
    """
    sandbox.seed(SEED)
    for name, days in (("nightly-3", -2), ("nightly-2", 1), ("nightly-1", 2)):
        add(sandbox, "one", name, days)
    thin_out: dict[str, Any] = {"services": ["one"], "pattern": "nightly-*", "keep_last": 1}
    server = proxy_server.ProxyServer(sandbox)
    server.RequestHandlerClass = Dateless
    with proxy_server.running(server) as proxy:
        result = done(run(sandbox, BACKUP_RETENTION, base_url=proxy.url, **thin_out))
    assert not result["changed"] and len(backups(sandbox, "one")) == 3
    reasons = [each["reasons"] for each in result["services"][0]["plan"]]
    assert all("no response of the platform has a Date" in reason for [reason] in reasons)
    done(run(sandbox, BACKUP_RETENTION, **thin_out))
    assert {each["name"] for each in backups(sandbox, "one")} == {"nightly-3", "nightly-2"}
    sandbox.clock(advance=3 * DAY)  # by now it is one like any other, whatever the time is here
    done(run(sandbox, BACKUP_RETENTION, **thin_out))
    assert [each["name"] for each in backups(sandbox, "one")] == ["nightly-3"]


def test_a_relocation_ends_on_a_date_of_the_platform(sandbox: Sandbox, relocate: Run) -> None:
    """Whatever the time is here: a controller that is days ahead would delete at once."""
    done(relocate())
    old, _new = pair(sandbox)
    sandbox.clock(advance=6.9 * DAY)
    early = relocate(state="finished", delete_backups=True)
    assert "is kept until" in early["msg"] and told(early)
    assert status_of(sandbox, old)[0] == "SUSPENDED"
    sandbox.clock(advance=0.2 * DAY)
    assert done(relocate(state="finished", delete_backups=True))["relocation"]["deleted"]


# --- Deploys --------------------------------------------------------------------------------------------


@pytest.fixture
def shop(sandbox: Sandbox, tmp_path: Path) -> Run:
    """What runs a task on an application, on a platform where a start takes some seconds."""
    images = [{"tag": "v1"}, {"tag": "v2", "packages": {"zlib": "1:1.2.8.dfsg-1"}}]
    sandbox.seed({"apps": [{"slug": "shop", "images": images, "deployed": "v1"}]})
    sandbox.clock(advance=60, rate=20)
    sandbox.delays(start=6)

    def go(resource: Any, **given: Any) -> dict[str, Any]:
        sandbox.clock(advance=10)  # a start that the task before made has ended
        return run(sandbox, resource, slug="shop", state_dir=str(tmp_path / "state"), **given)

    return go


def killed_after_deploy(go: Run, monkeypatch: pytest.MonkeyPatch, tag: str) -> None:
    """Deploy, and end the run when the platform has done that, before its response is read."""
    send = Client.send

    def cut_off(client: Client, route: Route[Any], **given: Any) -> Any:
        answer = send(client, route, **given)
        if route is DEPLOY:
            raise KeyboardInterrupt
        return answer

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Client, "send", cut_off)
        go(APP_DEPLOY, tag=tag)


def deploys(sandbox: Sandbox) -> int:
    """Return how often production was restarted."""
    return calls(sandbox).count("apps.deploy")


def test_a_deploy_that_a_killed_run_has_made_is_not_made_again(
    sandbox: Sandbox, shop: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor one of the same image with another environment. One that was written later is deployed."""
    killed_after_deploy(shop, monkeypatch, "v2")
    looked = done(shop(APP_DEPLOY, tag="v2"))
    assert not looked["changed"] and looked["deployment"]["pending_deploy"] == []
    done(shop(ENVIRONMENT, variables={"MODE": "one"}))
    killed_after_deploy(shop, monkeypatch, "v2")
    assert not done(shop(APP_DEPLOY, tag="v2"))["changed"] and deploys(sandbox) == 2
    killed_after_deploy(lambda *given, **named: shop(*given, force=True, **named), monkeypatch, "v2")
    done(shop(ENVIRONMENT, variables={"MODE": "two"}))
    assert "its environment was written" in done(shop(APP_DEPLOY, tag="v2"))["actions"][0]
    assert deploys(sandbox) == 4


# --- What cannot be remembered, and what takes too long ---------------------------------------------------


def test_a_plan_suspends_nothing_that_it_cannot_remember(tmp_path: Path, sandbox: Sandbox) -> None:
    """Else the next run would take its own suspension for one by hand."""
    sandbox.seed(SEED)
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "sleep").touch()  # where the folder would be
    given: dict[str, Any] = {"services": ["one"], "awake": [], "state_dir": str(tmp_path / "state")}
    result = run(sandbox, SLEEP_PLAN, name="nights", **given)
    assert "cannot be kept in" in result["msg"] and "Not a directory" in result["msg"]
    assert not result["changed"]
    assert status_of(sandbox, id_of(sandbox, "one"))[0] == "ACTIVE"


def test_a_time_limit_ends_a_task_over_several_services(ansible: Ansible, sandbox: Sandbox) -> None:
    """It waits for none of them, and begins no other."""
    sandbox.seed(SEED)
    sandbox.delays(backup=120)
    task: dict[str, Any] = {"services": ["one", "two"], "name": "now", "max_parallel": 1, "wait_timeout": 300}
    ended = ansible.tasks(f"- name: Back up\n  timeout: 4\n  hosted.services.backup: {task}\n")
    assert ended.rc != 0 and "imed out after 4" in ended["Back up"].message
    assert [backup["status"] for backup in backups(sandbox, "one")] == ["PENDING"]
    assert backups(sandbox, "two") == []
