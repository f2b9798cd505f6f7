# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Automation Platform counts the services that tasks worked on: each once, and nothing else."""

from __future__ import annotations

from typing import Any

import jq
import yaml

from hosted_sandbox.testing import Sandbox
from integration.ansible_run import REPOSITORY, Ansible, Outcome

QUERIES = yaml.safe_load((REPOSITORY / "extensions" / "audit" / "event_query.yml").read_text())
TASKS = """
- hosted.services.service: {name: mc, state: started}
- hosted.services.service: {name: none, state: absent}
- hosted.services.service_info: {}
- hosted.services.app: {slug: acme-api}
- hosted.services.app_info: {}
- hosted.services.app_deploy: {slug: acme-api, tag: v1}
- hosted.services.backup: {service: mc, name: nightly-1}
- hosted.services.backup_info: {service: mc}
- hosted.services.backup_retention: {service: mc, pattern: "nightly-*", keep_last: 1}
- hosted.services.fleet: {name: night, services: [mc, web], state: started}
- hosted.services.sleep_plan: {name: night, services: [mc], awake: []}
  check_mode: true
- hosted.services.snapshot: {service: box, name: one}
- hosted.services.snapshot_info: {service: box}
- hosted.services.blueprint:
    blueprint: {project: shop, services: {mc: {state: started}}, applications: {acme-api: {}}}
- hosted.services.clone:
    {source: shop, project: copy, rename: {suffix: -copy}, without_data: [mc, web, acme-api]}
- hosted.services.service: {name: wrong, state: started}
  ignore_errors: true
"""
WORKED_ON = {
    "service": ["mc"],
    "service_info": ["acme-api", "box", "mc", "web"],
    "app": ["acme-api"],
    "app_info": ["acme-api"],
    "app_deploy": ["acme-api"],
    "backup": ["mc"],
    "backup_info": ["mc"],
    "backup_retention": ["mc"],
    "fleet": ["mc", "web"],
    "sleep_plan": ["mc"],
    "snapshot": ["box"],
    "snapshot_info": ["box"],
    "blueprint": ["acme-api", "mc"],
    "clone": ["acme-api-copy", "mc-copy", "web-copy"],
}


def nodes(outcome: Outcome) -> list[dict[str, Any]]:
    """Return what the query of a task's module finds in its result."""
    found: list[dict[str, Any]] = (
        jq.compile(QUERIES[outcome.action]["query"]).input_value(dict(outcome.result)).all()
    )
    return found


def test_each_service_is_counted_once(ansible: Ansible, sandbox: Sandbox) -> None:
    """By its id, under its name. A task that failed or found nothing counts none."""
    services = [{"name": name, "product": "minecraft", "project": "shop"} for name in ("mc", "web")]
    services.append({"name": "box", "product": "linux"})
    app = {"slug": "acme-api", "project": "shop", "images": [{"tag": "v1"}], "deployed": "v1"}
    sandbox.seed({"balance_cents": 1_000_000, "projects": ["shop"], "services": services, "apps": [app]})
    run = ansible.tasks(TASKS).succeed()
    found: dict[str, list[dict[str, Any]]] = {}
    for outcome in run.outcomes:
        found.setdefault(outcome.action.rpartition(".")[2], []).extend(nodes(outcome))
    assert {name: sorted({node["name"] for node in told}) for name, told in found.items()} == WORKED_ON
    assert {f"hosted.services.{name}" for name in WORKED_ON} | {"hosted.services.recover"} == QUERIES.keys()
    ids = {each["name"]: each["id"] for each in sandbox.api("GET", "/api/resources").json()["items"]}
    for node in (node for told in found.values() for node in told):
        assert node["canonical_facts"] == {"id": ids[node["name"]]}, node
