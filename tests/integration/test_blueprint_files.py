# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of blueprints with templates and values from Ansible Vault, read by the real ansible-playbook."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent
from typing import Any

import pytest
import yaml
from ansible.parsing.vault import VaultLib, VaultSecret

from hosted_sandbox.testing import Sandbox
from integration.ansible_run import BOTH_WAYS, Ansible

PLAIN, COMMAND, KEY = "gre3n-apples", "./start --key ch3rry-pie", "y3llow-pears"
"""What is encrypted in a file: a variable that is not marked as secret, a command, and a secret variable."""
SESSION = "blu3-berries"
"""What is encrypted in a variable of the play."""
LOUD = {"ANSIBLE_VERBOSITY": "4"}
TASKS = """
- name: Apply
  hosted.services.blueprint: {src: shop.yml, secrets_dir: "{{ playbook_dir }}", wait_interval: 0.2}
  diff: true
  register: applied
  ignore_errors: true
- name: Compare
  hosted.services.blueprint_info: {src: shop.yml}
  ignore_errors: true
"""
VARIABLES = """
vars:
  product: minecraft
  cores: 2
  level: debug
  greeting: !unsafe "{{ level }}"
  nested: "{{ level }}"
"""


VAULT = VaultLib([("default", VaultSecret(b"open sesame"))])


def password_in(folder: Path) -> str:
    """Write the password of what is encrypted here into a file; return its path."""
    (folder / "password").write_text("open sesame\n")
    return str(folder / "password")


@pytest.fixture
def vault(ansible: Ansible) -> dict[str, Any]:
    """The environment of runs that have the password."""
    return {"ANSIBLE_VAULT_PASSWORD_FILE": password_in(ansible.folder)}


def encrypted(text: str, depth: int) -> str:
    """Return a text as ansible-vault encrypts it for a file, below a key that is indented so far."""
    return "!vault |\n" + indent(VAULT.encrypt(text).decode().strip(), " " * (depth + 2))


def environment(sandbox: Sandbox, slug: str) -> dict[str, str]:
    kept: dict[str, str] = record(sandbox, slug)["environment"]
    return kept


def record(sandbox: Sandbox, name: str) -> dict[str, Any]:
    records = sandbox.control("GET", "/state")["records"]
    [found] = [each for each in records["service"] if each["name"] == name]
    return dict(found)


def shop() -> str:
    """Return a blueprint with all that only the controller can read."""
    return f"""project: bakery
defaults:
  services: &order
    host: node-paris-1
    dimensions: {{cpu_cores: "{{{{ cores }}}}", ram_gb: 2, storage_gb: "{{{{ 5 * cores }}}}"}}
services:
  world:
    <<: *order
    product: "{{{{ product }}}}"
    command: {encrypted(COMMAND, 4)}
    max_monthly: "{{{{ nothing | default(omit) }}}}"
  db:
    <<: *order
    product: postgresql
applications:
  acme-web:
    environment:
      URL: ${{db.URL}}
      LEVEL: "level {{{{ nested }}}}"
      GREETING: "{{{{ greeting }}}}"
      LITERAL: !unsafe "{{{{ level }}}}"
      PLAIN: {encrypted(PLAIN, 6)}
    secret_environment:
      KEY: {encrypted(KEY, 6)}
      A: "{{{{ level ~ '}}}}' }}}}"
      B: "{{{{ sessions.B }}}}"
  acme-jobs:
    secret_environment: "{{{{ sessions }}}}"
"""


@BOTH_WAYS
def test_templates_and_vaulted_values(
    in_process: bool, ansible: Ansible, sandbox: Sandbox, vault: dict[str, Any]
) -> None:
    (ansible.folder / "shop.yml").write_text(shop())
    variables = f"{VARIABLES}  sessions:\n    B: {encrypted(SESSION, 4)}\n    C: '{{{{ level }}}}'\n"
    run = ansible.tasks(TASKS, variables, env={**vault, **LOUD}, in_process=in_process).succeed()
    assert not run["Apply"].failed, run["Apply"].message
    kept = environment(sandbox, "acme-web")
    assert kept.pop("URL").endswith(".URL}")
    assert kept == {
        "LEVEL": "level debug",
        "GREETING": "{{ level }}",  # which came from a variable, and is no template again
        "LITERAL": "{{ level }}",
        "PLAIN": PLAIN,
        "KEY": KEY,
        "A": "debug}}",
        "B": SESSION,
    }
    assert environment(sandbox, "acme-jobs") == {"B": SESSION, "C": "debug"}
    world = record(sandbox, "world")
    assert sorted(world["size"].values()) == [2, 2, 10]
    assert world["command"] == COMMAND
    assert [text for text in (PLAIN, COMMAND, "ch3rry", KEY, SESSION) if text in run.output] == []
    assert run["Apply"].result["changed"]
    assert [each["kind"] for each in run["Compare"].result["drift"]["differences"]] == []
    sandbox.clear_journal()
    again = ansible.tasks(TASKS, variables, env=vault, in_process=in_process).succeed()
    assert not again["Apply"].result["changed"]
    assert sandbox.writes() == []


@pytest.mark.night
@BOTH_WAYS
def test_a_file_that_is_encrypted_as_a_whole(
    in_process: bool, ansible: Ansible, sandbox: Sandbox, vault: dict[str, Any]
) -> None:
    text = (
        "project: bakery\nservices: {}\napplications:\n  acme-web:\n"
        f"    command: {COMMAND}\n    environment:\n      PLAIN: {PLAIN}\n      LEVEL: '{{{{ level }}}}'\n"
    )
    (ansible.folder / "shop.yml").write_bytes(VAULT.encrypt(text))
    run = ansible.tasks(TASKS, VARIABLES, env={**vault, **LOUD}, in_process=in_process).succeed()
    assert environment(sandbox, "acme-web") == {"PLAIN": PLAIN, "LEVEL": "debug"}
    assert [text for text in (PLAIN, COMMAND, "ch3rry") if text in run.output] == []
    sandbox.clear_journal()
    run = ansible.tasks(TASKS, VARIABLES, in_process=in_process)
    for name in ("Apply", "Compare"):
        assert "is encrypted with ansible-vault and cannot be decrypted" in run[name].message
    assert sandbox.journal() == []


CALLS = [
    "{{ lookup('pipe', 'touch FILE') }}",
    "{% set l = query %}{{ l('pipe', 'touch FILE') }}",
    "{{ [q][0]('ansible.builtin.pipe', 'touch FILE') }}",
    "{{ ['pipe'] | map('extract', {'pipe': 1}) | list }}{{ (lookup)('pipe', 'touch FILE') }}",
    "{{ cycler.__init__.__globals__.os.popen('touch FILE').read() }}",
    "{{ (cycler | attr('__init__')).__globals__['os'].popen('touch FILE') }}",
    "#jinja2: variable_start_string: '[[', variable_end_string: ']]'\n[[ q('pipe', 'touch FILE') ]]{{ 1 }}",
]
"""How the text of a file can run a command."""
OWN = """
vars:
  level: "{{ lookup('ansible.builtin.env', 'LEVEL') }}"
"""


def test_a_comparison_runs_no_lookup_of_the_file(ansible: Ansible, sandbox: Sandbox) -> None:
    """Unless it is told to. What variables of the play look up is filled in: the user wrote that."""
    sandbox.seed({"projects": ["bakery"]})
    evaluated = ansible.folder / "evaluated"
    own = ["{{ level }}", "{{ level.upper() }}", "{{ stage | default(level) }}", "x{{ range(2) | sum }}"]
    values = [call.replace("FILE", str(evaluated)) for call in CALLS]
    mine = {f"V{number}": value for number, value in enumerate(own)}
    tasks = []
    for number, value in enumerate([*values, None]):
        environment = mine if value is None else {**mine, "CALL": value}
        web = {"slug": "acme-web", "environment": environment}
        blueprint = {"project": "bakery", "applications": {"web": web}}
        (ansible.folder / f"{number}.yml").write_text(yaml.safe_dump(blueprint))
        compare = {"hosted.services.blueprint_info": {"src": f"{number}.yml"}, "ignore_errors": True}
        tasks.append({"name": f"Compare {number}", **compare})
    allowed = {"src": "0.yml", "allow_lookups": True}
    run = ansible.tasks(yaml.safe_dump(tasks), OWN, env={"LEVEL": "debug"}).succeed()
    assert not evaluated.exists()
    for number in range(len(values)):
        message = run[f"Compare {number}"].message
        assert "environment.CALL" in message and "Set allow_lookups" in message and "V0" not in message
    assert run[f"Compare {len(values)}"].result["drift"]["drifted"]
    told = [{"name": "Told to", "hosted.services.blueprint_info": allowed}]
    ansible.tasks(yaml.safe_dump(told), OWN, env={"LEVEL": "debug"}).succeed()
    assert evaluated.exists()
