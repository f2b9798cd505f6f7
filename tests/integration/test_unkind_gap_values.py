# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Platforms that fill what the specification leaves open in ways that a client may not expect."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from hosted_sandbox.testing import Sandbox
from integration.ansible_run import Ansible, Outcome

pytestmark = pytest.mark.night

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFzj6KifbzD3SQ/ODoy4X+uPIHgVn/YK4x+KxD2Lbjot laptop@example"
ORDER = {
    "productSlug": "minecraft",
    "hostId": "node-paris-1",
    "dimensions": {"cpuCores": 2, "ramGb": 4, "storageGb": 20},
    "name": "mc",
}


def order(sandbox: Sandbox, stop: float = 0) -> str:
    """Order a game server that runs at once and takes some seconds to stop, and return its id."""
    sandbox.delays(provision=0, start=0, stop=stop)
    return str(sandbox.api("POST", "/api/order", ORDER).json()["instanceId"])


def bodies(sandbox: Sandbox, route: str) -> list[Any]:
    """Return what was sent to a route."""
    return [line["body"] for line in sandbox.journal(route)]


def warnings(outcome: Outcome) -> str:
    """Return what a task remarked."""
    return "\n".join(outcome.result.get("warnings", []))


def test_what_is_new_may_be_listed_late(ansible: Ansible, sandbox: Sandbox) -> None:
    """Projects, keys and applications are waited for."""
    sandbox.profile("plain", delay="one read late")
    tasks = f"""
- name: Create a project
  hosted.services.project: {{name: games}}
  register: games
- name: Register a key
  hosted.services.ssh_key: {{name: laptop, public_key: {KEY}}}
- name: By id
  hosted.services.app: {{slug: by-id, host: node-paris-1, project: "{{{{ games.project.id }}}}"}}
- name: By name
  hosted.services.app: {{slug: by-name, host: Paris 1, project: games}}
- name: Unknown
  hosted.services.app: {{slug: not-there, host: node-paris-9}}
  ignore_errors: true
"""
    run = ansible.tasks(tasks).succeed()
    games = run["Create a project"].result["project"]["id"]
    assert [outcome.failed for outcome in run.outcomes] == [False] * 4 + [True]
    assert [outcome.result["changed"] for outcome in run.outcomes] == [True] * 4 + [False]
    sent = bodies(sandbox, "apps.create")
    assert [(body["hostId"], body["projectId"]) for body in sent] == [("node-paris-1", games)] * 2
    assert "did you mean 'node-paris-1'?" in run["Unknown"].message
    assert len(sandbox.journal("projects.create")) == len(sandbox.journal("ssh_keys.add")) == 1


DELIVERY = """
- name: Declare
  hosted.services.app_release: {slug: shop, tag: next, digest: "DIGEST"}
- name: Deploy
  hosted.services.app_deploy: {slug: shop, tag: next}
- name: Declare again
  hosted.services.app_release: {slug: shop, tag: next, digest: "DIGEST"}
"""


def test_a_new_release_may_be_listed_late(ansible: Ansible, sandbox: Sandbox) -> None:
    """It is declared once and deployed at once."""
    images = [{"tag": "v1"}, {"tag": "v2", "labels": {"version": "2"}}]
    sandbox.seed({"apps": [{"slug": "shop", "images": images, "deployed": "v1"}]})
    digest = sandbox.api("GET", "/api/apps/shop/releases/v2/scan").json()["digest"]
    sandbox.profile("plain", delay="one read late")
    tasks = DELIVERY.replace("DIGEST", digest)
    first, second = (ansible.tasks(tasks).succeed() for __ in range(2))
    assert [outcome.result["changed"] for outcome in first.outcomes] == [True, True, False]
    assert [outcome.result["changed"] for outcome in second.outcomes] == [False] * 3
    assert "".join(warnings(outcome) for outcome in [*first.outcomes, *second.outcomes]) == ""
    assert bodies(sandbox, "releases.declare") == [{"tag": "next", "digest": digest}]
    assert len(sandbox.journal("apps.deploy")) == 1
    [app] = sandbox.api("GET", "/api/apps").json()["items"]
    assert app["imageRef"].endswith(f"@{digest}")


MACHINE = """\
- name: Order a machine
  hosted.services.service:
    name: disk
    product: linux
    host: node-paris-1
    dimensions: {cpu_cores: 1, ram_gb: 1, storage_gb: 10}
    wait_interval: 0.2
- name: Make a backup
  hosted.services.backup: {service: disk, name: first, wait_interval: 0.2}
- name: Make a snapshot
  hosted.services.snapshot: {service: disk, name: first, wait_interval: 0.2}
"""
"""A machine with a backup and a snapshot."""


def test_a_network_change_may_wait_for_the_next_start(ansible: Ansible, sandbox: Sandbox) -> None:
    """It is written and not in effect: the task says so, and the next run that may works it off."""
    sandbox.profile("plain", **{"network.in_effect": "at its next start"})
    service = order(sandbox)
    sandbox.clock(advance=60)
    change = "- hosted.services.service: {{name: mc, public: {public}, wait: {wait}, state: {state}}}"
    for public, wait in (("false", "true"), ("true", "false")):
        written = (
            ansible.tasks(change.format(public=public, wait=wait, state="present")).succeed().outcomes[0]
        )
        assert written.result["changed"] is True
        assert written.result["service"]["pending_restart"] == ["network"]
        assert "takes effect at its next start" in warnings(written)
    again = ansible.tasks(change.format(public="true", wait="true", state="present")).succeed().outcomes[0]
    assert again.result["changed"] is False
    assert again.result["service"]["pending_restart"] == ["network"]
    assert "network setting" in warnings(again)
    assert sandbox.journal("resources.power") == []

    started = (
        ansible.tasks(change.format(public="true", wait="true", state="restarted")).succeed().outcomes[0]
    )
    assert started.result["service"]["pending_restart"] == []
    assert [body["signal"] for body in bodies(sandbox, "resources.power")] == ["stop", "start"]
    settings = sandbox.api("GET", f"/api/resources/{service}/settings").json()
    assert settings["network"]["isPublic"] is True


@pytest.mark.parametrize(
    ("in_effect", "pending"), [("at its next start", ["network"]), ("at once", [])], ids=["later", "at once"]
)
@pytest.mark.parametrize("wait", ["true", "false"])
def test_a_network_change_is_told_apart_on_a_container_that_has_just_started(
    ansible: Ansible, sandbox: Sandbox, in_effect: str, pending: list[str], wait: str
) -> None:
    """An uptime of no second says nothing of a start in that second, so its container runs on for a while."""
    sandbox.profile("plain", **{"network.in_effect": in_effect})
    service = order(sandbox)
    ansible.tasks("- hosted.services.service: {name: mc, state: restarted}").succeed()
    assert len(sandbox.journal("resources.power")) == 1
    task = f"- hosted.services.service: {{name: mc, public: false, wait: {wait}}}"
    written = ansible.tasks(task).succeed().outcomes[0]
    assert written.result["service"]["pending_restart"] == pending
    assert ("takes effect at its next start" in warnings(written)) is bool(pending)
    settings = sandbox.api("GET", f"/api/resources/{service}/settings").json()
    assert settings["network"]["isPublic"] is False


RESTARTING = "- hosted.services.service: {name: mc, state: restarted, wait: false}\n"


@pytest.mark.parametrize("in_effect", ["at once", "at its next start"])
@pytest.mark.parametrize("wait", ["true", "false"])
def test_a_network_change_during_a_restart_is_in_effect_or_pending(
    ansible: Ansible, sandbox: Sandbox, in_effect: str, wait: str
) -> None:
    """A restart keeps the container with its ports, so a service that was closed would stay open."""
    sandbox.profile("plain", **{"network.in_effect": in_effect})
    service = order(sandbox, stop=3)
    sandbox.clock(advance=60)
    change = f"- hosted.services.service: {{name: mc, public: false, wait: {wait}}}"
    changed = ansible.tasks(RESTARTING + change).succeed().outcomes[1].result
    assert sandbox.api("GET", f"/api/resources/{service}/settings").json()["network"]["isPublic"] is False
    is_seen = (in_effect, wait) == ("at once", "true")
    assert changed["service"]["pending_restart"] == ([] if is_seen else ["network"])
    sandbox.clear_journal()
    restarted = ansible.tasks("- hosted.services.service: {name: mc, state: restarted}").succeed()
    assert restarted.outcomes[0].result["service"]["pending_restart"] == []
    sent = [body["signal"] for body in bodies(sandbox, "resources.power")]
    assert sent == (["restart"] if is_seen else ["stop", "start"])
    assert sandbox.control("GET", f"/services/{service}")["container"]["configuration"]["public"] is False


@pytest.mark.parametrize(("state", "signals"), [("started", []), ("stopped", ["stop"])])
def test_a_state_is_reached_through_the_restart_of_somebody_else(
    ansible: Ansible, sandbox: Sandbox, state: str, signals: list[str]
) -> None:
    """What stops may come back by itself, so its end is looked at."""
    order(sandbox, stop=3)
    sandbox.clock(advance=60)
    task = f"- hosted.services.service: {{name: mc, state: {state}, wait_timeout: 20}}"
    reached = ansible.tasks(RESTARTING + task).succeed().outcomes[1].result
    assert reached["service"]["state"] == {"started": "running"}.get(state, state)
    assert reached["changed"] is bool(signals)
    assert [body["signal"] for body in bodies(sandbox, "resources.power")] == ["restart", *signals]


def test_a_network_change_that_acts_at_once_is_done(ansible: Ansible, sandbox: Sandbox) -> None:
    """Nothing waits for a start then, not even where the task does not wait."""
    order(sandbox)
    sandbox.clock(advance=60)
    task = "- hosted.services.service: {name: mc, public: false, wait: false}"
    changed = ansible.tasks(task).succeed().outcomes[0]
    assert changed.result["service"]["pending_restart"] == []
    assert "takes effect" not in warnings(changed)


ALIASES = """
- name: Create a project
  hosted.services.project: {name: games}
- name: Order a namesake
  hosted.services.service:
    name: mc
    project: games
    product: minecraft
    host: node-paris-1
    dimensions: {cpu_cores: 1, ram_gb: 1, storage_gb: 10}
    allow_duplicate_name: true
    wait_interval: 0.2
  register: other
- name: Move the first
  hosted.services.service: {id: "FIRST", new_project: games}
- name: See who is there
  hosted.services.service_info: {project: games}
- name: Move it back
  hosted.services.service: {id: "FIRST", new_project: default}
- name: Delete the project
  hosted.services.project: {name: games, state: absent, force: true}
"""


def test_an_alias_may_be_taken_in_another_project(ansible: Ansible, sandbox: Sandbox) -> None:
    """Which of two services answers to one alias is not shown, so the tasks that bring it about say so."""
    first = order(sandbox)
    run = ansible.tasks(ALIASES.replace("FIRST", first))
    moved = run["Move the first"]
    assert "the alias 'mc' is taken in project 'games'" in warnings(moved)
    assert "the alias 'mc' is taken in the default project ('default')" in warnings(run["Delete the project"])
    assert moved.result["changed"] is True
    there = [each["id"] for each in run["See who is there"].result["services"]]
    assert first in there and len(there) == 2
    assert run["Delete the project"].result["changed"] is True
    aliases = [
        sandbox.api("GET", f"/api/resources/{id}/settings").json()["network"]["alias"]
        for id in (first, run["Order a namesake"].result["service"]["id"])
    ]
    assert aliases == ["mc", "mc"]


DELETED = """
- name: Delete the project
  hosted.services.project: {name: games, state: absent, force: true}
"""


def test_an_alias_may_be_taken_in_the_default_project(ansible: Ansible, sandbox: Sandbox) -> None:
    """Which of the two answers to it then is not known, so the task warns."""
    order(sandbox)
    games = sandbox.api("POST", "/api/projects", {"name": "games"}).json()["id"]
    others = [
        sandbox.api("POST", "/api/order", {**ORDER, "name": name, "projectId": games}).json()["instanceId"]
        for name in ("mc", "other")
    ]
    done = ansible.tasks(DELETED)["Delete the project"]
    assert "the alias 'mc' is taken in the default project ('default')" in warnings(done)
    projects = {each["name"]: each["id"] for each in sandbox.api("GET", "/api/projects").json()}
    assert set(projects) == {"default"}
    found = [sandbox.api("GET", f"/api/resources/{id}").json()["projectId"] for id in others]
    assert found == [projects["default"]] * 2
    assert done.result["changed"] is True
    assert len(sandbox.journal("projects.delete")) == 1


def test_a_404_of_a_gateway_deletes_nothing(ansible: Ansible, sandbox: Sandbox) -> None:
    """What is still there was not deleted, whoever says that there is no such item."""
    tasks = """
- hosted.services.project: {name: games}
- hosted.services.project: {name: games, state: absent}
"""
    sandbox.fault("projects.delete", "status", status=404)
    run = ansible.tasks(tasks)
    assert "is still there" in run.outcomes[-1].result["msg"]
    assert [project["name"] for project in sandbox.api("GET", "/api/projects").json()] == ["default", "games"]


REMOVALS = f"""
- name: Register a key
  hosted.services.ssh_key: {{name: laptop, public_key: {KEY}}}
- name: Create a project
  hosted.services.project: {{name: games}}
{MACHINE}"""
REMOVED = """
- name: Remove the key
  hosted.services.ssh_key: {name: laptop, state: absent}
- name: Remove the project
  hosted.services.project: {name: games, state: absent}
- name: Remove the backup
  hosted.services.backup: {service: disk, name: first, state: absent}
- name: Remove the snapshot
  hosted.services.snapshot: {service: disk, name: first, state: absent}
"""


def test_what_is_removed_may_be_listed_for_a_while(ansible: Ansible, sandbox: Sandbox) -> None:
    """The next task neither removes it again nor takes it for something that is there."""
    sandbox.profile("plain", **{"delay": "a second late"})
    sandbox.delays(provision=0, start=0, backup=0)
    run = ansible.tasks(REMOVALS + REMOVED + REMOVED.replace("Remove", "Once more remove")).succeed()
    removals = [outcome.result["changed"] for outcome in run.outcomes][-8:]
    assert removals == [True] * 4 + [False] * 4
    removing = [line["route"] for line in sandbox.journal() if line["method"] == "DELETE"]
    assert sorted(removing) == ["backups.delete", "projects.delete", "snapshots.delete", "ssh_keys.delete"]


RENEWAL = """
- name: Delete it
  hosted.services.service: {name: shop, state: absent, wait_interval: 0.2}
- name: Create it anew
  hosted.services.app: {slug: shop, wait_interval: 0.2}
"""


def test_a_deleted_application_may_be_listed_for_a_while(ansible: Ansible, sandbox: Sandbox) -> None:
    """The next task creates another one and does not take the old one for it."""
    sandbox.profile("plain", delay="a second late")
    sandbox.delays(provision=0, start=0, delete=0.1)
    sandbox.seed({"apps": [{"slug": "shop"}]})
    [old] = sandbox.api("GET", "/api/apps").json()["items"]
    run = ansible.tasks(RENEWAL).succeed()
    assert [outcome.result["changed"] for outcome in run.outcomes] == [True, True]
    created = run["Create it anew"].result["app"]["id"]
    [left] = sandbox.api("GET", "/api/resources").json()["items"]
    assert left["id"] == created != old["id"]
    assert len(sandbox.journal("apps.create")) == len(sandbox.journal("resources.delete")) == 1


ODD_PLATFORM = """
- name: Order a game
  hosted.services.service:
    name: mc
    product: minecraft
    host: node-paris-1
    dimensions: {cpu_cores: 1, ram_gb: 1, storage_gb: 10}
    wait_interval: 0.2
- name: Write a file
  hosted.services.file: {service: mc, path: deep/er/a.txt, content: x}
- name: Remove its directory
  hosted.services.file: {service: mc, path: deep, state: absent}
- name: Make a backup
  hosted.services.backup: {service: mc, name: "{{ item }}", wait_interval: 0.2}
  loop: [nightly-1, nightly-2]
- name: Keep one backup
  hosted.services.backup_retention: {service: mc, pattern: nightly-*, keep_last: 1}
- name: Suspend it
  hosted.services.service: {name: mc, state: suspended, wait_interval: 0.2}
- name: Suspend it again
  hosted.services.service: {name: mc, state: suspended}
"""


def test_a_platform_that_is_odd_in_small_things(ansible: Ansible, sandbox: Sandbox) -> None:
    """Its ids need quoting, and it is late."""
    sandbox.profile("plain", **{"id.form": "a number of its kind, to be quoted", "delay": "a second late"})
    sandbox.delays(provision=0, start=0, backup=0)
    run = ansible.tasks(ODD_PLATFORM).succeed()
    assert run["Suspend it"].result["service"]["status"] == "SUSPENDED"
    assert run["Suspend it again"].result["changed"] is False
    assert len(sandbox.journal("resources.suspend")) == 1
    id = run["Order a game"].result["service"]["id"]
    assert id.endswith("+=")
    left = sandbox.api("GET", f"/api/resources/{quote(id, safe='')}/backups").json()
    assert [backup["name"] for backup in left] == ["nightly-2"]
    assert sandbox.api("GET", f"/api/resources/{quote(id, safe='')}/files").json() == []
