# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page of a report: the answers first, then what to do, then the figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from ansible_collections.hosted.services.plugins.plugin_utils._report.markup import (
    Content,
    Element,
    element,
    money,
)

Data = Mapping[str, Any]
SECTIONS = {
    "next": "What to do next",
    "projects": "Projects",
    "spend": "Spend",
    "backups": "Backups",
    "releases": "Releases",
    "history": "Changes by Ansible",
    "unread": "Not read",
}
"""The sections by their ids, with their titles, in their order."""


@dataclass(frozen=True)
class Page:
    """The figures of a report, and what sections look up in them."""

    data: Data

    @cached_property
    def services(self) -> dict[str, Data]:
        """The services by id."""
        return {each["id"]: each for each in self.data["services"] or ()}

    @cached_property
    def projects(self) -> dict[str, Data]:
        """The projects by id."""
        return {each["id"]: each for each in self.data["projects"] or ()}

    @property
    def currency(self) -> str | None:
        """The currency of all amounts; ``None`` if none is known."""
        found: str | None = self.data["currency"]
        return found

    def money(self, amount: str | None) -> str:
        """Format an amount, ``None`` as unknown."""
        return money(amount, self.currency)

    def name(self, id: str | None) -> str:
        """Return the name of a service; its id if it is not known."""
        service = self.services.get(id or "")
        return str(service["name"]) if service else str(id)

    def project_name(self, id: str | None) -> str | None:
        """Return the name of a project; ``None`` if it is not known."""
        project = self.projects.get(id or "")
        return str(project["name"]) if project else None


def check_report(report: Any) -> Data:
    """Return a report, if it is one that module report_info returns."""
    if not isinstance(report, Mapping) or "answers" not in report:
        raise Invalid("this is no report; give the filter what module report_info returns as `report`")
    return report


def section(id: str, about: str | None, *content: Content) -> Element:
    """Return a section of the page with its title."""
    return element(
        "section",
        element("h2", SECTIONS[id], id=f"{id}-title"),
        element("p", about, class_="soft") if about else None,
        content,
        id=id,
        aria_labelledby=f"{id}-title",
    )


def box(*content: Content) -> Element:
    """Return an element with a frame around its content."""
    return element("div", content, class_="box")


def scrollable(content: Element, label: str) -> Element:
    """Return what may be wider than the screen, in a box that scrolls, with the keyboard, too."""
    return element("div", content, class_="scroll", role="region", aria_label=label, tabindex="0")


class Column(NamedTuple):
    """A column of a table."""

    head: Content
    of: str | None = None
    """What stands before a cell on a phone, in place of the head."""
    number: bool = False


def table(
    caption: str, columns: Sequence[Column], rows: Iterable[Sequence[Content]], class_: str = "wide"
) -> Element:
    """Return a table. The first cell of a row names it."""
    heads = [element("th", each.head, scope="col", class_="n" if each.number else None) for each in columns]
    body = [
        element(
            "tr",
            element("th", name, scope="row"),
            [
                element("td", content, class_="n" if each.number else None, data_of=each.of)
                for each, content in zip(columns[1:], cells, strict=True)
            ],
        )
        for name, *cells in rows
    ]
    return element(
        "table",
        element("thead", element("tr", heads)),
        element("tbody", body),
        class_=class_,
        aria_label=caption,
    )
