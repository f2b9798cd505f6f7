# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sections on projects and money.

Drawings hold shapes only, so that they can be stretched; their labels are text of the page, which stays as
large as it is on any screen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any

from ansible_collections.hosted.services.plugins.module_utils._api.text import counted
from ansible_collections.hosted.services.plugins.plugin_utils._report.graph import draw
from ansible_collections.hosted.services.plugins.plugin_utils._report.markup import (
    DASH,
    UNKNOWN,
    Content,
    Element,
    day_text,
    element,
    listed,
    moment_text,
    money,
    name_of,
)
from ansible_collections.hosted.services.plugins.plugin_utils._report.page import (
    Column,
    Data,
    Page,
    box,
    scrollable,
    section,
    table,
)
from ansible_collections.hosted.services.plugins.plugin_utils._report.signs import labeled, sign_of

COLUMN, GAP, TALL = 10, 3, 100
"""Width of a column, the room between two, and the height of the drawing."""
COLORS = 8
"""How many colors there are. The last one is for all other projects together."""


# --- Projects ---------------------------------------------------------------------------------------


def projects_section(page: Page) -> Element:
    """Return each project as a graph and as a table."""
    about = "An arrow leads from a service to one that its variables refer to, as ${db.URL} does."
    if page.data["services"] is None:
        return section("projects", None, element("p", "The services could not be read."))
    boxes, empty = list[Element](), list[str]()
    for project in page.data["projects"] or ():
        services = [page.services[id] for id in project["service_ids"]]
        if not services:
            empty.append(project["name"])
            continue
        unpriced = f" and {project['unpriced']} of unknown price" if project["unpriced"] else ""
        price = f"{page.money(project['monthly'])} a month{unpriced}"
        boxes.append(box_of(page, project["name"], services, project["references"], price))
    homeless = [each for each in page.data["services"] if each["project_id"] not in page.projects]
    if homeless:
        boxes.append(box_of(page, "Project unknown", homeless, None, None))
    rest = element("p", "Without services: ", listed(empty), class_="soft small") if empty else None
    return section("projects", about, boxes, rest)


def box_of(
    page: Page, name: str, services: Sequence[Data], references: Sequence[Data] | None, price: str | None
) -> Element:
    """Return services as a graph, and as a table for those who prefer one."""
    edges = [(edge["from_id"], edge["to_id"]) for edge in references or ()]
    label = f"Graph of {name}: {counted(len(services), 'service')}, {counted(len(set(edges)), 'reference')}"
    unknown = element("p", "Its references could not be read.", class_="soft small")
    about = ", ".join(filter(None, [counted(len(services), "service"), price]))
    return box(
        headed(name_of(name), about),
        scrollable(draw(services, edges, label, page.currency), f"Graph of {name}"),
        unknown if references is None else None,
        element(
            "details", element("summary", "As a table"), services_table(page, name, services, references)
        ),
    )


def headed(title: Content, about: str) -> Element:
    """Return the title of a box, with what stands at its right."""
    return element("div", element("h3", title), element("span", about, class_="soft"), class_="head")


def services_table(
    page: Page, name: str, services: Sequence[Data], references: Sequence[Data] | None
) -> Element:
    """Return the services of a project with what each refers to."""
    outgoing: dict[str, list[Content]] = {}
    for edge in references or ():
        through = f" ({', '.join(edge['through'])})" if edge["through"] else None
        found = outgoing.setdefault(edge["from_id"], [])
        found += ["; " if found else None, name_of(page.name(edge["to_id"])), through]
    rows = [
        [
            name_of(each["name"]),
            labeled(sign_of(each)),
            page.money(each["monthly"]),
            UNKNOWN if each["disk"] is None else f"{each['disk']['percent']} %",
            outgoing.get(each["id"], DASH),
        ]
        for each in services
    ]
    columns = [
        Column("Service"),
        Column("State"),
        Column("A month", "a month", number=True),
        Column("Disk", "disk", number=True),
        Column("Refers to", "refers to"),
    ]
    return table(f"Services of {name}", columns, rows)


# --- Money ------------------------------------------------------------------------------------------


def money_section(page: Page) -> Element:
    """Return what the month costs, spend by day and project, what costs most, and what sleep has saved."""
    found = page.data["money"]
    missing = "The spend of some projects could not be read, so days and sums lack it."
    return section(
        "spend",
        None if found["complete"] else missing,
        box(month_figures(page)),
        box(days_of(page)) if found["days"] else None,
        box(top_of(page)) if found["top"] else None,
        box(savings_of(page)) if found["saved"] else None,
    )


def month_figures(page: Page) -> list[Element]:
    """Return the figures of the month and of the balance."""
    found = page.data["money"]
    forecast = found["forecast"] or {}
    figures = {
        "Spent this month": page.money(found["month_to_date"]),
        "Until the end of the month": page.money(forecast.get("rest")),
        "Forecast": page.money(forecast.get("amount")),
        "Forecast of the platform": None if page.data["project"] else page.money(found["platform_forecast"]),
        "Balance": page.money(found["balance"]),
        "Lasts until": found["runs_out_on"] or UNKNOWN,
    }
    items = [
        element("div", element("dt", label), element("dd", value))
        for label, value in figures.items()
        if value
    ]
    notes: list[Element] = []
    if forecast:
        rate = f"{page.money(found['monthly'])} a month, for {forecast['hours_left']} hours"
        about = f"The rest of the month at the rate that is billed now: {rate}."
        notes.append(element("p", about, class_="soft small"))
    if found["unpriced"]:
        notes.append(
            element("p", "Price unknown, so not counted: ", listed(found["unpriced"]), class_="small")
        )
    return [element("dl", items, class_="month"), *notes]


def groups_of(page: Page) -> tuple[list[list[str]], list[str]]:
    """Return the projects by color with the name of each group: those that cost most, then all others."""
    totals: dict[str, Decimal] = {}
    for day in page.data["money"]["days"]:
        for each in day["projects"]:
            totals[each["id"]] = totals.get(each["id"], Decimal(0)) + Decimal(each["amount"])
    spending = [id for id in totals if totals[id]]
    order = sorted(spending, key=lambda id: (-totals[id], page.project_name(id) or id))
    first, rest = order, list[str]()
    if len(order) > COLORS:
        first, rest = order[: COLORS - 1], order[COLORS - 1 :]
    groups, names = [[id] for id in first], [page.project_name(id) or id for id in first]
    return ([*groups, rest], [*names, f"{len(rest)} other projects"]) if rest else (groups, names)


def days_of(page: Page) -> list[Element]:
    """Return the chart of spend by day, its legend, and the same as a table."""
    found = page.data["money"]
    groups, names = groups_of(page)
    total = f"{page.money(found['total'])} in {counted(len(found['days']), 'day')}"
    legend = []
    for number, (name, group) in enumerate(zip(names, groups, strict=True)):
        amount = page.money(str(sum((sum_of(day, group) for day in found["days"]), Decimal(0))))
        square = element("rect", width="12", height="12", rx="2", class_=f"p{number}")
        swatch = element("svg", square, viewBox="0 0 12 12", aria_hidden="true")
        legend.append(element("li", swatch, name_of(name), element("span", f" {amount}", class_="soft")))
    return [
        headed("By day and project", total),
        spend_chart(found["days"], groups, f"Spend by day and project: {total}", page.currency),
        element("ul", legend, class_="legend", role="list"),
        element("details", element("summary", "As a table"), days_table(page, groups, names)),
    ]


def days_table(page: Page, groups: Sequence[Sequence[str]], names: Sequence[str]) -> Element:
    """Return the figures of the chart."""
    rows = [
        [day["date"], *(page.money(str(sum_of(day, group))) for group in groups), page.money(day["amount"])]
        for day in reversed(page.data["money"]["days"])
    ]
    columns = [Column("Day"), *(Column(name, number=True) for name in (*names, "Together"))]
    return scrollable(table("Spend by day and project", columns, rows, class_=""), "Spend by day and project")


def top_of(page: Page) -> list[Element]:
    """Return the table of the services that have cost most."""
    rows = [
        [
            name_of(each["name"] or each["id"] or UNKNOWN),
            name_of(each["project"]) if each["project"] else UNKNOWN,
            page.money(each["amount"]),
            page.money(each["monthly"]) if each["monthly"] else "no longer there",
        ]
        for each in page.data["money"]["top"]
    ]
    columns = [
        Column("Service"),
        Column("Project"),
        Column("Spent", number=True),
        Column("A month now", "a month now", number=True),
    ]
    title = "The five that have cost most"
    return [element("h3", title), table(title, columns, rows)]


def savings_of(page: Page) -> list[Element]:
    """Return the table of what sleep has saved; nothing without plans."""
    saved: dict[str, Any] = page.data["money"]["saved"]
    rows: list[list[Content]] = [
        [
            name_of(plan["plan"]),
            page.money(plan["saved"]),
            page.money(plan["saves_monthly"]),
            moment_text(plan["finished"]) + ("" if plan["ok"] else ", with problems"),
        ]
        for plan in saved["plans"]
    ]
    columns = [
        Column("Plan"),
        Column("Saved so far", "saved", number=True),
        Column("Saves a month", "a month", number=True),
        Column("Last run", "last run"),
    ]
    title = f"Sleep has saved {page.money(saved['saved'])}"
    return [element("h3", title), table("What sleep has saved", columns, rows)]


# --- The chart of spend by day ----------------------------------------------------------------------


def nice_top(amount: Decimal) -> Decimal:
    """Return the end of a scale for amounts up to this one: 1, 2, 4, 5 or 10 times a power of ten."""
    if amount <= 0:
        return Decimal(1)
    unit = Decimal(10) ** amount.adjusted()
    return next(unit * step for step in map(Decimal, ("1", "2", "4", "5", "10")) if unit * step >= amount)


def spend_chart(
    days: Sequence[Mapping[str, Any]], groups: Sequence[Sequence[str]], label: str, currency: str | None
) -> Element:
    """Return the columns of the days, stacked by groups of projects, with their scale and dates."""
    amounts, right = [[sum_of(day, group) for group in groups] for day in days], len(days) * (COLUMN + GAP)
    top = nice_top(max((sum(each, Decimal(0)) for each in amounts), default=Decimal(0)))
    paths = [
        element("path", d=stack(amounts, number, top), class_=f"p{number}") for number in range(len(groups))
    ]
    drawing = element(
        "svg",
        element("path", d=f"M0 0H{right}M0 {TALL // 2}H{right}M0 {TALL}H{right}", class_="lines"),
        paths,
        [hover(number, day, currency) for number, day in enumerate(days)],
        role="img",
        aria_label=label,
        viewBox=f"0 0 {right} {TALL}",
        preserveAspectRatio="none",
    )
    scale = [element("span", money(str(top * part / 2), currency), class_=f"at{part}") for part in (2, 1, 0)]
    dates = [day_text(date.fromisoformat(days[at]["date"])) for at in (0, len(days) // 2, -1)] if days else []
    return element(
        "div",
        element("div", scale, class_="scale", aria_hidden="true"),
        drawing,
        element("div", [element("span", each) for each in dates], class_="dates", aria_hidden="true"),
        class_="columns",
    )


def sum_of(day: Mapping[str, Any], group: Sequence[str]) -> Decimal:
    """Return what a group of projects has cost on a day."""
    return sum((Decimal(each["amount"]) for each in day["projects"] if each["id"] in group), Decimal(0))


def stack(amounts: Sequence[Sequence[Decimal]], number: int, top: Decimal) -> str:
    """Return the rectangles of one group on all days."""
    found = []
    for place, day in enumerate(amounts):
        ends = (sum(day[:number], Decimal(0)), sum(day[: number + 1], Decimal(0)))
        below, above = (int(end * TALL * 10 / top) for end in ends)  # in tenths
        if above > below:
            x, y = place * (COLUMN + GAP) + GAP / 2, TALL - above / 10
            found.append(f"M{x:g} {y:g}h{COLUMN}v{(above - below) / 10:g}h-{COLUMN}z")
    return "".join(found)


def hover(number: int, day: Mapping[str, Any], currency: str | None) -> Element:
    """Return an invisible column that says what the day has cost when a mouse is over it."""
    text = f"{day_text(date.fromisoformat(day['date']))}: {money(day['amount'], currency)}"
    return element(
        "rect",
        element("title", text),
        x=number * (COLUMN + GAP),
        width=COLUMN + GAP,
        height=TALL,
        class_="hit",
    )
