# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every module's target: created, unchanged, changed with a diff, deleted; in both ways of running a task.

A task that loops over `said, done, again` runs in check mode first, and then twice; what holds of each such
task is asserted here. The gate runs each target inside the controller on the plain platform, and one of each
family as a module, too. The night runs all of them both ways on a random platform, which finds a module that
relies on what the specification does not promise.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from cases import cases
from hosted_sandbox.testing import Sandbox
from integration.ansible_run import PROFILE, TARGETS, Ansible, Outcome, Run, begin_anew
from integration.results import compare, leaves
from integration.returns import Comparison
from integration.test_private_files import open_to_others
from unit.plugins.results import Result

NAMES = sorted(path.name for path in TARGETS.iterdir())
FAMILIES = (
    "app",
    "backup",
    "blueprint_info",
    "database_info",
    "file_info",
    "project_info",
    "service",
    "sleep_plan",
    "ssh_key",
)
"""A module of each family, of those that take long a short one: they run as a module in the gate, too."""
PLAY = """\
- hosts: localhost
  gather_facts: false
  module_defaults: {{group/hosted.services.all: {{timeout: 30}}}}
  check_mode: "{{{{ item | default('') == 'said' }}}}"
  diff: true
  roles: [{target}]
"""
TURNS = ("said", "done", "again")
NOUNS = {"app", "file", "host_key", "project", "release", "service", "ssh_key"}
"""Results that are the thing itself, as the platform shows it."""
RANDOM = os.environ.get("SANDBOX_PROFILE", "terse")


def runs() -> Iterator[Any]:
    """Yield the target, whether it runs both ways, and its platform."""
    for name in NAMES:
        yield pytest.param(name, name in FAMILIES, PROFILE, id=name)
        yield pytest.param(name, True, RANDOM, id=f"{name}-{RANDOM}", marks=pytest.mark.night)


@pytest.mark.parametrize(("target", "both_ways", "profile"), [*runs()])
def test_target(target: str, both_ways: bool, profile: str, ansible: Ansible, sandbox: Sandbox) -> None:
    """The target's own assertions hold inside the controller and as a module, with the same results."""
    kept = ansible.folder / ".ansible" / "hosted_services"
    ran, known = [], []
    for in_process, umask in ((True, 0o000), (False, 0o077)) if both_ways else ((True, 0o000),):
        begin_anew(sandbox, profile)
        shutil.rmtree(kept / "history", ignore_errors=True)  # which tells of the first run as well
        known.append(prepare(target, sandbox))
        os.umask(umask)
        ran.append(ansible.playbook(PLAY.format(target=target), in_process=in_process).succeed())
        assert sandbox.journal()
        assert not kept.exists() or open_to_others(kept) == {}
        assert "Traceback" not in ran[-1].output
        check_turns(ran[-1])
    if both_ways:
        compare(ran[0], ran[1], known)
    check_documented(target, [outcome for run in ran for outcome in run.outcomes])


def check_turns(run: Run) -> None:
    """Assert of each task with turns that it did once what it had said."""
    turns: dict[str, list[Result]] = {}
    for outcome in run.outcomes:
        if outcome.is_item and outcome.result.get("item") in TURNS:
            turns.setdefault(outcome.name, []).append(outcome.result)
    for name, (said, done, *rest) in turns.items():
        assert said["changed"] and done["changed"], name
        assert said["actions"] == done["actions"], name
        assert without_price(said, done) == done["diff"], name
        assert without_id(said) == without_id(done), name
        for again in rest:  # what is restored or rolled back twice is so twice
            assert not again["changed"] and again["actions"] == [], name
            assert again["diff"]["before"] == again["diff"]["after"], name
            for noun in NOUNS & done.keys():
                assert again[noun] == done[noun], name
                assert (said[noun] or {}).keys() <= (done[noun] or {}).keys(), name


def without_price(said: Result, done: Result) -> Any:
    """Return the diff of check mode without the price, which a deploy does not ask for once more."""
    if "deployment" not in done:
        return said["diff"]
    lines = {side: text.splitlines(keepends=True) for side, text in said["diff"].items()}
    return {
        side: "".join(line for line in text if not line.startswith("monthly: "))
        for side, text in lines.items()
    }


def without_id(result: Result) -> dict[str, Any]:
    """Return what a task costs, without the id of what is ordered."""
    return {**(result.get("cost") or {}), "service_id": None}


def check_documented(target: str, outcomes: list[Outcome]) -> None:
    """Assert that all modules return what their RETURN documents, and the target's own all of it."""
    found: dict[str, Comparison] = {target: Comparison(target)}
    for outcome in outcomes:
        collection, __, module = outcome.action.rpartition(".")
        if collection == "hosted.services" and "results" not in outcome.result:
            comparison = found.setdefault(module, Comparison(module))
            comparison.add({**outcome.result, "failed": outcome.outcome == "failed"})
    assert {module: mistakes for module, c in found.items() if (mistakes := sorted(c.mistakes))} == {}
    missing = found[target].never_returned()
    assert missing == [], f"plugins/modules/{target}.py: no task of the target returned these"


def prepare(target: str, sandbox: Sandbox) -> list[str]:
    """Put on the platform what the target's cases.yml says is there from the start; return its ids."""
    seed = cases(target).get("seed")
    seed = cases(seed)["seed"] if isinstance(seed, str) else seed
    ids = leaves(sandbox.seed(seed)).values() if seed else ()
    sandbox.clear_journal()
    return [str(id) for id in ids]
