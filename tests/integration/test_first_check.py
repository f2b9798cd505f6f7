# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The first run of a whole play with --check: every task builds on one that was not carried out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from hosted_sandbox.registry.images import build_image
from hosted_sandbox.testing import Sandbox
from integration.ansible_run import BOTH_WAYS, Ansible, Outcome, Run

PLAY = Path(__file__).with_name("first_check.yml")


@pytest.fixture
def prepared(ansible: Ansible) -> Ansible:
    """ansible-playbook with all that the play brings along: a key, an image, a folder."""
    key = Ed25519PrivateKey.generate()
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.OpenSSH,
        serialization.NoEncryption(),
    )
    public = key.public_key().public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    (ansible.folder / "me").write_bytes(private)
    (ansible.folder / "me").chmod(0o600)
    (ansible.folder / "me.pub").write_bytes(public)
    (ansible.folder / "site").mkdir()
    (ansible.folder / "site" / "index.html").write_text("hello")
    build_image(ansible.folder / "1.tar", {"app/server": b"1"})
    return ansible


def play(ansible: Ansible, *arguments: str, in_process: bool = True) -> Run:
    """Run the long play."""
    return ansible.playbook(PLAY.read_text(), *arguments, in_process=in_process)


def writes(sandbox: Sandbox) -> list[str]:
    """Return the routes that were called to change something."""
    return [
        line["route"]
        for line in sandbox.journal()
        if line["method"] != "GET" and "quote" not in line["route"]
    ]


def returned_keys(outcome: Outcome) -> dict[str, set[str]]:
    """Return the keys of what a result is about: of an object, or of the first of a list."""
    ours = {"changed", "actions", "invocation", "diff", "warnings", "msg", "cost", "secrets_file"}
    found: dict[str, set[str]] = {}
    for name, value in outcome.result.items():
        first: Any = value[0] if isinstance(value, list) and value else value
        if name not in ours and not name.startswith("_") and isinstance(first, dict):
            found[name] = set(first)
    return found


@BOTH_WAYS
def test_a_play_from_nothing_is_checked_to_its_end(
    in_process: bool, prepared: Ansible, sandbox: Sandbox
) -> None:
    run = play(prepared, "--check", "--diff", in_process=in_process).succeed()
    tasks = yaml.safe_load(PLAY.read_text())[0]["tasks"]
    assert [outcome.name for outcome in run.outcomes] == [task["name"] for task in tasks]
    assert {outcome.outcome for outcome in run.outcomes} == {"ok"}
    assert writes(sandbox) == []
    assert sorted(path.name for path in prepared.folder.glob("fetched*")) == []
    image, deployed = run["Push its image"].result["image"], run["Deploy"].result["deployment"]
    assert deployed["digest"] == image["digest"]
    for outcome in run.outcomes:
        assert outcome.result.get("warnings", []) == [], outcome
        assert all("None" not in action for action in outcome.result.get("actions", [])), outcome


def test_what_is_foreseen_has_the_keys_of_what_comes(prepared: Ansible, sandbox: Sandbox) -> None:
    checked = play(prepared, "--check").succeed()
    done = play(prepared).succeed()
    assert writes(sandbox)
    for foreseen, real in zip(checked.outcomes, done.outcomes, strict=True):
        assert foreseen.name == real.name
        assert foreseen.result["changed"] is real.result["changed"], foreseen.name
        if foreseen.name.startswith(("Look", "Make a table")):
            continue  # lists are empty as long as there is nothing, and what a statement answers is not known
        assert returned_keys(foreseen).keys() == returned_keys(real).keys(), foreseen.name
        for module, keys in returned_keys(foreseen).items():
            assert keys <= returned_keys(real)[module], f"{foreseen.name}: {module}"


def test_outside_check_mode_what_is_not_there_is_an_error(prepared: Ansible, sandbox: Sandbox) -> None:
    tasks = [
        {**task, "ignore_errors": True}
        for task in yaml.safe_load(PLAY.read_text())[0]["tasks"]
        if not task["name"].startswith(("Order", "Make a project", "Register", "Create"))
    ]
    run = prepared.playbook(
        yaml.safe_dump([{**yaml.safe_load(PLAY.read_text())[0], "tasks": tasks}], sort_keys=False)
    ).succeed()
    went_on = [outcome.name for outcome in run.outcomes if outcome.outcome != "failed"]
    assert all(name.startswith(("Look", "Read", "Remove")) for name in went_on), went_on
    assert writes(sandbox) == []
