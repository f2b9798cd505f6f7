# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes a page of the figures of a report, one file which asks for nothing from anywhere, and metrics."""

from __future__ import annotations

import unicodedata
from base64 import b64encode
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import cache, reduce
from hashlib import sha256
from itertools import accumulate, pairwise
from operator import add
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from ...module_utils._api.models import Flaw
from ...module_utils._api.text import counted, printable
from ...module_utils._api.values import ContainerState, ScanStatus, ServiceStatus
from ...module_utils._resources.applications.releases import describe_flaw
from ...module_utils._resources.services.many_services import order_of
from ...module_utils._resources.shared.money import format_amount, sum_of
from ...module_utils._resources.shared.task_errors import Invalid

COLUMN, GAP, TALL = 10, 3, 100
"""Width of a column, the room between two, and the height of the drawing."""
COLORS = 8
"""How many colors there are. The last one is for all other projects together."""
WIDTH, HEIGHT = 232, 56
"""The size of a card."""
LANE = 8
"""The height of an arrow that passes a column."""
ACROSS, DOWN = 72, 14
"""The room between two columns, and between two cards of a column."""
GRID = 4
"""The cards in a row of those that nothing refers to and that refer to nothing."""

Edge = tuple[str, str]
Place = tuple[int, int]
Slot = str | tuple[str, str, int]
"""What takes a place in a column: a card, or an arrow from one card to another that passes it."""
Route = tuple[Slot, ...]


# --- The chart: a column for each day, stacked by groups of projects ------------------------------------


@dataclass(frozen=True)
class Group:
    """Projects of one color: what they have cost on each day, and their parts of the columns."""

    name: str
    amounts: Sequence[Decimal]
    total: Decimal
    path: str


@dataclass(frozen=True)
class Chart:
    """The groups, those that cost most first, the end of the scale, and the size of the drawing."""

    groups: Sequence[Group]
    top: Decimal
    width: int
    height: int = TALL
    step: int = COLUMN + GAP


def chart_of(days: Sequence[Mapping[str, Any]], projects: Mapping[str, Mapping[str, Any]]) -> Chart:
    spent: dict[str, list[Decimal]] = {}
    for place, day in enumerate(days):
        for each in day["projects"]:
            spent.setdefault(each["id"], [Decimal(0)] * len(days))[place] += Decimal(each["amount"])
    names = {id: projects[id]["name"] if id in projects else id for id in spent}
    order = sorted((id for id in spent if any(spent[id])), key=lambda id: (-sum(spent[id]), names[id]))
    single = order if len(order) <= COLORS else order[: COLORS - 1]
    rest = order[len(single) :]
    stacked = [(names[id], spent[id]) for id in single]
    if rest:
        stacked.append((f"{len(rest)} other projects", reduce(together, [spent[id] for id in rest])))
    ends = list(accumulate((amounts for __, amounts in stacked), together, initial=[Decimal(0)] * len(days)))
    top = nice_top(max(ends[-1], default=Decimal(0)))
    parts = zip(stacked, pairwise(ends), strict=True)
    groups = [Group(name, amounts, sum_of(amounts), bars(*pair, top)) for (name, amounts), pair in parts]
    return Chart(groups, top, len(days) * (COLUMN + GAP))


def together(one: Sequence[Decimal], other: Sequence[Decimal]) -> list[Decimal]:
    return list(map(add, one, other))


def nice_top(amount: Decimal) -> Decimal:
    """Return the end of a scale for amounts up to this one: 1, 2, 4, 5 or 10 times a power of ten."""
    if amount <= 0:
        return Decimal(1)
    unit = Decimal(10) ** amount.adjusted()
    return next(unit * step for step in map(Decimal, ("1", "2", "4", "5", "10")) if unit * step >= amount)


def bars(begins: Sequence[Decimal], ends: Sequence[Decimal], top: Decimal) -> str:
    found = []
    for place, pair in enumerate(zip(begins, ends, strict=True)):
        below, above = (int(end * TALL * 10 / top) for end in pair)  # in tenths
        if above > below:
            x, y = place * (COLUMN + GAP) + GAP / 2, TALL - above / 10
            found.append(f"M{x:g} {y:g}h{COLUMN}v{(above - below) / 10:g}h-{COLUMN}z")
    return "".join(found)


# --- The graph: services as cards, references as arrows from left to right ------------------------------


@dataclass(frozen=True)
class Graph:
    """Where the cards are, the paths of the arrows, and how large the drawing is."""

    places: Mapping[Slot, Place]
    arrows: Sequence[str]
    width: int
    height: int


def graph_of(services: Sequence[Mapping[str, Any]], references: Sequence[Mapping[str, Any]]) -> Graph:
    """Return the graph of services, without references of one to itself or to what is elsewhere."""
    ids = [service["id"] for service in services]
    edges = {(edge["from_id"], edge["to_id"]) for edge in references}
    return arrange(ids, sorted(edge for edge in edges if set(ids).issuperset(edge) and edge[0] != edge[1]))


def arrange(nodes: Sequence[str], edges: Sequence[Edge]) -> Graph:
    """Return where each card goes: those with references in columns, the others in rows below.

    An arrow that passes a column gets a place in it, so that it does not run behind a card.
    """
    linked = {node for edge in edges for node in edge}
    routes, columns = columns_of([node for node in nodes if node in linked], edges)
    heights = [sum(height_of(slot) + DOWN for slot in column) - DOWN for column in columns]
    tallest = max(heights, default=-DOWN)
    places: dict[Slot, Place] = {}
    for number, column in enumerate(columns):
        y = (tallest - heights[number]) // 2
        for slot in column:
            places[slot] = (number * (WIDTH + ACROSS), y)
            y += height_of(slot) + DOWN
    below = tallest + (2 * DOWN if columns else DOWN)
    for number, node in enumerate(node for node in nodes if node not in linked):
        across, down = number % GRID, number // GRID
        places[node] = (across * (WIDTH + DOWN), below + down * (HEIGHT + DOWN))
    width = max((x for x, __ in places.values()), default=0) + WIDTH
    height = max((y + height_of(slot) for slot, (__, y) in places.items()), default=0)
    return Graph(places, [path_of(places, routes[edge]) for edge in edges], width, height)


def height_of(slot: Slot) -> int:
    return HEIGHT if isinstance(slot, str) else LANE


def columns_of(linked: Sequence[str], edges: Sequence[Edge]) -> tuple[dict[Edge, Route], list[list[Slot]]]:
    """Return the places that each arrow passes, and the columns, in an order that keeps arrows short."""
    ranks = ranks_of(linked, edges)
    columns: list[list[Slot]] = [[] for __ in range(max(ranks.values(), default=-1) + 1)]
    for node in linked:
        columns[ranks[node]].append(node)
    routes: dict[Edge, Route] = {}
    before: dict[Slot, list[Slot]] = defaultdict(list)
    for begin, end in edges:
        lanes = [(begin, end, number) for number in range(ranks[begin] + 1, ranks[end])]
        routes[begin, end] = (begin, *lanes, end)
        for lane in lanes:
            columns[lane[2]].append(lane)
        for left, right in pairwise(routes[begin, end]):
            before[right].append(left)
    rows: dict[Slot, float] = {}
    for column in columns:
        known = {slot: [rows[other] for other in before[slot] if other in rows] for slot in column}
        middle = {slot: sum(found) / len(found) if found else 0.0 for slot, found in known.items()}
        column.sort(key=lambda slot: middle[slot])
        rows.update({slot: float(row) for row, slot in enumerate(column)})
    return routes, columns


def ranks_of(nodes: Sequence[str], edges: Sequence[Edge]) -> dict[str, int]:
    """Return the column of each node: behind all that refer to it, but for those that refer to each other."""
    referring: dict[str, set[str]] = {node: set() for node in nodes}
    for begin, end in edges:
        referring[end].add(begin)
    before = order_of(nodes, referring).needs
    ranks: dict[str, int] = {}
    for node in sorted(nodes, key=lambda node: len(before[node])):
        ranks[node] = max((ranks[other] + 1 for other in before[node]), default=0)
    return ranks


def path_of(places: Mapping[Slot, Place], route: Route) -> str:
    """Return an arrow from the right of one card to the left of another, straight through what it passes."""
    path = ""
    for left, right in pairwise(route):
        (x1, y1), (x2, y2) = places[left], places[right]
        x1, y1, y2 = x1 + WIDTH, y1 + height_of(left) // 2, y2 + height_of(right) // 2
        bend = max(ACROSS // 2, abs(x2 - x1) // 2)
        path += f"{'L' if path else 'M'}{x1} {y1}C{x1 + bend} {y1} {x2 - bend} {y2} {x2} {y2}"
    return path


# --- The page -----------------------------------------------------------------------------------------


MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
STYLE = (Path(__file__).parent / "page.css").read_text(encoding="utf-8").partition("*/")[2]
DIGEST = b64encode(sha256(STYLE.encode()).digest()).decode()
POLICY = (
    f"default-src 'none'; style-src 'sha256-{DIGEST}'; img-src data:; base-uri 'none'; form-action 'none'"
)
"""Nothing is loaded, nothing runs, one style is known. The icon is empty, so that no browser asks for one."""
UNKNOWN = "unknown"
DASH = "\u2013"
"""Stands where there is nothing to say."""
MISSING = (
    ("none", "has no backup", "have no backup"),
    ("unknown", "could not be read", "could not be read"),
)
REST = (
    ("not_offered", "offers no backups", "offer no backups"),
    ("not_created", "service does not exist yet", "services do not exist yet"),
)
"""What is said of services without a fresh backup, for one and for more: what is missing comes first."""

# --- Signs: each condition and verdict has a word, a color and a shape of its own -----------------------

SHAPES = {
    "disc": "M8 2a6 6 0 1 0 0 12a6 6 0 1 0 0-12z",
    "square": "M3 3h10v10h-10zM5 5v6h6v-6z",
    "bars": "M3 2h4v12h-4zM9 2h4v12h-4z",
    "play": "M4 2l10 6l-10 6z",
    "cross": "M4 1.5l4 4l4-4l2.5 2.5l-4 4l4 4l-2.5 2.5l-4-4l-4 4l-2.5-2.5l4-4l-4-4z",
    "diamond": "M8 0.5l7.5 7.5l-7.5 7.5l-7.5-7.5zM7.2 4v5h1.6v-5zM7.2 10.2v1.6h1.6v-1.6z",
    "ring": "M8 1a7 7 0 1 0 0 14a7 7 0 1 0 0-14zM8 3.5a4.5 4.5 0 1 1 0 9a4.5 4.5 0 1 1 0-9z",
    "check": "M2 8l2.2-2.2l2.6 2.6l5-5l2.2 2.2l-7.2 7.2z",
    "triangle": "M8 1l7.5 13.5h-15zM7.2 6v4h1.6v-4zM7.2 11.2v1.6h1.6v-1.6z",
    "dots": "M1 6.5h3.5v3.5h-3.5zM6.3 6.5h3.5v3.5h-3.5zM11.5 6.5h3.5v3.5h-3.5z",
}
"""Each drawn in a square of 16 units."""


@dataclass(frozen=True)
class Sign:
    """How something is: in a word, a color and a shape."""

    word: str
    tone: str
    """The class of its color: good, warn, bad, calm or dim."""
    shape: str


STATES = {
    ContainerState.RUNNING: Sign("running", "good", "disc"),
    ContainerState.STOPPED: Sign("stopped", "warn", "square"),
    ContainerState.STARTING: Sign("starting", "calm", "play"),
    ContainerState.STOPPING: Sign("stopping", "calm", "play"),
    ContainerState.INSTALLING: Sign("installing", "calm", "play"),
}
STATUSES = {
    ServiceStatus.PROVISIONING: Sign("being created", "calm", "play"),
    ServiceStatus.AWAITING_ADMIN: Sign("awaits platform", "bad", "diamond"),
    ServiceStatus.SUSPENDED: Sign("suspended", "calm", "bars"),
    ServiceStatus.FAILED: Sign("failed", "bad", "cross"),
}
NOTHING_KNOWN = Sign("state unknown", "dim", "ring")
VERDICTS: Mapping[str | None, Sign] = {
    None: Sign("verdict unknown", "dim", "ring"),
    ScanStatus.PASSED: Sign("passed", "good", "check"),
    ScanStatus.WARNED: Sign("warned", "warn", "triangle"),
    ScanStatus.BLOCKED: Sign("blocked", "bad", "cross"),
    ScanStatus.PENDING: Sign("scan is running", "calm", "dots"),
    ScanStatus.FAILED: Sign("not analyzed", "dim", "ring"),
}
LEVELS = {
    "critical": Sign("now", "bad", "diamond"),
    "warning": Sign("soon", "warn", "triangle"),
    "notice": Sign("when there is time", "calm", "disc"),
}
FRESHNESS = {
    "fresh": Sign("fresh", "good", "check"),
    "stale": Sign("stale", "warn", "triangle"),
    "none": Sign("no backup", "bad", "ring"),
}


def sign_of(service: Mapping[str, Any]) -> Sign:
    """Return how a service is: by its status, or by the state of its container if it is active."""
    status = service["status"]
    if status == ServiceStatus.ACTIVE:
        return STATES.get(service["state"], NOTHING_KNOWN)
    return STATUSES.get(status, Sign(str(status).lower().replace("_", " "), "dim", "ring"))


def verdict_of(scan_status: str | None) -> Sign:
    return VERDICTS.get(scan_status, Sign(str(scan_status).lower(), "dim", "ring"))


# --- Texts ----------------------------------------------------------------------------------------------


def check_report(report: Any) -> Mapping[str, Any]:
    if not isinstance(report, Mapping) or "answers" not in report:
        raise Invalid("this is no report; give the filter what module report_info returns as `report`")
    return report


def harmless(value: Any) -> Any:
    """Return data in which no text steers a browser: line breaks become blanks, controls are escaped.

    Each text becomes plain text, which a template escapes whatever it was before.
    """
    if isinstance(value, str):
        text = str.__str__(value)
        return text if text.isprintable() else printable("".join(" " if c in "\n\r\t" else c for c in text))
    if isinstance(value, Mapping):
        return {key: harmless(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [harmless(item) for item in value]
    return value


def shortened(text: str, width: int) -> str:
    """Return text that takes at most so many columns, where letters of East Asia and emoji take two."""
    if width_of(text) <= width:
        return text
    kept, taken = "", 1
    for char in text:
        taken += width_of(char)
        if taken > width:
            break
        kept += char
    return kept.rstrip("\u200d ") + "…"


def width_of(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def money(amount: str | Decimal | None, currency: str | None) -> str:
    if amount is None:
        return UNKNOWN
    exact = f"{Decimal(format_amount(Decimal(amount)) or 0):,}"
    return f"{exact} {currency}" if currency else exact


def day_text(day: str | date) -> str:
    found = date.fromisoformat(day) if isinstance(day, str) else day
    return f"{found.day}\u00a0{MONTHS[found.month - 1][:3]}"


def moment_text(text: str | None) -> str:
    """Format a timestamp, such as ``19 Nov 2026, 09:30 UTC``; as it is if it is none."""
    if not text:
        return UNKNOWN
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return text
    return f"{day_text(moment.date())}\u00a0{moment.year}, {moment:%H:%M}\u00a0UTC"


def ago_text(days: int | None) -> str:
    if days is None:
        return UNKNOWN
    return "today" if days == 0 else f"{counted(days, 'day')} ago"


def hours_text(hours: int | None) -> str:
    if hours is None:
        return DASH
    return f"{hours}\u00a0h" if hours < 48 else f"{hours // 24}\u00a0days"


def backed_up_text(report: Mapping[str, Any]) -> tuple[str, str]:
    """Return whether every service has a backup that is young enough, in a word and in a sentence."""
    found = report["answers"]["backed_up"]
    of, fresh = found["of"], found["fresh"]
    if found["unknown"] is None:
        return "Unknown", "The services cannot be read"
    missing, rest = (
        [f"{found[key]} {one if found[key] == 1 else more}" for key, one, more in kinds if found[key]]
        for kinds in (MISSING, REST)
    )
    if not of and not found["unknown"]:
        return "Nothing to back up", "; ".join(rest)
    short = "No" if fresh < of else "As far as is known" if found["unknown"] else "Yes"
    good = f"{fresh} of {of} have one from the last {report['backups']['max_age']}"
    return short, "; ".join([*missing, good, *rest])


# --- The page -------------------------------------------------------------------------------------------


KNOWN = {
    **{each.__name__: each for each in (money, day_text, moment_text, ago_text, hours_text, shortened)},
    **{each.__name__: each for each in (sign_of, verdict_of, graph_of, chart_of, counted, backed_up_text)},
    "flaw_text": lambda flaw: describe_flaw(Flaw.model_construct(**flaw)),
    "months": MONTHS,
    "dash": DASH,
    "shapes": SHAPES,
    "levels": LEVELS,
    "freshness": FRESHNESS,
    "card_width": WIDTH,
    "card_height": HEIGHT,
    "policy": POLICY,
    "style": STYLE,
}
"""What the template knows besides the report."""


def report_html(report: Any, title: str = "Hosted services") -> str:
    found = harmless(check_report(report))
    services, projects = ({each["id"]: each for each in found[key] or ()} for key in ("services", "projects"))
    return template().render(
        report=found,
        title=harmless(title),
        services=services,
        projects=projects,
        names_of=lambda ids: [services[id]["name"] if id in services else id for id in ids],
    )


@cache
def template() -> Template:
    """Return the template of the page. What it outputs is escaped, and what is not there is an error."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= KNOWN
    return environment.get_template("page.html.j2")


# --- Metrics, in the format of Prometheus' textfile collector: what is unknown has no sample ----------


Family = tuple[str, str, Sequence[tuple[Mapping[str, Any], Any]]]
"""Its name and help, and its samples: labels and a value; ``None`` if that is unknown."""
ESCAPED = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": " "})


def report_prometheus(report: Any) -> str:
    found = check_report(report)
    lines: list[str] = []
    for name, help, samples in (*account_families(found), *service_families(found)):
        lines += [f"# HELP hosted_report_{name} {help}", f"# TYPE hosted_report_{name} gauge"]
        for labels, value in samples:
            if value is not None:
                shown = ",".join(f'{label}="{escaped(text)}"' for label, text in labels.items())
                lines.append(f"hosted_report_{name}{f'{{{shown}}}' if shown else ''} {value}")
    return "".join(f"{line}\n" for line in lines)


def escaped(text: Any) -> str:
    """Return text for a label, in which nothing steers a terminal or ends the line."""
    return ("" if text is None else printable(str(text))).translate(ESCAPED)


def account_families(report: Mapping[str, Any]) -> Iterator[Family]:
    money, forecast = report["money"], report["money"]["forecast"] or {}
    unit = {"currency": report["currency"]}
    moment = int(datetime.fromisoformat(report["as_of"]).timestamp())
    yield "timestamp_seconds", "The moment that the report speaks of.", [({}, moment)]
    yield "unread", "How many parts of the report could not be read.", [({}, len(report["unread"]))]
    yield "month_to_date", "What the month has cost so far.", [(unit, money["month_to_date"])]
    yield "forecast", "What the month will have cost if all stays as it is.", [(unit, forecast.get("amount"))]
    platform = money["platform_forecast"]
    yield "platform_forecast", "What the platform says that the month will have cost.", [(unit, platform)]
    yield "balance", "The balance of the account.", [(unit, money["balance"])]
    yield "balance_days", "For how many days the balance lasts.", [({}, money["days_left"])]
    matters = [
        ({"kind": matter["kind"], "level": matter["level"]}, len(matter["subjects"]))
        for matter in report["advice"]
    ]
    yield "matters", "How many things a matter to act on concerns.", matters
    spend = [
        ({"project": each["name"], **unit}, None if each["unpriced"] else each["monthly"])
        for each in report["projects"] or ()
    ]
    yield "monthly", "The monthly rate of a project, unless a price is unknown.", spend


def service_families(report: Mapping[str, Any]) -> Iterator[Family]:
    services, rows = report["services"] or (), report["backups"]["services"]
    of = {each["id"]: {"service": each["name"], "service_id": each["id"]} for each in services}
    status = [({**of[each["id"]], "status": each["status"]}, 1) for each in services]
    yield "service_status", "The status of a service.", status
    disks = [(of[each["id"]], each["disk"] and each["disk"]["percent"]) for each in services]
    yield "disk_percent", "How full the disk of a service is.", disks
    ages = [(of[row["id"]], None if row["age_hours"] is None else row["age_hours"] * 3600) for row in rows]
    yield "backup_age_seconds", "The age of the newest good backup of a service, in whole hours.", ages
    yield "backups", "How many good backups a service has.", [(of[row["id"]], row["count"]) for row in rows]
    verdicts = [
        ({"application": each["slug"], "verdict": each["scan_status"]}, 1)
        for each in report["applications"] or ()
        if each["scan_status"] is not None
    ]
    yield "verdict", "The verdict on the image that an application runs.", verdicts
