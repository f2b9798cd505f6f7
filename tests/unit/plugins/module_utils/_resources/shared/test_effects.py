# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One record says what a task has done: what the result tells is read from it alone."""

from __future__ import annotations

from ansible_collections.hosted.services.plugins.module_utils._api.errors import Interrupted, error_for_status
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.effects import Effects
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid


def test_what_was_done_is_a_change_unless_it_turned_out_to_be_none() -> None:
    done, no_change = Effects(actions=["a"]), Effects(actions=["a"], nothing_changed=True)
    assert [effects.changed for effects in (Effects(), done, no_change)] == [False, True, False]


def test_a_call_that_fails_after_another_one_leaves_a_change_behind() -> None:
    effects = Effects()
    for error in (error_for_status("no", 409), Interrupted("reset")):
        assert not effects.changed_before(error)
    effects.wrote()
    assert effects.changed_before(error_for_status("no", 409))
    assert not effects.changed_before(Invalid("no")), "an error of our own says itself what was changed"
    assert not effects.changed_before(None)


def test_a_branch_counts_for_itself_and_tells_what_must_be_told_with_the_whole() -> None:
    whole = Effects()
    part = whole.branch()
    part.finish("a")
    part.begin("b")
    part.wrote()
    part.facts["secrets_file"] = "/kept"
    assert (whole.actions, whole.writes) == ([], 0)
    assert whole.facts == {"secrets_file": "/kept"}
    whole.absorb(part)
    assert (whole.actions, whole.begun, whole.writes) == (["a", "b"], ["b"], 1)
