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
)
from ansible_collections.hosted.services.plugins.module_utils._resources import service
from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE
from ansible_collections.hosted.services.plugins.module_utils._resources.services.order import (
    Ordering,
    check_quote,
    quote_of,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared import journal
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Plan, Task
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
WISH: dict[str, Any] = {**ORDER, "product": "nginx", "host": "nd_1"}
"""The same order on the account in memory."""
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


def planned(client: FakeClient, **given: Any) -> tuple[Plan, Task[Any]]:
    task = task_of(SERVICE, client, **{**WISH, **given})
    return SERVICE.plan(task), task


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


def ordered(client: FakeClient) -> tuple[str, Task[Any]]:
    """Order another service of the name; return its id, and the task."""
    plan, task = planned(client, project="games", allow_duplicate_name=True)
    return str(carry_out(plan)["id"]), task


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


def test_a_lost_order_is_known_by_its_new_service(monkeypatch: pytest.MonkeyPatch) -> None:
    Clock(monkeypatch)
    client = account_with_namesake()
    lost(client, "another", placed=True)
    assert ordered(client)[0] == "svc_2"
    assert [call[0] for call in client.calls] == ["order"]


def let_both_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each of two tasks go on once both have looked at the platform."""
    both_have_planned = Barrier(2, timeout=300)

    def wait(*given: Any) -> Any:
        both_have_planned.wait()
        return check_quote(*given)

    monkeypatch.setattr(service, "check_quote", wait)


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


# --- Secrets that are only returned ------------------------------------------------------------------------


# --- A run that was killed -------------------------------------------------------------------------------


def is_known_to_be_done(task: Task[Any]) -> bool:
    """Tell whether the next order of the name need not wait for what may still come of this one."""
    shown = {service.id for service in task.account.services()}
    orders = journal.opened(task.options.base_url, "service:survival").values()
    return shown.issuperset(each.id for each in orders)


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


def placed(client: FakeClient) -> tuple[str | None, Task[Any]]:
    """Plan an order and place it; return the id that it is known by."""
    task = task_of(SERVICE, client, **WISH)
    ordering = Ordering(task, None)
    ordering.body, __ = quote_of(task.account, task.options)
    ordering.place()
    return ordering.id, task


def test_an_id_that_the_list_does_not_show_is_an_error_with_what_came_up() -> None:
    client = FakeClient()
    client.order_answer = {"instanceId": "ord_7"}
    with pytest.raises(EffectUnverified, match="does not show the id of the response, ord_7; svc_1 came up"):
        placed(client)
    assert [call[0] for call in client.calls] == ["order"]
    assert not is_known_to_be_done(task_of(SERVICE, client, **WISH)), "the next one waits for it"


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
