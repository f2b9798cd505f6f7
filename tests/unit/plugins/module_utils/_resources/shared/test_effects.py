# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One record says what a task has done: what the result tells is read from it alone."""

from __future__ import annotations

from decimal import Decimal

from ansible_collections.hosted.services.plugins.module_utils._api.errors import Interrupted, error_for_status
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.effects import Effects
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.money import Move
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid


def test_a_call_that_fails_after_another_one_leaves_a_change_behind() -> None:
    effects = Effects()
    for error in (error_for_status("no", 409), Interrupted("reset")):
        assert not effects.changed_before(error)
    effects.wrote()
    assert effects.changed_before(error_for_status("no", 409))
    assert not effects.changed_before(Invalid("no")), "an error of our own says itself what was changed"
    assert not effects.changed_before(None)


def test_a_branch_counts_for_itself_and_tells_what_must_be_told_with_the_whole() -> None:
    whole, move = Effects(), Move("resume", Decimal(2))
    part = whole.branch()
    part.finish("a", move)
    part.begin("b")
    part.wrote()
    part.unknown.append("c")
    part.unsure_moves.append(move)
    part.facts["secrets_file"] = "/kept"
    assert (whole.actions, whole.writes) == ([], 0)
    assert whole.facts == {"secrets_file": "/kept"}
    whole.absorb(part)
    assert (whole.actions, whole.begun, whole.unknown, whole.writes) == (["a", "b"], ["b"], ["c"], 1)
    assert whole.moves == whole.unsure_moves == [move]
