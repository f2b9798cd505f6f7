# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Budgets in real runs: no commitment above, no refusal of what fits, by what the sandbox bills."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest

from hosted_sandbox.testing import Sandbox
from integration.ansible_run import BOTH_WAYS, INVENTORY, Ansible, Run
from integration.warm import COLD

SIZE = "dimensions: {cpu_cores: 2, ram_gb: 4, storage_gb: 20}"
GROWN = "dimensions: {cpu_cores: 3, ram_gb: 7, storage_gb: 21}"
WHAT = f"product: minecraft, host: node-paris-1, {SIZE}"
PRICE, SLEEPING, LARGE = Decimal("10.74"), Decimal("1.70"), Decimal("17.785")


def order(names: list[str], more: str = "", keywords: str = "") -> str:
    """Return a task that orders services."""
    return f"""
- name: Order
  hosted.services.service: {{name: "{{{{ item }}}}", {WHAT}{more}}}
  loop: {json.dumps(names)}
  ignore_errors: true
{keywords}"""


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
    assert orders(sandbox) == ["one", "two"] and rate(sandbox) == 2 * PRICE
    [message] = refused(run)
    for figure in (
        "22.00 EUR a month",
        "21.48 EUR",
        "10.74 EUR",
        "10.22 EUR over",
        "run has added 21.48 EUR",
    ):
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
    run = ansible.playbook(
        "- hosts: localhost\n  gather_facts: false\n  tasks:\n"
        + "".join(f"    {line}\n" for line in tasks.splitlines()),
        "--check",
        env={"HOSTED_SERVICES_BUDGET": '{"account": 32.5}'},
    ).succeed()
    assert sandbox.writes() == [] and refused(run) == []
    assert not run["Order in its place"].failed
    assert "10.46 EUR over" in run["Order too much"].message


@pytest.mark.night
def test_a_look_before_the_order_does_not_count_twice(ansible: Ansible, sandbox: Sandbox) -> None:
    """What a task in check mode predicts of a real run counts until the same is done for real."""
    looks = "".join(
        f"""
- name: {title} {name}
  hosted.services.service: {{name: {name}, {WHAT}}}
  check_mode: {look}
  ignore_errors: true
"""
        for name in ("one", "two", "three")
        for title, look in (("Look at", "true"), ("Order", "false"))
    )
    run = ansible.tasks(looks, variables={"hosted_budget": {"run": 22}}).succeed()
    assert orders(sandbox) == ["one", "two"] and rate(sandbox) == 2 * PRICE
    assert not run["Look at two"].failed
    for title in ("Look at three", "Order three"):
        assert "this run has added 21.48 EUR" in run[title].message


@pytest.mark.parametrize(
    ("more", "variables", "env"),
    [
        (", budget: 100", {"hosted_budget": 5}, {}),
        (", budget: 5", {"hosted_budget": 100}, {"HOSTED_SERVICES_BUDGET": "100"}),
        ("", {"hosted_budget": {"account": 100}}, {"HOSTED_SERVICES_BUDGET": "run: 5"}),
    ],
)
def test_the_lowest_limit_holds_wherever_it_is_set(
    ansible: Ansible, sandbox: Sandbox, more: str, variables: dict[str, Any], env: dict[str, str]
) -> None:
    run = ansible.tasks(order(["one"], more), variables=variables, env=env).succeed()
    assert orders(sandbox) == [] and "5.74 EUR over" in refused(run)[0]


@pytest.mark.night
def test_defaults_do_not_raise_each_other(ansible: Ansible, sandbox: Sandbox) -> None:
    group = "module_defaults: {group/hosted.services.all: {budget: 5}}"
    own = "module_defaults: {hosted.services.service: {budget: 100}}"
    run = ansible.tasks(
        order(["one"], ", budget: 100", f"  {own}\n  environment: {{HOSTED_SERVICES_BUDGET: '90'}}"),
        keywords=group,
    ).succeed()
    assert orders(sandbox) == [] and "5.74 EUR over" in refused(run)[0]


@pytest.mark.night
def test_a_larger_size_and_a_resumption_are_commitments(ansible: Ansible, sandbox: Sandbox) -> None:
    ansible.tasks(order(["web", "db"])).succeed()
    tasks = f"""
- name: Suspend
  hosted.services.service: {{name: db, {WHAT}, state: suspended}}
- name: Grow
  hosted.services.service: {{name: web, {GROWN}}}
- name: Resume
  hosted.services.service: {{name: db, state: resumed}}
  ignore_errors: true
- name: Grow too much
  hosted.services.service: {{name: web, dimensions: {{ram_gb: 16}}}}
  ignore_errors: true
- name: Shrink
  hosted.services.service: {{name: web, dimensions: {{cpu_cores: 2, ram_gb: 4}}}}
- name: Resume what fits
  hosted.services.service: {{name: db, state: resumed}}
"""
    run = ansible.tasks(tasks, variables={"hosted_budget": 22}).succeed()
    assert run["Resume"].failed and "resumption of service 'db'" in run["Resume"].message
    assert run["Grow too much"].failed
    assert highest(sandbox) <= 22 and rate(sandbox) > 2 * PRICE


@pytest.mark.night
@pytest.mark.parametrize("strategy", ["linear", "free"])
def test_no_strategy_commits_more_than_fits(ansible: Ansible, sandbox: Sandbox, strategy: str) -> None:
    local = INVENTORY.splitlines()[0].partition(" ")[2].format(python=ansible.programs.python)
    hosts = [f"h{number}" for number in range(8)]
    ansible.inventory.write_text("".join(f"{host} {local}\n" for host in hosts))
    play = f"""
- hosts: all
  gather_facts: false
  strategy: {strategy}
  tasks:
    - name: Order its own
      hosted.services.service: {{name: "{{{{ inventory_hostname }}}}-web", {WHAT}}}
      ignore_errors: true
- hosts: all
  gather_facts: false
  serial: 2
  tasks:
    - name: Order one for all
      hosted.services.service: {{name: h0-web, {WHAT}}}
      ignore_errors: true
"""
    run = ansible.playbook(play, "--forks", "50", variables={"hosted_budget": {"account": 33}}).succeed()
    assert len(orders(sandbox)) == 3 and rate(sandbox) == 3 * PRICE
    refusals = [each for each in run.outcomes if each.name == "Order its own" and each.failed]
    assert len(refusals) == 5


@pytest.mark.night
def test_a_run_adds_no_more_than_it_may_in_any_of_its_processes(ansible: Ansible, sandbox: Sandbox) -> None:
    ansible.tasks(order(["before"])).succeed()
    tasks = (
        order(["one"])
        + f"""
- name: Order in the background
  hosted.services.service: {{name: background, {WHAT}}}
  async: 120
  poll: 1
- name: Order as a module
  hosted.services.service: {{name: module, {WHAT}}}
  vars: {{hosted_in_process: false}}
  ignore_errors: true
"""
    )
    limit = {"hosted_budget": {"run": 22, "account": 1000}}
    run = ansible.tasks(tasks, variables=limit).succeed()
    assert orders(sandbox) == ["before", "one", "background"]
    message = run["Order as a module"].message
    assert "this run has added 21.48 EUR" in message and "10.22 EUR over" in message
    ansible.tasks(order(["later"]), variables=limit).succeed()
    assert rate(sandbox) == 4 * PRICE


@pytest.mark.night
def test_two_runs_at_once_see_each_other(ansible: Ansible, sandbox: Sandbox) -> None:
    def run(number: int) -> Run:
        own = Ansible(folders[number], sandbox)
        own.environment["HOSTED_SERVICES_HOME"] = str(ansible.folder / "shared")
        return own.tasks(order([f"r{number}-{item}" for item in range(3)]), variables={"hosted_budget": 44})

    folders = [ansible.folder / str(number) for number in range(2)]
    for folder in folders:
        folder.mkdir()
    with ThreadPoolExecutor() as pool:
        for done in pool.map(run, range(2)):
            done.succeed()
    assert len(orders(sandbox)) == 4 and highest(sandbox) <= 44


@pytest.mark.night
@pytest.mark.parametrize("when", ["before", "after"])
def test_an_order_without_a_response_keeps_its_part_until_it_shows(
    ansible: Ansible, sandbox: Sandbox, when: str
) -> None:
    sandbox.fault("order.create", "reset", when=when)
    run = ansible.tasks(order(["lost", "next"]), variables={"hosted_budget": 15}).succeed()
    assert rate(sandbox) <= 15
    assert orders(sandbox) == (["lost"] if when == "after" else [])
    assert len(refused(run)) == (1 if when == "after" else 2)
    if when == "before":  # the platform showed nothing of it, so the same order may be sent again
        assert "committed and not shown by the platform yet" in refused(run)[1]
        ansible.tasks(order(["lost"]), variables={"hosted_budget": 15}).succeed()
        assert orders(sandbox) == ["lost"]


def kill_in_the_middle(ansible: Ansible, tasks: str, budget: object, is_there: Callable[[], bool]) -> None:
    """Run tasks, and end the run and its workers with SIGKILL once the platform has what is waited for."""
    play = ansible.folder / "killed.yml"
    play.write_text(f"- hosts: localhost\n  gather_facts: false\n  tasks:\n{indent(tasks, '    ')}")
    variables = json.dumps({"hosted_budget": budget})
    with subprocess.Popen(
        [COLD.playbook, "-i", str(ansible.inventory), str(play), "-e", variables],
        env=ansible.environment,
        cwd=ansible.folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as run:
        while not is_there():
            assert run.poll() is None, "the run ended before it was killed"
            time.sleep(0.05)
        os.killpg(run.pid, signal.SIGKILL)
    assert run.returncode == -signal.SIGKILL


@pytest.mark.night
@pytest.mark.parametrize("when", ["before", "after"])
def test_an_order_whose_run_is_killed_keeps_its_part_until_the_same_run_again(
    ansible: Ansible, sandbox: Sandbox, when: str
) -> None:
    """Whether or not the platform acts on the order that is under way."""
    ordered = ["one", "lost"] if when == "after" else ["one"]
    sandbox.fault("order.create", "no_answer", nth=2, when=when)

    def is_under_way() -> bool:
        [fault] = sandbox.control("GET", "/faults")
        return fault["injected"] == 1 and orders(sandbox) == ordered

    kill_in_the_middle(ansible, order(["one", "lost", "next"]), 22, is_under_way)
    assert orders(sandbox) == ordered
    [lost] = [entry for entry in records(ansible.folder)["entries"] if entry["name"] == "lost"]
    assert not lost["done"] and Decimal(lost["monthly"]) == PRICE
    sandbox.clear_faults()

    other = ansible.tasks(order(["other"]), variables={"hosted_budget": 22}).succeed()
    assert len(refused(other)) == 1 and orders(sandbox) == ordered
    reserved = "10.74 EUR of it committed and not shown by the platform yet"
    assert (reserved in refused(other)[0]) == (when == "before")

    again = ansible.tasks(order(["one", "lost", "next"]), variables={"hosted_budget": 22}).succeed()
    assert orders(sandbox) == ["one", "lost"] and len(refused(again)) == 1
    assert "the order of service 'next' is refused by the budget, 10.22 EUR over it" in refused(again)[0]
    assert rate(sandbox) == highest(sandbox) == 2 * PRICE


@pytest.mark.night
@pytest.mark.parametrize("when", ["before", "after"])
def test_what_is_reserved_stays_counted_from_a_later_task_on(
    ansible: Ansible, sandbox: Sandbox, when: str
) -> None:
    """``--start-at-task`` skips the order without a response, and not what it may have committed."""
    tasks = "".join(
        f"    - name: {name}\n      hosted.services.service: {{name: {name.lower()}, {WHAT}}}\n"
        for name in ("First", "Second", "Third")
    )
    play = f"- hosts: localhost\n  gather_facts: false\n  tasks:\n{tasks}"
    budget = {"hosted_budget": 22}
    sandbox.fault("order.create", "reset", nth=2, when=when)
    begun = ansible.playbook(play, variables=budget)
    assert begun.rc != 0 and not begun["First"].failed
    assert begun["Second"].failed == (when == "before")
    ordered = ["first", "second"] if when == "after" else ["first"]
    assert orders(sandbox) == ordered

    later = ansible.playbook(play, "--start-at-task", "Third", variables=budget)
    assert [outcome.name for outcome in later.outcomes] == ["Third"]
    assert "is refused by the budget, 10.22 EUR over it" in later["Third"].message
    assert orders(sandbox) == ordered

    last = ansible.playbook(play, "--start-at-task", "Second", variables=budget)
    assert not last["Second"].failed and "10.22 EUR over it" in last["Third"].message
    assert orders(sandbox) == ["first", "second"]
    assert rate(sandbox) == highest(sandbox) == 2 * PRICE


def test_a_refused_order_gives_its_part_back(ansible: Ansible, sandbox: Sandbox) -> None:
    sandbox.fault("order.create", "status", status=409)
    sandbox.fault("order.create", "status", status=429, retry_after=0)
    run = ansible.tasks(order(["refused", "next"]), variables={"hosted_budget": {"account": 15, "run": 15}})
    assert len(refused(run.succeed())) == 1 and orders(sandbox) == ["next"]


def test_a_project_has_a_limit_of_its_own(ansible: Ansible, sandbox: Sandbox) -> None:
    tasks = f"""
- name: Projects
  hosted.services.project: {{name: "{{{{ item }}}}"}}
  loop: [shop, other]
{order(["one", "two"], ", project: shop")}
- name: Order elsewhere
  hosted.services.service: {{name: elsewhere, {WHAT}, project: other}}
- name: Order by default
  hosted.services.service: {{name: default, {WHAT}}}
- name: Move in
  hosted.services.service: {{name: elsewhere, project: other, new_project: shop}}
  ignore_errors: true
- name: Delete
  hosted.services.service: {{name: one, project: shop, state: absent}}
- name: Move into the room
  hosted.services.service: {{name: elsewhere, project: other, new_project: shop}}
"""
    run = ansible.tasks(tasks, variables={"hosted_budget": {"projects": {"shop": 15}}}).succeed()
    assert orders(sandbox) == ["one", "elsewhere", "default"]
    assert "the budget of project 'shop' is 15.00 EUR" in refused(run)[0]
    assert run["Move in"].failed and "the move of service 'elsewhere'" in run["Move in"].message


@pytest.mark.night
def test_an_account_that_cannot_be_read_is_refused(ansible: Ansible, sandbox: Sandbox) -> None:
    sandbox.fault("apps.whoami", "status", status=403, count=None)
    run = ansible.tasks(order(["one"]), variables={"hosted_budget": 100}).succeed()
    assert orders(sandbox) == []
    assert (
        "what the account costs cannot be read" in refused(run)[0]
        and "The change was not sent" in refused(run)[0]
    )


@pytest.mark.night
def test_applications_count(ansible: Ansible, sandbox: Sandbox) -> None:
    create = """
- name: Create
  hosted.services.app: {slug: "{{ item }}", wait: false}
  loop: %s
  ignore_errors: true
"""
    ansible.tasks(create % "[acme-shop]").succeed()
    price = rate(sandbox)
    budget = {"hosted_budget": str(price * 5 / 2)}
    run = ansible.tasks(create % "[acme-shop, acme-blog, acme-wiki]", variables=budget).succeed()
    assert rate(sandbox) == 2 * price and orders(sandbox) == ["acme-shop", "acme-blog"]
    [message] = refused(run, "Create")
    assert "the creation of application 'acme-wiki' is refused by the budget" in message


@pytest.mark.parametrize("value", ["", "  ", "null", "much", "-1", "account: ", "{}", "rooms: 3", "[]"])
def test_a_budget_that_holds_nothing_is_an_error(ansible: Ansible, sandbox: Sandbox, value: str) -> None:
    run = ansible.tasks(order(["one"]), env={"HOSTED_SERVICES_BUDGET": value}).succeed()
    assert "HOSTED_SERVICES_BUDGET" in refused(run)[0] and sandbox.journal() == []


def records(folder: Path) -> dict[str, Any]:
    """Return what the record of commitments holds."""
    [path] = (folder / ".ansible" / "hosted_services" / "budget").glob("*.json")
    found: dict[str, Any] = json.loads(path.read_text())
    return found
