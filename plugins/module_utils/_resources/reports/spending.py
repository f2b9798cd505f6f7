# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The money of a report: spend by day and project, the forecast, what costs most, and what sleep has saved.

All amounts are exact: Decimal in, strings in currency units out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from ..._api.models import BillingOverview, Project, ProjectSpend
from ..shared.money import format_amount, from_cents, to_decimal
from ..sleeping.savings import HOURS_A_MONTH, spent_by_day, to_cents
from .reading import Facts

TOP = 5
Rates = Mapping[str, Decimal | None]
"""What each service costs in a month as it is billed now, by id; ``None`` if that is unknown."""


def cents(amount: int | None) -> str | None:
    """Format an amount in cents; ``None`` if the platform does not show it."""
    return None if amount is None else format_amount(from_cents(amount))


def money_of(facts: Facts, rates: Rates, as_of: datetime, one_project: bool) -> dict[str, Any]:
    """Return the figures on spend. ``rates`` are those of all services that can be read."""
    overview = facts.overview or BillingOverview()
    so_far = spent_this_month(facts, overview, as_of, one_project)
    shown = [spend.total_cents for spend in facts.spends.values() if spend.total_cents is not None]
    return {
        "month": as_of.astimezone(UTC).strftime("%Y-%m"),
        "month_to_date": format_amount(so_far),
        "forecast": None if facts.services is None else forecast(so_far, rates, as_of),
        "platform_forecast": None if one_project else cents(overview.projected_month_cents),
        "balance": cents(overview.balance_cents),
        "days_left": overview.days_left_estimate,
        "runs_out_on": runs_out_on(overview.days_left_estimate, as_of),
        "monthly": format_amount(total(rates.values())),
        "unpriced": [each.name for each in facts.services or () if rates[each.id] is None],
        "days": spend_by_day(facts),
        "complete": facts.projects is not None and all(p.id in facts.spends for p in facts.projects),
        "total": format_amount(total(map(from_cents, shown))) if shown else None,
        "top": cost_most(facts, rates),
    }


def total(amounts: Iterable[Decimal | None]) -> Decimal:
    """Return the sum of the amounts that are known."""
    return sum((amount for amount in amounts if amount is not None), Decimal(0))


def spent_this_month(
    facts: Facts, overview: BillingOverview, as_of: datetime, one_project: bool
) -> Decimal | None:
    """Return what the month has cost so far; ``None`` if that is unknown.

    Of one project it is the sum of the days of the month, if the platform shows all of them.
    """
    if not one_project:
        spent = overview.month_to_date_cents
        return None if spent is None else from_cents(spent)
    first, today = as_of.astimezone(UTC).date().replace(day=1), as_of.astimezone(UTC).date()
    shown = dict(line for spend in facts.spends.values() for line in spent_by_day(spend.days).items())
    wanted = [first + timedelta(days=number) for number in range((today - first).days + 1)]
    if any(day not in shown for day in wanted):
        return None
    return total(shown[day] for day in wanted)


def forecast(so_far: Decimal | None, rates: Rates, as_of: datetime) -> dict[str, Any]:
    """Return what the month will have cost, if every service stays as it is now.

    That is what it has cost so far, and the rate that is billed now for the hours that are left. A month has
    730 hours for every price. Services without a known price are left out and named.
    """
    first = as_of.astimezone(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    end = (first + timedelta(days=32)).replace(day=1)
    left = Decimal(int((end - as_of).total_seconds())) / 3600
    rate = total(rates.values())
    rest = rate * left / HOURS_A_MONTH
    amount = None if so_far is None else to_cents(so_far + rest)
    return {
        "amount": format_amount(amount),
        "rest": format_amount(to_cents(rest)),
        "hours_left": int(left),
        "complete": None not in rates.values(),
    }


def runs_out_on(left: int | None, as_of: datetime) -> str | None:
    """Return the day on which the balance runs out at today's rate, as the platform estimates it."""
    try:
        return None if left is None else (as_of + timedelta(days=max(0, left))).date().isoformat()
    except OverflowError:  # it lasts longer than the calendar
        return None


# --- Spend of projects ------------------------------------------------------------------------------


def spend_by_day(facts: Facts) -> list[dict[str, Any]]:
    """Return each day that any project shows, with the amount of each project and their sum."""
    by_day: dict[date, dict[str, Decimal]] = {}
    for project in [each.id for each in facts.projects or () if each.id in facts.spends]:
        for day, amount in spent_by_day(facts.spends[project].days).items():
            by_day.setdefault(day, {})[project] = amount
    return [
        {
            "date": day.isoformat(),
            "amount": format_amount(total(amounts.values())),
            "projects": [{"id": id, "amount": format_amount(amounts[id])} for id in amounts],
        }
        for day, amounts in sorted(by_day.items())
    ]


def project_money(project: Project, spend: ProjectSpend | None) -> dict[str, Any] | None:
    """Return the spend of a project over its window; ``None`` if it could not be read."""
    if spend is None:
        return None
    return {
        "days": spend.range,
        "amount": cents(spend.total_cents),
        "services": [
            {
                "id": each.id,
                "name": each.name,
                "amount": cents(each.total_cents),
                "parts": [{"label": part.label, "amount": cents(part.cents)} for part in each.parts or ()],
            }
            for each in spend.services or ()
        ],
    }


def cost_most(facts: Facts, rates: Rates) -> list[dict[str, Any]]:
    """Return the services that have cost most over the window, with what each costs in a month now."""
    names = {project.id: project.name for project in facts.projects or ()}
    lines = [
        (from_cents(each.total_cents), each, names.get(project))
        for project, spend in facts.spends.items()
        for each in spend.services or ()
        if each.total_cents
    ]
    lines.sort(key=lambda line: (-line[0], line[1].name or "", line[1].id or ""))
    return [
        {
            "id": each.id,
            "name": each.name,
            "project": project,
            "amount": format_amount(amount),
            "monthly": format_amount(rates.get(each.id or "")),
        }
        for amount, each, project in lines[:TOP]
    ]


# --- Sleep ------------------------------------------------------------------------------------------


def savings_of(reports: Iterable[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Return what plans for sleep have saved, by the reports that role `sleep_schedule` keeps."""
    plans = []
    for report in reports:
        told = report.get("state")
        told = told if isinstance(told, Mapping) else {}
        saved, monthly = to_decimal(told.get("saved")), to_decimal(told.get("saves_monthly"))
        plans.append(
            {
                "plan": str(report.get("plan")),
                "saved": format_amount(saved),
                "saves_monthly": format_amount(monthly),
                "finished": text_or_none(report.get("finished")),
                "ok": report.get("ok") is True,
            }
        )
    if not plans:
        return None
    amounts = [to_decimal(plan["saved"]) for plan in plans]
    return {
        "saved": format_amount(total(amounts)),
        "complete": None not in amounts,
        "plans": sorted(plans, key=lambda plan: str(plan["plan"])),
    }


def text_or_none(value: Any) -> str | None:
    """Return a value that is text; ``None`` for any other."""
    return value if isinstance(value, str) else None
