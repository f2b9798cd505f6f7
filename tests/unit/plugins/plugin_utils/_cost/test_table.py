# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of a run, as people see it."""

from __future__ import annotations

from decimal import Decimal

from ansible_collections.hosted.services.plugins.plugin_utils._cost.entries import HIDDEN, Entry, Origin
from ansible_collections.hosted.services.plugins.plugin_utils._cost.summary import summarize
from ansible_collections.hosted.services.plugins.plugin_utils._cost.table import write_table

ORIGIN = Origin("Order it", "localhost", "service")


def test_a_table() -> None:
    order = Entry(
        ORIGIN,
        "web",
        "s1",
        moves=("order", "resize"),
        before=Decimal(0),
        after=Decimal("14.98"),
        currency="EUR",
        balance=Decimal(500),
        min_balance=Decimal("0.36"),
        days_covered=100,
    )
    odd = Entry(ORIGIN, "a\x1b[31m", "s2", moves=("delete",), before=None, after=Decimal(0), reason="why not")
    [summary] = summarize([order, odd, Entry(ORIGIN, reason=HIDDEN)])
    assert write_table(summary) == [
        "service          action         monthly before      after      change",
        "web              order, resize        0.00 EUR  14.98 EUR  +14.98 EUR",
        "a\\x1b[31m        delete                unknown       0.00     unknown",
        "sum for a month                       0.00 EUR  14.98 EUR  +14.98 EUR",
        "Needed today for the first day of the orders: 0.36 EUR.",
        "Balance when the last quote was read: 500.00 EUR.",
        "By the quotes, the balance covers 100 days.",
        "Not priced, and in no sum:",
        "  - task 'Order it' on localhost: delete a\\x1b[31m; why not",
        "  - task 'Order it' on localhost; its result is hidden by no_log",
    ]


def test_services_of_one_name_are_told_by_their_projects() -> None:
    places = [("web", "shop"), ("web", "blog"), ("web", None), ("db", "shop")]
    [summary] = summarize(
        Entry(ORIGIN, name, project=project, moves=("order",), before=Decimal(0), after=Decimal(1))
        for name, project in places
    )
    cells = [line.split("  ")[0] for line in write_table(summary)[1:5]]
    assert cells == ["web (project shop)", "web (project blog)", "web", "db"]
