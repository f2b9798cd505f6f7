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
    Data,
    Page,
    cell,
    head,
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
        return section("projects", "Projects", None, element("p", "The services could not be read."))
    boxes = [project_box(page, project) for project in page.data["projects"] or () if project["service_ids"]]
    empty = [project["name"] for project in page.data["projects"] or () if not project["service_ids"]]
    homeless = [each for each in page.data["services"] if each["project_id"] not in page.projects]
    if homeless:
        boxes.append(box_of(page, "Project unknown", homeless, None, None))
    rest = element("p", "Without services: ", listed(empty), class_="soft small") if empty else None
    return section("projects", "Projects", about, boxes, rest)


def project_box(page: Page, project: Data) -> Element:
    """Return a project."""
    services = [page.services[id] for id in project["service_ids"]]
    unpriced = f" and {project['unpriced']} of unknown price" if project["unpriced"] else ""
    price = f"{page.money(project['monthly'])} a month{unpriced}"
    return box_of(page, project["name"], services, project["references"], price)


def box_of(
    page: Page, name: str, services: Sequence[Data], references: Sequence[Data] | None, price: str | None
) -> Element:
    """Return services as a graph, and as a table for those who prefer one."""
    edges = [(edge["from_id"], edge["to_id"]) for edge in references or ()]
    label = f"Graph of {name}: {counted(len(services), 'service')}, {counted(len(set(edges)), 'reference')}"
    unknown = element("p", "Its references could not be read.", class_="soft small")
    return element(
        "div",
        element(
            "div",
            element("h3", name_of(name)),
            element(
                "span", ", ".join(filter(None, [counted(len(services), "service"), price])), class_="soft"
            ),
            class_="head",
        ),
        scrollable(draw(services, edges, label, page.currency), f"Graph of {name}"),
        unknown if references is None else None,
        element(
            "details", element("summary", "As a table"), services_table(page, name, services, references)
        ),
        class_="box",
    )


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
        element(
            "tr",
            head(name_of(each["name"])),
            cell(labeled(sign_of(each))),
            cell(page.money(each["monthly"]), of="a month", number=True),
            cell(disk_text(each), of="disk", number=True),
            cell(outgoing.get(each["id"], DASH), of="refers to"),
        )
        for each in services
    ]
    return table(f"Services of {name}", ["Service", "State", "#A month", "#Disk", "Refers to"], rows)


def disk_text(service: Data) -> str:
    """Return how full a disk is."""
    return UNKNOWN if service["disk"] is None else f"{service['disk']['percent']} %"


# --- Money ------------------------------------------------------------------------------------------


def money_section(page: Page) -> Element:
    """Return what the month costs, spend by day and project, what costs most, and what sleep has saved."""
    found = page.data["money"]
    missing = "The spend of some projects could not be read, so days and sums lack it."
    return section(
        "spend",
        "Spend",
        None if found["complete"] else missing,
        element("div", month_figures(page), class_="box"),
        element("div", days_of(page), class_="box") if found["days"] else None,
        element("div", top_of(page), class_="box") if found["top"] else None,
        element("div", savings_of(page), class_="box") if found["saved"] else None,
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
        notes.append(
            element(
                "p", f"The rest of the month at the rate that is billed now: {rate}.", class_="soft small"
            )
        )
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
    if len(order) <= COLORS:
        return [[id] for id in order], [page.project_name(id) or id for id in order]
    first = order[: COLORS - 1]
    rest = order[COLORS - 1 :]
    names = [page.project_name(id) or id for id in first]
    return [*([id] for id in first), rest], [*names, f"{len(rest)} other projects"]


def days_of(page: Page) -> list[Element]:
    """Return the chart of spend by day, its legend, and the same as a table."""
    found = page.data["money"]
    groups, names = groups_of(page)
    label = f"Spend by day and project: {page.money(found['total'])} in {counted(len(found['days']), 'day')}"
    legend = [
        element("li", swatch(number), name_of(name), element("span", f" {amount}", class_="soft"))
        for number, (name, amount) in enumerate(zip(names, sums_of(page, groups), strict=True))
    ]
    total = element(
        "span", f"{page.money(found['total'])} in {counted(len(found['days']), 'day')}", class_="soft"
    )
    return [
        element("div", element("h3", "By day and project"), total, class_="head"),
        spend_chart(found["days"], groups, label, page.currency),
        element("ul", legend, class_="legend", role="list"),
        element("details", element("summary", "As a table"), days_table(page, groups, names)),
    ]


def swatch(number: int) -> Element:
    """Return the color of a project."""
    square = element("rect", width="12", height="12", rx="2", class_=f"p{number}")
    return element("svg", square, viewBox="0 0 12 12", aria_hidden="true")


def sums_of(page: Page, groups: Sequence[Sequence[str]]) -> list[str]:
    """Return what each group of projects has cost."""
    days = page.data["money"]["days"]
    return [page.money(str(sum((sum_of(day, group) for day in days), Decimal(0)))) for group in groups]


def days_table(page: Page, groups: Sequence[Sequence[str]], names: Sequence[str]) -> Element:
    """Return the figures of the chart."""

    rows = [
        element(
            "tr",
            head(day["date"]),
            [cell(page.money(str(sum_of(day, group))), number=True) for group in groups],
            cell(page.money(day["amount"]), number=True),
        )
        for day in reversed(page.data["money"]["days"])
    ]
    heads = ["Day", *(f"#{name}" for name in names), "#Together"]
    return scrollable(table("Spend by day and project", heads, rows, class_=""), "Spend by day and project")


def top_of(page: Page) -> list[Element]:
    """Return the services that have cost most."""
    rows = [
        element(
            "tr",
            head(name_of(each["name"] or each["id"] or UNKNOWN)),
            cell(name_of(each["project"]) if each["project"] else UNKNOWN),
            cell(page.money(each["amount"]), number=True),
            cell(
                page.money(each["monthly"]) if each["monthly"] else "no longer there",
                of="a month now",
                number=True,
            ),
        )
        for each in page.data["money"]["top"]
    ]
    heads = ["Service", "Project", "#Spent", "#A month now"]
    return [element("h3", "The five that have cost most"), table("The five that have cost most", heads, rows)]


def savings_of(page: Page) -> list[Element]:
    """Return what sleep has saved."""
    saved: dict[str, Any] = page.data["money"]["saved"]
    rows = [
        element(
            "tr",
            head(name_of(plan["plan"])),
            cell(page.money(plan["saved"]), of="saved", number=True),
            cell(page.money(plan["saves_monthly"]), of="a month", number=True),
            cell(moment_text(plan["finished"]) + ("" if plan["ok"] else ", with problems"), of="last run"),
        )
        for plan in saved["plans"]
    ]
    return [
        element("h3", f"Sleep has saved {page.money(saved['saved'])}"),
        table("What sleep has saved", ["Plan", "#Saved so far", "#Saves a month", "Last run"], rows),
    ]


# --- The chart of spend by day ----------------------------------------------------------------------


def nice_top(amount: Decimal) -> Decimal:
    """Return the end of a scale for amounts up to this one: 1, 2, 4, 5 or 10 times a power of ten."""
    if amount <= 0:
        return Decimal(1)
    unit = Decimal(10) ** amount.adjusted()
    return next(unit * step for step in map(Decimal, ("1", "2", "4", "5", "10")) if unit * step >= amount)


def scaled(amount: Decimal, top: Decimal) -> int:
    """Return the height of an amount in a drawing of 1000 units."""
    return int(amount * TALL * 10 / top)


def spend_chart(
    days: Sequence[Mapping[str, Any]], groups: Sequence[Sequence[str]], label: str, currency: str | None
) -> Element:
    """Return the columns of the days, stacked by groups of projects, with their scale and dates."""
    amounts = [[sum_of(day, group) for group in groups] for day in days]
    top = nice_top(max((sum(each, Decimal(0)) for each in amounts), default=Decimal(0)))
    paths = [
        element("path", d=stack(amounts, number, top), class_=f"p{number}") for number in range(len(groups))
    ]
    drawing = element(
        "svg",
        lines(len(days)),
        paths,
        [hover(number, day, currency) for number, day in enumerate(days)],
        role="img",
        aria_label=label,
        viewBox=f"0 0 {len(days) * (COLUMN + GAP)} {TALL}",
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


def lines(days: int) -> Element:
    """Return the lines of the scale."""
    right = days * (COLUMN + GAP)
    return element("path", d=f"M0 0H{right}M0 {TALL // 2}H{right}M0 {TALL}H{right}", class_="lines")


def stack(amounts: Sequence[Sequence[Decimal]], number: int, top: Decimal) -> str:
    """Return the rectangles of one group on all days."""
    found = []
    for place, day in enumerate(amounts):
        below = scaled(sum(day[:number], Decimal(0)), top)
        above = scaled(sum(day[: number + 1], Decimal(0)), top)
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
