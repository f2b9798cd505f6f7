# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a task says of an order is what was done: no more, and no less."""

from __future__ import annotations

import json
import multiprocessing
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.errors import (
    Interrupted,
    error_for_status,
)
from ansible_collections.hosted.services.plugins.module_utils._resources import service
from ansible_collections.hosted.services.plugins.module_utils._resources.quote import QUOTE
from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE
from ansible_collections.hosted.services.plugins.module_utils._resources.services.order import (
    Ordering,
    check_quote,
    order_fields,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Plan, Task
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.secret_notes import (
    ORDERED as NOTED,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.secret_notes import (
    seconds_since_call,
    subject_of,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import (
    EffectUnverified,
    Invalid,
)
from hosted_sandbox.testing import Sandbox
from unit.plugins.fakes import Clock, FakeClient, carry_out, task_of
from unit.plugins.module_utils._resources.platform import id_of, run, writes

ORDER: dict[str, Any] = {
    "name": "survival",
    "product": "minecraft",
    "host": "node-paris-1",
    "dimensions": {"cpu_cores": 2, "ram_gb": 4, "storage_gb": 20},
}
ORDERED = "order minecraft as service 'survival' for 10.74 EUR a month"


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ANSIBLE_HOME", str(tmp_path / "home"))


def test_a_wrong_family_is_told_with_the_order_that_was_placed(sandbox: Sandbox) -> None:
    result = run(sandbox, SERVICE, **ORDER, family="APP", state="started")
    assert result["failed"] and result["changed"]
    assert writes(sandbox).count("order.create") == 1
    assert result["actions"] == [ORDERED]
    id = id_of(sandbox, "survival")
    assert result["msg"].startswith(
        f"service 'survival' ({id}) was ordered and is billed, but: it has family "
    )
    assert "'GAME', not 'APP'. Set family to 'GAME' in the task to keep it" in result["msg"]


def test_a_setting_that_the_family_does_not_have_is_told_with_the_order(sandbox: Sandbox) -> None:
    """Which family a product has is not shown before it is ordered."""
    result = run(sandbox, SERVICE, **{**ORDER, "product": "bucket"}, public=True)
    assert result["failed"] and result["changed"]
    assert writes(sandbox).count("order.create") == 1
    assert f"({id_of(sandbox, 'survival')}) was ordered and is billed, but: " in result["msg"]
    again = run(sandbox, SERVICE, **{**ORDER, "product": "bucket"}, public=True)
    assert again["failed"] and not again["changed"] and "was ordered" not in again["msg"]
    assert writes(sandbox).count("order.create") == 1


def test_only_what_was_carried_out_after_an_order_is_among_the_actions(sandbox: Sandbox) -> None:
    result = run(sandbox, SERVICE, **ORDER, state="suspended")
    id = id_of(sandbox, "survival")
    assert result["actions"] == [ORDERED, f"suspend service 'survival' ({id})"]
    assert writes(sandbox)[-1] == "resources.suspend"


def test_a_service_that_is_still_being_created_was_only_ordered(sandbox: Sandbox) -> None:
    sandbox.reset(seed={"services": []}, delays={"provision": 30})
    result = run(sandbox, SERVICE, **ORDER, state="suspended", wait=False)
    assert writes(sandbox)[-1] == "order.create"
    assert result["actions"] == [ORDERED]
    assert "its settings and state were not set" in result["warnings"][0]


def lost(client: FakeClient, appears: str | None, placed: bool) -> None:
    """Lose the answer to an order, while somebody else orders a service of another name."""

    def lose() -> None:
        if appears is not None:
            client.add_service("svc_other", appears)
        raise Interrupted("lost")

    (client.after if placed else client.before)["order"] = lose


def account_with_namesake() -> FakeClient:
    """Return an account with a service of the name in another project."""
    client = FakeClient()
    client.add_project("prj_games", "games")
    client.add_service("svc_old", "survival")
    return client


def ordered(client: FakeClient) -> Any:
    """Order another service of the name."""
    given = {**ORDER, "product": "nginx", "host": "nd_1", "project": "games"}
    return carry_out(SERVICE.plan(task_of(SERVICE, client, **given, allow_duplicate_name=True)))


@pytest.mark.parametrize("appears", ["another", None])
def test_a_lost_order_is_not_taken_for_done_by_what_else_appears(
    monkeypatch: pytest.MonkeyPatch, appears: str | None
) -> None:
    """Nor by a service of the name that was there before: each would be taken for what was bought."""
    Clock(monkeypatch)
    client = account_with_namesake()
    lost(client, appears, placed=False)
    with pytest.raises(EffectUnverified, match="whether service 'survival' was created is unknown"):
        ordered(client)
    assert [call[0] for call in client.calls] == ["order"]


@pytest.mark.parametrize(
    "foreign", [{}, {"projectId": "prj_games", "product": {"slug": "postgresql"}}], ids=["project", "product"]
)
def test_a_lost_order_is_not_taken_for_one_of_somebody_else(
    monkeypatch: pytest.MonkeyPatch, foreign: dict[str, Any]
) -> None:
    """A service of the name that another run orders at the same moment, for itself; nothing touches it."""
    Clock(monkeypatch)
    client = account_with_namesake()

    def lose() -> None:
        client.add_service("svc_foreign", "survival", **foreign)
        raise Interrupted("lost")

    client.before["order"] = lose
    with pytest.raises(EffectUnverified, match="whether service 'survival' was created is unknown"):
        ordered(client)
    assert [call[0] for call in client.calls] == ["order"]


def test_what_others_order_is_not_to_be_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The task names services that it may have ordered twice, not those of another project."""
    Clock(monkeypatch)
    client = account_with_namesake()

    def add() -> None:
        client.add_service("svc_foreign", "survival")

    client.after["order"] = add
    given = {**ORDER, "product": "nginx", "host": "nd_1", "project": "games"}
    task = task_of(SERVICE, client, **given, allow_duplicate_name=True)
    assert carry_out(SERVICE.plan(task))["id"] == "svc_2"
    assert "namesakes" not in task.effects.facts and "svc_foreign" not in str(task.warnings)


def test_a_lost_order_is_known_by_its_new_service(monkeypatch: pytest.MonkeyPatch) -> None:
    Clock(monkeypatch)
    client = account_with_namesake()
    lost(client, "another", placed=True)
    assert ordered(client)["id"] == "svc_2"
    assert [call[0] for call in client.calls] == ["order"]


def test_check_mode_names_the_state_that_follows_the_order(sandbox: Sandbox) -> None:
    result = run(sandbox, SERVICE, check_mode=True, **ORDER, state="suspended")
    assert result["actions"] == [ORDERED, "set state: suspended for service 'survival'"]
    assert set(writes(sandbox)) <= {"order.quote"}


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_tasks_side_by_side_order_a_name_once(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    let_both_plan(monkeypatch)
    url = sandbox.base_url.replace("127.0.0.1", host)
    tasks: list[dict[str, Any]] = [ORDER, {**ORDER, "base_url": url}]
    with ThreadPoolExecutor() as threads:
        results = list(threads.map(lambda given: run(sandbox, SERVICE, **given), tasks))
    assert writes(sandbox).count("order.create") == 1
    assert not any(result.get("failed") for result in results)


def let_both_plan(monkeypatch: pytest.MonkeyPatch, tasks: int = 2) -> None:
    """Let each of several tasks go on once all have looked at the platform."""
    all_have_planned = Barrier(tasks, timeout=300)

    def planned(*given: Any) -> Any:
        all_have_planned.wait()
        return check_quote(*given)

    monkeypatch.setattr(service, "check_quote", planned)


def together(sandbox: Sandbox, tasks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Run tasks in parallel."""
    with ThreadPoolExecutor(len(tasks)) as threads:
        return list(threads.map(lambda given: run(sandbox, SERVICE, **given), tasks))


@pytest.mark.parametrize("project", [None, "games"])
def test_only_the_task_that_ordered_says_so(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, project: str | None
) -> None:
    sandbox.api("POST", "/api/projects", {"name": "games"})
    let_both_plan(monkeypatch)
    results = together(sandbox, [{**ORDER, "project": project}] * 2)
    assert len(sandbox.ledger()["orders"]) == 1
    first, second = sorted(results, key=lambda result: -len(result["actions"]))
    assert first["changed"] and first["actions"] == [ORDERED] and first["cost"]["monthly_after"]
    assert not second.get("failed") and not second["changed"], second
    assert second["actions"] == [] and "cost" not in second
    assert second["diff"]["before"] == second["diff"]["after"] and "survival" in second["diff"]["before"]
    assert second["service"] == first["service"] and second["service_id"] == first["service"]["id"]
    assert any("appeared before it was ordered; it is used instead" in text for text in second["warnings"])


def test_a_service_that_is_named_by_id_has_to_be_there(sandbox: Sandbox) -> None:
    result = run(sandbox, SERVICE, id="no-such-id", state="started")
    assert result["failed"] and "there is no service of id 'no-such-id'" in result["msg"]
    assert writes(sandbox) == []


def test_a_task_that_uses_what_another_ordered_says_what_it_changed(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    body: dict[str, Any] = {"name": "survival", "productSlug": "minecraft", "hostId": "node-paris-1"}
    body["dimensions"] = {"cpuCores": 2, "ramGb": 4, "storageGb": 20}

    def planned(*given: Any) -> Any:
        assert sandbox.api("POST", "/api/order", body).ok
        return check_quote(*given)

    monkeypatch.setattr(service, "check_quote", planned)
    result = run(sandbox, SERVICE, **ORDER, state="suspended")
    assert not result.get("failed") and result["changed"]
    assert result["actions"] == [f"suspend service 'survival' ({id_of(sandbox, 'survival')})"]
    assert result["cost"]["monthly_before"] == "10.74"
    assert "ACTIVE" in result["diff"]["before"] and "SUSPENDED" in result["diff"]["after"]
    assert writes(sandbox) == ["order.quote", "order.create", "resources.suspend"]


# --- Secrets that are only returned ------------------------------------------------------------------------

DATABASE: dict[str, Any] = {
    "name": "db",
    "product": "postgresql",
    "host": "node-paris-1",
    "dimensions": {"cpu_cores": 1, "ram_gb": 1, "storage_gb": 10},
    "return_secrets": True,
}


def secrets_on_disk(folder: Path) -> list[str]:
    return [path.read_text() for path in folder.rglob("*.json") if "value" in path.read_text()]


@pytest.mark.parametrize("end", [KeyboardInterrupt, SystemExit])
def test_a_run_that_is_stopped_leaves_the_secrets_that_it_was_to_return(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, end: type[BaseException]
) -> None:
    def stop(*given: Any) -> Any:
        raise end

    with monkeypatch.context() as stopped:
        stopped.setattr(service, "follow_up", stop)
        with pytest.raises(end):
            run(sandbox, SERVICE, **DATABASE)
    [order] = [line for line in sandbox.journal() if line["route"] == "order.create"]
    [kept] = secrets_on_disk(tmp_path / "home")
    assert [secret["value"] for secret in json.loads(kept)["secrets"]] == [
        secret["value"] for secret in order["answer"]["secrets"]
    ]
    result = run(sandbox, SERVICE, **DATABASE)
    [warning] = [text for text in result["warnings"] if "generated on" in text]
    assert json.loads(Path(warning.split(" is in ")[1].split(": ")[0]).read_text()) == json.loads(kept)


@pytest.mark.parametrize("fails", [False, True])
def test_what_was_returned_does_not_stay_on_disk(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, fails: bool
) -> None:
    if fails:
        sandbox.fault("resources.get", "status", status=400, count=None)
    result = run(sandbox, SERVICE, **DATABASE)
    assert result.get("failed", False) == fails
    assert result["secrets"]["secrets"]
    assert secrets_on_disk(tmp_path / "home") == []
    sandbox.clear_faults()
    assert not any("generated on" in text for text in run(sandbox, SERVICE, **DATABASE).get("warnings", []))


@pytest.mark.parametrize(
    ("given", "lacks"),
    [
        ({"product": None}, "product"),
        ({"host": None}, "host"),
        ({"product": None, "host": None}, "product and host"),
        ({"host": None, "dimensions": None}, "host, and dimensions or preset"),
        ({"product": None, "host": None, "dimensions": None}, "product, host, and dimensions or preset"),
        ({"dimensions": None}, "dimensions or preset"),
        (
            {"dimensions": {"cpu_cores": 2, "ram_gb": 4, "storage_gb": None}},
            "dimensions (cpu_cores, ram_gb and storage_gb) or preset",
        ),
        ({"dimensions": None, "preset": "small"}, None),
        ({}, None),
    ],
)
def test_what_an_order_lacks_is_named(given: dict[str, Any], lacks: str | None) -> None:
    client = FakeClient()
    wish = {**ORDER, **given}
    if lacks is None:
        assert SERVICE.plan(task_of(SERVICE, client, **wish)).changed
        return
    with pytest.raises(Invalid) as error:
        SERVICE.plan(task_of(SERVICE, client, **wish))
    assert error.value.message.endswith(f"To order it, also set {lacks}")


def test_what_is_ordered_is_what_was_quoted() -> None:
    client = FakeClient()
    choice = {"option": "opt_1", "choice": "ch_2"}
    given = {**ORDER, "product": "nginx", "host": "nd_1", "variables": {"A": "1"}, "options": [choice]}
    carry_out(SERVICE.plan(task_of(SERVICE, client, **given)))
    quoted = {
        "productSlug": "nginx",
        "hostId": "nd_1",
        "dimensions": {"cpuCores": 2, "ramGb": 4, "storageGb": 20},
        "variables": {"A": "1"},
        "options": [{"optionId": "opt_1", "choiceId": "ch_2"}],
    }
    assert client.quoted == quoted
    assert client.calls == [("order", {**quoted, "name": "survival"})]


def test_an_order_holds_nothing_that_was_not_asked_for() -> None:
    client = FakeClient()
    SERVICE.plan(task_of(SERVICE, client, **ORDER, options=[]))
    assert client.quoted.keys() == {"productSlug", "hostId", "dimensions"}


def test_a_service_without_a_name_cannot_be_ordered() -> None:
    with pytest.raises(Invalid, match="to order a service, give its name"):
        order_fields(task_of(SERVICE, FakeClient(), **{**ORDER, "name": None}))


@pytest.mark.parametrize(("length", "fine"), [(80, True), (81, False)])
def test_a_name_has_at_most_eighty_characters(length: int, fine: bool) -> None:
    wish = {**ORDER, "name": "x" * length}
    if fine:
        assert SERVICE.plan(task_of(SERVICE, FakeClient(), **wish)).changed
        return
    with pytest.raises(Invalid, match="has 81 characters; at most 80"):
        SERVICE.plan(task_of(SERVICE, FakeClient(), **wish))


# --- What is refused before the order, and said of it ------------------------------------------------------


def test_an_unknown_product_or_node_is_told_with_what_the_account_shows(sandbox: Sandbox) -> None:
    sandbox.seed({"services": [{"name": "old", "product": "minecraft"}]})
    wish = {**ORDER, "product": "minecrft", "host": "Paris 1"}
    said = run(sandbox, SERVICE, **wish)["msg"]
    assert "No service of this account has product 'minecrft'; did you mean 'minecraft'?" in said
    assert "has host 'Paris 1'; 'Paris 1' is the name of 'node-paris-1'" in said
    assert "base_url" not in said and not run(sandbox, SERVICE, **ORDER).get("failed")


WISH: dict[str, Any] = {**ORDER, "product": "nginx", "host": "nd_1"}


def planned(client: FakeClient, check_mode: bool = False, **given: Any) -> tuple[Plan, Task[Any]]:
    task = task_of(SERVICE, client, check_mode, **{**WISH, **given})
    return SERVICE.plan(task), task


def is_known_to_be_done(task: Task[Any]) -> bool:
    """Tell whether no note is left of the order: the next one waits for what may still come of it."""
    return seconds_since_call(task, subject_of(NOTED, "survival")) == float("inf")


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ({"family": "BUCKET", "public": True}, "public"),
        ({"family": "COMPUTE", "command": "run"}, "command"),
        ({"family": "COMPUTE", "command": "", "public": False}, "public and command"),
        ({"family": "BUCKET"}, None),
        ({"family": "APP", "public": True, "command": "run"}, None),
        ({"public": True}, None),
    ],
)
def test_a_family_without_settings_is_not_ordered_with_some(
    given: dict[str, Any], refused: str | None
) -> None:
    client = FakeClient()
    if refused is None:
        assert planned(client, **given)[0].changed
        return
    with pytest.raises(Invalid, match=f"^{refused} cannot be set on a {given['family']} service; .*ordered$"):
        planned(client, **given)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "there is no service named 'survival'. To order it"),
        ({"project": "games"}, "there is no service named 'survival' in project 'games', but "),
        ({"family": "GAME"}, "there is no service named 'survival' of family GAME, but "),
        ({"name": "survivla"}, "there is no service named 'survivla'; did you mean 'survival'?"),
    ],
)
def test_what_is_there_instead_of_a_service_to_order_is_told(given: dict[str, Any], said: str) -> None:
    client = FakeClient()
    client.add_project("prj_games", "games")
    if given:
        client.add_service("svc_1", "survival")
    with pytest.raises(Invalid) as error:
        planned(client, product=None, **given)
    assert error.value.message.startswith(said)
    assert ("svc_1" in error.value.message) is ("but" in said)


@pytest.mark.parametrize(("most", "fine"), [("1.06", True), ("1.05", False), (None, True)])
def test_an_order_keeps_to_the_limit(most: str | None, fine: bool) -> None:
    client = FakeClient()
    if fine:
        assert planned(client, max_monthly=most)[0].changed
    else:
        with pytest.raises(Invalid, match=r"would cost 1.06 a month, over max_monthly 1.05"):
            planned(client, max_monthly=most)
    client.quote_answer["monthlyMillicents"] = None
    if most is None:
        assert planned(client)[0].changed
        return
    with pytest.raises(Invalid, match="the price of service 'survival' is not known"):
        planned(client, max_monthly=most)


@pytest.mark.parametrize(("balance", "least"), [(100, 250), (None, None)])
def test_a_balance_that_does_not_cover_the_first_day_orders_nothing(
    balance: int | None, least: int | None
) -> None:
    client = FakeClient()
    client.quote_answer.update(coversFirstDay=False, balanceCents=balance, minBalanceCents=least)
    with pytest.raises(Invalid, match="does not cover the first day of service 'survival'") as error:
        planned(client)
    amounts = {"balance": balance and "1.00", "min_balance": least and "2.50"}
    assert {name: error.value.details[name] for name in amounts} == amounts


def test_a_cost_has_the_lines_of_its_quote() -> None:
    client = FakeClient()
    client.quote_answer["lines"] = [
        {"label": "vCPU", "detail": "2", "monthlyCents": 60},
        {"label": "support", "detail": "free", "monthlyCents": None},
    ]
    cost = planned(client)[0].cost
    assert cost is not None
    assert cost.as_dict() == {
        "monthly_before": "0.00",
        "monthly_after": "1.06",
        "monthly_change": "1.06",
        "lines": [
            {"label": "vCPU", "detail": "2", "monthly": "0.60"},
            {"label": "support", "detail": "free", "monthly": None},
        ],
        "currency": None,
        "moves": [],
        "service": "survival",
        "service_id": None,
        "project": None,
        "balance": None,
        "min_balance": None,
        "days_covered": None,
    }


@pytest.mark.parametrize(
    ("given", "told"), [({}, None), ({"project": "prj_1"}, "shop"), ({"project": "later"}, "later")]
)
def test_a_cost_names_the_project_of_the_order(given: dict[str, Any], told: str | None) -> None:
    """By its name, whichever way the task does, and though an earlier task of the run is to create it."""
    client = FakeClient()
    client.add_project("prj_1", "shop")
    cost = planned(client, check_mode=True, **given)[0].cost
    assert cost is not None
    assert cost.as_dict()["project"] == told


@pytest.mark.parametrize("before", [True, False])
def test_nothing_is_ordered_for_a_run_that_was_killed(before: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither if it was killed before the task planned anything, nor if that was later."""
    client = FakeClient()
    parent = SimpleNamespace(pid=os.getppid())
    monkeypatch.setattr(multiprocessing, "parent_process", lambda: parent)
    if before:
        monkeypatch.setattr(os, "getppid", lambda: 1)
    plan, _task = planned(client)
    monkeypatch.setattr(os, "getppid", lambda: 1)
    with pytest.raises(Invalid, match="the run was killed before service 'survival' was ordered"):
        carry_out(plan)
    assert client.calls == []


@pytest.mark.parametrize("check_mode", [True, False])
def test_nothing_is_ordered_where_its_secrets_could_not_be_kept(tmp_path: Path, check_mode: bool) -> None:
    client = FakeClient()
    (tmp_path / "file").touch()
    with pytest.raises(Invalid, match="is no directory that can be written to"):
        planned(client, check_mode, secrets_dest=str(tmp_path / "file" / "secrets.json"))
    assert client.calls == []


# --- What comes back from an order -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("billed", "most", "said"),
    [
        (1060, "2", None),
        (None, "2", None),
        (2000, "2", "is billed 2.00 a month, not 1.06 as announced. It is ordered"),
        (2010, "2", "is billed 2.01 a month, not 1.06 as announced, over max_monthly 2.00. It is ordered"),
        (2010, None, "is billed 2.01 a month, not 1.06 as announced. It is ordered"),
    ],
)
def test_another_price_than_quoted_is_told_and_is_the_cost(
    billed: int | None, most: str | None, said: str | None
) -> None:
    client = FakeClient()
    client.order_answer = {"monthlyMillicents": billed, "secrets": []}
    plan, task = planned(client, max_monthly=most)
    task.warnings.clear()
    carry_out(plan)
    assert [said is not None and said in warning for warning in task.warnings] == [True] * (said is not None)
    after = task.effects.billed and task.effects.billed.as_dict()["monthly_after"]
    assert after == (None if said is None or billed is None else f"{billed / 1000:.2f}")


def test_a_price_that_was_not_quoted_is_not_compared() -> None:
    client = FakeClient()
    client.quote_answer["monthlyMillicents"] = None
    client.order_answer = {"monthlyMillicents": 2060, "secrets": []}
    plan, task = planned(client)
    carry_out(plan)
    assert not any("is billed" in warning for warning in task.warnings)


def test_others_that_were_ordered_in_the_same_moment_are_told() -> None:
    """Each is billed. Another run may have ordered them, past the lock of this controller."""
    client = FakeClient()

    def order_too() -> None:
        client.add_service("svc_other", "survival")

    client.after["order"] = order_too
    plan, task = planned(client)
    assert carry_out(plan)["id"] == "svc_1"
    assert task.effects.facts["namesakes"] == ["svc_other"]
    assert any("besides service 'survival' (svc_1), others of that name" in w for w in task.warnings)


class Reads(FakeClient):
    """Notes which services were read, and lets some of them, or the list, be unreadable after the order."""

    def __init__(self, unreadable: str = "", listed: bool = True) -> None:
        super().__init__()
        self.reads: list[Any] = []
        self.unreadable = unreadable
        self.listed = listed

    def service(self, id: str) -> Any:
        self.reads.append(id)
        return None if id == self.unreadable else super().service(id)

    def services(self) -> Any:
        if self.calls and not self.listed:
            raise error_for_status("not now", 403)
        return super().services()


def placed(client: FakeClient) -> tuple[str, Task[Any]]:
    """Plan an order and place it; return the id that it is known by."""
    task = task_of(SERVICE, client, **WISH)
    ordering = Ordering(task, None)
    return ordering.place(), task


@pytest.mark.parametrize("readable", [True, False])
def test_the_id_of_the_answer_holds_where_the_list_cannot_be_read(readable: bool) -> None:
    """The order is placed; a look that fails is no reason to fail."""
    client = Reads("" if readable else "svc_1", listed=False)
    assert placed(client)[0] == "svc_1"
    assert [call[0] for call in client.calls] == ["order"]


def test_an_id_that_the_list_does_not_show_is_an_error_with_what_came_up() -> None:
    client = FakeClient()
    client.order_answer = {"instanceId": "ord_7"}
    with pytest.raises(EffectUnverified, match="does not show the id of the response, ord_7; svc_1 came up"):
        placed(client)
    assert [call[0] for call in client.calls] == ["order"]


@pytest.mark.parametrize("lost_answer", [False, True])
def test_the_next_order_of_the_name_does_not_wait_for_one_that_is_done(
    monkeypatch: pytest.MonkeyPatch, lost_answer: bool
) -> None:
    Clock(monkeypatch)
    client = FakeClient()
    if lost_answer:
        lost(client, None, placed=True)
    _id, task = placed(client)
    assert is_known_to_be_done(task)
    assert any("were in the lost response and are lost too" in w for w in task.warnings) is lost_answer


def test_secrets_are_kept_under_the_id_of_the_order() -> None:
    client = FakeClient()
    secrets = [{"label": "password", "value": "hunter2"}, {"label": None, "value": "hunter3"}]
    client.order_answer = {"secrets": secrets}
    id, task = placed(client)
    path = Path(task.effects.facts["secrets_file"])
    assert path.name == "svc_1.json" and len([*path.parent.glob("*.json*")]) == 1
    content = json.loads(path.read_text())
    assert (content["service_id"], content["name"]) == (id, "survival")
    assert [secret["value"] for secret in content["secrets"]] == ["hunter2", "hunter3"]
    (warning,) = (text for text in task.warnings if "can be read only once" in text)
    assert "the secrets of service 'survival' (password, without a label)" in warning
    assert "hunter" not in warning
    assert is_known_to_be_done(task)


def test_a_service_that_appeared_since_the_plan_is_taken_instead_of_ordered() -> None:
    client = FakeClient()
    plan, task = planned(client)
    client.add_service("svc_other", "survival")
    carry_out(plan)
    assert client.calls == [] and task.effects.facts["service_id"] == "svc_other"
    assert any("appeared before it was ordered; it is used instead" in w for w in task.warnings)


def test_only_the_order_names_the_project(sandbox: Sandbox) -> None:
    web = next(each["id"] for each in sandbox.api("GET", "/api/projects").json() if each["name"] == "web")
    sandbox.clear_journal()
    facts = {name: value for name, value in ORDER.items() if name not in ("name", "state")}
    priced = run(sandbox, QUOTE, **facts, project="web")
    assert not priced.get("failed") and writes(sandbox) == ["order.quote"]
    result = run(sandbox, SERVICE, **{**ORDER, "project": "web"}, state="started")
    assert result["changed"] and result["service"]["project_id"] == web
    (placed,) = sandbox.journal("order.create")
    assert placed["body"]["projectId"] == web
    assert [line["status"] for line in sandbox.journal("order.quote")] == [200, 200]
