# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes a page of the figures of a report: one file, which asks for nothing from anywhere."""

from __future__ import annotations

import unicodedata
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from ...module_utils._api.models import Flaw
from ...module_utils._api.text import counted, printable
from ...module_utils._api.values import ContainerState, ScanStatus, ServiceStatus
from ...module_utils._resources.applications.releases import describe_flaw
from ...module_utils._resources.shared.money import format_amount
from ...module_utils._resources.shared.task_errors import Invalid
from .drawings import HEIGHT, WIDTH, chart_of, graph_of

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
REST = (
    ("none", "has none", "have none"),
    ("unknown", "could not be read", "could not be read"),
    ("not_offered", "offers no backups", "offer no backups"),
    ("not_created", "service does not exist yet", "services do not exist yet"),
)
"""What is said of services without a fresh backup, for one and for more."""

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
    """Return a report, if it is one that module report_info returns."""
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
    """Format a day, such as ``19 Nov``."""
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


# --- The page -------------------------------------------------------------------------------------------


KNOWN = {
    **{each.__name__: each for each in (money, day_text, moment_text, ago_text, hours_text, shortened)},
    **{each.__name__: each for each in (sign_of, verdict_of, graph_of, chart_of, counted)},
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
    """Return the page of a report that module ``report_info`` has read."""
    found = harmless(check_report(report))
    services, projects = (
        {each["id"]: each for each in found[part] or ()} for part in ("services", "projects")
    )
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
    environment.globals |= {**KNOWN, "backed_up_text": backed_up_text, "flaw_text": flaw_text}
    return environment.get_template("page.html.j2")


def backed_up_text(report: Mapping[str, Any]) -> tuple[str, str]:
    """Return whether every service has a backup that is young enough, in a word and in a sentence."""
    found = report["answers"]["backed_up"]
    of, fresh = found["of"], found["fresh"]
    if found["unknown"] is None:
        return "Unknown", "The services cannot be read"
    rest = [f"{found[key]} {one if found[key] == 1 else more}" for key, one, more in REST if found[key]]
    if not of and not found["unknown"]:
        return "Nothing to back up", "; ".join(rest)
    short = "No" if fresh < of else "As far as is known" if found["unknown"] else "Yes"
    return short, "; ".join([f"{fresh} of {of} have one from the last {report['backups']['max_age']}", *rest])


def flaw_text(flaw: Mapping[str, Any]) -> str:
    return describe_flaw(Flaw.model_construct(**flaw))
