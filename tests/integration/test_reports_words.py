# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What people found untrue, unclear or in the wrong place in what the collection says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from hosted_sandbox.testing import Sandbox
from integration.ansible_run import HERE, Ansible
from integration.inventory.conftest import Inventory
from unit.plugins.module_utils._sftp.servers import make_key

APP = {"slug": "acme-web", "project": "shop", "images": [{"tag": "v1"}, {"tag": "v2"}]}
GAME = {"product": "minecraft", "host": "node-paris-1", "project": "games"}
ORDER = """
- name: Order
  hosted.services.service:
    name: lobby
    product: minecraft
    host: node-paris-1
    dimensions: {cpu_cores: 2, ram_gb: 4, storage_gb: 20}
"""


# --- The report -----------------------------------------------------------------------------------------

PAGE = """
- hosted.services.report_info:
  register: made
- {name: Page, ansible.builtin.debug: {msg: "{{ made.report | hosted.services.report_html }}"}}
"""


def test_the_report_says_one_thing_once(ansible: Ansible, sandbox: Sandbox) -> None:
    """What is to be done soon counts, and a price is the same wherever it stands."""
    sandbox.seed({"apps": [{**APP, "deployed": "v1"}], "services": [{**GAME, "name": "lobby"}]})
    stopped = sandbox.api("GET", "/api/apps").json()["items"][0]["id"]
    sandbox.api("POST", f"/api/resources/{stopped}/power", {"signal": "stop"})
    page = ansible.tasks(PAGE).succeed()["Page"].message
    assert "Nothing is urgent" not in page and "needs attention soon" in page
    assert "no backup" in page
    assert set(re.findall(r"3\.88\d?", page)) == {"3.885"}
    assert not re.search(r"\d\u00a0EUR", page), "a narrow column breaks there, and not inside of EUR"


# --- Errors ---------------------------------------------------------------------------------------------


def test_advice_names_what_the_module_has(ansible: Ansible, sandbox: Sandbox, tmp_path: Path) -> None:
    """Only `sftp_sync` has a passphrase and a choice how the key of a server is checked."""
    key = make_key(tmp_path / "key", "-N", "open sesame")
    sandbox.seed({"services": [{**GAME, "name": "lobby"}]})
    access = f"private_key_file: {key}, known_hosts: {tmp_path / 'known_hosts'}"
    for name in ("site", "copies"):
        (tmp_path / name).mkdir()
    run = ansible.tasks(f"""
- name: Push
  hosted.services.sftp_sync: {{service: lobby, src: "{tmp_path}/site", dest: up, {access}}}
  ignore_errors: true
- name: Keep a copy
  hosted.services.service: {{name: lobby, state: absent, keep_copy: "{tmp_path}/copies/copy", {access}}}
  ignore_errors: true
- name: Clone
  hosted.services.clone: {{source: games, project: copy, rename: {{suffix: -copy}}, {access}}}
  ignore_errors: true
""").succeed()
    assert "is encrypted; set passphrase, or add the key to an agent" in run["Push"].message
    for name in ("Keep a copy", "Clone"):
        assert "is encrypted; add the key to an agent with ssh-add" in run[name].message


# --- What programs read ---------------------------------------------------------------------------------

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
        run = ansible.tasks(ORDER, env=env).succeed()
        assert json.loads(run.stdout) == {"ended": True}
        assert expected in run.stderr


def held(content: Any) -> str:
    """Return what a file of the cache holds of this."""
    return json.dumps({"__payload__": json.dumps(content)})


SHAPES = ["[]", *map(held, ([], "text", {"services": 1}, {"services": [{"id": "x"}], "projects": {}}))]


def test_a_cache_of_another_shape_is_not_used(ansible: Ansible, sandbox: Sandbox, tmp_path: Path) -> None:
    inventory = Inventory(ansible, sandbox)
    sandbox.seed({"services": [{**GAME, "name": "lobby"}]})
    kept: dict[str, Any] = {"cache": True, "cache_plugin": "ansible.builtin.jsonfile"}
    kept["cache_connection"] = str(tmp_path / "cache")
    first = inventory.listed(**kept)
    [cached] = (tmp_path / "cache").iterdir()
    whole = cached.read_text()
    for shape in SHAPES:
        cached.write_text(shape)
        again = inventory.listed(**kept)
        assert again.hosts == first.hosts and again.groups == first.groups, shape
        assert "the inventory's cache is not as it was written, and is not used" in again.output
        assert cached.read_text() == whole, shape
    assert inventory.listed(**kept) == first
