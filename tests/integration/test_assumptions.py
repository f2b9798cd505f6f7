# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbook `assumptions`: all hold on the sandbox, and it names what a platform does otherwise."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
import yaml

from hosted_sandbox.testing import Sandbox
from integration.ansible_run import REPOSITORY, Ansible, Run, begin_anew
from integration.proxy_server import ProxyServer, running

PLAY = "- ansible.builtin.import_playbook: hosted.services.assumptions\n"
TABLE = REPOSITORY / "docs" / "assumptions.md"
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFzj6KifbzD3SQ/ODoy4X+uPIHgVn/YK4x+KxD2Lbjot laptop@example"
SEED = {
    "ssh_keys": [{"name": "laptop", "public_key": KEY}],
    "services": [{"name": "survival", "product": "minecraft", "files": {"motd.txt": "Welcome\n"}}],
    "apps": [{"slug": "shop", "images": [{"tag": "v1"}]}],
}
ORDER = {
    "assumptions_order_smallest": True,
    "assumptions_product": "minecraft",
    "assumptions_host": "node-paris-1",
}
HOLD, BROKEN, UNSEEN = "hold", "do not hold", "could not be looked at"


def told(run: Run, verdict: str) -> set[str]:
    """Return the assumptions of which the playbook says this, without its reasons."""
    return {line.partition(" (")[0] for line in run["Show which of them hold"].result["msg"][verdict]}


def checked(*lists: str) -> set[str]:
    """Return the names of the playbook's assumptions."""
    [play] = yaml.safe_load((REPOSITORY / "playbooks" / "assumptions.yml").read_text())
    return {item["name"] for name in lists for item in play["vars"][f"assumptions_of_{name}"]}


def names_on(sandbox: Sandbox) -> Sequence[str]:
    return [service["name"] for service in sandbox.api("GET", "/api/resources").json()["items"]]


@pytest.mark.night
@pytest.mark.parametrize("profile", ["plain", "terse", "wrapped"])
def test_all_hold_on_the_sandbox(ansible: Ansible, sandbox: Sandbox, profile: str) -> None:
    begin_anew(sandbox, profile)
    services = sandbox.seed(SEED)["services"]
    before = names_on(sandbox)
    for signal in ("stop", "start") * 12:
        sandbox.api("POST", f"/api/resources/{services['survival']}/power", {"signal": signal})
    run = ansible.playbook(PLAY, variables=ORDER).succeed()
    assert told(run, HOLD) == checked("reads", "the_order")
    assert names_on(sandbox) == before
    assert sandbox.token not in run.output


@pytest.mark.night
def test_an_account_with_nothing_is_read_alone(ansible: Ansible, sandbox: Sandbox) -> None:
    run = ansible.playbook(PLAY).succeed()
    assert told(run, BROKEN) == set() and "lists are whole" in told(run, HOLD)
    assert "keys have a SHA256 or an MD5 (the account has no SSH key)" in run.output
    assert checked("the_order") <= told(run, UNSEEN)
    assert sandbox.writes() == []


@pytest.mark.parametrize(
    ("what", "said", "instead"),
    [
        ("keys have a SHA256 or an MD5", "SHA256:", "SHA512:"),
        pytest.param("a name is kept as sent", "Assumptions", "assumptions", marks=pytest.mark.night),
    ],
)
def test_it_names_what_does_not_hold(
    ansible: Ansible, sandbox: Sandbox, what: str, said: str, instead: str
) -> None:
    """The service that it ordered is deleted all the same."""
    sandbox.seed(SEED)
    before = names_on(sandbox)
    change = ProxyServer(sandbox, change=lambda content: content.replace(said.encode(), instead.encode()))
    with running(change) as platform:
        variables = ORDER if what in checked("the_order") else {}
        run = ansible.playbook(PLAY, env={"HOSTED_SERVICES_URL": platform.url}, variables=variables)
    assert run.rc == 2 and told(run, BROKEN) == {what}
    assert what in run["Fail if one does not hold"].message
    assert names_on(sandbox) == before


def test_the_table_has_what_is_checked() -> None:
    table = TABLE.read_text()
    assert set(re.findall(r" \| ([^|\n`]+) \|$", table, re.MULTILINE)) - {"---", "checked as"} == checked(
        "reads", "the_order"
    )
    assert len(table.splitlines()) <= 80
