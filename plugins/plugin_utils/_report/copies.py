# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sections on backups, on releases, on what was changed, and on what could not be read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import date

from ansible_collections.hosted.services.plugins.module_utils._api.models import Flaw
from ansible_collections.hosted.services.plugins.module_utils._api.text import counted
from ansible_collections.hosted.services.plugins.module_utils._api.values import ScanStatus
from ansible_collections.hosted.services.plugins.module_utils._resources.applications.releases import (
    describe_flaw,
)
from ansible_collections.hosted.services.plugins.plugin_utils._report.markup import (
    DASH,
    UNKNOWN,
    Content,
    Element,
    ago_text,
    day_text,
    element,
    hours_text,
    listed,
    moment_text,
    name_of,
)
from ansible_collections.hosted.services.plugins.plugin_utils._report.page import (
    SECTIONS,
    Column,
    Data,
    Page,
    box,
    section,
    table,
)
from ansible_collections.hosted.services.plugins.plugin_utils._report.signs import (
    FRESHNESS,
    icon,
    labeled,
    verdict_of,
)

CELL = 10
CELLS = {
    "fresh": ("h8v8h-8z", "fresh at the end of the day"),
    "stale": ("l8 8h-8z", "too old"),
    "failed": ("l8 8m0-8l-8 8", "failed, and none made"),
    "none": ("m2 4h4", "no backup"),
}
"""The shape of each cell in a square of 8 units, and its word. Strokes are in the style."""
MOST_NAMES = 20
MOST_CHANGES = 100
ARROW = "\u2192"
WORST_FIRST = ("none", "stale", "fresh")


# --- Backups ----------------------------------------------------------------------------------------


def backups_section(page: Page) -> Element:
    """Return the calendar of backups, and what plans and drills say."""
    found = page.data["backups"]
    if page.data["services"] is None:
        return section("backups", None, element("p", "The services could not be read."))
    about = (
        f"The newest backup of a service should be at most {found['max_age']} old. "
        "Backups that were deleted since do not count. Days are in UTC."
    )
    rows = sorted(
        found["services"], key=lambda row: (WORST_FIRST.index(row["freshness"]), row["name"], row["id"])
    )
    samples = [element("li", sample(kind), word) for kind, (_shape, word) in CELLS.items()]
    legend = element("ul", samples, class_="legend", role="list")
    nothing = element("p", "No service offers backups.")
    calendar = [legend, calendar_table(page, rows)] if rows else [nothing]
    return section("backups", about, box(calendar), notes(page))


def calendar_table(page: Page, rows: Sequence[Data]) -> Element:
    """Return a row for each service."""
    days = [date.fromisoformat(day) for day in page.data["backups"]["days"]]
    span = element(
        "span", element("span", day_text(days[0])), element("span", day_text(days[-1])), class_="span"
    )
    columns = [
        Column("Service"),
        Column(span),
        Column("Would be lost", "would be lost:", number=True),
        Column("Longest gap", "longest gap:", number=True),
    ]
    lines = [calendar_line(page, row) for row in rows]
    return table("Backups by service and day", columns, lines, class_="wide calendar")


def in_project(page: Page, id: str | None) -> Element | None:
    """Return the name of a project, to stand behind that of a service."""
    project = page.project_name(id)
    return element("span", " ", name_of(project), class_="soft small") if project else None


def calendar_line(page: Page, row: Data) -> list[Content]:
    """Return the cells of a service: its name, a calendar of its backups, and what would be lost."""
    sign = FRESHNESS[row["freshness"]]
    counts: Counter[str] = Counter(row["cells"])
    told = ", ".join(f"{kind} {counts[kind]}" for kind in CELLS if counts[kind])
    service = page.services.get(row["id"])
    where = in_project(page, service["project_id"]) if service else None
    lost = "everything" if row["freshness"] == "none" else hours_text(row["age_hours"])
    failed = element("span", ", last one failed", class_="soft") if row["last_failed"] else None
    return [
        [icon(sign), " ", name_of(row["name"]), where],
        calendar_row(row["cells"], f"{row['name']}: {sign.word}. Days: {told}"),
        [lost, failed],
        hours_text(row["longest_gap_hours"]),
    ]


def notes(page: Page) -> Element | None:
    """Return what else there is to say of backups."""
    found = page.data["backups"]
    items: list[Element] = []
    for ids, said in (
        (found["unknown_ids"], "Not known, as it could not be read: "),
        (found["not_offered_ids"], "Offer no backups: "),
    ):
        if ids:
            items.append(element("li", said, listed([page.name(id) for id in ids])))
    for plan in found["plans"]:
        how = "went well" if plan["ok"] else "; ".join(plan["problems"]) or "failed"
        said = f": last run {moment_text(plan['finished'])}, {how}"
        items.append(element("li", "Plan ", name_of(plan["plan"]), said))
    drill = found["drill"]
    said = "No restore drill is known. A backup that was never restored is a hope."
    if drill:
        how = "the backup was restored" if drill["restored"] else "it failed"
        when = f"{moment_text(drill['finished'])} ({ago_text(drill['age_days'])})"
        said = f"Last restore drill: {when}, {how}"
    items.append(element("li", said))
    return box(element("ul", items, class_="plain"))


def calendar_row(cells: Sequence[str], label: str) -> Element:
    """Return the cells of a service, a shape for each day."""
    paths = []
    for kind in [kind for kind in CELLS if kind in cells]:
        days = [day for day, cell in enumerate(cells) if cell == kind]
        shapes = "".join(f"M{day * CELL + 1} 1{CELLS[kind][0]}" for day in days)
        paths.append(element("path", d=shapes, class_=kind))
    return element(
        "svg",
        paths,
        class_="cells",
        role="img",
        aria_label=label,
        viewBox=f"0 0 {len(cells) * CELL} {CELL}",
    )


def sample(kind: str) -> Element:
    """Return one cell, for the legend."""
    path = element("path", d=f"M1 1{CELLS[kind][0]}", class_=kind)
    return element("svg", path, class_="cells one", viewBox=f"0 0 {CELL} {CELL}", aria_hidden="true")


# --- Releases ---------------------------------------------------------------------------------------


def releases_section(page: Page) -> Element:
    """Return what runs, the verdicts, and what is blocked and why."""
    apps = page.data["applications"]
    if apps is None:
        return section("releases", None, element("p", "The applications could not be read."))
    if not apps:
        return section("releases", None, element("p", "There are no applications."))
    columns = [
        Column("Application"),
        Column("In service", "runs"),
        Column("Verdict"),
        Column("Cannot be deployed", "blocked:"),
    ]
    rows = [release_line(page, app) for app in apps]
    return section("releases", None, box(table("Releases in service", columns, rows)))


def release_line(page: Page, app: Data) -> list[Content]:
    """Return the cells of an application: its name, what runs, its verdict, and what is blocked."""
    runs: list[Content] = ["nothing yet"]
    if app["digest"] is not None:
        age = element("span", f" {ago_text(app['age_days'])}", class_="soft")
        runs = [name_of(app["tag"] or app["digest"][:19]), age]
    blocked = [each for each in app["releases"] or () if each["scan_status"] == ScanStatus.BLOCKED]
    return [
        [name_of(app["slug"]), in_project(page, app["project_id"])],
        runs,
        labeled(verdict_of(app["scan_status"])) if app["digest"] is not None else DASH,
        blocked_list(app, blocked),
    ]


def blocked_list(app: Data, blocked: Sequence[Data]) -> list[Content]:
    """Return the releases that are blocked, each with the flaws that block it."""
    if app["releases"] is None:
        return [f"{UNKNOWN}: the releases could not be read"]
    note = element("p", app["note"], class_="soft small") if app["note"] else None
    found: list[Content] = [] if blocked else ["none"]
    for release in blocked:
        title = element(
            "div",
            name_of(release["tag"]),
            f", {ago_text(release['age_days'])}",
            element("span", ", in service", class_="bad") if release["in_service"] else None,
        )
        flaws = [element("li", describe_flaw(Flaw.model_construct(**flaw))) for flaw in release["blocking"]]
        unnamed = element("li", "the scan does not name the flaw")
        found += [title, element("ul", flaws or unnamed, class_="flaws")]
    return [*found, note]


# --- What was changed -------------------------------------------------------------------------------


def history_section(page: Page) -> Element:
    """Return what tasks of this controller changed in the last days, the newest first."""
    lines = page.data["history"]
    about = (
        "What tasks of this controller changed in the last seven days. Those of others are not known here."
    )
    if lines is None:
        return section("history", None, element("p", "It is told in the report on the whole account."))
    if not lines:
        return section("history", about, element("p", "Nothing."))
    rows = [
        (
            moment_text(line["at"]),
            name_of(line["change"]),
            f"{line['outcome']}, {price}" if (price := price_moved(page, line)) else line["outcome"],
            name_of(line["who"]),
        )
        for line in reversed(lines[-MOST_CHANGES:])
    ]
    columns = [Column("When"), Column("Change"), Column("Outcome", "Outcome: "), Column("By", "By: ")]
    more = len(lines) - len(rows)
    rest = element("p", f"and {counted(more, 'earlier change')}", class_="soft") if more > 0 else None
    return section("history", about, box(table(SECTIONS["history"], columns, rows)), rest)


def price_moved(page: Page, line: Data) -> str | None:
    """Say how a change moved a price; ``None`` if it did not."""
    before, after = line.get("monthly_before"), line.get("monthly_after")
    return f"{page.money(before)} {ARROW} {page.money(after)}" if before != after else None


# --- What could not be read -------------------------------------------------------------------------


def unread_section(page: Page) -> Element:
    """Return what could not be read, and why."""
    groups: dict[tuple[str, str], list[str]] = {}
    for each in page.data["unread"]:
        groups.setdefault((each["part"], each["reason"]), []).append(each["name"])
    if not groups:
        return section("unread", None, element("p", "Everything could be read."))
    items = []
    for (part, reason), names in groups.items():
        known = [name for name in names if name is not None]
        of = [" of ", *listed(known, MOST_NAMES)] if known else None
        items.append(element("li", element("strong", part), of, f": {reason}"))
    count = counted(len(page.data["unread"]), "part")
    about = f"{count} of this report could not be read. All of it is unknown, not zero."
    return section("unread", about, box(element("ul", items, class_="plain")))
