# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is done with a hostile platform: everything of ours, at least once."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import yaml

from attacks.bench import Bench, Story
from cases import NAMES as MODULES
from cases import REPOSITORY
from faults.runner import filled
from faults.scenarios import GAME_SIZE, SCENARIOS
from integration.backup_machine import BackupMachine, DriftMachine, SleepMachine
from integration.inventory.conftest import Inventory
from integration.proxy_server import ProxyServer, running
from integration.rulebook_run import Rulebook, environment_for_rulebooks, shipped

BLUEPRINT: dict[str, Any] = {
    "project": "bakery",
    "defaults": {"services": {"product": "minecraft", "host": "node-paris-1", "dimensions": GAME_SIZE}},
    "services": {"rebuilt": {}},
}
READ: list[dict[str, Any]] = [
    {"ansible.builtin.set_fact": {"told": "{{ result }}"}},
    {"ansible.builtin.assert": {"that": "{{ result.msg | default(true) }}"}},
]
"""What comes after a task of ours: its result is kept, shown and decided by."""


def module(name: str, bench: Bench) -> None:
    """Run the tasks of a module that the fault matrix has, and use what comes of them."""
    tasks: list[dict[str, Any]] = []
    for scenario in (each for each in SCENARIOS if each.module == name and not each.real_database):
        for used, options in (*scenario.before, (name, scenario.options)):
            tasks += [{f"hosted.services.{used}": dict(options), "register": "result", "diff": True}, *READ]
    bench.tasks(tasks)


def playbooks(plays: list[dict[str, Any]], bench: Bench) -> None:
    """Run playbooks, with a blueprint at hand."""
    (bench.around.run / "blueprint.yml").write_text(yaml.safe_dump(BLUEPRINT))
    for play in plays:
        bench.play([play])


def inventory(bench: Bench) -> None:
    """List hosts and run over them, twice, so that the second run has them from the cache."""
    listed = Inventory(bench.ansible, bench.sandbox)
    listed.base_url = bench.url
    listed.write(
        compose={"composed": "hosted_name ~ '!'"},
        groups={"large": "hosted_name is search('x')"},
        keyed_groups=[{"key": "hosted_name", "prefix": "named"}, {"key": "hosted_product.name"}],
        hostnames=["hosted_project ~ hosted_name"],
        include_settings=True,
        cache=True,
        cache_plugin="jsonfile",
        cache_connection=str(bench.around.out / "cache"),
    )
    for _again in range(2):
        bench.play(yaml.safe_load(OVER_HOSTS))
    graph = listed.run("--graph")
    assert graph.rc == 0, graph.output
    bench.output += graph.stdout + graph.stderr


OVER_HOSTS = """
- hosts: all
  gather_facts: false
  ignore_errors: true
  tasks:
    - ansible.builtin.debug: {var: "{{ hosted_name }}"}
      no_log: true
    - ansible.builtin.assert: {that: "{{ hosted_name }}"}
    - ansible.builtin.assert: {that: hosted_product.name}
    - ansible.builtin.debug: {msg: decided}
      when: [hosted_name, composed]
    - ansible.builtin.debug: {msg: judged}
      failed_when: hosted_name
      changed_when: composed
    - ansible.builtin.debug: {msg: repeated}
      until: hosted_name
      retries: 1
      delay: 0
    - ansible.builtin.set_fact: {url: "{{ hostvars[inventory_hostname] | hosted.services.sftp_url('a') }}"}
    - hosted.services.sftp_info: {service: "{{ hosted_id }}"}
- hosts: localhost
  gather_facts: false
  ignore_errors: true
  roles:
    - role: hosted.services.sftp_access
      sftp_access_keys: [{name: laptop, public_key: "{public_key}"}]
      sftp_access_known_hosts: "{folder}/known_hosts"
      sftp_access_config: "{folder}/config"
"""


def installed(kind: type[BackupMachine], role: str, plan: dict[str, Any], bench: Bench) -> None:
    """Install a role for plans, and run its command: a run, a check, and what else it knows."""
    machine = kind(bench.around.out, bench.sandbox)
    machine.ansible.environment |= bench.ansible.environment
    (bench.around.out / "blue prints").mkdir(exist_ok=True)
    (bench.around.out / "blue prints" / "games.yml").write_text(yaml.safe_dump(BLUEPRINT))
    bench.keep(
        machine.install(filled({"name": "all", **plan}, bench.facts), **{f"{role}_base_url": bench.url})
    )
    for action in ("run", "run", "check") if machine.command.exists() else ():
        bench.output += machine.run(action, "all")[1]


def rulebooks(bench: Bench) -> None:
    """Let the shipped rulebooks, and one that hands on more, be told what happens on the account."""
    folder, source = bench.around.run, {"base_url": bench.url, "min_interval": 0.2, "max_interval": 0.4}
    rules = [shipped(path.stem, **source) for path in RULEBOOKS]
    messages: list[str] = []
    chat = ProxyServer(bench.sandbox, refuse=lambda *call: kept(call[-1], messages), refusal=200)
    given = {"CHAT_WEBHOOK": chat.url, "HOLD_DIR": str(bench.around.out)}
    with (
        running(chat),
        Rulebook(environment_for_rulebooks(), folder, bench.sandbox, rules, **given) as rulebook,
    ):
        rulebook.until(lambda: "service_stopped" in rulebook.said())
        for name in ("mc", "db", "box", "asleep"):
            bench.sandbox.operator(
                f"services/{bench.facts[f'id_{name}']}", status="FAILED", reason=f"{name} broke"
            )
        bench.sandbox.operator("accounts/main", balance_cents=1)
        rulebook.until(lambda: all(kind in rulebook.said() for kind in ("service_failed", "balance_low")))
        rulebook.until(lambda: len(messages) > TOLD)
    bench.output += rulebook.said()


def kept(text: str, messages: list[str]) -> bytes:
    """Keep a message; return an answer to it."""
    messages.append(text)
    return b""


TOLD = 5
"""More messages come than this."""
RULEBOOKS = sorted((REPOSITORY / "extensions" / "eda" / "rulebooks").glob("*.yml"))
GAMES: dict[str, Any] = {"family": "GAME", "wait_timeout": 20}
KEPT = {**GAMES, "keep": {"last": 2}}
OFFSITE = {"dest": "{folder}/data", "private_key_file": "{inputs}/key"}
ODD_KEY = {"private_key_file": "{odd_key}"}
BACKUPS = partial(installed, BackupMachine, "backups")
SLEEP = partial(installed, SleepMachine, "sleep_schedule")
DRIFT = partial(installed, DriftMachine, "drift_schedule")
STORIES: tuple[Story, ...] = (
    *(Story(name, partial(playbooks, plays)) for name, plays in
      yaml.safe_load(Path(__file__).with_suffix(".yml").read_text()).items()),
    Story("inventory", inventory),
    Story("backups", partial(BACKUPS, {**KEPT, "offsite": OFFSITE})),
    Story("backups with a hostile server", partial(BACKUPS, {**KEPT, "offsite": OFFSITE | ODD_KEY})),
    Story("sleep", partial(SLEEP, {**GAMES, "awake": []})),
    Story("sleep by a calendar", partial(SLEEP, {**GAMES, "calendar": "{run}/calendar.ics"})),
    Story("drift of plans", partial(DRIFT, {"blueprints": ["{folder}/blue prints/*.yml"]})),
    Story("rulebooks", rulebooks),
    *(Story(f"module {name}", partial(module, name)) for name in MODULES),
)  # fmt: skip
