# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is announced is what is billed in the end, or the task says that it is not."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.models import Scale, Service
from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE
from ansible_collections.hosted.services.plugins.module_utils._resources.services import rates
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.budget import Commitment
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.money import Cost
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Plan, Task
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from hosted_sandbox.testing import Sandbox
from integration.proxy_server import ProxyServer, running
from unit.plugins.fakes import Clock, FakeClient, carry_out, task_of
from unit.plugins.module_utils._resources.platform import run, writes

RATES = {"monthlyMillicents": 1060, "storageMonthlyMillicents": 60, "billedMonthlyMillicents": 1060}
"""Of 2 vCPU, 4 GB and 20 GB at the rates of the fake node, which are 300, 100 and 3."""


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    monkeypatch.setenv("ANSIBLE_HOME", str(tmp_path / "home"))
    if "sandbox" not in request.fixturenames:
        Clock(monkeypatch)


@pytest.fixture
def client() -> FakeClient:
    client = FakeClient()
    client.add_service("s", pricing=RATES)
    return client


def planned(client: FakeClient, **given: Any) -> tuple[Plan, Task]:
    task = task_of(SERVICE, client, id="s", **given)
    return SERVICE.plan(task), task


def cost_of(plan: Plan) -> tuple[Any, Any]:
    assert plan.cost is not None
    amounts = plan.cost.as_dict()
    return amounts["monthly_before"], amounts["monthly_after"]


# --- A new size of what is suspended in the same task -----------------------------------------------------


@pytest.mark.parametrize(("disk", "after", "storage"), [(20, "0.06", 60), (40, "0.12", 120)])
def test_a_new_size_that_is_suspended_costs_its_storage(
    client: FakeClient, disk: int, after: str, storage: int
) -> None:
    plan, task = planned(client, dimensions={"ram_gb": 8, "storage_gb": disk}, state="suspended")
    assert cost_of(plan) == ("1.06", after)
    assert isinstance(plan.after, dict)
    assert plan.after["monthly"] == Decimal(after)
    assert plan.result["pricing"]["billed_monthly_millicents"] == storage
    assert plan.result["pricing"]["storage_monthly_millicents"] == storage
    assert carry_out(plan)["pricing"]["billed_monthly_millicents"] == storage
    assert task.warnings == []


@pytest.mark.parametrize("stored", [70, None], ids=["not by the rate of the node", "not told"])
def test_a_storage_rate_that_the_node_does_not_explain_is_not_forecast(
    client: FakeClient, stored: int | None
) -> None:
    client.add_service("s", pricing={**RATES, "storageMonthlyMillicents": stored})
    plan, task = planned(client, dimensions={"storage_gb": 40}, state="suspended")
    assert cost_of(plan) == ("1.06", None)
    assert plan.result["pricing"]["billed_monthly_millicents"] is None
    assert plan.result["pricing"]["storage_monthly_millicents"] is None
    assert isinstance(plan.after, dict)
    assert plan.after["monthly"] is None
    carry_out(plan)
    assert task.warnings == [], "nothing was announced that could be wrong"


@pytest.mark.parametrize(("options", "after"), [(0, "1.46"), (500, "1.96"), (None, "1.46")])
def test_a_new_size_pays_the_options_as_before(client: FakeClient, options: int | None, after: str) -> None:
    """Else the budget would be kept for a sum that is too small."""
    client.add_service("s", pricing={**RATES, "monthlyMillicents": 1060 + (options or 0)})
    client.setting_records["s"]["scale"]["optionsMillicents"] = options
    plan, _task = planned(client, dimensions={"ram_gb": 8})
    assert cost_of(plan)[1] == after
    with pytest.raises(Invalid, match=f"would cost {after} a month, over max_monthly"):
        planned(client, dimensions={"ram_gb": 8}, max_monthly="1.45")


# --- What check mode expects --------------------------------------------------------------------------------

WISHES: list[tuple[str, dict[str, Any]]] = [
    ("ACTIVE", {"dimensions": {"ram_gb": 8}}),
    ("ACTIVE", {"dimensions": {"ram_gb": 8}, "state": "suspended"}),
    ("ACTIVE", {"state": "suspended"}),
    ("SUSPENDED", {"state": "resumed"}),
    ("SUSPENDED", {"state": "started"}),
    ("SUSPENDED", {"state": "resumed", "dimensions": {"ram_gb": 8}}),
    ("SUSPENDED", {"state": "started", "preset": "preset-large"}),
]
RATE_NAMES = ("monthly_millicents", "storage_monthly_millicents", "billed_monthly_millicents")


@pytest.mark.parametrize(("status", "wish"), WISHES, ids=str)
def test_check_mode_expects_the_rates_that_come(sandbox: Sandbox, status: str, wish: dict[str, Any]) -> None:
    """The forecast, the announced cost, the result and what is billed are the same sum."""
    if status == "SUSPENDED":
        run(sandbox, SERVICE, name="one", state="suspended")
    expected = run(sandbox, SERVICE, check_mode=True, name="one", **wish)
    result = run(sandbox, SERVICE, name="one", **wish)
    assert not result.get("failed"), result
    assert result["cost"] == expected["cost"]
    assert result.get("warnings") == expected.get("warnings")
    pricing, forecast = result["service"]["pricing"], expected["service"]["pricing"]
    assert {name: forecast[name] for name in RATE_NAMES} == {name: pricing[name] for name in RATE_NAMES}
    assert f"{pricing['billed_monthly_millicents'] / 1000:.2f}" == result["cost"]["monthly_after"]
    for name in ("monthly_cents", "min_balance_cents", "hourly_label"):
        assert forecast[name] in (pricing[name], None)


# --- What is billed is compared with what was announced --------------------------------------------------


def bill(client: FakeClient, millicents: int | None) -> None:
    client.service_records["s"]["pricing"]["billedMonthlyMillicents"] = millicents


@pytest.mark.parametrize(
    ("call", "status", "wish", "announced"),
    [
        ("suspend", "ACTIVE", {"state": "suspended"}, "0.06"),
        ("resume", "SUSPENDED", {"state": "resumed"}, "1.06"),
        ("set_scale", "ACTIVE", {"dimensions": {"cpu_cores": 4}}, "1.66"),
    ],
)
def test_another_rate_than_announced_is_told_once(
    client: FakeClient, call: str, status: str, wish: dict[str, Any], announced: str
) -> None:
    billed = 1060 if status == "ACTIVE" else 60
    client.add_service("s", status=status, pricing={**RATES, "billedMonthlyMillicents": billed})
    client.after[call] = lambda: bill(client, 9990)
    plan, task = planned(client, **wish)
    task.warnings.clear()
    carry_out(plan)
    (warning,) = task.warnings
    assert f"is billed 9.99 a month, not {announced} as announced" in warning
    assert "max_monthly" not in warning
    assert task.effects.billed is not None
    assert task.effects.billed.as_dict()["monthly_after"] == "9.99"


def test_another_rate_over_the_limit_says_so(client: FakeClient) -> None:
    client.after["set_scale"] = lambda: bill(client, 9990)
    plan, task = planned(client, dimensions={"cpu_cores": 4}, max_monthly="2")
    carry_out(plan)
    (warning,) = task.warnings
    assert "is billed 9.99 a month, not 1.66 as announced, over max_monthly 2.00" in warning


@pytest.mark.parametrize("how", ["not told", "not suspended yet"])
def test_what_cannot_be_compared_is_not(client: FakeClient, how: str) -> None:
    def show() -> None:
        if how == "not told":
            bill(client, None)
        else:
            client.service_records["s"]["status"] = "ACTIVE"
            bill(client, 1060)

    client.after["suspend"] = show
    plan, task = planned(client, state="suspended", wait=False)
    carry_out(plan)
    assert task.warnings == []
    assert task.effects.billed is None


# --- Rates that do not add up ---------------------------------------------------------------------------


def test_rates_that_do_not_make_up_the_total_of_now_give_no_price(client: FakeClient) -> None:
    """There may be a discount or a minimum price, which the platform does not show."""
    client.setting_records["s"]["scale"]["monthlyMillicents"] = 1060
    assert cost_of(planned(client, dimensions={"ram_gb": 8})[0]) == ("1.06", "1.46")
    client.setting_records["s"]["scale"]["monthlyMillicents"] = 2060
    assert cost_of(planned(client, dimensions={"ram_gb": 8})[0]) == ("1.06", None)
    with pytest.raises(Invalid, match=r"the price of the new size .* is not known, so max_monthly"):
        planned(client, dimensions={"ram_gb": 8}, max_monthly="5")


RISEN = {"cpuMillicentsPerMonth": 600, "ramMillicentsPerGbMonth": 200, "monthlyMillicents": 1060}
"""Rates of the node that are higher today than when the service was ordered: 2.06 for its size."""
SMALLER = {"dimensions": {"ram_gb": 3}}


def budgeted(plan: Plan) -> Commitment:
    (commitment,) = [step.commitment for step in plan.steps if step.commitment is not None]
    return commitment


@pytest.mark.parametrize(
    ("scale", "monthly"),
    [
        (RISEN, "1.86"),
        ({**RISEN, "ramMillicentsPerGbMonth": None}, None),
        ({"monthlyMillicents": 5060}, None),
    ],
    ids=["dearer", "not told", "cheaper"],
)
def test_a_smaller_size_is_budgeted_at_the_rates_of_the_node(
    client: FakeClient, scale: dict[str, Any], monthly: str | None
) -> None:
    """Its price is not known, and these may be what it comes to (Settings, rule 4)."""
    client.setting_records["s"]["scale"].update(scale)
    plan, _task = planned(client, **SMALLER)
    assert cost_of(plan) == ("1.06", None), "there may be a discount, so nothing is announced"
    commitment = budgeted(plan)
    assert commitment.monthly == (None if monthly is None else Decimal(monthly))
    assert commitment.lowers is (monthly is None)


def test_a_larger_size_without_a_price_is_not_budgeted_at_the_rates_of_the_node(client: FakeClient) -> None:
    """There may be a surcharge on top of them."""
    client.setting_records["s"]["scale"].update(RISEN)
    assert budgeted(planned(client, dimensions={"ram_gb": 8})[0]).monthly is None


@pytest.mark.parametrize("billed", [1860, 1060, 960, None])
def test_a_rate_that_rose_and_was_not_announced_is_told(client: FakeClient, billed: int | None) -> None:
    client.setting_records["s"]["scale"].update(RISEN)
    client.after["set_scale"] = lambda: bill(client, billed)
    plan, task = planned(client, **SMALLER)
    carry_out(plan)
    if billed != 1860:
        assert task.warnings == [] and task.effects.billed is None
        return
    (warning,) = task.warnings
    assert "is billed 1.86 a month, and 1.06 before; its price was not known" in warning
    assert task.effects.billed is not None
    assert task.effects.billed.as_dict()["monthly_after"] == "1.86"


def test_a_budget_holds_for_a_smaller_size_that_costs_more(sandbox: Sandbox) -> None:
    """The service was ordered when the rates of its node were lower."""
    sandbox.reset(delays={"provision": 0, "start": 0})
    sandbox.seed({"services": [{"name": "one", "product": "minecraft"}]})
    dear, cheap = b"10740", b"6000"
    before = run(sandbox, SERVICE, name="one")["service"]["pricing"]["monthly_millicents"]
    assert str(before).encode() == dear
    with running(ProxyServer(sandbox, change=lambda content: content.replace(dear, cheap))) as proxy:
        wish: dict[str, Any] = {"name": "one", "base_url": proxy.url, **SMALLER}
        for check_mode in (True, False):
            refused = run(sandbox, SERVICE, check_mode, **wish, budget={"account": "8"})
            assert refused["failed"] and not refused["changed"]
            assert "1.68 EUR over it" in refused["msg"] and "Nothing was sent" in refused["msg"]
        assert "settings.scale" not in writes(sandbox)
        done = run(sandbox, SERVICE, **wish, budget={"account": "10"})
    assert done["changed"] and not done.get("failed"), done
    assert (done["cost"]["monthly_before"], done["cost"]["monthly_after"]) == ("6.00", "9.68")
    assert any("is billed 9.68 EUR a month, and 6.00 EUR before" in warning for warning in done["warnings"])


# --- What is not told ---------------------------------------------------------------------------------------


def service_of(client: FakeClient, **fields: Any) -> Service:
    return Service.model_validate({**client.service_records["s"], **fields})


@pytest.mark.parametrize(
    ("status", "rate"), [("ACTIVE", 2), ("SUSPENDED", 1), ("DELETING", None), (None, None)]
)
def test_which_rate_is_billed_in_a_status(status: str | None, rate: int | None) -> None:
    assert rates.Rates(Decimal(2), Decimal(1)).of(status) == rate


@pytest.mark.parametrize("dimensions", [None, {"cpuCores": 2, "ramGb": 4, "storageGb": None}])
def test_a_storage_rate_is_not_forecast_from_a_disk_that_is_not_told(
    client: FakeClient, dimensions: dict[str, Any] | None
) -> None:
    scale = Scale.model_validate(client.setting_records["s"]["scale"])
    target = {"cpu_cores": 2, "ram_gb": 8, "storage_gb": 20}
    found = rates.rates_of_size(service_of(client, dimensions=dimensions), scale, target)
    assert (found.full, found.storage) == (Decimal("1.46"), None)


@pytest.mark.parametrize("size", [{"ram_gb": None}, {"cpu_cores": None}, {"storage_gb": None}])
def test_a_size_of_which_a_part_is_not_told_has_no_price(client: FakeClient, size: dict[str, None]) -> None:
    scale = Scale.model_validate(client.setting_records["s"]["scale"])
    whole = {"cpu_cores": 2, "ram_gb": 4, "storage_gb": 20}
    assert rates.millicents_of(scale, whole) == 1060
    assert rates.millicents_of(scale, {**whole, **size}) is None


@pytest.mark.parametrize(
    "rate", ["cpuMillicentsPerMonth", "ramMillicentsPerGbMonth", "storageMillicentsPerGbMonth"]
)
def test_a_rate_of_the_node_that_is_not_told_gives_no_price(client: FakeClient, rate: str) -> None:
    client.setting_records["s"]["scale"][rate] = None
    assert cost_of(planned(client, dimensions={"ram_gb": 8})[0]) == ("1.06", None)


@pytest.mark.parametrize(
    ("billed", "status", "before"),
    [(1500, "ACTIVE", "1.50"), (None, "ACTIVE", "1.06"), (None, "SUSPENDED", "0.06"), (0, "ACTIVE", "0.00")],
)
def test_what_runs_now_is_what_is_billed_or_else_the_rate_of_the_status(
    client: FakeClient, billed: int | None, status: str, before: str
) -> None:
    pricing = {**RATES, "billedMonthlyMillicents": billed}
    cost = rates.cost_of(service_of(client, pricing=pricing, status=status), Decimal(3))
    assert cost.as_dict()["monthly_before"] == before
    assert (
        rates.price_change(task_of(SERVICE, client, id="s"), cost)
        == f"its price goes from {before} to 3.00 a month"
    )


def test_a_service_without_a_price_has_no_rates_and_expects_none(client: FakeClient) -> None:
    service = service_of(client, pricing=None)
    assert rates.rates_of(service) == rates.Rates(None, None)
    assert rates.expected_pricing(service, rates.Rates(Decimal(1), None), Decimal(1)) is None


def test_an_expected_price_has_the_new_amounts_and_nothing_of_the_old_size(client: FakeClient) -> None:
    shown = {**RATES, "monthlyCents": 106, "minBalanceCents": 4, "hourlyLabel": "0.0015", "isFree": False}
    service = service_of(client, pricing=shown)
    now = rates.rates_of(service)
    same = rates.expected_pricing(service, now, Decimal("0.06"))
    assert same is not None and service.pricing is not None
    assert same == {**service.pricing.as_dict(), "billed_monthly_millicents": 60}
    other = rates.expected_pricing(service, rates.Rates(Decimal("1.46"), None), None)
    assert other is not None
    assert other["monthly_millicents"] == 1460
    assert other["storage_monthly_millicents"] is other["billed_monthly_millicents"] is None
    assert [other[name] for name in ("monthly_cents", "min_balance_cents", "hourly_label")] == [None] * 3
    assert other["is_free"] is False, "that does not go by the size"


@pytest.mark.parametrize(
    ("status", "billed"), [("ACTIVE", "1.05"), ("SUSPENDED", "0.06"), ("PROVISIONING", None)]
)
def test_what_is_billed_where_a_task_failed_is_in_its_cost(
    client: FakeClient, status: str, billed: str | None
) -> None:
    """In the status that the service shows, what it says is billed; in another, the rate of that one."""
    service = service_of(client, pricing={**RATES, "billedMonthlyMillicents": 1050})
    task = task_of(SERVICE, client, id="s")
    rates.note_billed(task, service, Cost(Decimal(1), Decimal(9)), status)
    noted = task.effects.billed
    assert noted == (None if billed is None else Cost(Decimal(1), Decimal(billed)))


def test_a_price_that_is_not_known_is_said_to_be_so(client: FakeClient) -> None:
    client.currency = "EUR"
    task = task_of(SERVICE, client, id="s")
    assert rates.price_change(task, Cost(None, Decimal(3))).endswith("to 3.00 EUR a month")
    assert rates.price_change(task, Cost(None, None)) == (
        "its price goes from an unknown rate to an unknown one a month"
    )


@pytest.mark.parametrize(
    ("status", "now", "expected", "there"),
    [
        ("ACTIVE", {"ramGb": 8}, {"ram_gb": 8}, True),
        ("ACTIVE", {"ramGb": 4}, {"ram_gb": 8}, False),
        ("SUSPENDED", {"ramGb": 8}, {"ram_gb": 8}, False),
        ("ACTIVE", None, {"ram_gb": 8}, False),
        ("ACTIVE", None, None, True),
    ],
)
def test_a_rate_is_compared_once_its_status_and_its_size_are_there(
    client: FakeClient, status: str, now: Any, expected: Any, there: bool
) -> None:
    service = service_of(client, status=status, dimensions=now)
    assert rates.has_expected_size(service, {"status": "ACTIVE", "dimensions": expected}) is there


@pytest.mark.parametrize(("most", "over"), [("9.98", True), ("9.99", False), ("10", False), (None, False)])
def test_a_rate_at_the_limit_is_not_over_it(client: FakeClient, most: str | None, over: bool) -> None:
    task = task_of(SERVICE, client, id="s", max_monthly=most)
    rates.compare_rate(task, "it", Decimal("9.99"), Cost(Decimal("1.06"), Decimal("1.66")), "Check it")
    (warning,) = task.warnings
    assert warning.startswith("it is billed 9.99 a month, not 1.66 as announced")
    assert ("over max_monthly" in warning) is over


@pytest.mark.parametrize("state", ["present", "suspended"])
def test_an_order_whose_creation_failed_costs_what_is_billed_for_it(sandbox: Sandbox, state: str) -> None:
    size = {"cpu_cores": 2, "ram_gb": 4, "storage_gb": 20}
    order: dict[str, Any] = {"product": "broken-game", "host": "node-paris-1", "dimensions": size}
    result = run(sandbox, SERVICE, name="broken", state=state, **order)
    assert result["failed"] and "the creation of service 'broken'" in result["msg"]
    [line] = [line for line in sandbox.ledger()["billed"] if line["name"] == "broken"]
    assert result["cost"]["moves"] == ["order"]
    assert Decimal(result["cost"]["monthly_after"]) * 1000 == line["monthly_millicents"]
