# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The first run of a whole play with --check: every task builds on one that was not carried out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from faults.runner import made_inputs
from hosted_sandbox.testing import Sandbox
from integration.ansible_run import BOTH_WAYS, Ansible, Outcome

PLAY = Path(__file__).with_name("first_check.yml")


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
    in_process: bool, ansible: Ansible, sandbox: Sandbox
) -> None:
    """It writes nothing and warns of nothing, and what it foresees has the keys of what comes."""
    made_inputs(ansible.folder)
    play = PLAY.read_text()
    checked = ansible.playbook(play, "--check", "--diff", in_process=in_process).succeed()
    tasks = yaml.safe_load(play)[0]["tasks"]
    assert [outcome.name for outcome in checked.outcomes] == [task["name"] for task in tasks]
    assert {outcome.outcome for outcome in checked.outcomes} == {"ok"}
    assert sandbox.writes() == []
    assert sorted(path.name for path in ansible.folder.glob("fetched*")) == []
    assert "+name: shop" in checked.stdout
    image, deployed = checked["Push its image"].result["image"], checked["Deploy"].result["deployment"]
    assert deployed["digest"] == image["digest"]
    for outcome in checked.outcomes:
        assert outcome.result.get("warnings", []) == [], outcome
        assert all("None" not in action for action in outcome.result.get("actions", [])), outcome
    done = ansible.playbook(play, in_process=in_process).succeed()
    for foreseen, real in zip(checked.outcomes, done.outcomes, strict=True):
        assert foreseen.result["changed"] is real.result["changed"], foreseen.name
        if foreseen.name.startswith(("Look", "Make a table")):
            continue  # lists are empty as long as there is nothing, and what a statement answers is not known
        assert returned_keys(foreseen).keys() == returned_keys(real).keys(), foreseen.name
        for module, keys in returned_keys(foreseen).items():
            assert keys <= returned_keys(real)[module], f"{foreseen.name}: {module}"
