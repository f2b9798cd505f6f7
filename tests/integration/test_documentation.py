# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the documentation shows is true: every example is accepted, and every error has its cure."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from ansible_collections.hosted.services.plugins.module_utils._ansible.options import argument_spec
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Resource
from hosted_sandbox.testing import Sandbox
from integration import coverage
from integration.ansible_run import REPOSITORY, Ansible

PLUGINS = REPOSITORY / "plugins"
PACKAGE = "ansible_collections.hosted.services.plugins"
COLLECTION = "hosted.services."
DOCUMENTED = sorted(
    path for kind in ("modules", "lookup", "filter") for path in (PLUGINS / kind).glob("*.py")
)
PLACEHOLDERS = {"int": 1, "float": 1.0, "bool": True, "dict": {}, "list": [], "path": "/x", "str": "x"}
# In a play over hosts of the inventory these take the server from the host's variables.
OF_INVENTORY_HOSTS = ("sftp_host_key", "sftp_sync")
OF_ANSIBLE = {
    "Unsupported parameters",
    "one of the following is required",
    "parameters are mutually exclusive",
    "we were unable to convert",
}
READABLE = (COLLECTION, "ansible.builtin.")


def documentation(path: Path, name: str) -> str:
    """Return one of the texts that ansible-doc reads from a plugin."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
            return str(ast.literal_eval(node.value))
    raise AssertionError(f"{path.name} has no {name}")


def our_tasks(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the module and the options of every task in the examples that runs a module of ours."""
    for task in yaml.safe_load(documentation(path, "EXAMPLES")):
        for key, value in task.items():
            if key.startswith(COLLECTION):
                yield key.removeprefix(COLLECTION), value or {}


def filled(value: Any, option: dict[str, Any]) -> Any:
    """Return a value of an example with something of the right type in the place of a template."""
    if isinstance(value, str) and "{{" in value:
        return option["choices"][0] if "choices" in option else PLACEHOLDERS[option.get("type", "str")]
    if isinstance(value, list):
        return [filled(item, {"type": option.get("elements", "str")}) for item in value]
    if isinstance(value, dict) and "options" in option:
        return {key: filled(item, option["options"].get(key, {})) for key, item in value.items()}
    return value


def complaints(module: str, options: dict[str, Any]) -> list[str]:
    """Return what a module says against the options of an example."""
    resource: Resource = importlib.import_module(f"{PACKAGE}.action.{module}").ActionModule.resource
    spec = argument_spec(resource)
    values = {name: filled(value, spec.get(name, {})) for name, value in options.items()}
    if module in OF_INVENTORY_HOSTS and "service" not in values:
        values.setdefault("host", "x")
    return list(ArgumentSpecValidator(spec, **resource.rules).validate(values).error_messages)


@pytest.mark.parametrize("path", DOCUMENTED, ids=lambda path: path.stem)
def test_the_examples_are_accepted(path: Path) -> None:
    """The options of every task exist, have the right types, and may be given together."""
    tasks = list(our_tasks(path))
    assert tasks or path.parent.name != "modules"
    assert [found for module, options in tasks for found in complaints(module, options)] == []


def test_ansible_reads_every_example(ansible: Ansible) -> None:
    """All of them are one playbook, which Ansible takes without a word of complaint."""
    tasks = [
        task
        for path in DOCUMENTED
        for task in yaml.safe_load(documentation(path, "EXAMPLES"))
        # A few show a neighbor, such as podman's login; its collection may not be here.
        if any(key.startswith(READABLE) for key in task)
    ]
    playbook = ansible.folder / "examples.yml"
    playbook.write_text(yaml.safe_dump([{"hosts": "localhost", "tasks": tasks}]))
    done = ansible.program("ansible-playbook", "--syntax-check", "-i", ansible.inventory, playbook)
    assert done.returncode == 0 and done.stderr == "", done.stdout + done.stderr


PAGES = "".join(path.read_text() for path in sorted((REPOSITORY / "docs/guides").glob("troubleshooting*.md")))
PHRASES = [
    phrase
    for row in re.findall(r"^\| (`.*?) \| ", PAGES, re.MULTILINE)
    for phrase in re.findall(r"`([^`]+)`", row)
]
"""What people search for: words of messages, in which an ellipsis stands for what differs."""


def spoken() -> str:
    """Return all texts of the plugins, roles and playbooks, of which messages are made."""
    texts = [
        path.read_text() for kind in ("roles", "playbooks") for path in (REPOSITORY / kind).rglob("*.yml")
    ]
    for path in PLUGINS.rglob("*.py"):
        nodes = ast.walk(ast.parse(path.read_text()))
        texts += [n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    return "\n".join(texts)


def test_what_people_search_for_is_what_messages_say() -> None:
    """Each part of a phrase is a text of the collection, or of Ansible where it says so."""
    texts = spoken()
    parts = {part.strip() for phrase in PHRASES for part in phrase.split("…")}
    assert sorted(part for part in parts - OF_ANSIBLE if part not in texts) == []


def test_the_page_on_the_routes_is_current() -> None:
    assert coverage.PAGE.read_text() == coverage.page(), "run `python -m integration.coverage`"


def test_the_example_of_the_readme_is_true(ansible: Ansible, sandbox: Sandbox) -> None:
    """Its playbook, its inventory and the graph that it prints of them."""
    readme = (REPOSITORY / "README.md").read_text()
    playbook = readme.partition("### A playbook\n\n```yaml\n")[2].partition("```")[0]
    graph = readme.partition("$ ansible-inventory -i account.hosted.yml --graph\n")[2].partition("```")[0]
    ansible.playbook(playbook).succeed()
    (ansible.folder / "account.hosted.yml").write_text("plugin: hosted.services.inventory\n")
    printed = ansible.program("ansible-inventory", "-i", "account.hosted.yml", "--graph")
    assert printed.stdout == graph


def test_getting_started_works(ansible: Ansible, sandbox: Sandbox) -> None:
    """Each playbook of the page, in its order, with the options that it shows; at the end nothing is left."""
    page = (REPOSITORY / "docs" / "guides" / "getting-started.md").read_text()
    order, files, delete = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    key = ansible.folder / ".ssh" / "id_ed25519"
    key.parent.mkdir()
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    (ansible.folder / "site").mkdir()
    (ansible.folder / "site" / "motd.txt").write_text("hello\n")
    (ansible.folder / "account.hosted.yml").write_text("plugin: hosted.services.inventory\n")
    ansible.playbook(order, "--check", "--diff").succeed()
    assert sandbox.ledger()["orders"] == []
    ansible.playbook(order).succeed()
    assert not any(outcome.result["changed"] for outcome in ansible.playbook(order).succeed().outcomes)
    ansible.playbook(files, "-i", "account.hosted.yml", "--private-key", str(key)).succeed()
    [first] = sandbox.api("GET", "/api/resources").json()["items"]
    read = sandbox.api("GET", f"/api/resources/{first['id']}/files/contents?path=site/motd.txt")
    assert read.json()["content"] == "hello\n"
    ansible.playbook(delete).succeed()
    assert sandbox.api("GET", "/api/resources").json()["items"] == []
    assert len(sandbox.api("GET", "/api/projects").json()) == 1
