# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes a page of the figures of a report: one file, which asks for nothing from anywhere."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from ...module_utils._api.models import Flaw
from ...module_utils._api.text import counted
from ...module_utils._resources.applications.releases import describe_flaw
from . import chart, graph, signs, style, texts

REST = (
    ("none", "has none", "have none"),
    ("unknown", "could not be read", "could not be read"),
    ("not_offered", "offers no backups", "offer no backups"),
    ("not_created", "service does not exist yet", "services do not exist yet"),
)
"""What is said of services without a fresh backup, for one and for more."""
KNOWN = {
    **{name: getattr(texts, name) for name in ("money", "day_text", "moment_text", "ago_text", "hours_text")},
    "months": texts.MONTHS,
    "dash": texts.DASH,
    "shortened": texts.shortened,
    "counted": counted,
    "shapes": signs.SHAPES,
    "levels": signs.LEVELS,
    "freshness": signs.FRESHNESS,
    "sign_of": signs.sign_of,
    "verdict_of": signs.verdict_of,
    "graph_of": graph.graph_of,
    "card_width": graph.WIDTH,
    "card_height": graph.HEIGHT,
    "chart_of": chart.chart_of,
    "policy": style.policy(),
    "style": style.STYLE,
}
"""What the template knows besides the report."""


def report_html(report: Any, title: str = "Hosted services") -> str:
    """Return the page of a report that module ``report_info`` has read.

    :raises Invalid: if it is no such report.
    """
    found = texts.harmless(texts.check_report(report))
    services, projects = (
        {each["id"]: each for each in found[part] or ()} for part in ("services", "projects")
    )
    return template().render(
        report=found,
        title=texts.harmless(title),
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
    """Return a flaw that blocks a release, in a sentence."""
    return describe_flaw(Flaw.model_construct(**flaw))
