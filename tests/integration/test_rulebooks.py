# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rulebooks of the collection, run by the real ansible-rulebook against the sandbox."""

from __future__ import annotations

import http.server
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from hosted_sandbox.testing import NO_DELAYS, Sandbox
from integration.ansible_run import PROFILE, REPOSITORY
from integration.event_watch import COLLECTION
from integration.proxy_server import running
from integration.rulebook_run import Rulebook, environment_for_rulebooks, shipped

QUICK = {"min_interval": 0.3, "max_interval": 0.5}
RULEBOOKS = sorted((REPOSITORY / "extensions" / "eda" / "rulebooks").glob("*.yml"))


@pytest.fixture(scope="module")
def programs() -> Path:
    """The environment of ansible-rulebook."""
    return environment_for_rulebooks()


@pytest.fixture
def account(sandbox: Sandbox) -> Sandbox:
    """An account with a service whose container stopped by itself."""
    seed = {"services": [{"name": "world", "product": "minecraft"}]}
    [(_name, id)] = sandbox.reset(profile=PROFILE, seed=seed, delays=NO_DELAYS)["services"].items()
    sandbox.operator(f"services/{id}", state="stopped")
    sandbox.world = id  # type: ignore[attr-defined]
    return sandbox


@pytest.fixture
def chat() -> Iterator[tuple[str, list[str]]]:
    """A chat: its address, and the messages that were posted."""
    messages: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            messages.append(json.loads(body)["text"])
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *arguments: Any) -> None:
            pass

    with running(http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as server:
        yield f"http://127.0.0.1:{server.server_address[1]}/hook", messages


def starts(sandbox: Sandbox) -> list[str]:
    """Return the services that were started, as the sandbox's journal tells."""
    posts = [line for line in sandbox.journal(method="POST") if line["route"] == "resources.power"]
    assert all(line["status"] == 200 and line["body"] == {"signal": "start"} for line in posts)
    return [line["path"].split("/")[3] for line in posts]


@pytest.mark.night
def test_a_service_that_stops_is_started_twice_and_then_left_to_a_person(
    programs: Path, account: Sandbox, tmp_path: Path
) -> None:
    world: str = account.world  # type: ignore[attr-defined]
    with Rulebook(programs, tmp_path, account, [shipped("restart", **QUICK)]) as rulebook:
        for count in (1, 2):
            rulebook.until(lambda count=count: len(starts(account)) == count)  # type: ignore[misc]
            rulebook.until(lambda count=count: rulebook.said().count("service_back") >= count)  # type: ignore[misc]
            account.operator(f"services/{world}", state="stopped")
        rulebook.until(lambda: "'stops': 3" in rulebook.said())
        polls = len(account.journal("apps.list"))
        rulebook.until(lambda: len(account.journal("apps.list")) > polls + 3)
    assert starts(account) == [world, world]
    assert account.token not in rulebook.said()


@pytest.mark.night
def test_messages_are_posted_and_orders_are_held(
    programs: Path, account: Sandbox, tmp_path: Path, chat: tuple[str, list[str]]
) -> None:
    """Two rulebooks in one run: each source has a state file of its own, which nobody has to name."""
    address, messages = chat
    folder = tmp_path / "group_vars" / "all"  # which is not there yet
    hold = folder / "hold_orders.yml"
    rules = [shipped("chat", **QUICK), shipped("hold_orders", **QUICK)]
    with Rulebook(programs, tmp_path, account, rules, CHAT_WEBHOOK=address, HOLD_DIR=str(folder)) as rulebook:
        rulebook.until(lambda: "service 'world' stopped by itself" in messages)
        account.operator("accounts/main", balance_cents=1)
        rulebook.until(hold.exists)
        assert yaml.safe_load(hold.read_text()) == {"hosted_held_budget": {"run": 0}}
        account.operator("accounts/main", balance_cents=900_000)
        rulebook.until(lambda: not hold.exists())
    assert any(message.startswith("the balance runs out in") for message in messages)
    assert account.writes() == []


HOSTILE = {
    "expression": "{{ CALL }}",
    "statement": "{% if CALL %}{% endif %}",
    "condition": "CALL",
    "blanks": "lookup ('pipe', 'touch FILE')",
    "indirect": "[lookup][0]('pipe', 'touch FILE')",
    "literal": r"""'\x7b\x7b lookup("pipe", "touch FILE") \x7d\x7d'""",
    "joined": """'{' '{ lookup("pipe", "touch FILE") }' '}'""",
    "header": "#jinja2: variable_start_string: '[%', variable_end_string: '%]'\n[% CALL %]",
    "argument": "x cmd='touch FILE'",
    "terminal": "\x1b]0;owned\x07\u202e",
}
"""What a text may be that wants to leave a file, or to steer a terminal."""
HANDED_ON = """
- hosts: localhost
  gather_facts: false
  tasks:
    - ansible.builtin.debug: {var: reason}
    - ansible.builtin.debug: {msg: "{{ reason }}, {{ ansible_eda.event.message }}"}
    - ansible.builtin.debug: {msg: "of no harm"}
      when: reason
      ignore_errors: true
    - ansible.builtin.assert: {that: "{{ ansible_eda.event.service.name }}"}
      ignore_errors: true
    - ansible.builtin.lineinfile: {path: "{{ seen }}", line: "{{ reason }}", create: true, mode: "0600"}
"""


def own_rulebook(play: Path, seen: Path) -> dict[str, Any]:
    """Return a user's rulebook that hands texts to modules, in both forms of arguments, and to a play."""
    shown = {"name": "ansible.builtin.debug", "module_args": {"msg": "{{ event.reason }}"}}
    text = {"name": "ansible.builtin.command", "module_args": "echo {{ event.service.name }}"}
    passed = {"reason": "{{ event.reason }}", "seen": str(seen)}
    actions = [{"run_module": shown}, {"run_module": text}]
    actions.append({"run_playbook": {"name": str(play), "extra_vars": passed}})
    rule = {"name": "Hand on", "condition": 'event.type == "service_failed"', "actions": actions}
    source = {"hosted.services.account": {"state_name": "own", **QUICK}}
    return {"name": "Own", "hosts": "localhost", "sources": [source], "rules": [rule]}


@pytest.mark.night
def test_no_text_of_an_event_is_evaluated(
    programs: Path, sandbox: Sandbox, tmp_path: Path, chat: tuple[str, list[str]]
) -> None:
    """Names and reasons are posted, passed to modules as arguments and as text, and trusted as variables."""
    address, messages = chat
    evaluated, seen, play = tmp_path / "evaluated", tmp_path / "seen", tmp_path / "handed_on.yml"
    play.write_text(HANDED_ON)
    call = f"lookup('pipe', 'touch {evaluated}')"
    texts = [text.replace("CALL", call).replace("FILE", str(evaluated)) for text in HOSTILE.values()]
    names = [*texts, "Map (new)"]
    failed = {"product": "minecraft", "status": "FAILED"}
    services = [{**failed, "name": name, "failure_reason": name} for name in names]
    sandbox.reset(profile=PROFILE, seed={"services": services}, delays=NO_DELAYS)
    rules = [shipped("chat", **QUICK), own_rulebook(play, seen)]
    with Rulebook(programs, tmp_path, sandbox, rules, CHAT_WEBHOOK=address) as rulebook:
        rulebook.until(lambda: len(messages) == len(names) or evaluated.exists())
        rulebook.until(lambda: evaluated.exists() or (seen.exists() and "Map" in seen.read_text()))
    assert not evaluated.exists(), rulebook.said()
    assert len(seen.read_text().splitlines()) == len(names)
    assert any("'Map (new)'" in message for message in messages)
    assert "\x1b]0" not in rulebook.said() and not [text for text in messages if not text.isprintable()]


@pytest.mark.parametrize("path", RULEBOOKS, ids=lambda path: path.stem)
def test_rulebooks_name_what_is_there(path: Path) -> None:
    """Event types and arguments, so that no rule waits for what never comes."""
    source = (COLLECTION / "extensions/eda/plugins/event_source/account.py").read_text()
    options = yaml.safe_load(source.partition('DOCUMENTATION = r"""')[2].partition('"""')[0])["options"]
    schema = json.loads((COLLECTION / "extensions/eda/plugins/event_source/account.schema.json").read_text())
    types = {each["properties"].get("type", {}).get("const") for each in schema["$defs"].values()} - {None}
    [rules] = yaml.safe_load(path.read_text())
    [source] = [each["hosted.services.account"] for each in rules["sources"]]
    assert set(source) <= set(options)
    assert source["state_name"] == path.stem, "what is told to one rulebook would not be told to another"
    actions = [each for rule in rules["rules"] for each in rule.get("actions", [rule.get("action")])]
    for module in (action.get("run_module", {}) for action in actions):
        if module.get("name") == "hosted.services.service":
            kept = {name: module["module_args"].get(name) for name in ("resume", "wait")}
            assert kept == {"resume": False, "wait": False}, "nothing is resumed, and nobody waits"
    quoted = {word for rule in rules["rules"] for word in rule["condition"].split('"')[1::2]}
    assert quoted
    assert quoted <= types
