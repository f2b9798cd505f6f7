# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What people found untrue, unclear or in the wrong place in what the collection says."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import parse_qs

import pytest
import yaml

from hosted_sandbox.testing import Sandbox
from integration.ansible_run import HERE, REPOSITORY, Ansible, play_of
from integration.inventory.conftest import Inventory
from integration.proxy_server import running
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
GH = """#!/bin/sh
# `gh pr comment` by its manual: edits the last comment if that is asked for, and makes one if there is none.
case "$*" in *--edit-last*) [ ! -e comments ] || sed -i '$d' comments ;; esac
case "$*" in *--create-if-none*) : ;; *--edit-last*) [ -e comments ] || exit 1 ;; esac
cat cost.md >> comments
"""


# --- Applications ---------------------------------------------------------------------------------------


def test_after_the_first_deploy_there_is_nothing_before_it(ansible: Ansible, sandbox: Sandbox) -> None:
    sandbox.seed({"apps": [APP]})
    deploy = "- hosted.services.app_deploy: {slug: acme-web, tag: v1}\n"
    read = "- {name: Read, hosted.services.app_info: {slug: acme-web, include: [releases]}}\n"
    note = ansible.tasks(deploy + read).succeed()["Read"].result["apps"][0]["previous_release_note"]
    assert note == "this controller deployed what is in service, and knows of nothing before it"
    ansible.environment["ANSIBLE_HOME"] = str(ansible.folder / "another controller")
    note = ansible.tasks(read).succeed()["Read"].result["apps"][0]["previous_release_note"]
    assert "it has not deployed the one in service" in note


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


def test_each_service_that_failed_has_a_line(ansible: Ansible, sandbox: Sandbox) -> None:
    games = [{**GAME, "name": name} for name in ("one", "two", "three")]
    sandbox.seed({"services": [*games, {**GAME, "name": "box", "product": "bucket"}]})
    run = ansible.tasks("""
- name: Back up
  hosted.services.backup: {services: [one, box, gone], name: nightly}
  ignore_errors: true
- name: Restore
  hosted.services.backup: {services: [one, two, three], name: nightly, state: restored, confirm: true}
  ignore_errors: true
""").succeed()
    for name, services in ("Back up", ("box", "gone")), ("Restore", ("two", "three")):
        first, *lines = run[name].message.split("\n")
        failed = [line for line in lines if line.startswith("- ")]
        assert first.endswith("2 of 3 services failed:") and len(failed) == 2, run[name].message
        for service, line in zip(services, failed, strict=True):
            assert line.count(f"service '{service}'") == 1 and len(line) < 300, line
    assert run["Restore"].message.endswith("\nSet allow_partial: true to go on with the other services")


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


# --- Check mode -----------------------------------------------------------------------------------------

BLUEPRINT = """
- name: Apply
  hosted.services.blueprint:
    blueprint:
      project: shop
      defaults: {services: {host: node-paris-1, dimensions: {cpu_cores: 1, ram_gb: 2, storage_gb: 10}}}
      services: {db: {product: postgresql}, world: {product: minecraft, state: started}}
    secrets_dir: "{{ playbook_dir }}"
"""


def test_check_mode_lists_what_the_run_does(ansible: Ansible) -> None:
    """A new service runs, so nothing is left to do."""
    play = play_of(BLUEPRINT)
    planned = ansible.playbook(play, "--check").succeed()["Apply"].result["actions"]
    assert planned == ansible.playbook(play).succeed()["Apply"].result["actions"]


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


@pytest.fixture
def inventory(ansible: Ansible, sandbox: Sandbox) -> Inventory:
    """An inventory with a cache."""
    return Inventory(ansible, sandbox)


def held(content: Any) -> str:
    """Return what a file of the cache holds of this."""
    return json.dumps({"__payload__": json.dumps(content)})


@pytest.mark.parametrize(
    "shape", ["[]", *map(held, ([], "text", {"services": 1}, {"services": [{"id": "x"}], "projects": {}}))]
)
def test_a_cache_of_another_shape_is_not_used(
    shape: str, inventory: Inventory, sandbox: Sandbox, tmp_path: Path
) -> None:
    sandbox.seed({"services": [{**GAME, "name": "lobby"}]})
    kept: dict[str, Any] = {"cache": True, "cache_plugin": "ansible.builtin.jsonfile"}
    kept["cache_connection"] = str(tmp_path / "cache")
    first = inventory.listed(**kept)
    [cached] = (tmp_path / "cache").iterdir()
    whole = cached.read_text()
    cached.write_text(shape)
    again = inventory.listed(**kept)
    assert again.hosts == first.hosts and again.groups == first.groups
    assert "the inventory's cache is not as it was written, and is not used" in again.output
    assert cached.read_text() == whole and inventory.listed(**kept) == first


def test_a_failed_comparison_is_not_called_a_strategy(ansible: Ansible, sandbox: Sandbox) -> None:
    sandbox.seed({"apps": [APP]})
    (ansible.folder / "broken.yml").write_text("project: shop\nservcies: {}\n")
    play = "- ansible.builtin.import_playbook: hosted.services.drift\n"
    env = {"PWD": str(ansible.folder)}
    for files, said in ("broken.yml", "not compared: broken.yml"), ("", "set drift_files to the path"):
        run = ansible.playbook(play, env=env, variables={"drift_files": files})
        assert run.rc == 1 and said in run.stderr, run.output
        assert "strategy" not in run.output


# --- The recipe for CI ----------------------------------------------------------------------------------


class Notes(BaseHTTPRequestHandler):
    """The comments on a merge request."""

    bodies: ClassVar[dict[int, str]] = {1: "looks good"}

    def do_GET(self) -> None:
        """List them."""
        self.answer([{"id": id, "body": body} for id, body in self.bodies.items()])

    def do_POST(self) -> None:
        """Write one."""
        self.keep(len(self.bodies) + 1)

    def do_PUT(self) -> None:
        """Write one anew."""
        self.keep(int(self.path.rpartition("/")[2]))

    def keep(self, id: int) -> None:
        """Keep what was sent."""
        sent = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.bodies[id] = parse_qs(sent)["body"][0]
        self.answer({"id": id})

    def answer(self, content: Any) -> None:
        """Send JSON."""
        assert self.headers["PRIVATE-TOKEN"] == "secret"
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(content).encode())

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@pytest.mark.skipif(not shutil.which("jq") or not shutil.which("curl"), reason="jq or curl is not installed")
def test_the_recipe_keeps_one_comment(tmp_path: Path) -> None:
    guide = (REPOSITORY / "docs" / "guides" / "costs.md").read_text()
    [recipe] = [found for found in re.findall(r"```yaml\n(.*?)```", guide, re.DOTALL) if "curl" in found]
    script = yaml.safe_load(recipe)["cost"]["script"]
    lines = "\n".join(line for line in script if not line.startswith(("ansible", "sh ")))
    with running(ThreadingHTTPServer(("127.0.0.1", 0), Notes)) as server:
        address = {"CI_API_V4_URL": f"http://127.0.0.1:{server.server_port}", "COMMENT_TOKEN": "secret"}
        place = {"CI_PROJECT_ID": "7", "CI_MERGE_REQUEST_IID": "9", "PATH": os.environ["PATH"]}
        for change in ("+1.00", "+2.00"):
            table = f"| service | action | change |\n| lobby | order | {change} EUR |\n"
            (tmp_path / "cost.md").write_text(table)
            subprocess.run(
                ["sh", "-euc", lines], check=True, cwd=tmp_path, env={**address, **place}, capture_output=True
            )
    assert list(Notes.bodies) == [1, 2] and "+2.00 EUR" in Notes.bodies[2]


def test_the_recipe_for_ci_updates_its_comment(tmp_path: Path) -> None:
    [recipe] = re.findall(r"run: (gh pr comment .*)", (REPOSITORY / "docs/guides/costs.md").read_text())
    (tmp_path / "gh").write_text(GH)
    (tmp_path / "gh").chmod(0o755)
    for run in ("first", "second"):
        (tmp_path / "cost.md").write_text(f"{run}\n")
        command = recipe.replace("${{ github.event.number }}", "7")
        environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
        subprocess.run(["sh", "-c", command], cwd=tmp_path, env=environment, check=True)
    assert (tmp_path / "comments").read_text() == "second\n"
