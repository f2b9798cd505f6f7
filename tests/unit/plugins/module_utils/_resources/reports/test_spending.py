# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The money of a report: exact, and null where it is unknown."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.models import (
    BillingOverview,
    Project,
    ProjectSpend,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.reports.reading import Facts
from ansible_collections.hosted.services.plugins.module_utils._resources.reports.spending import (
    Rate,
    money_of,
    month_end,
    project_money,
    savings_of,
)

AS_OF = datetime(2026, 11, 19, 9, 30, tzinfo=UTC)
RATES = [Rate("a", "db", Decimal("12.44")), Rate("b", "web", Decimal("3.885"))]


def spend(*days: tuple[str, Any], **fields: Any) -> ProjectSpend:
    """Return the spend of a project with these days."""
    lines = [{"date": day, "totalCents": cents} for day, cents in days]
    return ProjectSpend.model_validate({"range": 30, "days": lines, **fields})


def facts(overview: dict[str, Any] | None = None, **spends: ProjectSpend) -> Facts:
    """Return an account with these projects."""
    read = None if overview is None else BillingOverview.model_validate(overview)
    projects = [Project(id=id, name=id) for id in spends]
    return Facts(projects=projects, services=[], overview=read, spends=dict(spends))


def money(account: Facts, rates: list[Rate] | None = None, one_project: bool = False) -> dict[str, Any]:
    """Return the figures on spend."""
    return money_of(account, RATES if rates is None else rates, AS_OF, one_project)


def test_the_forecast_is_what_was_spent_and_the_rate_for_the_rest() -> None:
    found = money(facts({"monthToDateCents": 6759, "projectedMonthCents": 11021}))
    # 278.5 hours are left: 16.325 * 278.5 / 730 = 6.2281...
    assert found["forecast"] == {"amount": "73.82", "rest": "6.23", "hours_left": 278, "complete": True}
    assert (found["month_to_date"], found["platform_forecast"], found["monthly"]) == (
        "67.59",
        "110.21",
        "16.325",
    )


def test_what_is_unknown_is_null_and_named() -> None:
    found = money(facts(), [*RATES, Rate("c", "lost", None)])
    assert found["forecast"]["amount"] is None and found["forecast"]["complete"] is False
    assert found["unpriced"] == ["lost"]
    assert [found[name] for name in ("balance", "days_left", "runs_out_on", "total")] == [None] * 4


def test_there_is_no_forecast_without_services() -> None:
    account = facts({"monthToDateCents": 1})
    account.services = None
    assert money(account)["forecast"] is None


def test_days_are_summed_over_projects() -> None:
    one = spend(("2026-11-02", 150), ("2026-11-01", 1), totalCents=151)
    two = spend(("2026-11-02", 7), ("not a day", 9), ("2026-11-03", None), totalCents=7)
    found = money(facts({}, one=one, two=two))
    assert found["days"] == [
        {"date": "2026-11-01", "amount": "0.01", "projects": [{"id": "one", "amount": "0.01"}]},
        {
            "date": "2026-11-02",
            "amount": "1.57",
            "projects": [{"id": "one", "amount": "1.50"}, {"id": "two", "amount": "0.07"}],
        },
    ]
    assert (found["total"], found["complete"]) == ("1.58", True)


def test_a_project_that_cannot_be_read_makes_the_spend_incomplete() -> None:
    account = facts({}, one=spend())
    account.projects = [*(account.projects or []), Project(id="lost", name="lost")]
    assert money(account)["complete"] is False


@pytest.mark.parametrize(("first", "said"), [(1, "0.19"), (2, None)])
def test_the_month_of_one_project_is_the_sum_of_its_days(first: int, said: str | None) -> None:
    days = [(f"2026-11-{day:02}", 1) for day in range(first, 20)]
    found = money(
        facts({"monthToDateCents": 999, "projectedMonthCents": 5}, one=spend(*days)), one_project=True
    )
    assert (found["month_to_date"], found["platform_forecast"]) == (said, None)


def test_five_cost_most() -> None:
    services = [{"id": str(n), "name": f"s{n}", "totalCents": n} for n in range(8)]
    found = money(facts({}, shop=spend(services=services)), [Rate("7", "s7", Decimal(3))])["top"]
    assert [each["name"] for each in found] == ["s7", "s6", "s5", "s4", "s3"]
    assert found[0] == {"id": "7", "name": "s7", "project": "shop", "amount": "0.07", "monthly": "3.00"}
    assert found[1]["monthly"] is None


def test_what_has_cost_the_same_is_by_name_and_what_has_cost_nothing_is_left_out() -> None:
    """An id that is not shown comes first."""
    lines = [
        ("3", "b", 5),
        ("2", "a", 5),
        ("1", "b", 5),
        ("4", "free", 0),
        ("5", "unknown", None),
        (None, "b", 5),
    ]
    services = [{"id": id, "name": name, "totalCents": cents} for id, name, cents in lines]
    found = money(facts({}, shop=spend(services=services)))["top"]
    assert [each["id"] for each in found] == ["2", None, "1", "3"]


def test_the_parts_of_a_service_are_kept() -> None:
    service = {"id": "1", "name": "db", "totalCents": 5, "parts": [{"label": "disk", "cents": 5}]}
    found = project_money(Project(id="p", name="p"), spend(services=[service], totalCents=5))
    assert found is not None
    assert found["services"][0]["parts"] == [{"label": "disk", "amount": "0.05"}]
    assert project_money(Project(id="p", name="p"), None) is None


def test_a_balance_that_outlasts_the_calendar_has_no_day() -> None:
    assert money(facts({"daysLeftEstimate": 5}))["runs_out_on"] == "2026-11-24"
    assert money(facts({"daysLeftEstimate": 10**9}))["runs_out_on"] is None


def test_savings_of_plans_are_summed() -> None:
    told = {"saved": "1.25", "saves_monthly": "2.00"}
    found = savings_of(
        [{"plan": "a", "ok": True, "finished": "x", "state": told}, {"plan": "b", "state": None}]
    )
    assert found is not None
    assert (found["saved"], found["complete"]) == ("1.25", False)
    assert [plan["saved"] for plan in found["plans"]] == ["1.25", None]
    assert savings_of([]) is None


def test_the_month_ends_with_the_first_of_the_next() -> None:
    assert month_end(datetime(2026, 12, 31, 23, tzinfo=UTC)) == datetime(2027, 1, 1, tzinfo=UTC)
