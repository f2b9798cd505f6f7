# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Inventories as the slices of a job of AWX get them, and what a platform holds in the end.

AWX orders the hosts by name, and gives the slice ``number`` of ``count`` every ``count``-th of them. Its
inventory is a program that prints all groups with these hosts alone. A play over localhost runs in every
slice, because Ansible knows localhost without an inventory. No variable tells a slice its number, or how many
there are.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hosted_sandbox.testing import Sandbox

KEPT = ("name", "product", "status", "alias", "runtime", "size", "options", "environment", "public")
"""What does not depend on when, or in which order, a service was ordered."""

Variables = Mapping[str, Mapping[str, Any]]


def write_slice(path: Path, group: str, variables: Variables, number: int = 1, count: int = 1) -> Path:
    """Write the inventory of one slice: a group of hosts with their variables. One of one is the whole."""
    own = sorted(variables)[number - 1 :: count]
    listed = {
        "all": {"hosts": [], "children": [group]},
        group: {"hosts": own},
        "_meta": {"hostvars": {host: variables[host] for host in own}},
    }
    path.write_text(f"#!/usr/bin/env python3\nprint({json.dumps(listed)!r})\n")
    path.chmod(0o755)
    return path


def end_state(sandbox: Sandbox) -> dict[str, list[str]]:
    """Return projects, keys, services and backups of the account, without what differs between two runs.

    They are sorted lists, so that nothing that is there twice goes unnoticed.
    """
    records: dict[str, list[dict[str, Any]]] = sandbox.control("GET", "/state")["records"]
    account = sandbox.control("GET", "/")["tokens"]["full"]
    [owner] = [token["account_id"] for token in records["token"] if token["id"] == account]
    projects = {each["id"]: each["name"] for each in records["project"] if each["account_id"] == owner}
    services = {each["id"]: each for each in records["service"] if each["account_id"] == owner}
    return {
        "projects": sorted(projects.values()),
        "keys": sorted(each["name"] for each in records["key"]),
        "services": sorted(
            json.dumps(
                {field: each[field] for field in KEPT}
                | {"project": projects[each["project_id"]], "state": each["container"]["state"]}
            )
            for each in services.values()
        ),
        "backups": sorted(
            f"{services[each['service_id']]['name']}: {each['name']}, {each['status']}"
            for each in records["backup"]
        ),
    }
