# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The guard of a budget: each commitment passes it, and what is open keeps its part."""

from __future__ import annotations

import errno
import inspect
import re
from collections.abc import Callable
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any, TextIO

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import routes as r
from ansible_collections.hosted.services.plugins.module_utils._api.client import Client
from ansible_collections.hosted.services.plugins.module_utils._api.connection import Connection
from ansible_collections.hosted.services.plugins.module_utils._api.errors import (
    Conflict,
    Interrupted,
    error_for_status,
)
from ansible_collections.hosted.services.plugins.module_utils._api.models import Whoami
from ansible_collections.hosted.services.plugins.module_utils._resources.project import PROJECT
from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE
from ansible_collections.hosted.services.plugins.module_utils._resources.shared import budget as budget_module
from ansible_collections.hosted.services.plugins.module_utils._resources.shared import store
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.budget import (
    DONE_SECONDS,
    OPEN_SECONDS,
    BudgetExceeded,
    Guard,
    read_budget,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.journal import ENTRIES
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.money import Commitment
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import (
    Branch,
    Plan,
    Step,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.store import (
    FOLDER_VARIABLE,
    RUN_FOLDER,
    Record,
    atomic_file,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from unit.plugins.fakes import FakeClient, task_of
from unit.plugins.resources import RESOURCES


class Account(FakeClient):
    """An account that names itself, and whose list shows prices."""

    def whoami(self, seconds: float | None = None) -> Whoami:
        return Whoami(email="someone@example.com")

    def has(self, id: str, monthly: int, name: str = "", **more: Any) -> None:
        pricing = {"monthlyMillicents": monthly, "billedMonthlyMillicents": monthly, "isFree": False}
        self.add_service(id, name or id, monthlyMillicents=monthly, pricing=pricing, **more)


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep records in a folder of the test."""
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "home"))
    monkeypatch.setenv(RUN_FOLDER, str(tmp_path))
    monkeypatch.delenv("HOSTED_SERVICES_BUDGET", raising=False)


@pytest.fixture
def account() -> Account:
    return Account()


def guard_of(account: Account, budget: Any, check_mode: bool = False, **options: Any) -> Guard:
    return Guard(task_of(SERVICE, account, check_mode, name="web", budget=budget, **options))


def order(name: str = "new", monthly: str | None = "6", **more: Any) -> Commitment:
    price = None if monthly is None else Decimal(monthly)
    return Commitment("order", f"service {name!r}", price, name=name, **more)


def resized(monthly: str, before: str, id: str = "svc", **more: Any) -> Commitment:
    return Commitment("new size", "it", Decimal(monthly), id=id, name="svc", before=Decimal(before), **more)


def gone(name: str) -> Commitment:
    return Commitment("deletion", f"service {name!r}", Decimal(0), id="svc", name=name)


def commit(guard: Guard, commitment: Commitment, call: Callable[[], object] = lambda: None) -> None:
    """Make a call, as a step does."""
    with guard.committing(guard.task.client, commitment) if guard.budgets else nullcontext():
        call()
    if guard.budgets:
        guard.succeeded(commitment)


def fail(error: Exception) -> Callable[..., Any]:
    def call(*given: object, **named: object) -> None:
        raise error

    return call


LOSE = fail(Interrupted("lost"))


def lose(guard: Guard, commitment: Commitment) -> None:
    """Make a call whose response is lost."""
    with pytest.raises(Interrupted):
        commit(guard, commitment, LOSE)


def plan_of(*made: Commitment, **more: Any) -> Plan:
    """Return a plan of budget_module."""
    return Plan(None, [Step("step", bool, commitment=each) for each in made], **more)


def refused(guard: Guard, *made: Commitment) -> str:
    """Return why a plan of commitments is refused."""
    with pytest.raises(BudgetExceeded) as caught:
        guard.expect(plan_of(*made))
    return caught.value.message


def files(tmp_path: Path) -> list[Path]:
    """Return the files of what is open, the oldest first."""
    return sorted(
        (tmp_path / "home" / "journal").glob("*.json"), key=lambda path: Record(ENTRIES, str(path)).read().at
    )


def entries(tmp_path: Path) -> list[Any]:
    """Return the names of what is open, and whether it is done."""
    found = [Record(ENTRIES, str(path)).read() for path in files(tmp_path)]
    return [(entry.commitment and entry.commitment.name, entry.done) for entry in found]


def age(tmp_path: Path, seconds: float) -> None:
    """Let what is open be as old as that."""
    for path in files(tmp_path):
        record = Record(ENTRIES, str(path))
        record.edit(lambda entry: replace(entry, at=entry.at - seconds))


# --- One after the other ----------------------------------------------------------------------------


def test_what_fits_is_let_through_until_it_does_not(account: Account) -> None:
    account.has("old", 10000)
    guard = guard_of(account, 23)
    commit(guard, order("one"))
    commit(guard, order("two"))
    with pytest.raises(BudgetExceeded) as caught:
        commit(guard, order("three"))
    error = caught.value
    assert error.nothing_done and isinstance(error, Invalid)
    for part in (
        "23.00 a month",
        "22.00, of which the platform does not yet show 12.00,",
        "add 6.00",
        "5.00 over it",
        "has added 12.00",
    ):
        assert part in error.message
    assert error.details["budget"]["over"] == "5.00"


def test_a_refusal_gives_back_and_an_unknown_outcome_keeps(account: Account, tmp_path: Path) -> None:
    guard = guard_of(account, 10)
    with pytest.raises(Conflict):
        commit(guard, order(), fail(error_for_status("no", 409)))
    assert entries(tmp_path) == []
    lose(guard, order())
    assert entries(tmp_path) == [("new", False)]
    with pytest.raises(BudgetExceeded):
        commit(guard, order("other"))
    with pytest.raises(Conflict):  # perhaps because the one before it was carried out
        commit(guard, order(), fail(error_for_status("there is one", 409)))
    assert entries(tmp_path) == [("new", False)]
    commit(guard, order())  # the same again replaces it: it was seen to have no effect
    assert entries(tmp_path) == [("new", True)]
    account.has("svc", 5000, "new")
    commit(guard, order("other", "5"))
    assert entries(tmp_path) == [("other", True)]


def test_others_wait_until_the_response(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget_module, "LOCK_SECONDS", 0.01)
    other = guard_of(account, 20)

    def call() -> None:
        with pytest.raises(BudgetExceeded, match=r"it is not sent: .* has held .* for 0.01 seconds\."):
            commit(other, order("other"))

    commit(guard_of(account, 20), order(), call)
    commit(other, order("other"))


def test_a_run_counts_what_it_added_though_it_is_settled(account: Account) -> None:
    guard = guard_of(account, {"run": 10, "account": 1000})
    commit(guard, order())
    account.has("svc", 6000, "new")
    commit(guard, order("two", "4"))
    with pytest.raises(BudgetExceeded, match=r"the budget of this run is 10.00"):
        commit(guard, order("three", "0.01"))


def test_another_attempt_counts_once(account: Account, tmp_path: Path) -> None:
    """In the run, and when it is planned, also after one that was killed. Others count beside it."""
    guard = guard_of(account, {"account": 10, "run": 10})
    lose(guard, order())
    guard_of(account, {"run": 6}).expect(plan_of(order()))
    with pytest.raises(KeyboardInterrupt):
        commit(guard, order(monthly="7"), fail(KeyboardInterrupt()))  # type: ignore[arg-type]
    assert "3.00 over it" in refused(guard, order("other"))
    commit(guard, order())
    assert entries(tmp_path) == [("new", True)]
    assert "this run has added 6.00" in refused(guard, order("other"))


def test_what_is_deleted_ends_its_own_entries_and_stays_added_to_the_run(
    account: Account, tmp_path: Path
) -> None:
    guard = guard_of(account, {"account": 100, "run": 14})
    account.has("svc", 5000)
    for made in (order("one", project="p1"), order("two"), resized("6", "5"), resized("6", "5", "other")):
        commit(guard, made)
    guard.succeeded(replace(gone("one"), project="p2"))  # which ends that of its id alone
    assert [name for name, _done in entries(tmp_path)] == ["one", "two", "svc"]
    guard.succeeded(replace(gone("one"), project="p1"))
    assert [name for name, _done in entries(tmp_path)] == ["two", "svc"]
    with pytest.raises(BudgetExceeded, match=r"this run has added 14\.00"):
        commit(guard, order("three"))


def test_what_lowers_the_rate_reads_nothing(account: Account) -> None:
    guard = guard_of(account, 1)
    account.services = fail(AssertionError("read"))  # type: ignore[method-assign]
    shrinks = resized("5", "6")
    guard.expect(plan_of(shrinks))
    commit(guard, shrinks)
    account.whoami = fail(AssertionError("read"))  # type: ignore[method-assign]
    guard.expect(plan_of(gone("one")))


@pytest.mark.parametrize(("done", "seconds"), [(True, DONE_SECONDS), (False, OPEN_SECONDS)])
def test_an_entry_counts_for_a_time(account: Account, tmp_path: Path, done: bool, seconds: float) -> None:
    guard = guard_of(account, 10)
    commit(guard, order()) if done else lose(guard, order())
    age(tmp_path, seconds - 30)
    with pytest.raises(BudgetExceeded):
        commit(guard, order("other"))
    age(tmp_path, 60)
    commit(guard, order("other"))


def test_each_order_of_a_name_has_its_own_service(account: Account, tmp_path: Path) -> None:
    """Neither that of the other, nor one that was there before."""
    account.has("before", 1000, "web")
    guard = guard_of(account, 100)
    commit(guard, order("web", project="p1"))
    commit(guard, order("web", project="p2"))
    account.has("after", 6000, "web")
    commit(guard, order("other"))
    assert [name for name, _done in entries(tmp_path)] == ["web", "other"]


def test_a_move_counts_in_both_projects_until_it_is_shown(account: Account) -> None:
    account.add_project("p1", "shop")
    account.add_project("p2", "games")
    account.has("svc", 5000, projectId="p1")
    guard = guard_of(account, {"projects": {"shop": 10, "games": 10}})
    move = Commitment("move", "it", Decimal(5), id="svc", name="svc", project="p2", before=Decimal(5))
    lose(guard, move)
    for project in ("p1", "p2"):
        with pytest.raises(BudgetExceeded, match=r"1\.00 over it"):
            commit(guard, order(project=project))
    account.service_records["svc"]["projectId"] = "p2"
    commit(guard, order(project="p1"))


# --- What is read -------------------------------------------------------------------------------------


def test_for_a_plan_that_commits_nothing_nothing_is_read_or_noted(account: Account, tmp_path: Path) -> None:
    for name in ("whoami", "services", "projects"):
        setattr(account, name, fail(AssertionError("read")))
    for check_mode in (True, False):
        guard_of(account, 5, check_mode).expect(Plan(None, [Step("read", bool)]))
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize("name", ["whoami", "projects", "services"])
def test_whatever_cannot_be_read_is_refused(name: str, account: Account) -> None:
    setattr(account, name, fail(error_for_status("forbidden", 403)))
    with pytest.raises(BudgetExceeded, match=r"so it is not sent: forbidden\..*FULL"):
        commit(guard_of(account, {"projects": {"default": 50}}), order())


def test_a_run_that_is_not_known_is_refused(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("", "/a/run/that/has/ended"):
        monkeypatch.setenv(RUN_FOLDER, folder)
        guard_of(account, 100, check_mode=True).expect(plan_of(order()))
        commit(guard_of(account, 100), order())
        with pytest.raises(BudgetExceeded, match="delegate_to"):
            commit(guard_of(account, {"run": 10}), order("two"))


def test_budgets_of_the_environment_hold_too(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOSTED_SERVICES_BUDGET", "{account: 5, run: 1}")
    [budget] = guard_of(account, {"account": 7, "run": "0.5"}).budgets.values()
    assert budget == read_budget({"account": 5, "run": "0.5"}, "budget")
    assert not Guard(task_of(PROJECT, account, name="x")).budgets
    monkeypatch.setenv("HOSTED_SERVICES_BUDGET", "")
    with pytest.raises(Invalid, match="HOSTED_SERVICES_BUDGET is empty"):
        guard_of(account, 7)


# --- Plans --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("check_mode", [True, False])
@pytest.mark.parametrize("kind", ["account", "run"])
def test_a_plan_is_refused_as_a_whole(account: Account, kind: str, check_mode: bool) -> None:
    """It spends nothing of what it saves."""
    account.has("svc", 4000)
    running = 4 if kind == "account" else 0
    lowers = Commitment("suspension", "it", Decimal(0), id="svc", name="svc")
    plan = (order("one"), lowers, order("two"), order("free", "0"))
    told = refused(guard_of(account, {kind: running + 11}, check_mode), *plan)
    assert told.startswith("the order of service 'one' is refused by the budget, 1.00 over it")
    assert "this task would add 12.00, this run has added 0.00. Nothing was sent. " in told
    guard_of(account, {kind: running + 12}, check_mode).expect(plan_of(*plan))


@pytest.mark.parametrize("check_mode", [True, False])
def test_a_branch_is_refused_alone_unless_the_plan_is_budgeted_as_a_whole(
    check_mode: bool, account: Account
) -> None:
    guard = guard_of(account, 5, check_mode)
    branch = Branch(guard.task)
    steps = [Step("step", bool, branch=branch, commitment=order())]
    guard.expect(Plan(None, steps))
    assert isinstance(branch.error, BudgetExceeded) is check_mode
    with pytest.raises(BudgetExceeded, match=r"1\.00 over it"):
        guard.expect(Plan(None, steps, budgeted_whole=True))


def test_the_limit_of_a_project_that_the_plan_creates_holds_in_it_alone(account: Account) -> None:
    guard = guard_of(account, {"projects": {"new": 10}})
    inside, outside = order("one", project_name="new"), order("two", project="prj_default")
    guard.expect(plan_of(inside, outside))
    commit(guard, outside)
    account.add_project("p2", "new")
    commit(guard, order("one", project="p2", project_name="new"))
    with pytest.raises(BudgetExceeded, match=r"the budget of project 'new' is 10\.00"):
        commit(guard, order("three", project="p2", project_name="new"))
    assert "no project has this id or name" in refused(guard_of(account, {"projects": {"news": 5}}), outside)


@pytest.mark.parametrize("budget", [{"run": 10}, 10, {"account": 10, "run": 10}])
def test_what_is_done_for_real_counts_no_longer_as_predicted(account: Account, budget: Any) -> None:
    """Also where its project was not there when it was predicted."""
    account.has("old", 1000)
    predicted = order(monthly="4", project_name="shop")
    guard_of(account, budget, check_mode=True).expect(plan_of(predicted))
    real = guard_of(account, budget)
    made = replace(predicted, project="prj-1")
    real.expect(plan_of(made))
    commit(real, made, lambda: account.has("new", 4000))

    guard_of(account, budget, check_mode=True).expect(plan_of(order("other", "5")))
    told = refused(guard_of(account, budget, check_mode=True), order("third", "2"))
    assert "this run has added 9.00" in told  # what was added, and what is predicted of something else


def test_check_mode_takes_back_what_it_would_delete(account: Account) -> None:
    """In its project alone, and until it would order it again."""
    guard = guard_of(account, 12, check_mode=True)
    gone_again = Commitment("deletion", "it", Decimal(0), name="new", project_name="shop")
    guard.expect(plan_of(order(project_name="shop")))
    guard.expect(plan_of(replace(gone_again, project_name="games")))
    assert "1.00 over it" in refused(guard, order("other", "7"))
    guard.expect(plan_of(gone_again))
    guard.expect(plan_of(order("other", "7")))
    assert "1.00 over it" in refused(guard, order(project_name="shop"))
    guard.expect(plan_of(replace(gone_again, name="other", project_name=None)))
    guard.expect(plan_of(order(project_name="shop")))
    assert "1.00 over it" in refused(guard, order("other", "7"))


# --- An entry that cannot be used ---------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", "[]", '{"at": "long ago"}'])
def test_a_damaged_entry_refuses_all(account: Account, tmp_path: Path, text: str) -> None:
    guard = guard_of(account, 20)
    commit(guard, order())
    [path] = files(tmp_path)
    path.write_text(text)
    with pytest.raises(
        BudgetExceeded, match=rf"not sent: .*'{path}', which cannot be read: it is damaged\. "
    ):
        commit(guard, order("other"), fail(AssertionError("sent")))
    assert path.read_text() == text


def fill_disk(monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    """Let records be written so often, and no more."""
    left = ["room"] * after

    def open_while_there_is_room(path: str) -> AbstractContextManager[TextIO]:
        if not left:
            raise OSError(errno.ENOSPC, "No space left on device")
        left.pop()
        return atomic_file(path)

    monkeypatch.setattr(store, "atomic_file", open_while_there_is_room)


@pytest.mark.parametrize("writes", [0, 1])
def test_what_cannot_be_noted_is_not_sent(
    account: Account, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writes: int
) -> None:
    """Neither in the journal, nor as what the run adds. Then it counts for nothing."""
    guard = guard_of(account, {"account": 20, "run": 6})
    guard.expect(plan_of(order()))
    with monkeypatch.context() as full:
        fill_disk(full, after=writes)
        with pytest.raises(BudgetExceeded, match=r"not sent: .*No space left on device"):
            commit(guard, order(), fail(AssertionError("sent")))
    assert entries(tmp_path) == [] and guard.task.warnings == []
    commit(guard, order())


# --- With a platform ----------------------------------------------------------------------------------


# --- Nothing gets past it -----------------------------------------------------------------------------


def test_every_call_that_may_raise_the_rate_says_what_it_commits(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that says nothing is a defect, and is not sent; the guard is asked around each other one."""
    asked, sent = list[object](), list[r.Route[Any]]()

    @contextmanager
    def note(client: Client, commitment: object) -> Any:
        asked.append(commitment)
        yield

    monkeypatch.setattr(Client, "call", lambda own, route, *given: sent.append(route))
    client = Client(Connection("https://api.example.com", "token"))
    client.on_commit = note
    client = client.clone()
    ids = {"id": "x", "slug": "x", "name": "x", "tag": "x", "period": "x", "backup_id": "x"}
    refused = []
    for route in r.ROUTES.values():
        try:
            client.send(route, body={}, **ids)
        except ValueError:
            refused.append(route)
    assert refused == [r.APP_CREATE, r.SCALE, r.MOVE, r.RESUME, r.ORDER]
    assert not asked and not set(refused).intersection(sent)
    for route in refused:
        client.send(route, body={}, commitment=route, **ids)
    assert asked == refused == sent[-5:]


def test_every_module_that_commits_has_a_budget() -> None:
    with_budget = {name for name, each in RESOURCES.items() if "budget" in each.options}
    assert with_budget == {
        *("app", "blueprint", "clone", "fleet", "recover", "relocate", "service", "sleep_plan")
    }
    names = [name for name, route in r.ROUTES.items() if route.commits]
    pattern = re.compile(rf"\br\.({'|'.join(names)})\b")
    folder = Path(inspect.getfile(Guard)).parents[1]
    found = {
        str(path.relative_to(folder)) for path in folder.rglob("*.py") if pattern.search(path.read_text())
    }
    assert found == {"app.py", "services/settings.py", "services/order.py", "services/power.py"}
