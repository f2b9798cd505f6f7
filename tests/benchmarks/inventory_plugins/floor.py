# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The least that an inventory over an API can cost: the calls, made bare, and hosts known beforehand."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import requests
from ansible.inventory.data import InventoryData
from ansible.parsing.dataloader import DataLoader
from ansible.plugins.inventory import BaseInventoryPlugin

DOCUMENTATION = r"""
name: floor
short_description: The least that an inventory over an API can cost
options: {}
"""


class InventoryModule(BaseInventoryPlugin):
    """Reads ``*.floor.json``: the URL, the calls in batches, and the hosts with variables and groups."""

    NAME = "floor"

    def verify_file(self, path: str) -> bool:
        """Take the files that are called so."""
        return path.endswith(".floor.json")

    def parse(self, inventory: InventoryData, loader: DataLoader, path: str, cache: bool = True) -> None:
        """Make the calls, throw the answers away, and add the hosts."""
        super().parse(inventory, loader, path, cache)
        known = json.loads(Path(path).read_text())
        for batch in known["calls"]:
            call_all([known["url"] + call for call in batch], known["at_once"])
        for group in known["groups"]:
            inventory.add_group(group)
        for host, (variables, groups) in known["hosts"].items():
            inventory.add_host(host)
            for name, value in variables.items():
                inventory.set_variable(host, name, value)
            for group in groups:
                inventory.add_child(group, host)


def call_all(urls: list[str], at_once: int) -> None:
    """Get every URL, each thread with a session of its own."""
    local = threading.local()

    def begin() -> None:
        local.session = requests.Session()
        local.session.trust_env = False  # looking for proxies takes a quarter of a call

    def get(url: str) -> Any:
        return local.session.get(url, timeout=60).json()

    with ThreadPoolExecutor(at_once, initializer=begin) as pool:
        for __ in pool.map(get, urls):
            pass
