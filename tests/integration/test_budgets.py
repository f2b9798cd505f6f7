# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Budgets in a few plays: what a refusal says, and what check mode predicts.

That no run commits more than fits, however it is run, struck or killed, the random plays of `money` judge.
"""

from __future__ import annotations

import json
from decimal import Decimal

from hosted_sandbox.testing import Sandbox
from integration.ansible_run import BOTH_WAYS, Ansible, Run, play_of

SIZE = "dimensions: {cpu_cores: 2, ram_gb: 4, storage_gb: 20}"
WHAT = f"product: minecraft, host: node-paris-1, {SIZE}"
PRICE = Decimal("10.74")


def order(names: list[str], more: str = "") -> str:
    """Return a task that orders services."""
    return f"""
- name: Order
  hosted.services.service: {{name: "{{{{ item }}}}", {WHAT}{more}}}
  loop: {json.dumps(names)}
  ignore_errors: true
"""


def rate(sandbox: Sandbox) -> Decimal:
    """Return what the platform bills a month."""
    return Decimal(sum(each["monthly_millicents"] for each in sandbox.ledger()["billed"])) / 1000


def highest(sandbox: Sandbox) -> Decimal:
    """Return the highest rate that the platform has ever billed."""
    changes = sorted(
        (rate["from"], index, sum(rate["parts"].values()))
        for index, each in enumerate(sandbox.ledger()["billed"])
        for rate in each["rates"]
    )
    running: dict[int, int] = {}
    most = 0
    for __, index, millicents in changes:
        running[index] = millicents
        most = max(most, sum(running.values()))
    return Decimal(most) / 1000


def orders(sandbox: Sandbox) -> list[str]:
    """Return the names of what was ordered."""
    return [each["name"] for each in sandbox.ledger()["orders"]]


def refused(run: Run, name: str = "Order") -> list[str]:
    """Return the errors of the items that were refused."""
    return [item.message for item in run.items(name) if item.failed]


@BOTH_WAYS
def test_a_loop_orders_what_fits_and_no_more(ansible: Ansible, sandbox: Sandbox, in_process: bool) -> None:
    play = order(["one", "two", "three"])
    run = ansible.tasks(play, variables={"hosted_budget": "22"}, in_process=in_process).succeed()
    assert orders(sandbox) == ["one", "two"] and rate(sandbox) == highest(sandbox) == 2 * PRICE
    [message] = refused(run)
    for figure in ("22.00 EUR a month", "10.74 EUR", "10.22 EUR over", "run has added 21.48 EUR"):
        assert figure in message
    [last] = [item for item in run.items("Order") if item.failed]
    assert last.result["budget"]["over"] == "10.22" and last.result["budget"]["scope"] == "the account"

    again = ansible.tasks(order(["one", "two"]), variables={"hosted_budget": "22"}).succeed()
    assert refused(again) == [] and len(orders(sandbox)) == 2


def test_check_mode_predicts_across_the_tasks_of_a_run(ansible: Ansible, sandbox: Sandbox) -> None:
    ansible.tasks(order(["old"])).succeed()
    tasks = (
        order(["one", "two", "two"])
        + f"""
- name: Delete
  hosted.services.service: {{name: old, state: absent}}
- name: Order in its place
  hosted.services.service: {{name: three, {WHAT}}}
- name: Order too much
  hosted.services.service: {{name: four, {WHAT}}}
  ignore_errors: true
"""
    )
    sandbox.clear_journal()
    budget = {"HOSTED_SERVICES_BUDGET": '{"account": 32.5}'}
    run = ansible.playbook(play_of(tasks), "--check", env=budget).succeed()
    assert sandbox.writes() == [] and refused(run) == []
    assert not run["Order in its place"].failed
    assert "10.46 EUR over" in run["Order too much"].message
