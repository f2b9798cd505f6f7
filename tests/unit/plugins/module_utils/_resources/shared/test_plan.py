# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a plan says before it is applied, how plans are joined, and what a resource knows of its options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.shared.budget import Commitment
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.money import Cost, Move
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.options import (
    FilePath,
    Options,
    WaitOptions,
    option,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import (
    Branch,
    Expansion,
    Plan,
    Resource,
    Step,
    Task,
    after_waiting,
    union,
)
from unit.plugins.fakes import FakeClient


def new_task() -> Task[Any]:
    return Task(FakeClient(), Options())  # type: ignore[arg-type]


def nothing() -> None:
    """Stand in for a call."""


# --- What a plan says -----------------------------------------------------------------------------------


def test_each_warning_is_shown_once_and_cannot_steer_a_terminal() -> None:
    task = new_task()
    for message in ("late", "late", "red \x1b[31m", "soon"):
        task.warn(message)
    assert task.warnings[::2] == ["late", "soon"]
    assert len(task.warnings) == 3 and "\x1b" not in task.warnings[1]


def test_steps_that_only_wait_are_no_change() -> None:
    wait, change = Step("wait", nothing, changes=False), Step("order it", nothing)
    assert not Plan(None).changed and not Plan(None, [wait]).changed
    assert Plan(None, [wait]).actions == []
    plan = Plan(None, [wait, change])
    assert plan.changed and plan.actions == ["order it"]


def test_only_steps_that_say_so_move_money() -> None:
    move = Move("order", Decimal(2))
    order = Commitment("order", "service 'web'", Decimal(2))
    assert Plan(None, [Step("a", nothing), Step("b", nothing, move=move, commitment=order)]).moves == [move]


def test_a_step_that_moves_money_says_what_it_commits() -> None:
    with pytest.raises(ValueError, match="'order web' moves money, so it needs a commitment"):
        Step("order web", nothing, move=Move("order", Decimal(2)))


# --- Plans that wait first ------------------------------------------------------------------------------


def test_a_plan_that_waits_shows_what_is_known_and_decides_with_what_came_of_the_wait() -> None:
    later = Plan(
        "new",
        [Step("start it", nothing)],
        reread=lambda: "newest",
        before={"state": "stopped"},
        after={"state": "running"},
        cost=Cost(Decimal(1), Decimal(2)),
        subject="web",
    )
    asked: list[str] = []

    def then(seen: str) -> Plan:
        asked.append(seen)
        return later

    until = Plan("old", [Step("never taken over", nothing)], before={"state": "?"}, after={"state": "?"})
    plan = after_waiting("wait for web", lambda: "stopped", then, until)
    assert (plan.result, plan.before, plan.changed) == ("old", {"state": "?"}, False)
    wait, decide = plan.steps
    assert wait.summary == "wait for web" and isinstance(decide, Expansion) and asked == []
    wait.run()
    assert decide.run() == later.steps and asked == ["stopped"]
    assert plan.result == "new" and plan.reread is later.reread and plan.cost is later.cost
    assert (plan.before, plan.after, plan.subject) == (later.before, later.after, "web")
    assert until.result == "old", "what was given is left as it is"


# --- Plans of many services -----------------------------------------------------------------------------


def test_branches_do_not_wait_for_each_other() -> None:
    one, two = Branch(new_task()), Branch(new_task())
    a, b, c = (Step(name, nothing) for name in "abc")
    d = Step("d", nothing, needs=[a])
    x = Step("x", nothing)
    united = union([(one, [a, b, c, d]), (two, [x])])
    assert [step.summary for step in united] == ["a", "b", "c", "d", "x"]
    assert [[needed.summary for needed in step.needs or ()] for step in united] == [
        [],
        ["a"],
        ["b"],
        ["a"],
        [],
    ]
    assert [step.branch for step in united] == [one] * 4 + [two]
    assert [step.needs for step in united if step.needs is None] == []


def test_all_branches_wait_for_what_comes_first() -> None:
    first = Step("look", nothing)
    one, two = Branch(new_task()), Branch(new_task())
    united = union([(one, [Step("a", nothing), Step("b", nothing)]), (two, [Step("x", nothing)])], [first])
    assert [[needed.summary for needed in step.needs or ()] for step in united] == [["look"], ["a"], ["look"]]


# --- What a resource derives from its options -----------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class ParcelOptions(WaitOptions):
    """Options with every attribute that a resource reads."""

    name: str | None = option(None, selects=True, names_target=True, host_variables=("parcel_name",))
    content: FilePath | None = option(None, reads_file=True)
    target: FilePath | None = option(None, filled=True)
    code: str | None = option(None, secret=True)


class Parcel(Resource[ParcelOptions]):
    """A resource of nothing."""

    result_key = "parcel"

    def plan(self, task: Task[ParcelOptions]) -> Plan:
        return Plan(None)


class OtherParcel(Parcel):
    """A resource with the options of its base."""


@dataclass(frozen=True, kw_only=True)
class NoteOptions(Options):
    """Options without any attribute."""

    text: str = "none"


class Note(Resource[NoteOptions]):
    """A resource that has nothing to wait for."""

    result_key = "note"

    def plan(self, task: Task[NoteOptions]) -> Plan:
        return Plan(None)


@pytest.mark.parametrize("kind", [Parcel, OtherParcel])
def test_a_resource_knows_what_its_options_say(kind: type[Parcel]) -> None:
    assert kind.options_type is ParcelOptions
    assert kind.options.keys() == {"name", "content", "target", "code"}
    assert kind.selectors == {"name"}
    assert kind.filled_options == {"target"}
    assert kind.secret_options == {"code"}
    assert kind.host_options == {"name": ("parcel_name",)}
    assert kind.waits and not Note.waits
    assert Note.options.keys() == {"text"}


@pytest.mark.parametrize(
    ("given", "on_host"), [({}, True), ({"code": "x"}, True), ({"name": None}, False), ({"name": "a"}, False)]
)
def test_a_task_that_names_what_to_work_on_is_not_about_the_host(
    given: Mapping[str, Any], on_host: bool
) -> None:
    """Whatever it holds: an empty name must not become the host."""
    assert Parcel().works_on_host(given) is on_host


def test_which_options_name_files_to_read_and_which_to_write() -> None:
    assert Parcel().sources({}) == {"content"}
    assert Parcel().destinations({}) == {"target"}
    assert Note().sources({}) == Note().destinations({}) == frozenset()


def test_a_resource_needs_the_platform_and_has_the_name_of_its_file() -> None:
    assert Parcel().needs_api({}) is True
    assert Parcel().name == "test_plan"


def test_options_are_typed_from_what_ansible_validated() -> None:
    options = Parcel().read_options({"name": "a", "unknown": 1})
    assert isinstance(options, ParcelOptions)
    assert (options.name, options.target) == ("a", None)


class Bare(Options):
    """Options that are no dataclass of their own."""


@pytest.mark.parametrize("named", [Bare, int])
def test_options_that_declare_nothing_are_refused_when_the_resource_is_defined(named: Any) -> None:
    with pytest.raises(TypeError, match=f"{named.__name__} has to be a dataclass"):
        type("Wrong", (Resource,), {"__orig_bases__": (Resource[named],)})
