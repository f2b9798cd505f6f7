# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The guard of a budget: each commitment passes it, and what is open keeps its part."""

from __future__ import annotations

import errno
import inspect
import re
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import routes as r
from ansible_collections.hosted.services.plugins.module_utils._api.client import Client
from ansible_collections.hosted.services.plugins.module_utils._api.errors import (
    Conflict,
    Interrupted,
    error_for_status,
)
from ansible_collections.hosted.services.plugins.module_utils._api.models import App, Whoami
from ansible_collections.hosted.services.plugins.module_utils._resources.project import PROJECT
from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE
from ansible_collections.hosted.services.plugins.module_utils._resources.services.commitments import (
    BudgetGuard,
    account_of,
    anticipates,
    ends,
    may_be_there,
    proves,
    replaces,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.services.options import BudgetOptions
from ansible_collections.hosted.services.plugins.module_utils._resources.shared import commitment_record
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.budget import (
    Budget,
    BudgetExceeded,
    Commitment,
    Guard,
    Holding,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.commitment_record import (
    CommitmentRecord,
    Entry,
    new_entry,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.controller_state import (
    FOLDER_VARIABLE,
    RUN_FOLDER,
    write_json,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.money import Move
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import (
    Branch,
    Expansion,
    Plan,
    Step,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from hosted_sandbox.testing import Sandbox
from integration.proxy_server import ProxyServer, running
from unit.plugins.fakes import FakeClient, task_of
from unit.plugins.module_utils._resources.platform import id_of, run, writes
from unit.plugins.resources import RESOURCES


class Account(FakeClient):
    """An account that names itself, and whose list shows prices."""

    def whoami(self) -> Whoami:
        return Whoami(email="someone@example.com")

    def apps(self) -> list[Any]:
        return []

    def has(self, id: str, monthly: int, **more: Any) -> None:
        pricing = {"monthlyMillicents": monthly, "billedMonthlyMillicents": monthly, "isFree": False}
        self.add_service(id, id, monthlyMillicents=monthly, pricing=pricing, **more)


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep records in a folder of the test."""
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "home"))
    monkeypatch.setenv(RUN_FOLDER, str(tmp_path))
    monkeypatch.delenv("HOSTED_SERVICES_BUDGET", raising=False)


@pytest.fixture
def account() -> Account:
    return Account()


def guard_of(account: Account, budget: Any, check_mode: bool = False, **options: Any) -> BudgetGuard:
    return BudgetGuard(task_of(SERVICE, account, check_mode, name="web", budget=budget, **options))


def order(name: str = "new", monthly: str | None = "6", **more: Any) -> Commitment:
    price = None if monthly is None else Decimal(monthly)
    return Commitment("order", f"service {name!r}", price, name=name, **more)


def commit(guard: BudgetGuard, commitment: Commitment, call: Callable[[], object] = lambda: None) -> None:
    with guard.step(commitment), guard.committing(guard.task.client, r.ORDER):
        call()


def fail(error: Exception) -> Callable[[], None]:
    def call() -> None:
        raise error

    return call


def record_file(tmp_path: Path) -> Path:
    """Return the one record that there is."""
    [path] = (tmp_path / "home" / "budget").glob("*.json")
    return path


def entries(tmp_path: Path) -> list[Any]:
    return CommitmentRecord(str(record_file(tmp_path))).read().entries


def test_what_fits_is_let_through_until_it_does_not(account: Account) -> None:
    account.has("old", 10000)
    guard = guard_of(account, 23)
    commit(guard, order("one"))
    commit(guard, order("two"))
    with pytest.raises(BudgetExceeded) as caught:
        commit(guard, order("three"))
    error = caught.value
    assert error.nothing_done and isinstance(error, Invalid)
    for part in ("23.00 a month", "22.00 (12.00 of it", "add 6.00", "5.00 over it", "has added 12.00"):
        assert part in error.message
    assert error.details["budget"]["over"] == "5.00"


def test_a_refusal_gives_back_and_an_unknown_outcome_keeps(account: Account, tmp_path: Path) -> None:
    guard = guard_of(account, 10)
    with pytest.raises(Exception, match="no"):
        commit(guard, order(), fail(error_for_status("no", 409)))
    assert entries(tmp_path) == []
    with pytest.raises(Interrupted):
        commit(guard, order(), fail(Interrupted("lost")))
    [kept] = entries(tmp_path)
    assert not kept.done and kept.adds == 6
    with pytest.raises(BudgetExceeded):
        commit(guard, order("other"))
    commit(guard, order())  # the same again replaces it: it was seen to have no effect
    [again] = entries(tmp_path)
    assert again.done
    account.has("svc", 5000)
    account.service_records["svc"]["name"] = "new"
    commit(guard, order("other", "5"))
    assert [entry.name for entry in entries(tmp_path)] == ["other"]


def test_a_run_counts_what_it_added_though_it_is_settled(account: Account) -> None:
    guard = guard_of(account, {"run": 10, "account": 1000})
    commit(guard, order())
    account.add_service("svc", "new", monthlyMillicents=6000)
    commit(guard, order("two", "4"))
    with pytest.raises(BudgetExceeded, match=r"the budget of this run is 10.00"):
        commit(guard, order("three", "0.01"))


def test_a_run_that_is_not_known_is_refused(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(RUN_FOLDER)
    commit(guard_of(account, 10), order())
    with pytest.raises(BudgetExceeded, match="delegate_to"):
        commit(guard_of(account, {"run": 10}), order("two"))


def test_what_lowers_the_rate_reads_nothing_and_ends_entries(account: Account, tmp_path: Path) -> None:
    guard = guard_of(account, 10)
    commit(guard, order())
    with guard.step(Commitment("delete", "service 'new'", Decimal(0), id="svc", name="new")):
        pass
    assert entries(tmp_path) == []
    account.services = fail(AssertionError("read"))  # type: ignore[assignment,method-assign]
    shrinks = Commitment("resize", "it", Decimal(5), id="svc", before=Decimal(6))
    with guard.step(shrinks), guard.committing(guard.task.client, r.SCALE):
        assert entries(tmp_path) == []
    guard.expect(Plan(None, [Step("shrink", bool, commitment=shrinks)]))


@pytest.mark.parametrize("budget", [5, {"projects": {"default": 5}}])
def test_an_account_that_cannot_be_read_is_refused(account: Account, budget: Any) -> None:
    account.services = fail(error_for_status("forbidden", 403))  # type: ignore[assignment,method-assign]
    with pytest.raises(BudgetExceeded, match=r"cannot be read: forbidden.*scope FULL"):
        commit(guard_of(account, budget), order())


def test_the_limit_of_a_project_that_the_plan_creates_holds_in_it(account: Account) -> None:
    guard = guard_of(account, {"projects": {"new": 10}})
    inside, outside = order("one", project_name="new"), order("two", project="prj_default")
    guard.expect(Plan(None, [Step(each.what, bool, commitment=each) for each in (inside, outside)]))
    commit(guard, outside)
    account.add_project("p2", "new")
    commit(guard, order("one", project="p2", project_name="new"))
    with pytest.raises(BudgetExceeded, match=r"the budget of project 'new' is 10\.00"):
        commit(guard, order("three", project="p2", project_name="new"))


@pytest.mark.parametrize("limited", ["webshop", "shop", "p1"])
@pytest.mark.parametrize("check_mode", [True, False])
def test_a_limit_finds_the_project_that_the_plan_renames(
    account: Account, limited: str, check_mode: bool
) -> None:
    """By either name: a limit for all runs may still have the former one."""
    account.add_project("p1", "shop")
    account.add_project("p2", "WEBSHOP")  # which is only similar
    guard = guard_of(account, {"projects": {limited: 10}}, check_mode)
    PROJECT.plan(replace(task_of(PROJECT, account, id="p1", new_name="webshop"), guard=guard))
    first, second = (order(name, project="p1", project_name="shop") for name in ("one", "two"))
    guard.expect(Plan(None, [Step("order", bool, commitment=first)]))
    with pytest.raises(BudgetExceeded, match=rf"the budget of project '{limited}' is 10\.00"):
        guard.expect(Plan(None, [Step(each.what, bool, commitment=each) for each in (first, second)]))
    commit(guard, first)
    account.project_records["p1"]["name"] = "webshop"
    with pytest.raises(BudgetExceeded, match=rf"the budget of project '{limited}' is 10\.00"):
        commit(guard, second)
    assert guard.task.warnings == []


def test_a_plan_is_refused_as_a_whole(account: Account) -> None:
    steps = [Step(name, bool, commitment=order(name)) for name in ("one", "two")]
    guard_of(account, 12).expect(Plan(None, steps))
    with pytest.raises(BudgetExceeded, match=r"1.00 over"):
        guard_of(account, 11).expect(Plan(None, steps))
    account.add_service("svc", "two", monthlyMillicents=6000)  # the step will find it
    guard_of(account, 12).expect(Plan(None, steps))


def test_what_check_mode_predicts_counts_for_nothing_that_is_real(account: Account) -> None:
    guard_of(account, 6, check_mode=True).expect(plan_of(order("one")))
    commit(guard_of(account, 6), order("two"))


@pytest.mark.parametrize("budget", [{"run": 10}, 10, {"account": 10, "run": 10}])
def test_what_is_done_for_real_counts_no_longer_as_predicted(account: Account, budget: Any) -> None:
    account.has("old", 1000)
    guard_of(account, budget, check_mode=True).expect(plan_of(order(monthly="4")))
    real = guard_of(account, budget)
    real.expect(plan_of(order(monthly="4")))
    commit(real, order(monthly="4"), lambda: account.has("new", 4000))

    guard_of(account, budget, check_mode=True).expect(plan_of(order("other", "5")))
    told = refused(guard_of(account, budget, check_mode=True), order("third", "2"))
    assert "this run has added 9.00" in told  # what was added, and what is predicted of something else


def test_what_is_done_for_real_replaces_its_prediction_in_a_project_that_was_not_there(
    account: Account,
) -> None:
    before, after = order(project_name="shop"), order(project="prj-1", project_name="shop")
    guard_of(account, {"run": 13}, check_mode=True).expect(plan_of(before))
    guard_of(account, {"run": 13}, check_mode=True).expect(plan_of(order(project_name="blog")))
    real = guard_of(account, {"run": 13})
    real.expect(plan_of(after))
    commit(real, after)
    told = refused(guard_of(account, {"run": 13}, check_mode=True), order("other", "2"))
    assert "this run has added 12.00" in told


@pytest.mark.parametrize(
    ("predicted", "real", "same"),
    [
        (order(), order(), True),
        (order(), order("other"), False),
        (order(), order(project="prj-1"), False),
        (order(project="prj-1"), order(project="prj-2", project_name="shop"), False),
        (order(project_name="shop"), order(project="prj-1", project_name="shop"), True),
        (Commitment("create", "application 'new'", Decimal(6), name="new"), order(), False),
    ],
)
def test_only_the_same_thing_is_what_check_mode_predicted(
    predicted: Commitment, real: Commitment, same: bool
) -> None:
    assert anticipates(entry_of(predicted), real) is same


def test_a_size_that_is_set_for_real_replaces_what_was_predicted_of_it(account: Account) -> None:
    """What is predicted to suspend it is out of date as well: it runs again."""
    account.has("one", 2000)
    resume = Commitment("resume", "service 'one'", Decimal(4), id="one", name="one", before=Decimal(2))
    suspend = Commitment("suspend", "service 'one'", Decimal(1), id="one", name="one", before=Decimal(2))
    for predicted in (suspend, resume):
        guard_of(account, 10, check_mode=True).expect(plan_of(predicted))
    real = guard_of(account, 10)
    real.expect(plan_of(resume))
    commit(real, resume, lambda: account.has("one", 4000))
    told = refused(guard_of(account, 10, check_mode=True), order("other", "7"))
    assert "the running rate is 4.00" in told and "this run has added 2.00" in told


def test_a_plan_for_real_reads_no_account_if_it_only_lowers_the_rate(account: Account) -> None:
    gone = Commitment("delete", "service 'one'", Decimal(0), id="one", name="one")
    account.whoami = lambda: 1 / 0  # type: ignore[assignment,method-assign,return-value]
    guard_of(account, 10).expect(plan_of(gone))


def test_budgets_of_the_environment_hold_too(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOSTED_SERVICES_BUDGET", "{account: 5, run: 1}")
    assert guard_of(account, {"account": 7, "run": "0.5"}).budget.as_option() == {
        "account": "5.00",
        "run": "0.50",
    }
    assert not BudgetGuard(task_of(PROJECT, account, name="x")).budget
    monkeypatch.setenv("HOSTED_SERVICES_BUDGET", "")
    with pytest.raises(Invalid, match="HOSTED_SERVICES_BUDGET is empty"):
        guard_of(account, 7)


# --- What is told -------------------------------------------------------------------------------------

RAISE = "the option budget, the variable hosted_budget and HOSTED_SERVICES_BUDGET in the environment all hold"


def refused(guard: BudgetGuard, *commitments: Commitment) -> str:
    """Return why a plan of commitments is refused."""
    with pytest.raises(BudgetExceeded) as caught:
        guard.expect(plan_of(*commitments))
    return caught.value.message


def plan_of(*commitments: Commitment, **more: Any) -> Plan:
    """Return a plan of commitments."""
    return Plan(None, [Step("step", bool, commitment=each) for each in commitments], **more)


def test_a_refusal_by_the_run_tells_what_it_has_added(account: Account) -> None:
    """The changes of one plan add up, and what lowers the rate adds nothing."""
    lowers = Commitment("suspend", "it", Decimal(0), id="svc")
    guard_of(account, {"run": 12}).expect(plan_of(order("one"), lowers, order("two")))
    told = refused(guard_of(account, {"run": 11}), order("one"), lowers, order("two"))
    assert told == (
        "the order of service 'two' is refused by the budget, 1.00 over it: the budget of this run is 11.00 "
        "a month, this task would add 6.00, this run has added 6.00, the figures include 1 change that this "
        "task would make before it. Nothing was sent. Order less in one run, or raise the limit. "
        f"{RAISE[0].upper()}{RAISE[1:]}, and of each kind the lowest counts"
    )


def test_what_costs_nothing_adds_nothing(account: Account) -> None:
    guard_of(account, {"run": 6}).expect(plan_of(order("free", "0"), order()))


# --- What is read -------------------------------------------------------------------------------------


def test_without_a_budget_nothing_is_read_or_noted(account: Account, tmp_path: Path) -> None:
    """Nor with one, for a plan that commits nothing."""
    unread = fail(AssertionError("read"))
    for name in ("whoami", "services", "projects", "apps"):
        setattr(account, name, unread)
    guard = guard_of(account, None)
    commit(guard, order())
    guard.expect(plan_of(order()))
    with guard.step(Commitment("delete", "it", Decimal(0), id="svc")):
        pass
    guard_of(account, 5).expect(Plan(None, [Step("read", bool)]))
    guard_of(account, 5, check_mode=True).expect(Plan(None, [Step("read", bool)]))
    assert not (tmp_path / "home").exists()


def test_services_are_read_one_by_one_only_if_the_list_does_not_tell(account: Account) -> None:
    account.has("old", 6000)
    read: list[str] = []
    whole = account.service

    def note(id: str) -> Any:
        read.append(id)
        return whole(id)

    account.service = note  # type: ignore[method-assign]
    guard_of(account, 20).expect(plan_of(order()))
    assert read == []
    guard_of(account, 20).expect(plan_of(order("old")))
    assert read == ["old"], "it may be what the plan creates"


def test_the_slugs_of_applications_are_asked_only_after_one_was_created(
    account: Account, tmp_path: Path
) -> None:
    """By its slug, an application is known whatever the platform calls it."""
    apps = account.apps
    account.apps = fail(AssertionError("read"))  # type: ignore[assignment,method-assign]
    guard = guard_of(account, 100)
    commit(guard, order("one"))
    commit(guard, replace(order("shop"), kind="create"))
    account.apps = apps  # type: ignore[method-assign]
    commit(guard, order("two"))
    assert [entry.name for entry in entries(tmp_path)] == ["one", "shop", "two"]
    account.has("app_1", 6000)
    account.apps = lambda: [App(id="app_1", slug="shop", status="ACTIVE")]  # type: ignore[method-assign]
    commit(guard, order("three"))
    assert [entry.name for entry in entries(tmp_path)] == ["one", "two", "three"]


def test_each_account_has_a_record_of_its_own(account: Account) -> None:
    """Whatever token it is reached with. One that does not tell its address is known by the token."""
    first = record_of(account)
    assert first == record_of(account) != record_of(account, "https://two.example.com")
    account.account_key = "another token of the account"
    assert record_of(account) == first
    other, silent = Account(), Account()
    other.account_key, other.whoami = "other", lambda: Whoami(email="other@example.com")  # type: ignore[method-assign]
    assert record_of(other) != first
    silent.whoami = lambda: Whoami(email=None)  # type: ignore[method-assign]
    found = set()
    for silent.account_key in ("silent", "silent too"):
        found.add(record_of(silent))
    assert len(found - {first}) == 2


def record_of(account: Account, url: str = "https://one.example.com") -> str:
    """Return which record an account has."""
    task = guard_of(account, 5).task
    return account_of(replace(task, options=replace(task.options, base_url=url)))


def test_an_address_that_could_not_be_read_once_is_asked_for_again(account: Account) -> None:
    """Otherwise the tasks of one run would keep two records."""
    answers = [None, "someone@example.com"]
    account.whoami = lambda: Whoami(email=answers.pop(0))  # type: ignore[method-assign]
    found = record_of(account)
    del account.whoami
    account.account_key = "another token"
    assert found == record_of(account)


@pytest.mark.parametrize("name", ["whoami", "projects"])
def test_whatever_cannot_be_read_is_refused(name: str, account: Account) -> None:
    setattr(account, name, fail(error_for_status("broken", 500)))
    with pytest.raises(
        BudgetExceeded, match=r"cannot be read: broken\. The change was not sent\. Run this again"
    ):
        commit(guard_of(account, {"projects": {"default": 50}}), order())


# --- What is noted ------------------------------------------------------------------------------------


def test_a_growing_size_counts_until_it_is_shown(account: Account, tmp_path: Path) -> None:
    """One that shrinks is not noted at all, and a step that commits nothing ends nothing."""
    account.has("svc", 5000)
    guard = guard_of(account, 20)
    commit(guard, Commitment("resize", "it", Decimal(9), id="svc", before=Decimal(5)))
    with guard.step(None):
        pass
    [kept] = entries(tmp_path)
    assert (kept.kind, kept.done, kept.adds) == ("resize", True, 4)
    commit(guard, Commitment("resize", "it", Decimal(4), id="svc", before=Decimal(5)))
    assert entries(tmp_path) == [], "which it replaced"


def ordered_after_a_smaller_size(sandbox: Sandbox, shown: bytes, **budget: str) -> list[dict[str, Any]]:
    """Shrink what costs 9.00 by a discount, to a size that costs 9.68 without; then order what costs 9.00."""
    sandbox.reset(delays={"provision": 0, "start": 0})
    sandbox.seed({"services": [{"name": "one", "product": "minecraft"}]})

    def discounted(content: bytes) -> bytes:
        return content.replace(b"10740", b"9000").replace(b"9680", shown)

    size = {"cpu_cores": 2, "ram_gb": 4, "storage_gb": 20}
    new: dict[str, Any] = {"name": "new", "product": "minecraft", "host": "node-paris-1", "dimensions": size}
    with running(ProxyServer(sandbox, change=discounted)) as proxy:
        more: dict[str, Any] = {"base_url": proxy.url, "budget": budget}
        smaller = run(sandbox, SERVICE, name="one", dimensions={"ram_gb": 3}, **more)
        return [smaller, run(sandbox, SERVICE, **new, **more)]


@pytest.mark.parametrize(("budget", "over"), [({"account": "18.5"}, "0.18"), ({"run": "9"}, "0.68")], ids=str)
def test_a_size_whose_rate_is_shown_late_counts_with_what_it_may_cost(
    sandbox: Sandbox, budget: dict[str, str], over: str
) -> None:
    """It may be the rate of the size before."""
    smaller, ordered = ordered_after_a_smaller_size(sandbox, b"9000", **budget)
    assert smaller["changed"] and not smaller.get("failed"), smaller
    assert ordered["failed"] and f"{over} EUR over it" in ordered["msg"]
    assert writes(sandbox).count("settings.scale") == 1 and "order.create" not in writes(sandbox)


def test_what_is_deleted_ends_its_own_entries_and_stays_added_to_the_run(
    account: Account, tmp_path: Path
) -> None:
    guard = guard_of(account, {"account": 100, "run": 14})
    commit(guard, order("one"))
    commit(guard, order("two"))
    with guard.step(Commitment("delete", "service 'one'", Decimal(0), id="svc", name="one")):
        pass
    assert [entry.name for entry in entries(tmp_path)] == ["two"]
    with pytest.raises(BudgetExceeded, match=r"this run has added 12\.00"):
        commit(guard, order("three"))


def test_another_attempt_counts_once(account: Account) -> None:
    """In the run, and when it is planned. What others may have ordered counts beside it."""
    guard = guard_of(account, {"account": 10, "run": 10})
    with pytest.raises(Interrupted):
        commit(guard, order(), fail(Interrupted("lost")))
    guard.expect(plan_of(order()))
    guard_of(account, {"run": 6}).expect(plan_of(order()))
    assert "2.00 over it" in refused(guard, order("other"))
    commit(guard, order())


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


def test_a_limit_holds_in_the_project_that_the_plan_creates_alone(account: Account) -> None:
    guard = guard_of(account, {"projects": {"new": 5}})
    inside, other = order("one", project_name="new"), order("two", project_name="other")
    assert "the budget of project 'new' is 5.00" in refused(guard, inside)
    guard.expect(plan_of(replace(inside, monthly=Decimal(5)), other))
    there = order("one", project="prj_default", project_name="new")
    assert "no project has this id or name" in refused(guard, there), "that one is there already"


def test_a_module_without_a_budget_can_be_given_one(account: Account) -> None:
    guard = BudgetGuard(task_of(PROJECT, account, name="x"))
    assert guard.budget == Budget()
    guard.tighten(Budget(account=Decimal(5)))
    assert guard.budget == Budget(account=Decimal(5))


# --- A call whose outcome is unknown at first ---------------------------------------------------------


def lose() -> None:
    raise Interrupted("lost")


def age(tmp_path: Path, seconds: float) -> None:
    """Let the record be as old as that."""
    record = CommitmentRecord(str(record_file(tmp_path)))
    content = record.read()
    record.write(replace(content, entries=[replace(each, at=each.at - seconds) for each in content.entries]))


def test_a_call_that_turned_out_to_have_its_effect_is_confirmed(account: Account, tmp_path: Path) -> None:
    """Even if the step fails after that. A call of another step is none of it."""
    guard = guard_of(account, {"run": 20})
    with pytest.raises(Conflict), guard.step(order()):
        with pytest.raises(Interrupted), guard.committing(guard.task.client, r.ORDER):
            lose()
        assert [entry.done for entry in entries(tmp_path)] == [False]
        guard.took_effect()
        guard.took_effect()
        raise error_for_status("what comes after it", 409)
    assert [entry.done for entry in entries(tmp_path)] == [True]
    with pytest.raises(Interrupted):
        commit(guard, order("other"), lose)
    with guard.step(order("third")):
        guard.took_effect()
    guard.took_effect()
    commit(guard, order("third"))
    found = {entry.name: entry.done for entry in entries(tmp_path)}
    assert found == {"new": True, "other": False, "third": True}
    assert guard.task.warnings == []


def test_without_a_budget_there_is_nothing_to_confirm(account: Account, tmp_path: Path) -> None:
    guard = guard_of(account, None)
    with guard.step(order()):
        with pytest.raises(Interrupted), guard.committing(guard.task.client, r.ORDER):
            lose()
        guard.took_effect()
    Guard().took_effect()
    assert not (tmp_path / "home").exists()


def test_what_others_have_settled_meanwhile_is_not_added_twice(account: Account) -> None:
    account.has("old", 1000)
    guard, other = (guard_of(account, {"account": 100, "run": 15}) for _each in range(2))
    with guard.step(order()):
        with pytest.raises(Interrupted), guard.committing(guard.task.client, r.ORDER):
            lose()
        account.add_service("svc", "new", monthlyMillicents=6000)
        commit(other, order("other"))
        guard.took_effect()
    with pytest.raises(BudgetExceeded, match=r"this run has added 12\.00"):
        commit(guard, order("third"))


def test_an_effect_that_cannot_be_noted_is_told(
    account: Account, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    guard = guard_of(account, 20)
    fill_disk(monkeypatch, after=1)
    with guard.step(order()):
        with pytest.raises(Interrupted), guard.committing(guard.task.client, r.ORDER):
            lose()
        guard.took_effect()
    [warning] = guard.task.warnings
    assert warning.startswith("the order of service 'new' is done, but") and FULL in warning
    assert [entry.done for entry in entries(tmp_path)] == [False]


@pytest.mark.parametrize("shown", [True, False])
def test_a_refused_retry_leaves_the_attempt_before_it_in_doubt(
    account: Account, tmp_path: Path, shown: bool
) -> None:
    """It may be refused because that one was carried out."""
    guard = guard_of(account, {"run": 20})
    with guard.step(order()):
        with pytest.raises(Interrupted), guard.committing(guard.task.client, r.ORDER):
            lose()
        first = entries(tmp_path)
        with pytest.raises(Conflict), guard.committing(guard.task.client, r.ORDER):
            raise error_for_status("there is one", 409)
        assert entries(tmp_path) == first
        if shown:
            guard.took_effect()
    assert entries(tmp_path) == [replace(first[0], done=shown)]


def test_a_run_keeps_what_it_may_have_added(account: Account, tmp_path: Path) -> None:
    """Also with no other limit than its own, for which nothing is read."""
    account.services = fail(AssertionError("read"))  # type: ignore[assignment,method-assign]
    guard = guard_of(account, {"run": 10})
    with pytest.raises(Interrupted):
        commit(guard, order(), lose)
    age(tmp_path, 3600)
    with pytest.raises(BudgetExceeded, match=r"this run has added 6\.00"):
        commit(guard, order("other", "5"))
    commit(guard, order("other", "4"))


@pytest.mark.parametrize("budget", [{"run": 49}, {"run": 49, "account": 1000}])
def test_a_size_that_a_later_plan_starts_from_is_added(account: Account, budget: Any) -> None:
    """Though the response to it was lost: the plan has seen its effect."""
    account.has("svc", 10000)
    guard = guard_of(account, budget)
    size = Commitment("resize", "it", Decimal(40), id="svc", before=Decimal(10))
    with pytest.raises(Interrupted):
        commit(guard, size, lose)
    account.has("svc", 40000)
    more = replace(size, monthly=Decimal(60), before=Decimal(40))
    assert "1.00 over it" in refused(guard, more)
    with pytest.raises(BudgetExceeded, match=r"this run has added 30\.00"):
        commit(guard, more)
    commit(guard, replace(more, monthly=Decimal(59)))


def test_a_size_that_had_no_effect_is_not_added(account: Account) -> None:
    account.has("svc", 10000)
    guard = guard_of(account, {"run": 50})
    size = Commitment("resize", "it", Decimal(40), id="svc", before=Decimal(10))
    with pytest.raises(Interrupted):
        commit(guard, size, lose)
    commit(guard, replace(size, monthly=Decimal(60)))


def test_a_retry_that_is_refused_does_not_add_a_size_twice(account: Account) -> None:
    """Neither the one that the plan has seen, nor the one that was refused."""
    account.has("svc", 10000)
    guard = guard_of(account, {"run": 50})
    size = Commitment("resize", "it", Decimal(40), id="svc", before=Decimal(10))
    with pytest.raises(Interrupted):
        commit(guard, size, lose)
    account.has("svc", 40000)
    more = replace(size, monthly=Decimal(60), before=Decimal(40))
    with pytest.raises(Conflict):
        commit(guard, more, fail(error_for_status("no", 409)))
    with pytest.raises(BudgetExceeded, match=r"this run has added 30\.00"):
        commit(guard, order("other", "21"))


@pytest.mark.parametrize(
    ("before", "monthly", "proven"),
    [("9", "9", True), ("10", "9", True), ("8.99", "9", False), (None, "9", False), ("9", None, False)],
)
def test_the_rate_before_proves_an_earlier_attempt(
    before: str | None, monthly: str | None, proven: bool
) -> None:
    entry = entry_of(replace(GROWTH, monthly=None if monthly is None else Decimal(monthly)))
    later = replace(GROWTH, before=None if before is None else Decimal(before))
    assert proves(later, entry) is proven
    assert not proves(replace(later, kind="resume"), entry), "which tells nothing of a size"


def test_an_adopted_order_is_confirmed(sandbox: Sandbox, tmp_path: Path) -> None:
    sandbox.fault("order.create", "reset", when="after")
    result = run(sandbox, SERVICE, **DATABASE, budget="1000")
    assert not result.get("failed"), result["msg"]
    assert result["changed"] and writes(sandbox).count("order.create") == 1
    assert [(entry.name, entry.done) for entry in entries(tmp_path)] == [("db", True)]


def test_a_resumption_that_is_seen_is_confirmed(sandbox: Sandbox, tmp_path: Path) -> None:
    run(sandbox, SERVICE, name="one", state="suspended")
    sandbox.clear_journal()
    sandbox.fault("resources.resume", "reset", when="after")
    result = run(sandbox, SERVICE, name="one", state="resumed", budget="1000")
    assert not result.get("failed"), result["msg"]
    assert result["changed"] and writes(sandbox) == ["resources.resume"]
    assert [(entry.kind, entry.done) for entry in entries(tmp_path)] == [("resume", True)]


# --- A record that cannot be updated after the call ---------------------------------------------------

GROWS = Commitment("resize", "service 'web'", Decimal(9), id="svc", before=Decimal(5))
DELETED = Commitment("delete", "service 'web'", Decimal(0), id="svc", name="new")
FULL = "cannot be used: No space left on device"


def fill_disk(monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    """Let the record be written so often, and no more."""
    left = ["room"] * after

    def write_while_there_is_room(path: str, content: Any) -> None:
        if not left:
            raise OSError(errno.ENOSPC, "No space left on device")
        left.pop()
        write_json(path, content)

    monkeypatch.setattr(commitment_record, "write_json", write_while_there_is_room)


def test_a_call_that_is_done_does_not_fail_for_its_record(
    account: Account, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    account.has("svc", 5000)
    guard, sent = guard_of(account, 20), list[str]()
    fill_disk(monkeypatch, after=1)
    commit(guard, GROWS, lambda: sent.append("size"))
    assert sent == ["size"]
    [kept] = entries(tmp_path)
    assert (kept.done, kept.adds) == (False, 4)
    [warning] = guard.task.warnings
    assert warning.startswith(
        "the new size of service 'web' is done, but that could not be noted for the budget: the record of "
    )
    assert f"{FULL}. Its entry stays open, so it counts for up to 10 minutes" in warning
    assert "sent" not in warning, "as it was"


def test_a_call_that_is_refused_fails_for_what_the_platform_said(
    account: Account, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    guard = guard_of(account, 20)
    fill_disk(monkeypatch, after=1)
    with pytest.raises(Conflict, match="the name is taken"):
        commit(guard, order(), fail(error_for_status("the name is taken", 409)))
    assert [(entry.done, entry.adds) for entry in entries(tmp_path)] == [(False, 6)]
    [warning] = guard.task.warnings
    assert warning.endswith("until the platform shows it, and as added to this run")
    assert warning.startswith("the order of service 'new' failed, but that could not be noted for the budget")
    assert FULL in warning and "counts for up to 10 minutes" in warning


def test_what_lowers_the_rate_does_not_fail_for_a_record_that_is_damaged(
    account: Account, tmp_path: Path
) -> None:
    """Another version may have written it. It is left as it is."""
    guard = guard_of(account, 20)
    commit(guard, order())
    path = record_file(tmp_path)
    path.write_text('{"entries": [{"of": "another version"}], "runs": {}}')
    before, done = path.read_bytes(), list[str]()
    with guard.step(DELETED):
        done.append("deleted")
    assert done == ["deleted"] and path.read_bytes() == before
    [warning] = guard.task.warnings
    assert warning.startswith(
        "the deletion of service 'web' is done, but that could not be noted for the budget: the record of "
    )
    assert "it is damaged. What was committed to it before counts for up to 10 minutes" in warning


def test_what_lowers_the_rate_does_not_fail_while_others_commit(
    account: Account, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    guard = guard_of(account, 20)
    commit(guard, order())
    monkeypatch.setattr(commitment_record, "LOCK_SECONDS", 0.01)
    with CommitmentRecord(str(record_file(tmp_path))).locked(), guard.step(DELETED):
        pass
    assert [entry.name for entry in entries(tmp_path)] == ["new"]
    [warning] = guard.task.warnings
    assert "for the budget: other tasks of this controller have been committing money for 0.01" in warning


def test_whatever_prevents_the_note_the_call_is_done(
    account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of an error that is none of the collection, the text may hold anything."""
    guard = guard_of(account, 20)
    monkeypatch.setattr(account, "whoami", fail(RuntimeError("a token")))
    with guard.step(DELETED):
        pass
    [warning] = guard.task.warnings
    assert "for the budget: RuntimeError. " in warning and "a token" not in warning


def test_a_step_that_fails_fails_for_its_own_reason(account: Account) -> None:
    guard = guard_of(account, 20)
    account.whoami = fail(AssertionError("read"))  # type: ignore[assignment,method-assign]
    with pytest.raises(Conflict), guard.step(DELETED):
        raise error_for_status("no", 409)
    assert guard.task.warnings == []


DATABASE: dict[str, Any] = {
    "name": "db",
    "product": "postgresql",
    "host": "node-paris-1",
    "dimensions": {"cpu_cores": 1, "ram_gb": 1, "storage_gb": 10},
    "return_secrets": True,
}


def kept_files(tmp_path: Path) -> list[str]:
    """Return what is kept of secrets, notes of calls included."""
    return [path.name for path in (tmp_path / "home" / "secrets").rglob("*") if path.is_file()]


def test_an_order_returns_its_secrets_though_its_record_cannot_be_updated(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill_disk(monkeypatch, after=1)
    result = run(sandbox, SERVICE, **DATABASE, budget="1000")
    assert not result.get("failed"), result["msg"]
    assert result["changed"] and result["service"]["id"] == id_of(sandbox, "db")
    assert [secret["value"] for secret in result["secrets"]["secrets"]]
    assert result["cost"]["monthly_change"] not in (None, "0.00")
    assert writes(sandbox).count("order.create") == 1
    assert kept_files(tmp_path) == [], "nothing is lost, so nothing is noted for the next run"
    [entry] = entries(tmp_path)
    assert (entry.name, entry.done) == ("db", False)
    [warning] = [text for text in result["warnings"] if "budget" in text]
    assert warning.startswith("the order of service 'db' is done, but") and FULL in warning


@pytest.mark.parametrize(
    ("state", "route", "action"),
    [("absent", "resources.delete", "delete service"), ("suspended", "resources.suspend", "suspend service")],
)
def test_what_lowers_the_rate_is_changed_though_the_account_cannot_be_read(
    sandbox: Sandbox, state: str, route: str, action: str
) -> None:
    sandbox.clear_journal()
    sandbox.fault("apps.whoami", "status", status=404, count=None)
    result = run(sandbox, SERVICE, name="one", state=state, budget="200")
    assert not result.get("failed"), result["msg"]
    assert result["changed"] and writes(sandbox) == [route]
    assert [text.startswith(action) for text in result["actions"]] == [True]
    [warning] = [text for text in result["warnings"] if "budget" in text]
    assert "of service 'one' (" in warning and "for the budget: the account cannot be read: " in warning
    assert "not sent" not in warning


# --- Which entries belong together --------------------------------------------------------------------


def entry_of(commitment: Commitment, **more: Any) -> Entry:
    """Return the entry of a commitment."""
    return replace(new_entry(commitment, Decimal(1), "run", {}), **more)


GROWTH = Commitment("resize", "it", Decimal(9), id="svc", name="web")
DELETION = Commitment("delete", "it", Decimal(0), id="svc", name="web")


@pytest.mark.parametrize(
    ("commitment", "entry", "ended"),
    [
        (DELETION, entry_of(GROWTH), True),
        (DELETION, entry_of(replace(GROWTH, id="other")), False),
        (DELETION, entry_of(replace(GROWTH, kind="move")), False),
        (DELETION, entry_of(order("other")), False),
        (replace(DELETION, kind="suspend"), entry_of(order("web")), True),
        (replace(GROWTH, shrinks=True), entry_of(order("web")), False),
        (replace(GROWTH, shrinks=True), entry_of(GROWTH), True),
        (replace(DELETION, name=None), entry_of(order("web")), False),
        (DELETION, entry_of(replace(order(), name=None)), False),
    ],
)
def test_what_costs_less_ends_what_was_committed_to_it(
    commitment: Commitment, entry: Entry, ended: bool
) -> None:
    assert ends(commitment, entry) is ended


@pytest.mark.parametrize(
    ("entry", "replaced"),
    [
        (entry_of(GROWTH), True),
        (entry_of(GROWTH, done=True), False),
        (entry_of(replace(GROWTH, kind="resume")), False),
        (entry_of(replace(GROWTH, id="other")), False),
    ],
)
def test_only_an_attempt_without_an_effect_is_replaced(entry: Entry, replaced: bool) -> None:
    assert replaces(GROWTH, entry) is replaced


@pytest.mark.parametrize(
    ("commitment", "projects", "there"),
    [
        (order("WEB"), frozenset(["p1"]), False),
        (order("web", project="p1"), frozenset(["p1"]), True),
        (order("web", project="p2"), frozenset(["p1"]), False),
        (order("web", project="p2"), None, True),
        (order("other"), frozenset(["p1"]), False),
        (replace(order(), name=None), frozenset(["p1"]), False),
        (GROWTH, frozenset(["p1"]), False),
    ],
)
def test_what_a_plan_creates_may_be_there_already(
    commitment: Commitment, projects: frozenset[str] | None, there: bool
) -> None:
    assert may_be_there(commitment, {"svc": Holding("svc", "web", Decimal(1), projects)}) is there


# --- Nothing gets past it ---------------------------------------------------------------------------


def test_a_call_that_no_step_announces_is_a_defect(account: Account) -> None:
    guard = guard_of(account, None)
    with (
        pytest.raises(ValueError, match="has to say what it commits"),
        guard.committing(guard.task.client, r.ORDER),
    ):
        pass
    with pytest.raises(ValueError, match="needs a commitment"):
        Step("order", bool, move=Move("order", Decimal(1)))
    Expansion("later", list, move=Move("suspend", None))


class Silent:
    """A session that gets no answer worth reading."""

    def send(self, *call: Any) -> Any:
        return {}

    def clone(self) -> Silent:
        return self


def test_every_route_that_may_raise_the_rate_asks_for_leave(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[r.Route[Any]] = []

    @contextmanager
    def note(client: Client, route: r.Route[Any]) -> Any:
        asked.append(route)
        yield

    client = Client(Silent())  # type: ignore[arg-type]
    client.on_commit = note
    client = client.clone()
    for route in r.ROUTES.values():
        client.send(route, body={}, id="x", slug="x", name="x", tag="x", period="x", backup_id="x")
    assert asked == [r.APP_CREATE, r.SCALE, r.MOVE, r.RESUME, r.ORDER]


COMMITTING = {"set_scale", "set_project", "resume", "order"}


def test_every_module_that_commits_has_a_budget() -> None:
    methods = {name: method for name, method in vars(Client).items() if inspect.isfunction(method)}
    routes = [f"r.{name}," for name, route in r.ROUTES.items() if route.commits]
    sources = {name: inspect.getsource(method) for name, method in methods.items()}
    calls = {name for name, source in sources.items() if any(route in source for route in routes)}
    assert calls == COMMITTING
    pattern = re.compile(rf"client\.({'|'.join(COMMITTING)})\(|({'|'.join(map(re.escape, routes))})")
    folder = Path(inspect.getfile(BudgetGuard)).parents[1]
    found = {
        str(path.relative_to(folder)) for path in folder.rglob("*.py") if pattern.search(path.read_text())
    }
    assert found == {"app.py", "services/settings.py", "services/order.py", "services/power.py"}
    with_budget = {name for name, each in RESOURCES.items() if issubclass(each.options_type, BudgetOptions)}
    many = {"blueprint", "clone", "fleet", "recover", "relocate"}
    assert with_budget == {"app", "service", "sleep_plan", *many}
