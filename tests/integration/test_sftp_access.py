# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The role `sftp_access` apart from a team that comes and goes, which molecule's scenario tells."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from hosted_sandbox.testing import Sandbox
from integration.ansible_run import Ansible, Run

pytestmark = pytest.mark.night

HEAD = "- hosts: localhost\n  gather_facts: false\n  vars_files: [variables.yml]\n"
PLAY = HEAD + "  roles: [hosted.services.sftp_access]\n"
LATER = """\
  tasks: [{name: Whose, hosted.services.account_info: {}}]
- hosts: localhost
  gather_facts: false
  vars_files: [variables.yml]
  tasks:
    - {name: Left, ansible.builtin.debug: {msg: "{{ hosted_services_url | default('none') }}"}}
    - name: Whose later
      hosted.services.account_info:
      vars: {hosted_services_token: "{{ later_token }}"}
"""


def make_key(path: Path) -> str:
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", path.name, "-f", str(path)]
    subprocess.run(command, check=True)
    return path.with_suffix(".pub").read_text().strip()


class Team:
    """The role on an account with two services, and two people."""

    def __init__(self, ansible: Ansible, sandbox: Sandbox) -> None:
        self.ansible, self.sandbox = ansible, sandbox
        self.folder = ansible.folder
        self.config, self.known_hosts = self.folder / "ssh" / "config", self.folder / "ssh" / "known"
        self.inventory = self.folder / "account.hosted.yml"
        self.inventory.write_text(f"plugin: hosted.services.inventory\nbase_url: {sandbox.base_url}\n")
        alice, bob = make_key(self.folder / "alice"), make_key(self.folder / "bob")
        self.alice: dict[str, Any] = {"name": "alice", "public_key": alice}
        self.bob: dict[str, Any] = {"name": "bob", "public_key_file": str(self.folder / "bob.pub")}
        self.bob_key = bob

    def play(self, *arguments: str, play: str = PLAY, **variables: Any) -> Run:
        """Run the role, with variables from a file: those of a command line are shown by Ansible itself."""
        given = {
            "sftp_access_keys": [self.alice, self.bob],
            "sftp_access_config": str(self.config),
            "sftp_access_known_hosts": str(self.known_hosts),
            "sftp_access_identity_file": str(self.folder / "alice"),
        }
        (self.folder / "variables.yml").write_text(yaml.safe_dump({**given, **variables}))
        return self.ansible.playbook(play, "-i", str(self.inventory), *arguments)

    def register(self, name: str, public_key: str) -> None:
        """Register a key that the role does not know, and wait until the list shows it."""
        self.sandbox.api("POST", "/api/users/me/ssh-keys", {"name": name, "publicKey": public_key})
        until = time.monotonic() + 300
        while name not in self.keys():
            assert time.monotonic() < until, self.keys()

    def keys(self) -> list[str]:
        return keys_of(self, self.sandbox.token)

    def sftp(self, service: str, *commands: str) -> subprocess.CompletedProcess[str]:
        """Log in as people do, with nothing but the ssh_config."""
        return subprocess.run(
            ["sftp", "-F", str(self.config), "-b", "-", service],
            input="\n".join(commands),
            env={"PATH": os.environ["PATH"], "HOME": str(self.folder)},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )


@pytest.fixture
def team(ansible: Ansible, sandbox: Sandbox) -> Team:
    """Two services, one of which has a name that has to be changed for a command line."""
    services = [
        {"name": "survival", "product": "minecraft", "files": {"here.txt": "survival"}},
        {"name": "My shop", "product": "application", "files": {"there.txt": "shop"}},
        {"name": "late", "product": "minecraft", "status": "AWAITING_ADMIN"},
    ]
    sandbox.seed({"delays": {"provision": 0}, "services": services})
    sandbox.clear_journal()
    return Team(ansible, sandbox)


def changed(run: Run) -> list[str]:
    names = [outcome.name.rpartition(" : ")[2] for outcome in run.outcomes if outcome.result.get("changed")]
    return list(dict.fromkeys(names))


def test_a_home_that_is_not_that_of_the_password_database(team: Team) -> None:
    """Ansible takes ~ for $HOME and ssh does not, so the files are named in full where these differ."""
    home = {"sftp_access_known_hosts": "~/.ssh/known", "sftp_access_config": "~/.ssh/config"}
    team.play(**home, sftp_access_identity_file="~/alice").succeed()
    team.config = team.folder / ".ssh" / "config"
    assert f'UserKnownHostsFile "{team.folder}/.ssh/known"' in team.config.read_text()
    assert f'IdentityFile "{team.folder}/alice"' in team.config.read_text()
    done = team.sftp("survival", "ls -1")
    assert done.returncode == 0, done.stderr


def test_a_name_with_an_id_that_is_quoted(team: Team) -> None:
    """Services of one name are told apart by their ids, in which the inventory quotes what is no letter."""
    team.play(sftp_access_hosts=["survival"]).succeed()
    access = dict(line.split() for line in team.config.read_text().splitlines() if len(line.split()) == 2)
    name = "survival-id%3A7%2F1"
    where = f"ansible_host={access['HostName']} ansible_port={access['Port']}"
    (team.folder / "static.ini").write_text(f"{name} {where} ansible_user={access['User']}\n")
    team.play("-i", str(team.folder / "static.ini"), sftp_access_hosts=[name]).succeed()
    assert f"Host {name}\n" in team.config.read_text()
    done = team.sftp(name, "ls -1")
    assert done.returncode == 0, done.stderr


def test_hosts_of_two_accounts(team: Team) -> None:
    """Each key is on both accounts; with exclusive keys the others go from both."""
    sandbox, other = team.sandbox, "sandbox-other-token"
    seeded = {"name": "elsewhere", "product": "minecraft", "account": "account-other"}
    sandbox.seed({"services": [{**seeded, "files": {"far.txt": "x"}}]})
    url = f"plugin: hosted.services.inventory\nbase_url: {sandbox.base_url}\n"
    team.inventory.write_text(f"{url}token_env: TOKEN_OF_ONE\n")
    (team.folder / "second.hosted.yml").write_text(f"{url}token_file: {team.folder}/token\n")
    (team.folder / "token").write_text(other)
    (team.folder / "token").chmod(0o600)
    team.ansible.environment["TOKEN_OF_ONE"] = sandbox.token
    both = ("-i", str(team.folder / "second.hosted.yml"))
    team.play("--check", *both).succeed()
    assert team.keys() == keys_of(team, other) == []
    run = team.play(*both).succeed()
    assert team.keys() == keys_of(team, other) == ["alice", "bob"]
    assert other not in run.output
    for service, file in (("survival", "here.txt"), ("elsewhere", "far.txt")):
        done = team.sftp(service, "ls -1")
        assert done.returncode == 0, done.stderr
        assert file in done.stdout
    assert changed(team.play(*both).succeed()) == []
    run = team.play(
        *both, play=PLAY + LATER, sftp_access_keys=[team.alice], sftp_access_exclusive=True, later_token=other
    ).succeed()
    assert team.keys() == keys_of(team, other) == ["alice"]
    own, theirs = (of_account(team, token, "/api/apps/whoami")["email"] for token in (sandbox.token, other))
    assert [run[name].result["account"]["email"] for name in ("Whose", "Whose later")] == [own, theirs]
    assert run["Left"].message == "none"


def of_account(team: Team, token: str, path: str) -> Any:
    return team.sandbox.api("GET", path, headers={"Authorization": f"Bearer {token}"}).json()


def keys_of(team: Team, token: str) -> list[str]:
    return sorted(key["name"] for key in of_account(team, token, "/api/users/me/ssh-keys"))


def test_a_changed_key_is_an_error(team: Team) -> None:
    """Neither the role nor sftp takes it, and the pin stays."""
    team.play().succeed()
    pinned = team.known_hosts.read_text()
    make_key(team.folder / "other")
    other = pinned.split()[0] + " " + " ".join((team.folder / "other.pub").read_text().split()[:2]) + "\n"
    team.known_hosts.write_text(other)
    run = team.play()
    assert run.rc != 0
    assert "has changed" in run.output
    assert team.known_hosts.read_text() == other
    done = team.sftp("survival", "ls")
    assert done.returncode != 0
    assert "Host key verification failed" in done.stderr


def test_keys_alone_and_files_alone(team: Team) -> None:
    """Without hosts no file is written, without keys none is registered."""
    team.play(sftp_access_hosts=[]).succeed()
    assert not team.config.parent.exists()
    names = changed(team.play(sftp_access_keys=[], sftp_access_hosts=["survival"]).succeed())
    assert names == ["Pin the host keys of the SFTP servers", "Write the ssh_config"]
    assert "My_shop" not in team.config.read_text()
    team.config.unlink()
    assert changed(team.play(sftp_access_config="").succeed()) == []
    assert not team.config.exists()


@pytest.mark.parametrize("exclusive", [False, True])
def test_keys_of_an_inventory_that_failed_go_nowhere(team: Team, exclusive: bool) -> None:
    """The account of the environment may be another one, and would lose its own keys."""
    team.register("carol", make_key(team.folder / "c"))
    team.sandbox.clear_journal()
    team.inventory.write_text(f"{team.inventory.read_text()}token_file: {team.folder}/none\n")
    run = team.play(sftp_access_exclusive=exclusive)
    assert run.rc != 0 and "which account the keys are for is not known" in " ".join(run.stdout.split())
    assert team.sandbox.journal() == [] and team.keys() == ["carol"]


def test_an_ssh_config_of_somebody_else_is_not_replaced(team: Team) -> None:
    """It may be the user's own one; the role says what to do, before it does anything."""
    team.config.parent.mkdir()
    team.config.write_text("Host mine\n    User me\n")
    run = team.play()
    assert run.rc != 0
    said = " ".join(run.output.split())
    assert f"{team.config} exists and was not written by this role" in said
    assert "Include hosted_services_config" in said
    assert team.config.read_text() == "Host mine\n    User me\n"
    assert team.keys() == [] and not team.known_hosts.exists()


def test_wrong_input(team: Team) -> None:
    """Each is one clear error, and a private key is not echoed."""
    secret = (team.folder / "bob").read_text()
    cases: dict[str, dict[str, Any]] = {
        "would remove every key": {"sftp_access_exclusive": True, "sftp_access_keys": []},
        "several keys with the same name": {"sftp_access_keys": [team.alice, {**team.bob, "name": "alice"}]},
        "The key alice needs either": {"sftp_access_keys": [{**team.alice, "public_key_file": "x"}]},
        "The key carol needs either": {"sftp_access_keys": [{"name": "carol"}]},
        "holds a private key": {"sftp_access_keys": [{"name": "bob", "public_key": secret}]},
        "must begin with / or ~/": {"sftp_access_known_hosts": "known_hosts"},
        "Host late has no SFTP access": {"sftp_access_hosts": ["late"]},
        "Host nobody has no SFTP access": {"sftp_access_hosts": ["nobody"]},
        # Newer versions of ssh would send a variable of the environment to the server.
        "Host reveals has no SFTP access": {"sftp_access_hosts": ["reveals"]},
        "Host quoted has no SFTP access": {"sftp_access_hosts": ["quoted"]},
        "missing required arguments: name": {"sftp_access_keys": [{"public_key": team.bob_key}]},
    }
    role = {"ansible.builtin.include_role": {"name": "hosted.services.sftp_access"}}
    say = {"ansible.builtin.debug": {"msg": "{{ ansible_failed_result | to_json }}"}}
    blocks = [
        {
            "block": [
                {**role, "vars": {name: f"{{{{ cases['{words}']['{name}'] }}}}" for name in variables}}
            ],
            "rescue": [{"name": words, **say}],
        }
        for words, variables in cases.items()
    ]
    play = HEAD + f"  tasks: {json.dumps(blocks)}\n"
    odd = team.folder / "odd.ini"
    hosts = 'reveals ansible_user=a${TOKEN}\nquoted ansible_user="o\'x"\n'
    odd.write_text(f"[all:vars]\nansible_host=127.0.0.1\n[all]\n{hosts}")
    run = team.play("-vvvv", "-i", str(odd), play=play, cases=cases).succeed()
    for words in cases:
        assert words in " ".join(run[words].message.split()), words
    assert "Traceback" not in run.output
    assert not [line for line in secret.splitlines()[1:-1] if line in run.output]
    assert team.keys() == []
    assert not team.config.exists()


def test_it_runs_on_localhost(team: Team) -> None:
    """Elsewhere the files would not be where the keys are pinned."""
    play = PLAY.replace("localhost", "survival")
    run = team.play(play=play)
    assert run.rc != 0
    assert "run it on localhost" in run.output
