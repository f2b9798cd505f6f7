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

from hosted_sandbox.testing import Sandbox
from integration.ansible_run import BOTH_WAYS, REPOSITORY, Ansible, Run, begin_anew

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
    """The platform of the environment."""
    sandbox.seed({"tokens": [{"id": EAST, "scope": "FULL"}, {"id": OF_TASK, "scope": "REGISTRY"}]})
    return sandbox


class Pair:
    """Plays over a host that an inventory has from one platform, while the environment names another."""

    def __init__(self, ansible: Ansible, east: Sandbox, west: Sandbox) -> None:
        self.ansible, self.east, self.west = ansible, east, west
        self.variables: dict[str, Any] = {"hosted_url": west.base_url}
        ansible.environment["HOSTED_SERVICES_TOKEN"] = EAST

    def run(self, task: str, *, in_process: bool = True, keywords: str = "", env: Any = None) -> Run:
        """Run one task, called `Act`, on the host."""
        here = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
        lines = json.dumps({"all": {"hosts": {"web": {**here, **self.variables}}}})
        self.ansible.inventory = self.ansible.folder / "hosts.json"
        self.ansible.inventory.write_text(lines)
        self.clear()
        play = f"- hosts: web\n  gather_facts: false\n{keywords}  tasks:\n    - name: Act\n      {task}\n"
        return self.ansible.playbook(play, in_process=in_process, env=env)

    def clear(self) -> None:
        """Forget what was asked."""
        self.east.clear_journal()
        self.west.clear_journal()

    @property
    def asked(self) -> str:
        """Who was asked, by whose token: for example `west by its own`."""
        found = set()
        for name, sandbox in (("east", self.east), ("west", self.west)):
            found |= {f"{name} by {WHOSE[line['token']]}" for line in sandbox.journal()}
        return ", ".join(sorted(found))


@pytest.fixture
def pair(ansible: Ansible, east: Sandbox, west: Sandbox) -> Pair:
    """A host of west, and an environment of east."""
    return Pair(ansible, east, west)


# --- What is nearest wins -----------------------------------------------------------------------------

ASK = "hosted.services.account_info: {}"


def asking(**options: Any) -> str:
    """Return a task that asks whose token it is, with these options."""
    return f"hosted.services.account_info: {json.dumps(options)}"


@BOTH_WAYS
def test_the_platform_of_the_host_wins_over_the_environment(in_process: bool, pair: Pair) -> None:
    """Its token is that of the environment, as no other is named, and that does not fit."""
    run = pair.run(ASK, in_process=in_process)
    assert pair.asked == "west by another"
    assert "not accepted" in run["Act"].message
    (warning,) = run["Act"].result["warnings"]
    assert f"which names {pair.east.base_url} as the platform, was used on {pair.west.base_url}" in warning


SOURCES: dict[str, dict[str, Any]] = {
    "a file": {"hosted_token_file": "{{ playbook_dir }}/token"},
    "the environment": {"hosted_token_env": "TOKEN_OF_WEST"},
    "a variable": {"hosted_token_variable": "vault_west", "vault_west": "{{ deeper }}", "deeper": WEST},
    "its own variable": {"hosted_services_token": "{{ deeper }}", "deeper": WEST},
    "a file of its own": {"hosted_services_token_file": "{{ playbook_dir }}/token"},
}


@pytest.mark.parametrize("source", SOURCES)
@BOTH_WAYS
def test_the_token_of_the_host_goes_with_its_platform(in_process: bool, source: str, pair: Pair) -> None:
    """Whatever tells it, and though there is one in the environment."""
    (pair.ansible.folder / "token").write_text(f"{WEST}\n")
    pair.variables |= SOURCES[source]
    run = pair.run(ASK, in_process=in_process, env={"TOKEN_OF_WEST": WEST}).succeed()
    assert pair.asked == "west by its own"
    assert WEST not in run.output
    assert "WARNING" not in run.output


NEARER: dict[str, tuple[str, str, str]] = {
    "a task that names another platform": (asking(base_url="EAST"), "", "east by its own"),
    "its environment names another platform": (
        ASK,
        'environment: {HOSTED_SERVICES_URL: "EAST"}',
        "east by its own",
    ),
    "a task that names the same platform": (asking(base_url="WEST/"), "", "west by its own"),
    "a task that names a token": (asking(token="of-task"), "", "west by the task's"),
    "its environment names a token": (
        ASK,
        "environment: {HOSTED_SERVICES_TOKEN: of-task}",
        "west by the task's",
    ),
    "its environment names a file": (
        ASK,
        'environment: {HOSTED_SERVICES_TOKEN_FILE: "{{ playbook_dir }}/of-task"}',
        "west by the task's",
    ),
    "an option before the environment": (
        asking(token="of-task"),
        f"environment: {{HOSTED_SERVICES_TOKEN: {EAST}}}",
        "west by the task's",
    ),
    "defaults": (
        ASK,
        "module_defaults: {group/hosted.services.all: {base_url: EAST, token: of-task}}",
        "east by the task's",
    ),
}


@pytest.mark.parametrize("case", NEARER)
@BOTH_WAYS
def test_the_task_wins_over_its_host(in_process: bool, case: str, pair: Pair) -> None:
    """A token of the host is never sent to a platform that is not the host's."""
    task, keywords, asked = NEARER[case]
    (pair.ansible.folder / "of-task").write_text("of-task\n")
    pair.variables["hosted_token_env"] = "TOKEN_OF_WEST"

    def named(text: str) -> str:
        return text.replace("EAST", pair.east.base_url).replace("WEST", pair.west.base_url)

    keywords = f"  {named(keywords)}\n" if keywords else ""
    pair.run(named(task), in_process=in_process, keywords=keywords, env={"TOKEN_OF_WEST": WEST}).succeed()
    assert pair.asked == asked


CONTRADICTIONS: dict[str, tuple[dict[str, Any], str]] = {
    "two platforms": ({"hosted_services_url": "https://api.example.com"}, "name two platforms"),
    "two tokens": ({"hosted_token_env": "A", "hosted_services_token": "b"}, "each name a token"),
    "a token and a file": (
        {"hosted_services_token": "b", "hosted_services_token_file": "/a"},
        "hosted_services_token and hosted_services_token_file of web each name a token",
    ),
    "two sources": ({"hosted_token_env": "A", "hosted_token_file": "b"}, "each name a token"),
    "no such variable": (
        {"hosted_token_variable": "vault_west"},
        "in the variable vault_west, which is not",
    ),
    "no such environment": (
        {"hosted_token_env": "NO_TOKEN"},
        "in the environment variable NO_TOKEN",
    ),
    "no such file": ({"hosted_token_file": "/no/token"}, "token_file '/no/token' cannot be read"),
    "a platform of nothing": ({"hosted_url": "{{ '' }}"}, "the variable hosted_url is set, but"),
    "a token of nothing": ({"hosted_services_token": "{{ none }}"}, "hosted_services_token is set, but"),
}


@pytest.mark.parametrize("case", CONTRADICTIONS)
@BOTH_WAYS
def test_what_cannot_be_told_is_refused(in_process: bool, case: str, pair: Pair) -> None:
    """Nothing is asked, of neither platform."""
    variables, message = CONTRADICTIONS[case]
    pair.variables |= variables
    run = pair.run(ASK, in_process=in_process)
    assert pair.asked == ""
    assert message in run["Act"].message


DEFAULTS = "module_defaults: {group/hosted.services.all: {token: TOKEN}}"
IN_BLOCK = "environment: {HOSTED_SERVICES_TOKEN: TOKEN}"
IN_TASK = "environment: {HOSTED_SERVICES_TOKEN_FILE: /other}"
TWO_TOKENS: dict[str, tuple[str, str, dict[str, str]]] = {
    "a default and an option": (asking(token_file="/other"), DEFAULTS, {}),
    "two environments": (f"{ASK}\n      {IN_TASK}", IN_BLOCK, {}),
    "the environment": (ASK, "", {"HOSTED_SERVICES_TOKEN_FILE": "/other"}),
}


@pytest.mark.parametrize("case", TWO_TOKENS)
@BOTH_WAYS
def test_a_token_and_a_file_in_one_place_are_refused(in_process: bool, case: str, pair: Pair) -> None:
    """They may be of two accounts, and which of them is nearer cannot be seen. None is taken."""
    task, keywords, env = TWO_TOKENS[case]
    keywords = f"  {keywords}\n".replace("TOKEN}", f"{EAST}}}") if keywords else ""
    run = pair.run(task, in_process=in_process, keywords=keywords, env=env)
    assert pair.asked == ""
    assert "which may belong to two accounts; keep only one of them" in run["Act"].message
    assert EAST not in run["Act"].message


@BOTH_WAYS
def test_a_token_of_a_default_can_be_left_out(in_process: bool, pair: Pair) -> None:
    (pair.ansible.folder / "token").write_text(WEST)
    keywords = f"  module_defaults: {{group/hosted.services.all: {{token: {EAST}}}}}\n"
    task = asking(token_file="{{ playbook_dir }}/token", token="{{ omit }}")
    pair.run(task, in_process=in_process, keywords=keywords).succeed()
    assert pair.asked == "west by its own"


@pytest.mark.parametrize("option", ["base_url", "token", "token_file"])
@BOTH_WAYS
def test_a_connection_of_nothing_is_refused(in_process: bool, option: str, pair: Pair) -> None:
    """A variable that holds nothing does not stand for another platform or account."""
    pair.variables |= {"hosted_token_env": "TOKEN_OF_WEST", "nothing": None}
    run = pair.run(asking(**{option: "{{ nothing }}"}), in_process=in_process, env={"TOKEN_OF_WEST": WEST})
    assert pair.asked == ""
    assert f"{option} is " in run["Act"].message


@pytest.mark.parametrize(
    ("keywords", "asked"),
    [
        ("", "west by its own"),
        (", base_url=hosted_east", "east by its own"),
        (", token='of-task'", "west by the task's"),
    ],
    ids=["host", "another platform", "another token"],
)
def test_lookups_ask_where_tasks_do(keywords: str, asked: str, pair: Pair) -> None:
    pair.variables |= {"hosted_token_env": "TOKEN_OF_WEST", "hosted_east": pair.east.base_url}
    lookup = f"lookup('hosted.services.registry_credentials'{keywords}).host"
    task = f'ansible.builtin.debug: {{msg: "{{{{ {lookup} }}}}"}}'
    pair.run(task, env={"TOKEN_OF_WEST": WEST}).succeed()
    assert pair.asked == asked


@pytest.mark.parametrize("case", CONTRADICTIONS)
def test_lookups_refuse_what_tasks_refuse(case: str, pair: Pair) -> None:
    variables, message = CONTRADICTIONS[case]
    pair.variables |= variables
    task = "ansible.builtin.debug: {msg: \"{{ lookup('hosted.services.registry_credentials') }}\"}"
    run = pair.run(task)
    assert pair.asked == ""
    assert message in run["Act"].message


@BOTH_WAYS
def test_other_settings_of_variables_reach_tasks(in_process: bool, pair: Pair) -> None:
    """As they reach lookups, under the same names; the task's own wins."""
    pair.variables |= {"hosted_token_env": "TOKEN_OF_WEST", "hosted_services_auth_scheme": "Wrong"}
    env = {"TOKEN_OF_WEST": WEST}
    assert "not accepted" in pair.run(ASK, in_process=in_process, env=env)["Act"].message
    pair.run(asking(auth_scheme="Bearer"), in_process=in_process, env=env).succeed()


# --- Deleting what is elsewhere -----------------------------------------------------------------------


def absent(pair: Pair, in_process: bool, **options: Any) -> list[str]:
    """Delete a service of west by its id, which has to be ok and to delete nothing; return the warnings."""
    id = pair.west.seed({"services": [{"name": "web", "product": "linux"}]})["services"]["web"]
    task = f"hosted.services.service: {json.dumps({'id': id, 'state': 'absent', **options})}"
    run = pair.run(task, in_process=in_process, env={"TOKEN_OF_WEST": WEST}).succeed()
    assert run["Act"].result["changed"] is False
    assert not [line for line in pair.west.journal() + pair.east.journal() if line["method"] == "DELETE"]
    return [str(warning) for warning in run["Act"].result.get("warnings", [])]


@BOTH_WAYS
def test_the_token_of_the_environment_is_not_for_a_host_of_another_account(
    in_process: bool, pair: Pair
) -> None:
    """Its inventory holds a token of its own, and says to nobody where to find it."""
    pair.variables["hosted_token_handed_on"] = False
    run = pair.run("hosted.services.service: {name: web, state: stopped}", in_process=in_process)
    assert run["Act"].outcome == "failed"
    assert "the inventory read web with its own token" in run["Act"].message
    assert pair.asked == ""


@BOTH_WAYS
def test_deleting_on_another_platform_than_the_hosts_is_told(in_process: bool, pair: Pair) -> None:
    pair.variables["hosted_token_env"] = "TOKEN_OF_WEST"
    (warning,) = absent(pair, in_process, base_url=pair.east.base_url)
    assert (
        f"the inventory read web from {pair.west.base_url}, and the task uses {pair.east.base_url}" in warning
    )


@BOTH_WAYS
def test_deleting_by_another_token_than_the_hosts_is_told(in_process: bool, pair: Pair) -> None:
    pair.variables["hosted_token_env"] = "TOKEN_OF_WEST"
    (warning,) = absent(pair, in_process, token="sandbox-other-token")
    assert "the inventory read web with another token" in warning


@BOTH_WAYS
def test_deleting_what_is_gone_is_not_worth_a_word(in_process: bool, pair: Pair) -> None:
    """On the host's own platform, by its own token, a second run is an ok without a warning."""
    pair.variables["hosted_token_env"] = "TOKEN_OF_WEST"
    task = "hosted.services.service: {id: gone, state: absent}"
    run = pair.run(task, in_process=in_process, env={"TOKEN_OF_WEST": WEST}).succeed()
    assert not run["Act"].result.get("warnings")


# --- Two inventory files --------------------------------------------------------------------------------


class Files:
    """A folder with an inventory file for each of two accounts, which have a service of one name."""

    def __init__(self, ansible: Ansible, east: Sandbox, west: Sandbox) -> None:
        self.ansible, self.sandboxes = ansible, {"east": east, "west": west}
        self.ids = {
            place: sandbox.seed({"projects": [f"of-{place}"], "services": [service_in(f"of-{place}")]})[
                "services"
            ]["api"]
            for place, sandbox in self.sandboxes.items()
        }
        ansible.inventory = ansible.folder / "inventory"
        ansible.inventory.mkdir()
        ansible.environment |= {"TOKEN_OF_EAST": EAST, "TOKEN_OF_WEST": WEST}

    def write(self, place: str, *, of: str = "", **options: Any) -> None:
        """Write the file called `place`, of the account of that name or of another one."""
        account = of or place
        given = {
            "plugin": "hosted.services.inventory",
            "base_url": self.sandboxes[account].base_url,
            "token_env": f"TOKEN_OF_{account.upper()}",
            **options,
        }
        lines = json.dumps({name: value for name, value in given.items() if value is not None})
        (self.ansible.inventory / f"{place}.hosted.yml").write_text(lines)

    def delete(self, hosts: str, before: str = "", **options: Any) -> Run:
        """Run a play that deletes the service of each of these hosts."""
        for sandbox in self.sandboxes.values():
            sandbox.clear_journal()
        task = 'hosted.services.service: {id: "{{ hosted_service_id }}", state: absent}'
        play = f"- hosts: {hosts}\n  gather_facts: false\n  tasks:\n    - name: Delete\n      {task}\n"
        return self.ansible.playbook(before + play, **options)

    @property
    def deleted(self) -> list[str]:
        """The services that were deleted, by the account that they were in."""
        paths = {
            place: [line["path"].split("/")[3] for line in sandbox.journal(method="DELETE")]
            for place, sandbox in self.sandboxes.items()
        }
        assert all(id == self.ids[place] for place, ids in paths.items() for id in ids), paths
        return sorted(place for place, ids in paths.items() for _id in ids)


def service_in(project: str) -> dict[str, Any]:
    """Return the seed of a service without backups, which a task may delete at once."""
    return {"name": "api", "product": "linux", "project": project}


@pytest.fixture
def files(ansible: Ansible, east: Sandbox, west: Sandbox) -> Files:
    """Two accounts, without files yet."""
    return Files(ansible, east, west)


@pytest.mark.parametrize("hosts", ["project_of_east", "here", "here:&family_compute"])
def test_a_play_over_one_account_never_changes_the_other(hosts: str, files: Files) -> None:
    """The file that is read last has a host of the same name: it is refused, and east's is east's."""
    files.write("east", groups={"here": True})
    files.write("west")
    run = files.delete(hosts).succeed()
    assert files.deleted == ["east"]
    said = " ".join(run.output.split())
    assert "another inventory source has hosts of the same names: api is service" in said
    for place, id in files.ids.items():
        assert (
            f"service {id} on {files.sandboxes[place].base_url} (token_env TOKEN_OF_{place.upper()})" in said
        )
    assert "hostnames" in said
    assert EAST not in run.output and WEST not in run.output


@pytest.mark.parametrize("hosts", ["project_of_west", "there"])
def test_a_refused_file_adds_no_group(hosts: str, files: Files) -> None:
    """A play over the account that was left out finds no host, rather than the other account's."""
    files.write("east")
    files.write("west", groups={"there": True})
    run = files.delete(hosts)
    assert files.deleted == []
    assert "Could not match supplied host pattern" in run.output


def test_a_refused_file_stops_a_run_that_is_told_to(files: Files) -> None:
    files.write("east")
    files.write("west")
    run = files.delete("all", env={"ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED": "true"})
    assert run.rc != 0
    assert files.deleted == []


def test_two_accounts_of_one_platform_are_two(files: Files) -> None:
    """The address is the same, and the service is another one."""
    east = files.sandboxes["east"]
    east.seed({"services": [{"name": "api", "product": "linux", "account": "account-other"}]})
    files.write("a", of="east")
    files.write("b", of="east", token_env="TOKEN_OF_OTHER")
    run = files.delete("all", env={"TOKEN_OF_OTHER": "sandbox-other-token"}).succeed()
    assert files.deleted == ["east"]
    assert "token_env TOKEN_OF_OTHER" in " ".join(run.output.split())


def test_a_prefix_for_each_account_tells_their_hosts_apart(files: Files) -> None:
    for place in files.ids:
        files.write(place, hostnames=[f"'{place}-' ~ hosted_name"])
    run = files.delete("project_of_west").succeed()
    assert files.deleted == ["west"]
    assert "WARNING" not in run.output
    files.delete("east-api").succeed()
    assert files.deleted == ["east"]


def test_one_service_through_two_filters_is_one_host(files: Files) -> None:
    """It has the groups of both files."""
    files.write("east", groups={"one": True})
    files.write("east-again", of="east", families=["COMPUTE"], groups={"two": True})
    run = files.delete("one:&two").succeed()
    assert files.deleted == ["east"]
    assert "WARNING" not in run.output


def test_an_inventory_refuses_a_token_and_a_file_of_the_environment(files: Files) -> None:
    files.write("east", token_env=None)
    env = {"HOSTED_SERVICES_TOKEN": EAST, "HOSTED_SERVICES_TOKEN_FILE": "/other"}
    run = files.delete("all", env=env)
    assert files.deleted == [] and not files.sandboxes["east"].journal()
    assert "which may belong to two accounts; keep only one of them" in " ".join(run.output.split())


def test_one_service_by_two_tokens_is_refused(files: Files) -> None:
    """Nobody can tell by which of them tasks are to work."""
    files.write("a", of="east")
    files.write("b", of="east", token_env=None, token=EAST)
    run = files.delete("all").succeed()
    assert "(a token of its own) here" in " ".join(run.output.split())
    assert files.deleted == ["east"]


def test_a_static_inventory_adds_to_a_host(files: Files) -> None:
    """Its lines name no service."""
    (files.ansible.inventory / "a.ini").write_text("[mine]\napi colour=green\n")
    files.write("east")
    run = files.delete("mine").succeed()
    assert files.deleted == ["east"]
    assert "WARNING" not in run.output


def test_a_static_host_of_another_service_stays_what_it_is(files: Files) -> None:
    (files.ansible.inventory / "a.ini").write_text("[mine]\napi hosted_service_id=no-such\n")
    files.write("east")
    run = files.delete("mine").succeed()
    assert files.deleted == []
    assert "api is service no-such (no token named) there" in " ".join(run.output.split())


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
    run = files.delete("all", refresh).succeed()
    assert files.deleted == ["east", "west"]
    assert "WARNING" not in run.output


# --- The guide ----------------------------------------------------------------------------------------

GUIDE = REPOSITORY / "docs" / "guides" / "inventory.md"


def files_of_the_guide() -> dict[str, str]:
    """Return the files that the section on two accounts shows, by the names in their first lines."""
    section = GUIDE.read_text().partition("## Two accounts in one play\n")[2].partition("\n## ")[0]
    blocks = re.findall(r"```yaml\n# (\S+)\n(.*?)```", section, re.DOTALL)
    return dict(blocks)


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
    assert {outcome.host for outcome in run.outcomes if outcome.name == "Start it"} == {
        "east-survival",
        "west-survival",
    }
    for place, sandbox in (("east", east), ("west", west)):
        assert {line["token"] for line in sandbox.journal()} == {"FULL"}
        assert [line["path"].split("/")[3] for line in sandbox.journal(method="POST")] == [ids[place]]
    assert WEST not in run.output and EAST not in run.output
