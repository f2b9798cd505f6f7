# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a task leaves open: calls whose answer is lost, services that fail, changes that wait for a start.

The fault matrix strikes every call of every module; here are plays as a user reads them.
"""

from __future__ import annotations

import json
import stat

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


def test_an_order_that_fails_keeps_its_secrets_and_says_why(ansible: Ansible, sandbox: Sandbox) -> None:
    """What is shown only once is on disk, for its owner alone, or in the result; no wait goes on in vain."""
    sandbox.seed(SEED)
    file = ansible.folder / "secrets.json"
    kept = order("broken-database", patience=3600).replace("secrets.json", str(file))
    returned = order("broken-database", "returned").replace(
        "secrets_dest: secrets.json", "return_secrets: true"
    )
    attended = order("attended-game", "attended", patience=3600)
    run = ansible.tasks("".join(f"{task}  ignore_errors: true\n" for task in (kept, returned, attended)))

    failed = run["Order new"]
    assert failed.failed and failed.result["changed"] is True
    assert failed.result["secrets_file"] == str(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    on_disk = json.loads(file.read_text())
    assert on_disk["service_id"] == failed.result["service_id"] == failed.result["service"]["id"]
    values = [secret["value"] for secret in on_disk["secrets"]]
    assert len(values) == 2
    assert max(values, key=len) not in run.output + json.dumps(failed.result)
    reason = sandbox.api("GET", f"/api/resources/{failed.result['service_id']}").json()["failureReason"]
    assert reason and reason in failed.message
    assert failed.result["last_status"] == failed.result["service"]["status"] == "FAILED"

    secrets = run["Order returned"].result["secrets"]["secrets"]
    assert len([secret for secret in secrets if secret["label"] and secret["value"]]) == 2
    folder = (ansible.folder / ".ansible" / "hosted_services" / "secrets").rglob("*")
    assert [path for path in folder if path.is_file() and path.stat().st_size] == [], "a lock holds nothing"

    assert "awaits an intervention" in run["Order attended"].message
    assert run["Order attended"].result["last_status"] == "AWAITING_ADMIN"


def test_a_wait_that_is_over_says_what_was_seen_last(ansible: Ansible, sandbox: Sandbox) -> None:
    """The last status, the last state and the last lines of the log are in the result."""
    sandbox.delays(provision=3600)
    outcome = ansible.tasks(order("minecraft", patience=1))["Order new"]
    assert outcome.failed
    assert "after 1 seconds" in outcome.message and "wait_timeout" in outcome.message
    assert outcome.result["last_status"] == "PROVISIONING"
    assert {"last_state", "last_log_lines", "service_id"} <= outcome.result.keys()


@pytest.mark.night
def test_a_network_change_may_wait_for_the_next_start(ansible: Ansible, sandbox: Sandbox) -> None:
    """It is written and not in effect: the task says so, and the next run that may works it off."""
    sandbox.profile("plain", **{"network.in_effect": "at its next start"})
    sandbox.delays(provision=0, start=0, stop=0)
    service = sandbox.api("POST", "/api/order", ORDERED).json()["instanceId"]
    sandbox.clock(advance=60)

    def change(public: bool, state: str = "present", wait: bool = True) -> Outcome:
        options = {"name": "web", "public": public, "state": state, "wait": wait}
        return ansible.tasks(f"- hosted.services.service: {json.dumps(options)}").succeed().outcomes[0]

    for written in (change(False), change(True, wait=False)):
        assert written.result["changed"] is True
        assert written.result["service"]["pending_restart"] == ["network"]
        assert "takes effect at its next start" in warnings(written)
    again = change(True)
    assert again.result["changed"] is False
    assert again.result["service"]["pending_restart"] == ["network"]
    assert "network setting" in warnings(again)
    assert sandbox.journal("resources.power") == []

    assert change(True, "restarted").result["service"]["pending_restart"] == []
    signals = [line["body"]["signal"] for line in sandbox.journal("resources.power")]
    assert signals == ["stop", "start"]
    settings = sandbox.api("GET", f"/api/resources/{service}/settings").json()
    assert settings["network"]["isPublic"] is True
