# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sections on projects and money."""

from __future__ import annotations

from decimal import Decimal
from typing import Any
from xml.etree.ElementTree import Element

from ansible_collections.hosted.services.plugins.plugin_utils._report.page import Page
from ansible_collections.hosted.services.plugins.plugin_utils._report.spending import (
    COLORS,
    groups_of,
    money_section,
    projects_section,
)
from unit.plugins.reports import account, report_on


def rows(section: Element, caption: str) -> list[list[str]]:
    """Return the cells of a table in a section, in which numbers stand under the heads of numbers."""
    [table] = [each for each in section.iter("table") if each.get("aria-label") == caption]
    heads, *lines = [[cell.get("class") for cell in row] for row in table.iter("tr")]
    assert all(line == heads for line in lines)
    return [
        ["".join(cell.itertext()).strip().replace("\u00a0", " ") for cell in row] for row in table.iter("tr")
    ]


def days(count: int, projects: int) -> list[dict[str, Any]]:
    """Return days on which each project has cost as many cents as its number."""
    amounts = [{"id": f"p{number}", "amount": f"0.{number:02}"} for number in range(1, projects + 1)]
    total = str(sum(Decimal(each["amount"]) for each in amounts))
    return [
        {"date": f"2026-11-{day:02}", "amount": total, "projects": amounts} for day in range(1, count + 1)
    ]


def test_a_project_is_told_as_a_graph_and_as_a_table() -> None:
    section = projects_section(Page(report_on(account(["db", "web"]))))
    assert rows(section, "Services of team 0") == [
        ["Service", "State", "A month", "Disk", "Refers to"],
        ["db", "running", "1.00 EUR", "0 %", "\u2013"],
        ["web", "stopped", "1.001 EUR", "10 %", "db (DATABASE_URL)"],
    ]
    [graph] = [each for each in section.iter("svg") if each.get("class") == "graph"]
    assert graph.get("aria-label") == "Graph of team 0: 2 services, 1 reference"
    assert "2 services, 2.001 EUR a month" in "".join(section.itertext())


def test_references_and_projects_that_are_unknown_are_told() -> None:
    facts = account(["db"])
    facts.graphs.clear()
    assert "Its references could not be read." in "".join(projects_section(Page(report_on(facts))).itertext())
    facts.projects, facts.details = [], {}
    text = "".join(projects_section(Page(report_on(facts))).itertext())
    assert "Project unknown" in text and "price unknown" in text
    facts.services = None
    assert "The services could not be read." in "".join(projects_section(Page(report_on(facts))).itertext())


def test_the_figures_of_the_chart_are_a_table_as_well() -> None:
    report = report_on(account(["db"]))
    report["money"]["days"] = [
        {"date": "2026-11-01", "amount": "1.25", "projects": [{"id": "p0", "amount": "1.25"}]},
        {"date": "2026-11-02", "amount": "0.01", "projects": [{"id": "p0", "amount": "0.01"}]},
    ]
    assert rows(money_section(Page(report)), "Spend by day and project") == [
        ["Day", "team 0", "Together"],
        ["2026-11-02", "0.01 EUR", "0.01 EUR"],
        ["2026-11-01", "1.25 EUR", "1.25 EUR"],
    ]


def test_many_projects_share_the_last_color() -> None:
    report = report_on(account(["db"]))
    report["money"]["days"] = days(2, COLORS)
    groups, names = groups_of(Page(report))
    assert groups == [[f"p{number}"] for number in range(COLORS, 0, -1)] and len(names) == COLORS
    report["money"]["days"] = days(2, COLORS + 2)
    groups, names = groups_of(Page(report))
    assert len(groups) == COLORS and sorted(groups[-1]) == ["p1", "p2", "p3"]
    assert names == [*(f"p{number}" for number in range(COLORS + 2, 3, -1)), "3 other projects"]


def test_the_month_is_told_in_figures() -> None:
    section = money_section(Page(report_on(account(["db"]))))
    figures = {
        "".join(box[0].itertext()): "".join(box[1].itertext()).replace("\u00a0", " ")
        for box in section.iter("div")
        if len(box) == 2 and box[0].tag == "dt"
    }
    assert figures == {
        "Spent this month": "12.34 EUR",
        "Until the end of the month": "0.38 EUR",
        "Forecast": "12.72 EUR",
        "Forecast of the platform": "23.45 EUR",
        "Balance": "500.00 EUR",
        "Lasts until": "2026-12-01",
    }


def test_what_has_no_price_is_named() -> None:
    facts = account(["db", "lost"])
    del facts.details["s0001"], facts.spends["p0"]
    text = "".join(money_section(Page(report_on(facts))).itertext())
    assert "Price unknown, so not counted: lost" in text
    assert "The spend of some projects could not be read" in text


def test_the_five_that_cost_most_and_what_sleep_has_saved() -> None:
    plan = {
        "plan": "evenings",
        "ok": False,
        "finished": None,
        "state": {"saved": "1.5", "saves_monthly": "2"},
    }
    section = money_section(Page(report_on(account(["db"]), sleep_reports=[plan])))
    assert rows(section, "The five that have cost most")[1] == ["db", "team 0", "0.07 EUR", "1.00 EUR"]
    assert rows(section, "What sleep has saved")[1] == [
        "evenings", "1.50 EUR", "2.00 EUR", "unknown, with problems",
    ]  # fmt: skip
