# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every module's target: created, unchanged, changed with a diff, deleted; in both ways of running a task.

The other tests take the plain profile when none is named. These take a random one: a module that relies on
what the specification does not promise is found at once. With a number in PAIRWISE_TURN each takes another
profile of those that have every pair of values, and the next number the next ones. `make test-profiles` has
more of them.
"""

from __future__ import annotations

import os

import pytest

from cases import cases
from hosted_sandbox.gaps import pairwise_array
from hosted_sandbox.testing import Sandbox
from integration.ansible_run import TARGETS, Ansible, Outcome, begin_anew
from integration.results import compare
from integration.returns import ELSEWHERE, Comparison
from integration.test_private_files import open_to_others

NAMES = sorted(path.name for path in TARGETS.iterdir())
TURN = os.environ.get("PAIRWISE_TURN", "")


def profile_of(place: int) -> str:
    """Return the profile that the target in this place runs under.

    As many turns as there are pairwise profiles take each target through all of them.
    """
    if named := os.environ.get("SANDBOX_PROFILE"):
        return named
    if not TURN:
        return "random:1"
    profiles = len(pairwise_array())
    apart = max(profiles // len(NAMES), 1)
    return f"pairwise:{(int(TURN) + place * apart) % profiles + 1}"


RUNS = [
    pytest.param(name, profile_of(place), id=f"{name}-{profile_of(place)}")
    for place, name in enumerate(NAMES)
]


@pytest.mark.parametrize(("target", "profile"), RUNS)
def test_target(target: str, profile: str, ansible: Ansible, sandbox: Sandbox) -> None:
    """The target's own assertions hold inside the controller and as a module, with the same results."""
    play = f"- hosts: localhost\n  gather_facts: false\n  roles: [{target}]\n"
    begin_anew(sandbox, profile)
    prepare(target, sandbox)
    kept = ansible.folder / ".ansible" / "hosted_services"
    os.umask(0o000)
    in_process = ansible.playbook(play).succeed()
    assert sandbox.journal()
    assert not kept.exists() or open_to_others(kept) == {}
    begin_anew(sandbox, profile)
    prepare(target, sandbox)
    os.umask(0o077)
    as_module = ansible.playbook(play, in_process=False).succeed()
    assert sandbox.journal()
    assert not kept.exists() or open_to_others(kept) == {}
    assert "Traceback" not in in_process.output + as_module.output
    compare(in_process, as_module)
    check_documented(target, [*in_process.outcomes, *as_module.outcomes])


def check_documented(target: str, outcomes: list[Outcome]) -> None:
    """Assert that all modules return what their RETURN documents, and the target's own all of it."""
    found: dict[str, Comparison] = {target: Comparison(target)}
    for outcome in outcomes:
        collection, __, module = outcome.action.rpartition(".")
        if collection == "hosted.services" and "results" not in outcome.result:
            comparison = found.setdefault(module, Comparison(module))
            comparison.add({**outcome.result, "failed": outcome.outcome == "failed"})
    assert {module: mistakes for module, c in found.items() if (mistakes := sorted(c.mistakes))} == {}
    missing = set(found[target].never_returned()) - set(ELSEWHERE.get(target, ()))
    assert missing == set(), f"plugins/modules/{target}.py: no task of the target returned these"


def prepare(target: str, sandbox: Sandbox) -> None:
    """Put on the platform what the target's cases.yml says is there from the start."""
    if seed := cases(target).get("seed"):
        sandbox.seed(seed)
        sandbox.clear_journal()
