# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One record says what a task has done: what the result tells is read from it alone."""

from __future__ import annotations

from decimal import Decimal

from ansible_collections.hosted.services.plugins.module_utils._api.errors import Interrupted, error_for_status
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.effects import Effects
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.money import Cost, Move
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


# --- The price ------------------------------------------------------------------------------------------

PLANNED = Cost(Decimal(1), Decimal(9), service="web")
RESUME, RESIZE = Move("resume", Decimal(2)), Move("resize", Decimal(3))


def test_the_price_is_that_of_the_last_step_that_was_done_and_not_the_planned_one() -> None:
    effects = Effects()
    effects.finish("look")
    assert effects.cost(PLANNED) is None, "nothing that was done moves money"
    effects.finish("resume", RESUME)
    assert effects.cost(PLANNED) == Cost(Decimal(1), Decimal(2), service="web")
    effects.begin("resize", RESIZE)
    effects.finish("start")
    assert effects.cost(PLANNED) == Cost(Decimal(1), Decimal(3), service="web")
    assert effects.moves == [RESUME, RESIZE]


def test_the_price_that_the_platform_bills_wins() -> None:
    effects = Effects(moves=[RESUME], billed=Cost(Decimal(1), Decimal("2.5")))
    assert effects.cost(PLANNED) == Cost(Decimal(1), Decimal("2.5"), service="web")


def test_the_price_is_unknown_if_nobody_knows_what_was_done() -> None:
    effects = Effects(moves=[RESUME], unsure_moves=[RESIZE], billed=Cost(Decimal(1), Decimal(2)))
    assert effects.cost(PLANNED) == Cost(Decimal(1), None, service="web")


def test_the_whole_has_what_its_parts_did_to_the_price_and_what_is_not_known_of_them() -> None:
    whole = Effects()
    for name in ("a", "b"):
        part = whole.branch()
        part.finish(f"resume {name}", RESUME)
        part.unknown.append(f"resize {name}")
        part.unsure_moves.append(RESIZE)
        whole.absorb(part)
    assert whole.moves == [RESUME] * 2 and whole.unsure_moves == [RESIZE] * 2
    assert whole.unknown == ["resize a", "resize b"]
