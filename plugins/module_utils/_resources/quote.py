# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asking what a service or an application would cost; nothing is ordered (Ordering, Applications)."""

from __future__ import annotations

from typing import Any, ClassVar

from . import app
from .applications.lookup import choose
from .services.lookup import find_project
from .services.order import ORDER, cost_of_quote, missing_options, quote_fields
from .services.settings import check_budget, check_limit
from .shared.money import Cost, with_units
from .shared.plan import Plan, Resource, Task
from .shared.task_errors import Invalid

SERVICE, APPLICATION = "service", "application"
OF_SERVICES = ("product", "runtime", "preset", "project", "variables", "options")


class QuoteResource(Resource):
    """The price of an order, or of an application."""

    result_key = "quote"
    options: ClassVar[dict[str, Any]] = {
        "kind": {"type": "str", "choices": [SERVICE, APPLICATION], "default": SERVICE},
        **ORDER,
        "project": {"type": "str"},
        "max_monthly": {"type": "str"},
    }
    selectors = frozenset({"product", "runtime", "host", "preset", "project", "max_monthly"})
    rules: ClassVar[dict[str, Any]] = {"mutually_exclusive": [("dimensions", "preset")]}
    secret_options = frozenset({"variables"})

    def plan(self, task: Task) -> Plan:
        """Read; there is nothing to do."""
        check_limit(task)
        kind = task.options.kind
        quote, cost = of_application(task) if kind == APPLICATION else of_service(task)
        check_budget(task, cost.after, f"this {kind}")
        return Plan(result=with_units(quote), cost=cost)


QUOTE = QuoteResource()


def of_service(task: Task) -> tuple[dict[str, Any], Cost]:
    """Return the quote of an order.

    :raises Invalid: when something that a quote needs was not given.
    """
    missing = missing_options(task.options)
    if missing:
        raise Invalid(f"to quote a service, set also {', '.join(missing)}")
    if task.options.project:
        find_project(task.client, task.options.project)
    quote = task.client.quote(quote_fields(task.options))
    return quote.as_dict(), cost_of_quote(quote)


def of_application(task: Task) -> tuple[dict[str, Any], Cost]:
    """Return the quote of an application; what is left out is for the platform to choose.

    :raises Invalid: for an option that an application has no use for.
    """
    odd = [name for name in OF_SERVICES if task.options[name] is not None]
    if odd:
        raise Invalid(f"an application is quoted by host and dimensions alone; remove {', '.join(odd)}")
    wanted = task.options.host
    host = choose(wanted, wanted and task.client.app_nodes(), "host")
    quote = task.client.quote_app(host, app.requested_size(task.options.dimensions))
    return quote.as_dict(), app.cost_of_quote(quote)
