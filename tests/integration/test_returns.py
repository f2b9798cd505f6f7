# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Modules return what their RETURN documents, and hosts have the variables that the inventory documents.

`test_targets.py` compares the results of all targets, and requires each documented key in one of them.
"""

from __future__ import annotations

import re

import pytest
import yaml

from ansible_collections.hosted.services.plugins.inventory.inventory import DOCUMENTATION
from ansible_collections.hosted.services.plugins.module_utils._api.client import Client
from ansible_collections.hosted.services.plugins.module_utils._api.connection import Connection
from ansible_collections.hosted.services.plugins.module_utils._resources.services.listing import (
    ServiceQuery,
    read_listing,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.account import Account
from ansible_collections.hosted.services.plugins.plugin_utils._inventory.hosts import variables_of
from ansible_collections.hosted.services.scripts.returns import renewed
from cases import NAMES, REPOSITORY
from faults.scenarios import ACCOUNT
from hosted_sandbox.testing import Sandbox
from integration import returns


@pytest.mark.parametrize("module", NAMES)
def test_dictionaries_have_documented_keys(module: str) -> None:
    assert set(returns.open_dictionaries(returns.documented(module))) == returns.OPEN.get(module, set())


def test_hosts_have_the_documented_variables(sandbox: Sandbox) -> None:
    """All of them and no other, with everything read that can be."""
    sandbox.seed(ACCOUNT["seed"])
    client = Client(Connection(sandbox.base_url, sandbox.token))
    found = read_listing(Account(client), ServiceQuery(sftp=True, metrics=True, settings=True)).services
    client.close()
    hosts = [variables_of(service, "none", "hosted_", "https://x") for service in found]
    text = next(n for n in yaml.safe_load(DOCUMENTATION)["notes"] if n.startswith("Host variables, with"))
    told = {f"hosted_{name}" for name in re.findall(r"C\((\w+)\)", text) if name != "hosted_"}
    assert all(host.keys() - {"hosted_url", "hosted_service_id"} == told for host in hosts)
    assert any(host["hosted_settings"] for host in hosts)


def test_what_several_modules_return_is_documented_alike() -> None:
    stale = [path.name for path, text in renewed().items() if path.read_text(encoding="utf-8") != text]
    assert stale == [], "run: make documents"


@pytest.mark.parametrize("module", returns.ELSEWHERE)
def test_what_a_target_does_not_return_is_returned_elsewhere(module: str) -> None:
    known = set(returns.paths(returns.documented(module)))
    for path, file in returns.ELSEWHERE[module].items():
        assert path in known
        assert path.rpartition(".")[2] in (REPOSITORY / file).read_text(), file
