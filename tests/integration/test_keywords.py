# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The keywords of a task are honoured inside the controller as a module would honour them."""

from __future__ import annotations

import json
import select
import socket
import socketserver
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from hosted_sandbox.testing import Sandbox
from integration.ansible_run import BOTH_WAYS, Ansible
from integration.proxy_server import running

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFzj6KifbzD3SQ/ODoy4X+uPIHgVn/YK4x+KxD2Lbjot laptop@example"
ORDER = """
  hosted.services.service:
    name: new
    product: postgresql
    host: node-paris-1
    dimensions: {cpu_cores: 1, ram_gb: 1, storage_gb: 10}
    state: started
    wait_interval: 0.2
"""
ONE_OF_EACH = f"""
- name: A project
  hosted.services.project:
    name: games
- name: A key
  hosted.services.ssh_key:
    name: laptop
    public_key: {KEY}
- name: A service
{ORDER}
"""


def writes(sandbox: Sandbox) -> list[str]:
    """Return the routes that were called to change something."""
    return [
        line["route"]
        for line in sandbox.journal()
        if line["method"] != "GET" and line["route"] != "order.quote"
    ]


@BOTH_WAYS
def test_check_mode_and_diff(in_process: bool, ansible: Ansible, sandbox: Sandbox) -> None:
    """With --check nothing is sent; with --diff the difference is printed, without it not even computed."""
    run = ansible.playbook(
        "- hosts: localhost\n  gather_facts: false\n  tasks:" + ONE_OF_EACH.replace("\n", "\n    "),
        "--check",
        "--diff",
        in_process=in_process,
    ).succeed()
    assert [outcome.result["changed"] for outcome in run.outcomes] == [True, True, True]
    assert writes(sandbox) == []
    assert sandbox.ledger()["orders"] == []
    assert "+name: games" in run.stdout
    assert "+monthly: 4.31 EUR" in run.stdout
    if in_process:
        plain = ansible.tasks(ONE_OF_EACH).succeed()
        assert [outcome.result["changed"] for outcome in plain.outcomes] == [True, True, True]
        assert ["diff" in outcome.result for outcome in plain.outcomes] == [False, False, False]


def test_no_log(ansible: Ansible) -> None:
    """Nothing of a censored task is printed; of a failed one ansible-core prints the error all the same."""
    run = ansible.playbook(
        """
- hosts: localhost
  gather_facts: false
  tasks:
    - name: In secret
      hosted.services.project: {name: "{{ what }}"}
      no_log: true
      diff: true
    - name: In vain
      hosted.services.project: {id: unknown, name: "{{ what }}"}
      no_log: true
      ignore_errors: true
""",
        "-vvv",
        variables={"what": "hush-hush"},
    ).succeed()
    assert run["In secret"].result["changed"] is True
    assert run["In vain"].outcome == "failed"
    assert all("censored" in outcome.result for outcome in run.outcomes)
    assert "hush-hush" not in run.output + json.dumps([outcome.result for outcome in run.outcomes])


def test_environment(ansible: Ansible, sandbox: Sandbox) -> None:
    """`environment:` of a task, a block and a play reaches the options, and the next task does not see it."""
    run = ansible.tasks(
        f"""
- name: With the environment of the play alone
  hosted.services.project: {{name: games}}
  ignore_errors: true
- name: With its own environment
  hosted.services.project: {{name: games}}
  environment: {{HOSTED_SERVICES_TOKEN: "{sandbox.token}"}}
- name: After it
  hosted.services.project: {{name: games}}
  ignore_errors: true
""",
        f"environment: {{HOSTED_SERVICES_URL: '{sandbox.base_url}'}}\n",
        env={"HOSTED_SERVICES_URL": None, "HOSTED_SERVICES_TOKEN": None},
    ).succeed()
    assert run["With its own environment"].result["changed"] is True
    for name in ("With the environment of the play alone", "After it"):
        assert run[name].outcome == "failed"
        assert "token is not set" in run[name].message


def test_module_defaults(ansible: Ansible, sandbox: Sandbox) -> None:
    """Group defaults reach every module. A module's own defaults override them, and a task overrides both."""
    run = ansible.tasks(
        """
- name: By the group
  hosted.services.project: {name: games}
- name: By the group, another module
  hosted.services.ssh_key: {name: laptop, state: absent}
- name: By the module
  hosted.services.service: {name: nothing, state: absent}
  ignore_errors: true
- name: By the task
  hosted.services.service: {name: nothing, state: absent, token: "{{ good }}"}
""",
        """
module_defaults:
  group/hosted.services.all: {base_url: "{{ url }}", token: "{{ good }}"}
  hosted.services.service: {token: unknown}
""",
        env={"HOSTED_SERVICES_URL": None, "HOSTED_SERVICES_TOKEN": None},
        variables={"url": sandbox.base_url, "good": sandbox.token},
    ).succeed()
    assert run["By the group"].result["changed"] is True
    assert "not accepted" in run["By the module"].message
    assert run["By the task"].outcome == "ok"


def test_timeout(ansible: Ansible, sandbox: Sandbox) -> None:
    """`timeout:` ends a task that would wait on."""
    sandbox.delays(start=3600)
    run = ansible.tasks(f"- name: Wait for ever\n  timeout: 3\n{ORDER}")
    assert run.rc != 0
    in_words_of_2_18 = "in the expected time frame (3)"
    assert any(words in run["Wait for ever"].message for words in ("imed out after 3", in_words_of_2_18))
    assert len(sandbox.ledger()["orders"]) == 1


def test_async(ansible: Ansible, sandbox: Sandbox) -> None:
    """A task in the background is an ordinary module, polled or looked up later."""
    run = ansible.tasks(
        f"""
- name: Polled
  async: 60
  poll: 1
{ORDER}
- name: Left alone
  hosted.services.project: {{name: games}}
  async: 60
  poll: 0
  register: job
- name: Looked up
  ansible.builtin.async_status: {{jid: "{{{{ job.ansible_job_id }}}}"}}
  register: looked
  until: looked is finished
  retries: 60
  delay: 0.5
"""
    ).succeed()
    assert run["Polled"].result["service"]["state"] == "running"
    assert run["Looked up"].result["project"]["name"] == "games"
    assert run["Looked up"].result["changed"] is True
    assert "ansible_job_id" in run["Left alone"].result
    assert sorted(writes(sandbox)) == ["order.create", "projects.create"]


class Counter(socketserver.ThreadingTCPServer):
    """Passes connections on to the sandbox and counts them."""

    daemon_threads = True

    def __init__(self, sandbox: Sandbox) -> None:
        super().__init__(("127.0.0.1", 0), Passage)
        self.behind = ("127.0.0.1", urlsplit(sandbox.base_url).port)
        self.connections = 0


class Passage(socketserver.BaseRequestHandler):
    """One connection on its way."""

    def handle(self) -> None:
        """Carry bytes both ways until one side has had enough."""
        assert isinstance(self.server, Counter)
        self.server.connections += 1
        with socket.create_connection(self.server.behind) as behind:
            other = {self.request: behind, behind: self.request}
            while True:
                for ready in select.select(list(other), [], [])[0]:
                    data = ready.recv(65536)
                    if not data:
                        return
                    other[ready].sendall(data)


def test_a_loop_keeps_its_connection(ansible: Ansible, sandbox: Sandbox) -> None:
    """All items of a loop share one connection, but for what must not be sent twice; each has its result."""
    tasks = """
- name: Many projects
  hosted.services.project: {name: "project {{ item }}"}
  loop: [1, 2, 3, 4]
"""
    with running(Counter(sandbox)) as server:
        env = {"HOSTED_SERVICES_URL": f"http://127.0.0.1:{server.server_address[1]}"}
        run = ansible.tasks(tasks, env=env).succeed()
        assert server.connections == 1 + 4, "each creation has a fresh one"
        ansible.tasks(tasks, env=env).succeed()
        assert server.connections == 1 + 4 + 1
    items = run.items("Many projects")
    assert [item.result["project"]["name"] for item in items] == [f"project {n}" for n in range(1, 5)]
    assert len(sandbox.api("GET", "/api/projects").json()) == 5


HOSTS = """\
localhost ansible_connection=local
mute ansible_connection=ssh ansible_host=127.0.0.1 ansible_port=1 ansible_python_interpreter=/nowhere/python
"""


def test_where_a_task_runs(ansible: Ansible, sandbox: Sandbox) -> None:
    """A play over hosts without a Python works from here; a task that is sent elsewhere goes there."""
    ansible.inventory.write_text(HOSTS)
    run = ansible.playbook(
        """
- hosts: mute
  gather_facts: false
  become: true
  tasks:
    - name: From here
      hosted.services.project: {name: "{{ inventory_hostname }}"}
    - name: Sent here
      hosted.services.project: {name: "{{ inventory_hostname }}"}
      delegate_to: localhost
- hosts: localhost
  gather_facts: false
  tasks:
    - name: Sent elsewhere
      hosted.services.project: {name: never}
      delegate_to: mute
      ignore_errors: true
      ignore_unreachable: true
"""
    )
    assert run["From here"].result["changed"] is True
    assert run["Sent here"].result["changed"] is False
    assert run["Sent elsewhere"].outcome in ("unreachable", "failed")
    assert [project["name"] for project in sandbox.api("GET", "/api/projects").json()] == ["default", "mute"]


TOKEN = "a+token/with=signs&that\"are'escaped"


@BOTH_WAYS
def test_secrets_stay_secret(in_process: bool, ansible: Ansible, sandbox: Sandbox) -> None:
    """At -vvvv, in results and in the log file there is neither the token nor what an order generated."""
    sandbox.seed({"tokens": [{"id": TOKEN, "scope": "FULL"}]})
    log = ansible.folder / "ansible.log"
    file = ansible.folder / "secrets.json"
    order = ORDER.replace("state: started", f"state: started\n    secrets_dest: {file}")
    run = ansible.playbook(
        """
- hosts: localhost
  gather_facts: false
  tasks:
    - name: With a variable
      hosted.services.project: {name: games, token: "{{ good }}"}
    - name: With a setting that is wrong
      hosted.services.project: {name: games, token: "{{ good }}", colour: red}
      ignore_errors: true
    - name: With an error of the platform
      hosted.services.service: {id: unknown, token: "{{ good }}"}
      ignore_errors: true
    - name: With the environment
      variables: 1
""".replace("      variables: 1\n", order.replace("\n", "\n    ").lstrip("\n")),
        "-vvvv",
        in_process=in_process,
        env={"HOSTED_SERVICES_TOKEN": TOKEN, "ANSIBLE_LOG_PATH": str(log)},
        variables={"good": TOKEN},
    ).succeed()
    assert run["With the environment"].result["changed"] is True
    password = max((secret["value"] for secret in json.loads(file.read_text())["secrets"]), key=len)
    shown = run.output + log.read_text() + json.dumps([outcome.result for outcome in run.outcomes])
    assert "With the environment" in log.read_text()
    for secret in (TOKEN, json.dumps(TOKEN)[1:-1], password):
        assert secret not in shown


@BOTH_WAYS
def test_a_relative_path_starts_at_the_playbook(
    in_process: bool, ansible: Ansible, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Wherever ansible-playbook is started, as for any module that runs on the controller."""
    (ansible.folder / "beside.pub").write_text(KEY)
    run = ansible.playbook(
        """
- hosts: localhost
  gather_facts: false
  tasks:
    - name: Beside the playbook
      hosted.services.ssh_key: {name: me, public_key_file: beside.pub}
""",
        in_process=in_process,
        folder=tmp_path_factory.mktemp("elsewhere"),
    ).succeed()
    assert run["Beside the playbook"].result["ssh_key"]["name"] == "me"


@BOTH_WAYS
def test_home_of_ansible_cfg_is_where_the_collection_keeps_its_files(
    in_process: bool, ansible: Ansible, sandbox: Sandbox
) -> None:
    """What is kept on the controller is kept in the home that ansible.cfg names, both ways."""
    sandbox.seed({"apps": [{"slug": "shop"}]})
    configuration = ansible.folder / "ansible.cfg"
    with_home = configuration.read_text().replace("[defaults]", "[defaults]\nhome = {{CWD}}/mine")
    configuration.write_text(with_home)
    run = ansible.tasks(
        "- hosted.services.environment: {slug: shop, variables: {A: '1'}}\n  name: Write",
        in_process=in_process,
        env={"ANSIBLE_HOME": None},
    ).succeed()
    assert run["Write"].result["changed"]
    kept = ansible.folder / "mine" / "hosted_services" / "environments"
    assert len(list(kept.glob("*.json"))) == 1
    assert not (ansible.folder / ".ansible" / "hosted_services").exists()


@BOTH_WAYS
def test_the_environment_names_the_folder_of_the_collection(
    in_process: bool, ansible: Ansible, sandbox: Sandbox
) -> None:
    """Everything is kept there, and nothing in Ansible's home. Relative, it is next to the playbook."""
    sandbox.seed({"apps": [{"slug": "shop"}]})
    run = ansible.tasks(
        "- hosted.services.environment: {slug: shop, variables: {A: '1'}}\n"
        "- hosted.services.service: {name: db, product: postgresql, host: node-paris-1, dimensions: "
        "{cpu_cores: 1, ram_gb: 1, storage_gb: 10}}\n  name: Order",
        in_process=in_process,
        env={"HOSTED_SERVICES_HOME": "mine"},
    ).succeed()
    kept = ansible.folder / "mine"
    assert Path(run["Order"].result["secrets_file"]).parent == kept / "secrets"
    assert {path.name for path in kept.iterdir()} >= {"environments", "locks", "secrets"}
    assert {path.stat().st_mode & 0o777 for path in kept.iterdir()} == {0o700}
    assert not (ansible.folder / ".ansible" / "hosted_services").exists()


@BOTH_WAYS
def test_home_of_ansible_cfg_is_where_secrets_are_kept(
    in_process: bool, ansible: Ansible, sandbox: Sandbox
) -> None:
    """What the platform shows only once goes there when the task names no file."""
    configuration = ansible.folder / "ansible.cfg"
    with_home = configuration.read_text().replace("[defaults]", "[defaults]\nhome = {{CWD}}/mine")
    configuration.write_text(with_home)
    run = ansible.tasks(
        "- hosted.services.service: {name: db, product: postgresql, host: node-paris-1, dimensions: "
        "{cpu_cores: 1, ram_gb: 1, storage_gb: 10}}\n  name: Order",
        in_process=in_process,
        env={"ANSIBLE_HOME": None},
    ).succeed()
    kept = ansible.folder / "mine" / "hosted_services" / "secrets"
    assert [path for path in kept.rglob("*") if path.is_file()] == [Path(run["Order"].result["secrets_file"])]
    assert kept.stat().st_mode & 0o777 == 0o700
    assert not (ansible.folder / ".ansible" / "hosted_services").exists()
