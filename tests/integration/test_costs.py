# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The callback `cost` in real runs: what it announces is what the platform bills, however tasks are run."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from hosted_sandbox.testing import Sandbox
from integration.ansible_run import HERE, INVENTORY, Ansible, Run, play_of

ENABLED = {"ANSIBLE_CALLBACKS_ENABLED": "results_file,hosted.services.cost"}
MONTH = 730 * 60 * 60
"""What the sandbox takes for a month, which the specification does not tell: a twelfth of a year."""
SIZE = "dimensions: {cpu_cores: 2, ram_gb: 4, storage_gb: 20}"
WHAT = f"product: minecraft, host: node-paris-1, {SIZE}"
GROWN = "dimensions: {cpu_cores: 3, ram_gb: 7, storage_gb: 21}"

MONTHLY = f"""
- hosts: localhost
  gather_facts: false
  tasks:
    - name: Order
      hosted.services.service: {{name: "{{{{ item }}}}", {WHAT}, state: started}}
      loop: [grown, asleep, gone, kept]
    - name: Order one that sleeps
      hosted.services.service: {{name: born-asleep, {WHAT}, state: suspended}}
    - name: Grow
      hosted.services.service: {{name: grown, product: minecraft, host: node-paris-1, {GROWN}}}
    - name: Suspend
      hosted.services.service: {{name: asleep, {WHAT}, state: suspended}}
    - name: Delete
      hosted.services.service: {{name: gone, state: absent}}
    - name: Create
      hosted.services.app: {{slug: acme-shop}}
"""

STRATEGIES = f"""
- hosts: all
  gather_facts: false
  strategy: free
  tasks:
    - name: Order one for each host
      hosted.services.service: {{name: "{{{{ inventory_hostname }}}}-web", {WHAT}}}
- hosts: all
  gather_facts: false
  serial: 1
  tasks:
    - name: Order one for all hosts
      hosted.services.service: {{name: shared, {WHAT}}}
- hosts: all
  gather_facts: false
  tasks:
    - name: Order once, as a module
      hosted.services.service: {{name: once, {WHAT}}}
      run_once: true
      delegate_to: localhost
      vars: {{hosted_in_process: false}}
- hosts: localhost
  gather_facts: false
  tasks:
    - name: Order in the background
      hosted.services.service: {{name: background, {WHAT}}}
      async: 60
      poll: 0
      register: job
    - name: Read its result
      ansible.builtin.async_status: {{jid: "{{{{ job.ansible_job_id }}}}"}}
      register: read
      until: read.finished
      retries: 100
      delay: 0.3
    - name: Order secretly
      hosted.services.service: {{name: "{{{{ item }}}}", {WHAT}}}
      loop: [shared, secret]
      no_log: true
    - name: Rescue
      block:
        - name: Order one of another family
          hosted.services.service: {{name: late, family: APP, {WHAT}}}
      rescue:
        - name: Refuse an order
          hosted.services.service: {{name: dear, max_monthly: 1, {WHAT}}}
          ignore_errors: true
    - name: Try a deletion
      hosted.services.service: {{name: shared, state: absent}}
      check_mode: true
"""


def run_with_costs(ansible: Ansible, playbook: str, *arguments: str) -> tuple[Run, list[dict[str, Any]]]:
    """Run a playbook with the callback; return the run and what its file says."""
    path = ansible.folder / "cost.json"
    run = ansible.playbook(playbook, *arguments, env={**ENABLED, "HOSTED_SERVICES_COST_OUTPUT": str(path)})
    assert "hosted.services.cost: the costs are" not in run.output
    return run.succeed(), json.loads(path.read_text())["runs"]


def by_name(part: dict[str, Any], column: str = "monthly_change") -> dict[str, Any]:
    """Return a column of the services by their names."""
    found = {row["service"]: row[column] for row in part["services"]}
    assert len(found) == len(part["services"])
    return found


def wallet_reads(sandbox: Sandbox) -> int:
    """Return how often the currency was read."""
    return len(sandbox.journal("wallet.get"))


def spent(sandbox: Sandbox) -> dict[str, int]:
    """Return what each service has cost so far, in cents, by its name."""
    return {each["name"]: each["cents"] for each in sandbox.ledger()["billed"]}


def test_what_is_announced_is_what_a_month_costs(ansible: Ansible, sandbox: Sandbox) -> None:
    check, [predicted] = run_with_costs(ansible, MONTHLY, "--check", "--diff")
    assert sandbox.writes() == [] and predicted["check_mode"]
    assert "COST, AS PREDICTED BY CHECK MODE" in check.stdout and "monthly: 10.74 EUR" in check.stdout
    assert "--- before: service grown" in check.stdout and "+++ after: app acme-shop" in check.stdout
    assert wallet_reads(sandbox) == 1
    unknown = {entry["service"] for entry in predicted["not_priced"]}
    assert unknown == {"asleep", "born-asleep"}  # the storage rate of what is not there yet

    run, [done] = run_with_costs(ansible, MONTHLY)
    assert wallet_reads(sandbox) == 2 and not done["check_mode"] and done["not_priced"] == []
    announced = by_name(done)
    assert announced["gone"] == "0.00" and announced["born-asleep"] == announced["asleep"] == "1.70"
    assert announced["grown"] == by_name(predicted)["grown"]
    assert by_name(done, "actions")["born-asleep"] == ["order", "suspend"]
    [total] = done["totals"]
    assert Decimal(total["monthly_change"]) == sum(map(Decimal, announced.values()))
    assert f"+{total['monthly_change']} EUR" in run.stdout and run.stdout.count("sum for a month") == 1

    sandbox.clock(freeze=True)
    before = spent(sandbox)
    sandbox.clock(advance=MONTH)
    after = spent(sandbox)
    billed = {name: after[name] - before[name] for name in after}
    assert billed.keys() == announced.keys() and announced.keys() > {"gone", "kept"}
    for name, cents in billed.items():
        assert abs(cents - Decimal(announced[name]) * 100) <= 1, name


def test_each_way_to_run_a_task_counts_once(ansible: Ansible, sandbox: Sandbox) -> None:
    local = INVENTORY.splitlines()[0].partition(" ")[2].format(python=ansible.programs.python)
    ansible.inventory.write_text(
        "".join(f"{name} {local}\n" for name in ("a", "b", "c")) + f"localhost {local}\n"
    )
    run, [done, tried] = run_with_costs(ansible, STRATEGIES.replace("hosts: all", "hosts: a,b,c"))

    orders = {order["name"] for order in sandbox.ledger()["orders"]}
    assert by_name(done).keys() == orders - {"secret"}
    assert set(by_name(done).values()) == {"10.74"} and len(by_name(done)) == 7
    assert [(each["task"], each["reason"]) for each in done["not_priced"]] == [
        ("Order secretly", "its result is hidden by no_log")
    ]
    assert done["totals"][0]["monthly_change"] == str(7 * Decimal("10.74"))
    assert done["totals"][0]["due_today"] == str(7 * Decimal("0.36"))
    assert by_name(tried) == {"shared": "-10.74"} and tried["check_mode"]
    assert run.stdout.count("COST") == 2
    assert "service 'dear' would cost 10.74 EUR a month, over max_monthly 1.00 EUR" in run.output


FOR_PROGRAMS = """
from ansible.plugins.callback import CallbackBase
DOCUMENTATION = '''
name: jsonl
type: stdout
short_description: Writes one line
description: [Writes one line of JSON.]
'''
class CallbackModule(CallbackBase):
    CALLBACK_VERSION, CALLBACK_TYPE, CALLBACK_NAME = 2.0, "stdout", "jsonl"
    def v2_playbook_on_stats(self, stats):
        self._display.display('{"ended": true}')
"""


def test_costs_do_not_stand_in_what_a_program_reads(ansible: Ansible) -> None:
    (ansible.folder / "callbacks").mkdir()
    (ansible.folder / "callbacks" / "jsonl.py").write_text(FOR_PROGRAMS)
    env = {
        "ANSIBLE_CALLBACKS_ENABLED": "results_file,hosted.services.cost",
        "ANSIBLE_CALLBACK_PLUGINS": f"{ansible.folder}/callbacks:{HERE / 'callback_plugins'}",
        "ANSIBLE_STDOUT_CALLBACK": "jsonl",
    }
    for expected in ("sum for a month", "No task changed what the services cost"):
        run = ansible.tasks(f"- hosted.services.service: {{name: lobby, {WHAT}}}\n", env=env).succeed()
        assert json.loads(run.stdout) == {"ended": True}
        assert expected in run.stderr


def test_a_budget_counts_what_check_mode_predicts(ansible: Ansible, sandbox: Sandbox) -> None:
    """Those of a run together; what a refusal says is in the data of the unit tests."""
    ansible.tasks(f"- hosted.services.service: {{name: old, {WHAT}}}\n").succeed()
    tasks = f"""
- name: Order
  hosted.services.service: {{name: "{{{{ item }}}}", {WHAT}}}
  loop: [one, two, two]
- name: Delete
  hosted.services.service: {{name: old, state: absent}}
- name: Order in its place
  hosted.services.service: {{name: three, {WHAT}}}
- name: Order too much
  hosted.services.service: {{name: four, {WHAT}}}
  ignore_errors: true
"""
    sandbox.clear_journal()
    budget = {"HOSTED_SERVICES_BUDGET": '{"account": 32.5}'}
    run = ansible.playbook(play_of(tasks), "--check", env=budget).succeed()
    assert not any(item.failed for item in run.items("Order"))
    assert sandbox.writes() == []
    assert not run["Order in its place"].failed
    assert "10.46 EUR over" in run["Order too much"].message
