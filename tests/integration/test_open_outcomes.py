# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Calls whose outcome is open: adopted, given up with the truth told, or sent again; never ordered twice."""

from __future__ import annotations

import json
import stat
from textwrap import indent
from typing import Any

import pytest

from hosted_sandbox.testing import Sandbox
from integration.ansible_run import Ansible, Outcome

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFzj6KifbzD3SQ/ODoy4X+uPIHgVn/YK4x+KxD2Lbjot laptop@example"
ORDER = """
- name: Order {name}
  hosted.services.service:
    name: {name}
    product: {product}
    host: node-paris-1
    dimensions: {{cpu_cores: 1, ram_gb: 1, storage_gb: 10}}
    state: started
    wait_interval: 0.2
    wait_timeout: {patience}
    secrets_dest: secrets.json
"""
ORDERED = {
    "productSlug": "minecraft",
    "hostId": "node-paris-1",
    "dimensions": {"cpuCores": 2, "ramGb": 4, "storageGb": 20},
    "name": "web",
}
PROJECT = """
- name: Create a project
  hosted.services.project:
    name: games
"""
ADD_KEY = f"""
- name: Register a key
  hosted.services.ssh_key:
    name: laptop
    public_key: {KEY}
"""


def order(product: str = "postgresql", name: str = "new", patience: int = 30) -> str:
    """Return a task that orders a product, a database when nothing is said, and waits until it runs."""
    return ORDER.format(name=name, product=product, patience=patience)


def sent(sandbox: Sandbox, route: str) -> int:
    """Return how often a route was called."""
    return len(sandbox.journal(route))


def warnings(outcome: Outcome) -> str:
    """Return what a task remarked."""
    return "\n".join(outcome.result.get("warnings", []))


def test_lost_answers_are_adopted(ansible: Ansible, sandbox: Sandbox) -> None:
    """The platform acted and the answer was lost: what appeared is taken, nothing is sent twice."""
    creates = {
        "Order new": "order.create",
        "Create a project": "projects.create",
        "Register a key": "ssh_keys.add",
    }
    for route in creates.values():
        sandbox.fault(route, "reset", when="after")
    tasks = order() + PROJECT + ADD_KEY
    run = ansible.tasks(tasks).succeed()

    assert len(sandbox.ledger()["orders"]) == 1
    services = sandbox.api("GET", "/api/resources").json()["items"]
    ordered = run["Order new"]
    assert [service["id"] for service in services] == [ordered.result["service_id"]]
    assert ordered.result["service"]["id"] == ordered.result["service_id"]
    assert "one-time secrets of service 'new'" in warnings(ordered)
    assert "are lost too" in warnings(ordered)
    for name, route in creates.items():
        assert run[name].result["changed"] is True
        assert "was lost" in warnings(run[name])
        assert "was adopted" in warnings(run[name])
        assert sent(sandbox, route) == 1

    again = ansible.tasks(tasks).succeed()
    assert [outcome.result["changed"] for outcome in again.outcomes] == [False, False, False]


@pytest.mark.parametrize("kind", ["truncated", "html", "status"])
def test_answers_that_are_no_answers_are_adopted_too(kind: str, ansible: Ansible, sandbox: Sandbox) -> None:
    """Half an answer, a page of a proxy and a 503 say nothing about what the platform did."""
    sandbox.fault("order.create", kind, when="after")
    run = ansible.tasks(order()).succeed()
    assert "was adopted" in warnings(run["Order new"])
    assert len(sandbox.ledger()["orders"]) == sent(sandbox, "order.create") == 1


def test_what_is_in_doubt_is_not_sent_again(ansible: Ansible, sandbox: Sandbox) -> None:
    """Nothing appeared: the tasks fail, say that the outcome is unknown, and leave it at one call.

    They run side by side, as each watches its list for a while.
    """
    routes = {"a": "order.create", "b": "projects.create", "c": "ssh_keys.add"}
    for route in routes.values():
        sandbox.fault(route, "reset")
    ansible.inventory.write_text("".join(f"{host} ansible_connection=local\n" for host in routes))
    tasks = ""
    for host, text in zip(routes, (order(), PROJECT, ADD_KEY), strict=True):
        tasks += text.replace("  hosted", f"  when: inventory_hostname == '{host}'\n  hosted", 1)
    play = "- hosts: all\n  gather_facts: false\n  strategy: free\n  tasks:\n" + indent(tasks, "    ")
    run = ansible.playbook(play)

    tried = {outcome.host: outcome for outcome in run.outcomes if outcome.outcome != "skipped"}
    what = {"a": "service 'new'", "b": "project 'games'", "c": "SSH key 'laptop'"}
    for host, route in routes.items():
        assert tried[host].outcome == "failed"
        assert f"whether {what[host]} was created is unknown" in tried[host].message
        assert "the call was not sent again" in tried[host].message
        assert tried[host].result["changed"] is False
        assert [tried[host].result.get(module) for module in ("service", "project", "ssh_key")] == [None] * 3
        assert sent(sandbox, route) == 1
    assert sandbox.ledger()["orders"] == []


def test_what_was_turned_away_is_sent_again(ansible: Ansible, sandbox: Sandbox) -> None:
    """429 means that nothing was done, so even an order goes out once more after the pause asked for."""
    sandbox.fault("order.create", "status", status=429, retry_after=1)
    sandbox.fault("projects.create", "status", status=429)
    run = ansible.tasks(order() + PROJECT).succeed()
    assert [warnings(outcome) for outcome in run.outcomes] == ["", ""]
    assert sent(sandbox, "order.create") == sent(sandbox, "projects.create") == 2
    assert len(sandbox.ledger()["orders"]) == 1


@pytest.mark.parametrize("kind", ["status", "truncated", "html", "reset"])
def test_reads_are_sent_again(kind: str, ansible: Ansible, sandbox: Sandbox) -> None:
    """A read can be repeated whatever became of it."""
    sandbox.fault("projects.list", kind, count=2)
    run = ansible.tasks(PROJECT.replace("games", "default")).succeed()
    assert run["Create a project"].result["changed"] is False
    assert sent(sandbox, "projects.list") == 3


NO_END: dict[str, tuple[dict[str, Any], str]] = {
    "drip": ({}, "no complete response within"),
    "html": ({}, "not JSON"),
    "status": ({"status": 503}, "the platform failed (503)"),
    "redirect": ({"location": "http://127.0.0.1:1/"}, "redirect (307), which is not followed"),
}


def test_no_fault_lasts_for_ever(ansible: Ansible, sandbox: Sandbox) -> None:
    """A read that never gets better ends with its reason; a slow one at its time-out; a redirect at once."""
    for kind, (options, words) in NO_END.items():
        sandbox.clear_faults()
        sandbox.clear_journal()
        sandbox.fault("projects.list", kind, count=None, **options)
        run = ansible.tasks("- hosted.services.project: {name: games, timeout: 2, retries: 1}")
        assert run.rc != 0
        assert words in run.outcomes[0].message
        assert "Traceback" not in run.output
        assert sent(sandbox, "projects.list") == (1 if kind == "redirect" else 2)
        assert sent(sandbox, "projects.create") == 0


SEED = {
    "products": [
        {
            "id": "broken-database",
            "name": "Database that cannot be created",
            "short_name": "Broken",
            "family": "APP",
            "engine": "postgresql",
            "outcome": "FAILED",
        }
    ]
}


def test_secrets_outlive_a_failure(ansible: Ansible, sandbox: Sandbox) -> None:
    """What is shown only once is on disk, for its owner alone, although the service never came to life."""
    sandbox.seed(SEED)
    file = ansible.folder / "secrets.json"
    run = ansible.tasks(order("broken-database").replace("secrets.json", str(file)))
    failed = run["Order new"]
    assert failed.failed
    assert failed.result["changed"] is True
    assert failed.result["secrets_file"] == str(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    kept = json.loads(file.read_text())
    assert kept["service_id"] == failed.result["service_id"]
    values = [secret["value"] for secret in kept["secrets"]]
    assert len(values) == 2
    assert max(values, key=len) not in run.output + json.dumps(failed.result)


def test_secrets_are_returned_on_request(ansible: Ansible, sandbox: Sandbox) -> None:
    """With `return_secrets` they are in the result, that of a failed task too; no file is written then."""
    sandbox.seed(SEED)
    task = order("broken-database").replace("secrets_dest: secrets.json", "return_secrets: true")
    run = ansible.tasks(task)
    secrets = run["Order new"].result["secrets"]["secrets"]
    assert len([secret for secret in secrets if secret["label"] and secret["value"]]) == 2
    kept = (ansible.folder / ".ansible" / "hosted_services" / "secrets").rglob("*")
    assert [path for path in kept if path.is_file() and path.stat().st_size] == [], "a lock holds nothing"


def test_a_wait_ends_at_once_where_it_is_in_vain(ansible: Ansible, sandbox: Sandbox) -> None:
    """FAILED and AWAITING_ADMIN end a wait with the reason, although it might last for an hour."""
    failed = ansible.tasks(order("broken-game", patience=3600))
    outcome = failed["Order new"]
    assert outcome.outcome == "failed"
    assert "failed" in outcome.message
    reason = sandbox.api("GET", f"/api/resources/{outcome.result['service_id']}").json()["failureReason"]
    assert reason
    assert reason in outcome.message
    assert outcome.result["last_status"] == "FAILED"
    assert outcome.result["service"]["status"] == "FAILED"
    assert outcome.result["service"]["id"] == outcome.result["service_id"]

    attended = ansible.tasks(order("attended-game", "other", patience=3600))
    outcome = attended["Order other"]
    assert "awaits an intervention" in outcome.message
    assert outcome.result["last_status"] == "AWAITING_ADMIN"


def test_a_wait_that_is_over_says_what_was_seen_last(ansible: Ansible, sandbox: Sandbox) -> None:
    """The last status, the last state and the last lines of the log are in the result."""
    sandbox.delays(provision=3600)
    outcome = ansible.tasks(order("minecraft", patience=1))["Order new"]
    assert outcome.outcome == "failed"
    assert "after 1 seconds" in outcome.message
    assert "PROVISIONING" in outcome.message
    assert "wait_timeout" in outcome.message
    assert outcome.result["last_status"] == "PROVISIONING"
    assert {"last_state", "last_log_lines", "service_id"} <= outcome.result.keys()


DELETIONS = """
- name: Delete the service
  hosted.services.service: {name: web, state: absent, wait: false}
- name: Delete the project
  hosted.services.project: {name: games, state: absent}
- name: Remove the key
  hosted.services.ssh_key: {name: laptop, state: absent}
"""


def test_a_deletion_whose_answer_was_lost_is_found_out(ansible: Ansible, sandbox: Sandbox) -> None:
    """It is sent again. What is gone was deleted by this task."""
    sandbox.delays(delete=3600)
    sandbox.profile("plain", **{"delay": "a second late"})
    service = sandbox.api("POST", "/api/order", ORDERED).json()["instanceId"]
    sandbox.api("POST", "/api/projects", {"name": "games"})
    sandbox.api("POST", "/api/users/me/ssh-keys", {"name": "laptop", "publicKey": KEY})
    sandbox.clock(advance=60)  # until it is ACTIVE, its backups can be listed, and all of them are shown
    routes = ("resources.delete", "projects.delete", "ssh_keys.delete")
    for route in routes:
        sandbox.fault(route, "reset", when="after")
    run = ansible.tasks(DELETIONS).succeed()
    assert [outcome.result["changed"] for outcome in run.outcomes] == [True] * 3
    assert [sent(sandbox, route) for route in routes] == [2, 2, 2]
    assert sandbox.api("GET", f"/api/resources/{service}").json()["status"] == "DELETING"
    again = ansible.tasks(DELETIONS).succeed()
    assert [outcome.result["changed"] for outcome in again.outcomes] == [False] * 3
    assert [sent(sandbox, route) for route in routes] == [2, 2, 2]


def test_a_deletion_that_is_refused_stays_refused(ansible: Ansible, sandbox: Sandbox) -> None:
    """The list still has what was not deleted, so the task fails with the platform's reason."""
    run = ansible.tasks("- hosted.services.project: {name: default, state: absent}")
    assert run.rc != 0
    assert "The default project cannot be deleted" in run.outcomes[0].message
    assert run.outcomes[0].result["changed"] is False
