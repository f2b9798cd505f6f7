# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes: an open outcome is looked for, nothing is made twice, and what is done shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import errors
from ansible_collections.hosted.services.plugins.module_utils._api import routes as r
from ansible_collections.hosted.services.plugins.module_utils._resources.backup import BACKUP
from ansible_collections.hosted.services.plugins.module_utils._resources.project import PROJECT
from ansible_collections.hosted.services.plugins.module_utils._resources.shared import change
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.account import Account
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.budget import BudgetExceeded
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.change import (
    Change,
    Gone,
    Listed,
    Outcome,
    apply,
    send,
    under_way,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Task
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import (
    Ambiguous,
    EffectUnverified,
    WaitEnded,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.waiting import QUIET_SECONDS
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
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


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


# --- Acting -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Seen:
    """Whether each look at the account shows the change; none does after the last."""

    looks: list[bool]

    def found(self, account: Account) -> bool:
        """Take one look."""
        return bool(self.looks) and self.looks.pop(0)


class Calls(FakeClient):
    """A client whose calls end as the list says: with an error, or well."""

    def __init__(self, *endings: Exception) -> None:
        super().__init__()
        self.endings = list(endings)
        self.made = 0

    def send(self, route: Any, **given: Any) -> None:
        """End the call."""
        self.made += 1
        if self.endings:
            raise self.endings.pop(0)


def act(calls: Calls, *looks: bool, **given: Any) -> Task[Any]:
    """Start a service by calls that end so, and look at the account so."""
    options: dict[str, Any] = {"services": ["one"], "wait_timeout": 60.0, "wait_interval": 2.0, **given}
    task = task_of(BACKUP, calls, **options)
    apply(task, replace(START, shown=Seen(list(looks))), wait=False)
    return task


START = Change(what="start", route=r.POWER, ids={"id": "s"}, body={"signal": "start"}, shown=Seen([]))


def test_an_act_whose_effect_is_seen_is_not_repeated(clock: Clock) -> None:
    task = act(calls := Calls(LOST), False, False, True)
    assert calls.made == 1
    assert task.effects.writes == 1, "an error of what comes next tells that something was changed"


def test_an_act_in_doubt_twice_ends_in_doubt(clock: Clock) -> None:
    begun = clock.now
    with pytest.raises(EffectUnverified, match="start was carried out is unknown: reset"):
        act(calls := Calls(LOST, LOST))
    assert calls.made == 2
    assert clock.now - begun == pytest.approx(QUIET_SECONDS), "half of it after each call"


def test_an_act_that_is_refused_when_repeated_may_have_worked_before(clock: Clock) -> None:
    """The effect shows late, and only the second call is refused."""
    task = act(calls := Calls(LOST, errors.Conflict("no", 409)), *[False] * 11, True)
    assert (calls.made, task.effects.writes) == (2, 1)
    again = r"no. An earlier attempt, .*, may have been carried out"
    with pytest.raises(errors.Refused, match=again) as caught:
        act(Calls(LOST, errors.Conflict("no", 409)))
    assert caught.value.effect_unknown


def test_an_act_whose_repetition_is_not_sent_stays_in_doubt(clock: Clock) -> None:
    """A budget may refuse it, or may not be readable: nothing was sent then, but the first one was."""
    over = BudgetExceeded("over the budget. Nothing was sent")
    with pytest.raises(EffectUnverified, match=r"is unknown: reset. .*not sent again: over the budget"):
        act(Calls(LOST, over))
    with pytest.raises(BudgetExceeded):
        act(Calls(over))


# --- A service that is busy -------------------------------------------------------------------------


def attempts(
    endings: list[errors.HostedError],
    looks: list[bool] | None = None,
    *,
    busy: bool = False,
    **given: Any,
) -> int:
    """Take a backup by calls that are turned down so; return how often it was asked for.

    ``looks`` is whether each look at the account shows that it is busy; all of them do if not given.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(change, "under_way", lambda *_, **__: looks is None or looks.pop(0))
        calls = Calls(*endings)
        options: dict[str, Any] = {"wait_timeout": 60.0, "wait_interval": 2.0, **given}
        task = task_of(BACKUP, calls, services=["one"], **options)
        task.progress = SAID.append
        send(task, replace(START, what="a backup", at="s", busy=busy))
    return calls.made


SAID = list[str]()


@pytest.mark.parametrize(
    "error", [errors.Conflict("no", 409), errors.Locked("no", 423), errors.RateLimited("no")]
)
def test_a_call_is_made_until_the_service_takes_it(clock: Clock, error: errors.HostedError) -> None:
    SAID.clear()
    assert attempts([error] * 5) == 6
    assert clock.pauses == [0.5, 0.75, 1.125, 1.6875, 2.0], "longer and longer, up to wait_interval"
    assert [f"a backup is not accepted yet, {seconds} s: no" for seconds in (0, 0, 1, 2, 4)] == SAID
    assert attempts([]) == 1


@pytest.mark.parametrize(
    ("error", "looks", "given"),
    [
        (errors.Conflict("another backup is running", 409), [False], {}),
        (errors.Conflict("no", 409), None, {"wait": False}),
        (errors.Refused("another backup is running", 400), None, {}),
    ],
)
def test_what_is_no_lock_of_the_moment_is_told_at_once(
    clock: Clock, error: errors.HostedError, looks: list[bool] | None, given: dict[str, Any]
) -> None:
    """Whatever its words are."""
    with pytest.raises(type(error)) as raised:
        attempts([error] * 9, looks, **given)
    assert clock.pauses == [] and "retried for" not in raised.value.message


def test_what_ends_between_the_refusal_and_the_look_is_no_reason_to_fail(clock: Clock) -> None:
    assert attempts([errors.Conflict("no", 409)] * 2, [True, False]) == 3
    with pytest.raises(errors.Conflict):
        attempts([errors.Conflict("no", 409)] * 3, [True, False, False])
    assert attempts([errors.Conflict("no", 409)], [False], busy=True) == 2


def test_a_service_that_stays_busy_is_told(clock: Clock) -> None:
    with pytest.raises(errors.Conflict, match=r"retried for 60 seconds; .*raise wait_timeout$"):
        attempts([errors.Conflict("no", 409)] * 99)
    assert sum(clock.pauses) == 60


def test_a_pause_that_the_platform_asks_for_is_kept_if_it_fits(clock: Clock) -> None:
    assert attempts([errors.RateLimited("no", 0.0), errors.RateLimited("no", 3.0)]) == 3
    assert clock.pauses == [0.5, 3.0], "what asks for none is made again as after any refusal"
    clock.pauses.clear()
    assert attempts([errors.RateLimited("no", 60.0)]) == 2
    assert clock.pauses == [60.0], "exactly the time that is left"
    clock.pauses.clear()
    with pytest.raises(errors.RateLimited):
        attempts([errors.RateLimited("no", 60.5)])
    assert clock.pauses == []


@pytest.mark.parametrize(
    ("shown", "busy"),
    [
        ({}, False),
        ({"backup": "COMPLETED"}, False),
        ({"backup": "PENDING"}, True),
        ({"backup": "RESTORING"}, True),
        ({"state": "starting"}, True),
        ({"state": "stopping"}, True),
        ({"state": "installing"}, True),
        ({"state": "unknown"}, False),
        ({"state": None}, False),
        ({"status": "PROVISIONING"}, True),
        ({"status": "DELETING"}, True),
        ({"status": "SUSPENDED"}, False),
    ],
)
def test_what_the_account_shows_under_way(shown: dict[str, Any], busy: bool) -> None:
    client: Any = FakeClient()
    backup = shown.pop("backup", None)
    client.add_service("s", **shown)
    client.backup_records["s"] = [{"id": "b", "name": "n", "status": backup}] if backup else []
    assert under_way(Account(client), "s") is busy


def test_what_cannot_be_read_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rest does."""

    def lost(*_given: Any) -> Any:
        raise errors.Interrupted("lost")

    client: Any = FakeClient()
    client.add_service("s", state="starting")
    monkeypatch.setattr(client, "backups", lost)
    account = Account(client)
    assert under_way(account, "s") and not under_way(account, "s", container=False)
    monkeypatch.setattr(client, "metrics", lost)
    assert not under_way(account, "s")
