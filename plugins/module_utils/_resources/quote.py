# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asking what a service or an application would cost; nothing is ordered (Ordering, Applications)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from . import app
from .applications.lookup import select_host
from .services.options import MaxMonthlyOptions, OrderOptions
from .services.order import cost_of_quote, missing_options, quote_of
from .services.settings import check_max_monthly
from .shared.money import Cost, add_currency_units
from .shared.options import option
from .shared.plan import Plan, Resource, Task
from .shared.task_errors import Invalid


@dataclass(frozen=True, kw_only=True)
class QuoteOptions(OrderOptions, MaxMonthlyOptions):
    kind: Literal["service", "application"] = "service"
    project: str | None = option(None, selects=True)


class QuoteResource(Resource[QuoteOptions]):
    result_key = "quote"
    rules: ClassVar[dict[str, Any]] = {"mutually_exclusive": [("dimensions", "preset")]}

    def plan(self, task: Task[QuoteOptions]) -> Plan:
        kind = task.options.kind
        quote, cost = quote_application(task) if kind == "application" else quote_service(task)
        check_max_monthly(task, cost.after, f"this {kind}")
        return Plan(result=add_currency_units(quote), cost=cost)


QUOTE = QuoteResource()


def quote_service(task: Task[QuoteOptions]) -> tuple[dict[str, Any], Cost]:
    missing = missing_options(task.options)
    if missing:
        raise Invalid(f"to quote a service, also set {missing}")
    if task.options.project:
        task.account.project(task.options.project)
    __, quote = quote_of(task.account, task.options)
    return quote.as_dict(), cost_of_quote(quote)


def quote_application(task: Task[QuoteOptions]) -> tuple[dict[str, Any], Cost]:
    """Return the quote of an application; what is left out is for the platform to choose."""
    of_services = ("product", "runtime", "preset", "project", "variables", "options")
    odd = [name for name in of_services if getattr(task.options, name) is not None]
    if odd:
        raise Invalid(f"an application is quoted by host and dimensions alone; remove {', '.join(odd)}")
    host = select_host(task.account, task.options.host)
    quote = task.client.quote_app(host, app.requested_size(task.options.dimensions))
    return quote.as_dict(), app.cost_of_app_quote(quote)
