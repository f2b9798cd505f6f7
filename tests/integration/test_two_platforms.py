# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two platforms in one play: each task reaches its host's, with its host's token, or says why not."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from hosted_sandbox.testing import Sandbox
from integration.ansible_run import BOTH_WAYS, REPOSITORY, Ansible, Outcome, Run, begin_anew

EAST, WEST, OF_TASK = "token-of-east", "token-of-west", "of-task"
WHOSE = {"FULL": "its own", "REGISTRY": "the task's", None: "another"}
"""Whose token came, by its scope: each platform knows its own, and a task's, which is of another scope."""


@pytest.fixture(scope="module")
def second() -> Iterator[Sandbox]:
    """Another platform, in a process of its own."""
    with Sandbox() as sandbox:
        yield sandbox


@pytest.fixture
def west(second: Sandbox) -> Sandbox:
    """The platform that the inventory's hosts are on; the environment names the other one."""
    begin_anew(second)
    second.seed({"tokens": [{"id": WEST, "scope": "FULL"}, {"id": OF_TASK, "scope": "REGISTRY"}]})
    return second


@pytest.fixture
def east(sandbox: Sandbox) -> Sandbox:
    sandbox.seed({"tokens": [{"id": EAST, "scope": "FULL"}, {"id": OF_TASK, "scope": "REGISTRY"}]})
    return sandbox


# --- What is nearest wins -----------------------------------------------------------------------------

CASES = """
the host wins over the environment, whose token does not fit:
  host: {}
  asked: west by another
  says: [not accepted, "which names {east} as the platform, was used on {west}"]
a token in a file: {host: {hosted_token_file: "{{ playbook_dir }}/token"}, asked: west by its own}
a token in the environment: {asked: west by its own}
a token in a variable:
  host: {hosted_token_variable: vault_west, vault_west: "{{ deeper }}", deeper: token-of-west}
  asked: west by its own
a variable of its own:
  host: {hosted_services_token: "{{ deeper }}", deeper: token-of-west}
  asked: west by its own
a task that names another platform: {ask: {base_url: "{{ east }}"}, asked: east by its own}
its environment names another platform:
  play: {environment: {HOSTED_SERVICES_URL: "{{ east }}"}}
  asked: east by its own
a task that names the same platform: {ask: {base_url: "{{ west }}/"}, asked: west by its own}
a task that names a token: {ask: {token: of-task}, asked: west by the task's}
its environment names a token:
  play: {environment: {HOSTED_SERVICES_TOKEN: of-task}}
  asked: west by the task's
an option before the environment:
  ask: {token: of-task}
  play: {environment: {HOSTED_SERVICES_TOKEN: token-of-east}}
  asked: west by the task's
defaults:
  play: {module_defaults: {group/hosted.services.all: {base_url: "{{ east }}", token: of-task}}}
  asked: east by the task's
a default that is left out:
  ask: {token_file: "{{ playbook_dir }}/token", token: "{{ omit }}"}
  play: {module_defaults: {group/hosted.services.all: {token: token-of-east}}}
  asked: west by its own
another setting of the host:
  host: {hosted_token_env: TOKEN_OF_WEST, hosted_services_auth_scheme: Wrong}
  asked: west by another
  says: [not accepted]
a lookup: {look_up: "", asked: west by its own}
a lookup on another platform: {look_up: ", base_url=east", asked: east by its own}
a default and an option:
  ask: {token_file: /other}
  play: {module_defaults: {group/hosted.services.all: {token: token-of-east}}}
  says: [which may belong to two accounts; keep only one of them]
an option that is empty: {ask: {token: "{{ none }}"}, says: [token is ]}
a file that is empty: {ask: {token_file: "{{ none }}"}, says: [token_file is ]}
the token of the environment, on a host of another account:
  host: {hosted_token_handed_on: false}
  act: {name: web, state: stopped}
  says: [with its own token]
deleting on another platform:
  act: {id: "{{ web }}", state: absent, base_url: "{{ east }}"}
  asked: east by its own
  says: ["from {west}, and the task uses {east}"]
deleting by another token:
  act: {id: "{{ web }}", state: absent, token: sandbox-other-token}
  asked: west by its own # of another account, of the same scope
  says: [with another token]
two tokens, for a lookup:
  host: {hosted_token_env: A, hosted_services_token: b}
  look_up: ""
  says: [each name a token]
deleting what is gone: {act: {id: gone, state: absent}, asked: west by its own}
"""
"""Tasks on a host of west, while the environment names east: who has to be asked, and what has to be said."""


def task(case: dict[str, Any]) -> dict[str, Any]:
    if "look_up" in case:
        lookup = f"lookup('hosted.services.registry_credentials'{case['look_up']})"
        return {"ansible.builtin.debug": {"msg": f"{{{{ {lookup}.host }}}}"}}
    if "act" in case:
        return {"hosted.services.service": case["act"]}
    return {"hosted.services.account_info": case.get("ask", {})}


class Pair:
    """Plays over hosts that an inventory has from one platform, while the environment names another."""

    def __init__(self, ansible: Ansible, east: Sandbox, west: Sandbox) -> None:
        self.ansible, self.sandboxes = ansible, {"east": east, "west": west}
        self.urls = {place: sandbox.base_url for place, sandbox in self.sandboxes.items()}
        self.web = west.seed({"services": [{"name": "web", "product": "linux"}]})["services"]["web"]

    def run(self, all_cases: dict[str, dict[str, Any]], in_process: bool) -> Run:
        """Run a play for each case, on a host of its own."""
        here = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
        usual = {"hosted_token_env": "TOKEN_OF_WEST"}
        plays, hosts = [], {}
        for number, (name, case) in enumerate(all_cases.items()):
            hosts[f"web-{number}"] = {**here, "hosted_url": self.urls["west"], **case.get("host", usual)}
            steps = [{"name": name, "ignore_errors": True, **task(case)}]
            plays.append(
                {"hosts": f"web-{number}", "gather_facts": False, "tasks": steps, **case.get("play", {})}
            )
        self.ansible.inventory = self.ansible.folder / "hosts.json"
        self.ansible.inventory.write_text(json.dumps({"all": {"hosts": hosts}}))
        for file, token in (("token", f"{WEST}\n"), ("of-task", f"{OF_TASK}\n")):
            (self.ansible.folder / file).write_text(token)
        return self.ansible.playbook(
            json.dumps(plays),
            in_process=in_process,
            variables={**self.urls, "web": self.web},
            env={"HOSTED_SERVICES_TOKEN": EAST, "TOKEN_OF_WEST": WEST},
        )

    def asked(self, outcome: Outcome) -> str:
        """Return who was asked by a task, by whose token: for example `west by its own`."""
        found = set()
        for place, sandbox in self.sandboxes.items():
            lines = [each for each in sandbox.journal() if outcome.begun <= each["real_at"] <= outcome.ended]
            found |= {f"{place} by {WHOSE[line['token']]}" for line in lines}
        return ", ".join(sorted(found))

    def problems(self, case: dict[str, Any], outcome: Outcome) -> list[str]:
        """Return what is wrong with what became of a case."""
        asked, says = self.asked(outcome), [text.format(**self.urls) for text in case.get("says", [])]
        said = "\n".join([outcome.message, *outcome.result.get("warnings", [])])
        found = [f"asked: {asked}"] if asked != case.get("asked", "") else []
        found += [f"not said: {text}" for text in says if text not in said]
        if not says and (outcome.failed or outcome.result.get("warnings")):
            found.append(f"said: {said}")
        return found


@BOTH_WAYS
def test_each_task_asks_its_platform_by_its_token(
    in_process: bool, ansible: Ansible, east: Sandbox, west: Sandbox
) -> None:
    """The nearest wins, no token goes to another platform, and what may be of two accounts is refused."""
    pair, all_cases = Pair(ansible, east, west), yaml.safe_load(CASES)
    run = pair.run(all_cases, in_process)
    found = {name: pair.problems(case, run[name]) for name, case in all_cases.items()}
    assert {name: problems for name, problems in found.items() if problems} == {}
    for sandbox in pair.sandboxes.values():
        assert [line for line in sandbox.journal() if line["method"] in ("DELETE", "POST")] == []
    assert WEST not in run.output and EAST not in run.output


# --- Two inventory files --------------------------------------------------------------------------------


DELETE = """\
- hosts: {}
  gather_facts: false
  tasks:
    - hosted.services.service: {{id: "{{{{ hosted_service_id }}}}", state: absent}}
"""


class Files:
    """A folder with an inventory file for each of two accounts, which have a service of one name."""

    def __init__(self, ansible: Ansible, east: Sandbox, west: Sandbox) -> None:
        self.ansible, self.sandboxes = ansible, {"east": east, "west": west}
        self.ids: dict[str, str] = {}
        for place, sandbox in self.sandboxes.items():
            # A service without backups, which a task may delete at once.
            service = {"name": "api", "product": "linux", "project": f"of-{place}"}
            self.ids[place] = sandbox.seed({"services": [service]})["services"]["api"]
        ansible.inventory = ansible.folder / "inventory"
        ansible.inventory.mkdir()
        ansible.environment |= {"TOKEN_OF_EAST": EAST, "TOKEN_OF_WEST": WEST}

    def write(self, place: str, *, of: str = "", **options: Any) -> None:
        """Write the file called `place`, of the account of that name or of another one."""
        account = of or place
        usual = {"base_url": self.sandboxes[account].base_url, "token_env": f"TOKEN_OF_{account.upper()}"}
        given = {"plugin": "hosted.services.inventory", **usual, **options}
        (self.ansible.inventory / f"{place}.hosted.yml").write_text(json.dumps(given))

    def delete(self, *patterns: str, before: str = "", **options: Any) -> Run:
        """Run a play over each of these patterns, which deletes the service of each host."""
        for sandbox in self.sandboxes.values():
            sandbox.clear_journal()
        plays = "".join(DELETE.format(hosts) for hosts in patterns)
        return self.ansible.playbook(before + plays, **options)

    @property
    def deleted(self) -> list[str]:
        """The services that were deleted, by the account that they were in."""
        paths = {
            place: [line["path"].split("/")[3] for line in sandbox.journal(method="DELETE")]
            for place, sandbox in self.sandboxes.items()
        }
        assert all(id == self.ids[place] for place, ids in paths.items() for id in ids), paths
        return sorted(place for place, ids in paths.items() for _id in ids)


@pytest.fixture
def files(ansible: Ansible, east: Sandbox, west: Sandbox) -> Files:
    return Files(ansible, east, west)


def test_a_play_over_one_account_never_changes_the_other(files: Files) -> None:
    """The file that is read last has a host of the same name: it is refused, and adds no group.

    Where Ansible is told so, that ends the run.
    """
    files.write("east", groups={"here": True})
    files.write("west", groups={"there": True})
    run = files.delete("all", env={"ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED": "true"})
    assert run.rc != 0 and files.deleted == []

    run = files.delete("project_of_west", "there", "here:&family_compute").succeed()
    assert files.deleted == ["east"]
    said = " ".join(run.output.split())
    assert said.count("Could not match supplied host pattern") == 2
    assert "another inventory source has hosts of the same names: api is service" in said
    for place, id in files.ids.items():
        url = files.sandboxes[place].base_url
        assert f"service {id} on {url} (token_env TOKEN_OF_{place.upper()})" in said
    assert "hostnames" in said
    assert EAST not in run.output and WEST not in run.output


def test_two_accounts_of_one_platform_are_two(files: Files) -> None:
    """The address is the same, and the service is another one, or nobody can tell by which token to work."""
    east = files.sandboxes["east"]
    east.seed({"services": [{"name": "api", "product": "linux", "account": "account-other"}]})
    files.write("a", of="east")
    files.write("b", of="east", token_env="TOKEN_OF_OTHER")
    files.write("c", of="east", token_env=None, token=EAST)
    run = files.delete("all", env={"TOKEN_OF_OTHER": "sandbox-other-token"}).succeed()
    assert files.deleted == ["east"]
    said = " ".join(run.output.split())
    assert "token_env TOKEN_OF_OTHER" in said and "(a token of its own) here" in said


def test_a_host_of_two_sources_is_one_service(files: Files) -> None:
    """It has the groups of two filters, and of a static inventory, unless a line there names another one."""
    static = files.ansible.inventory / "a.ini"
    files.write("east", groups={"one": True})
    files.write("east-again", of="east", families=["COMPUTE"], groups={"two": True})
    static.write_text("[mine]\napi hosted_service_id=no-such\n")
    run = files.delete("mine").succeed()
    assert files.deleted == []
    assert "api is service no-such (no token named) there" in " ".join(run.output.split())
    static.write_text("[mine]\napi colour=green\n")
    run = files.delete("one:&two:&mine").succeed()
    assert files.deleted == ["east"]
    assert "WARNING" not in run.output


def test_a_service_called_like_a_group_of_another_file_is_a_host(files: Files) -> None:
    """Ansible would set its variables on that group, for all hosts in it."""
    files.write("east", groups={"api": True}, hostnames=["'east-' ~ hosted_name"])
    files.write("west")
    files.delete("of-west-api").succeed()
    assert files.deleted == ["west"]
    run = files.delete("api").succeed()
    assert files.deleted == ["east"]
    assert "WARNING" not in run.output


def test_refreshing_reads_each_file_anew(files: Files) -> None:
    """What was there before the refresh is no other source."""
    files.write("east")
    files.write("west", hostnames=["'west-' ~ hosted_name"])
    refresh = "- hosts: all\n  gather_facts: false\n  tasks:\n    - meta: refresh_inventory\n"
    run = files.delete("all", before=refresh).succeed()
    assert files.deleted == ["east", "west"]
    assert "WARNING" not in run.output


# --- The guide ----------------------------------------------------------------------------------------

GUIDE = REPOSITORY / "docs" / "guides" / "inventory-accounts.md"


def files_of_the_guide() -> dict[str, str]:
    """Return the files that the guide shows, by the names in their first lines."""
    return dict(re.findall(r"```yaml\n# (\S+)\n(.*?)```", GUIDE.read_text(), re.DOTALL))


def test_what_the_guide_shows_of_two_accounts_works(ansible: Ansible, east: Sandbox, west: Sandbox) -> None:
    """Each platform is asked with its own token alone, though their services have one name."""
    files = files_of_the_guide()
    assert list(files) == ["inventory/east.hosted.yml", "inventory/west.hosted.yml", "play.yml"]
    folder = ansible.folder
    for name, text in files.items():
        here = text.replace("https://east.example.com", east.base_url)
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(here.replace("https://west.example.com", west.base_url))
    (folder / ".config" / "hosted").mkdir(parents=True)
    (folder / ".config" / "hosted" / "west-token").write_text(f"{WEST}\n")
    ids = {}
    for place, sandbox in (("east", east), ("west", west)):
        service = {"name": "survival", "product": "minecraft", "state": "stopped"}
        ids[place] = sandbox.seed({"services": [service]})["services"]["survival"]
        sandbox.clear_journal()
    ansible.inventory = folder / "inventory"
    env = {"HOSTED_SERVICES_TOKEN": OF_TASK, "HOSTED_TOKEN_EAST": EAST}
    run = ansible.playbook((folder / "play.yml").read_text(), env=env).succeed()
    hosts = {outcome.host for outcome in run.outcomes if outcome.name == "Start it"}
    assert hosts == {"east-survival", "west-survival"}
    for place, sandbox in (("east", east), ("west", west)):
        assert {line["token"] for line in sandbox.journal()} == {"FULL"}
        assert [line["path"].split("/")[3] for line in sandbox.journal(method="POST")] == [ids[place]]
    assert WEST not in run.output and EAST not in run.output
