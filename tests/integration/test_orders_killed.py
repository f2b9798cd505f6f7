# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""kill -9 at some request of an order, an application or a backup: once each, and no secret lost.

ORDER_KILLS is after how many of a run's requests it is killed, as `3,11` or as a range `1-40`.
"""

from __future__ import annotations

import json

import pytest

from hosted_sandbox.testing import Sandbox
from integration.ansible_run import Ansible
from integration.killing import kill_points, kill_tasks_after

SAMPLE = 12
TASKS = """
- name: Order
  hosted.services.service:
    name: db
    product: postgresql
    host: node-paris-1
    dimensions: {cpu_cores: 1, ram_gb: 1, storage_gb: 10}
    budget: 30
    state: started
    wait_interval: 0.2
    secrets_dest: "{{ lookup('env', 'HOME') }}/db.json"
- name: Create
  hosted.services.app: {slug: acme-api, budget: 30, wait_interval: 0.2}
- name: Back up
  hosted.services.backup: {service: world, name: nightly, wait_interval: 0.2}
"""


@pytest.mark.parametrize(
    "point",
    [
        SAMPLE,
        *(pytest.param(point, marks=pytest.mark.night) for point in kill_points("ORDER_KILLS", "1-40:5")),
    ],
)
def test_a_run_that_is_killed_is_completed_by_the_next_one(
    point: int, ansible: Ansible, sandbox: Sandbox
) -> None:
    sandbox.seed({"services": [{"name": "world", "product": "minecraft"}]})
    kill_tasks_after(ansible, sandbox, point, TASKS)
    again = ansible.tasks(TASKS).succeed()
    assert sorted(each["name"] for each in sandbox.ledger()["orders"]) == ["acme-api", "db"]
    listed = sandbox.api("GET", "/api/resources").json()["items"]
    world = next(each["id"] for each in listed if each["name"] == "world")
    backups = sandbox.api("GET", f"/api/resources/{world}/backups").json()
    assert [each["name"] for each in backups] == ["nightly"]
    told = " ".join(again["Order"].result.get("warnings", []))
    assert (ansible.folder / "db.json").is_file() or "database_info with return_secrets: true" in told
    for record in (ansible.folder / ".ansible" / "hosted_services").rglob("*.json"):
        assert json.loads(record.read_text()), record
    sandbox.clear_journal()
    last = ansible.tasks(TASKS).succeed()
    assert not any(last[name].result["changed"] for name in ("Order", "Create", "Back up"))
    assert sandbox.writes() == []
