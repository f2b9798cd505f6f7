# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes: an open outcome is looked for, nothing is made twice, and what is done shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import errors
from ansible_collections.hosted.services.plugins.module_utils._api import routes as r
from ansible_collections.hosted.services.plugins.module_utils._resources.project import PROJECT
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.account import Account
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.change import (
    Change,
    Gone,
    Listed,
    Outcome,
    apply,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Task
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import (
    Ambiguous,
    EffectUnverified,
    WaitEnded,
)
from unit.plugins.fakes import CHANGES, Clock, FakeClient, task_of

LOST = errors.Interrupted("reset")
REFUSED = errors.Conflict("the reason", 409)
CREATE = Change(
    what="project 'new'",
    route=r.PROJECT_CREATE,
    body={"name": "new"},
    shown=Listed(Account.projects, name="new", known=frozenset({"prj_1"})),
)
DELETE = Change(
    what="project 'shop'",
    route=r.PROJECT_DELETE,
    ids={"id": "prj_1"},
    shown=Gone(Listed(Account.projects, id="prj_1")),
)


@pytest.fixture
def client() -> FakeClient:
    client = FakeClient()
    client.add_project("prj_1", "shop")
    return client


@pytest.fixture
def task(client: FakeClient, monkeypatch: pytest.MonkeyPatch) -> Task[Any]:
    Clock(monkeypatch)
    return task_of(PROJECT, client, name="new")


def failing(error: Exception, *first: Callable[[], object]) -> Callable[[], None]:
    """Return what lets something happen, and then raises."""

    def fail() -> None:
        for act in first:
            act()
        raise error

    return fail


def names(outcome: Outcome) -> list[str]:
    return [item.name for item in outcome.found]


def test_what_was_created_is_returned_as_listed(client: FakeClient, task: Task[Any]) -> None:
    outcome = apply(task, CREATE)
    assert outcome.own and names(outcome) == ["new"]
    assert client.calls == [("create_project", "new")]


def test_what_was_created_though_the_answer_was_lost_is_adopted(client: FakeClient, task: Task[Any]) -> None:
    client.after["create_project"] = failing(LOST)
    outcome = apply(task, CREATE)
    assert outcome.own and names(outcome) == ["new"] and len(client.calls) == 1
    assert "was adopted" in task.warnings[0] and task.effects.writes == 1


@pytest.mark.parametrize("known", ["prj_2", "other"])
def test_another_item_is_not_adopted(client: FakeClient, task: Task[Any], known: str) -> None:
    """Neither one of another name nor one that was there before."""
    name = "new" if known == "prj_2" else "other"
    client.before["create_project"] = failing(LOST, lambda: client.add_project("prj_2", name))
    with pytest.raises(EffectUnverified, match="whether project 'new' was created is unknown"):
        apply(task, replace(CREATE, shown=replace(CREATE.shown, known=frozenset({known}))))  # type: ignore[type-var]
    assert len(client.calls) == 1


def test_several_new_ones_are_told_apart_by_nobody(client: FakeClient, task: Task[Any]) -> None:
    client.after["create_project"] = failing(LOST, lambda: client.add_project("prj_9", "new"))
    with pytest.raises(Ambiguous, match="2 new ones exist: prj_3, prj_9"):
        apply(task, CREATE)


@pytest.mark.parametrize("late", [False, True])
def test_what_another_run_was_faster_to_create_is_as_good(
    client: FakeClient, task: Task[Any], monkeypatch: pytest.MonkeyPatch, late: bool
) -> None:
    clock = Clock(monkeypatch)

    def appear() -> None:
        client.add_project("prj_2", "new")

    clock.then += [lambda: None, appear] if late else []
    client.before["create_project"] = failing(REFUSED, *([] if late else [appear]))
    outcome = apply(task, replace(CREATE, unique=True))
    assert not outcome.own and names(outcome) == ["new"]
    assert "another run created it" in task.warnings[0] and task.effects.writes == 0


def test_what_may_be_there_twice_is_not_taken_for_its_own(client: FakeClient, task: Task[Any]) -> None:
    client.before["create_project"] = failing(REFUSED, lambda: client.add_project("prj_2", "new"))
    with pytest.raises(errors.Conflict, match="the reason"):
        apply(task, CREATE)


def test_a_refusal_stays_one_where_nothing_is_there(client: FakeClient, task: Task[Any]) -> None:
    client.before["create_project"] = failing(REFUSED)
    with pytest.raises(errors.Conflict, match="the reason"):
        apply(task, replace(CREATE, unique=True))


def test_what_shows_late_is_waited_for_and_what_does_not_show_is_an_error(
    client: FakeClient, task: Task[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(monkeypatch)
    made: dict[str, Any] = {}
    client.after["create_project"] = lambda: made.update([client.project_records.popitem()])
    clock.then += [lambda: None, lambda: client.project_records.update(made)]
    assert names(apply(task, CREATE)) == ["new"] and len(clock.pauses) == 2
    client.project_records.popitem()
    with pytest.raises(
        WaitEnded, match=r"project 'new' was accepted, but the platform does not show it 10 seconds later"
    ):
        apply(task, CREATE)
    assert [name for name, *_body in client.calls] == ["create_project"] * 2


def test_what_is_made_and_cannot_be_read_is_told_to_be_made(
    client: FakeClient, task: Task[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "projects", failing(errors.UnexpectedAnswer("no list")))
    with pytest.raises(WaitEnded, match=r"project .* was accepted, but .* reading it failed: no list"):
        apply(task, CREATE)
    apply(task, replace(CREATE, harmless=True))
    assert "does not show it" in task.warnings[0], "it may be made again"


def test_what_is_billed_is_looked_for_longer(
    client: FakeClient, task: Task[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And noted before, by whoever has to know that it was asked for."""
    clock, noted = Clock(monkeypatch), list[bool]()

    @contextmanager
    def note() -> Iterator[None]:
        noted.append(True)
        yield

    task.composition = replace(task.composition, creating=note)
    client.before["create_project"] = failing(LOST)
    monkeypatch.setitem(CHANGES, r.APP_CREATE, "create_project")
    with pytest.raises(EffectUnverified, match="within 60 seconds"):
        apply(task, replace(CREATE, route=r.APP_CREATE))
    assert sum(clock.pauses) == pytest.approx(60) and len(client.calls) == 1 and noted == [True]


def test_a_deletion_ends_when_the_list_has_lost_the_item(
    client: FakeClient, task: Task[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next task would delete it again."""
    clock = Clock(monkeypatch)
    record = dict(client.project_records["prj_1"])
    client.after["delete_project"] = lambda: client.project_records.update(prj_1=record)
    clock.then += [lambda: None, client.project_records.clear]
    apply(task, DELETE)
    assert len(clock.pauses) == 2 and task.warnings == []
    client.project_records["prj_1"] = record
    apply(task, DELETE)
    assert "still lists project 'shop' 10 seconds after the deletion" in task.warnings[0]


@pytest.mark.parametrize("status", [404, 410])
def test_what_is_not_there_is_deleted(client: FakeClient, task: Task[Any], status: int) -> None:
    client.after["delete_project"] = failing(errors.error_for_status("gone", status))
    assert apply(task, DELETE).own and task.effects.writes == 1


def test_a_refusal_after_a_lost_attempt_is_judged_by_what_is_there(
    client: FakeClient, task: Task[Any]
) -> None:
    """A second DELETE may be refused because the first one acted; one that did not act stays refused."""
    client.before["delete_project"] = failing(errors.Conflict("the reason", 409).doubted())
    with pytest.raises(
        errors.Conflict, match=r"the reason.*An earlier attempt, .*, may have been carried out"
    ):
        apply(task, DELETE)
    assert task.effects.writes == 0
    client.after["delete_project"] = client.before.pop("delete_project")
    apply(task, DELETE)
    assert task.effects.writes == 1


def test_a_refused_deletion_is_not_taken_for_done_unseen(
    client: FakeClient, task: Task[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A list that cannot be read tells nothing; with a token that is not valid it is not even asked."""
    monkeypatch.setattr(client, "projects", failing(errors.ServerFailure("down")))
    client.after["delete_project"] = failing(errors.Conflict("the reason", 409).doubted())
    with pytest.raises(errors.Conflict, match=r"the reason.*still there is unknown: down"):
        apply(task, DELETE)
    client.after["delete_project"] = failing(errors.TokenRejected("who", 401).doubted())
    with pytest.raises(errors.TokenRejected, match="who"):
        apply(task, DELETE)
