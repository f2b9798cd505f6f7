# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes a page of the figures of a report: one file, which asks for nothing from anywhere."""

from __future__ import annotations

from typing import Any

from ansible_collections.hosted.services.plugins.plugin_utils._report.copies import (
    backups_section,
    history_section,
    releases_section,
    unread_section,
)
from ansible_collections.hosted.services.plugins.plugin_utils._report.markup import (
    Element,
    element,
    moment_text,
    name_of,
    write,
)
from ansible_collections.hosted.services.plugins.plugin_utils._report.page import (
    SECTIONS,
    Page,
    check_report,
)
from ansible_collections.hosted.services.plugins.plugin_utils._report.signs import definitions
from ansible_collections.hosted.services.plugins.plugin_utils._report.spending import (
    money_section,
    projects_section,
)
from ansible_collections.hosted.services.plugins.plugin_utils._report.style import STYLE, policy
from ansible_collections.hosted.services.plugins.plugin_utils._report.summary import answers, lead, next_steps

TITLE = "Hosted services"


def report_html(report: Any, title: str = TITLE) -> str:
    """Return the page of a report that module ``report_info`` has read.

    :raises Invalid: if it is no such report.
    """
    page = Page(check_report(report))
    full = f"{title}: {page.data['project']}" if page.data["project"] else title
    return write(element("html", head_of(page, full), body_of(page, full), lang="en"))


def head_of(page: Page, title: str) -> Element:
    """Return the head of the page. The policy comes first, before anything that it allows."""
    style = element("style")
    style.text = STYLE  # not cleaned as text is, as the policy has the hash of each byte
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy()),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", f"{title}, {page.data['as_of']}"),
        element("link", rel="icon", href="data:,"),
        style,
    )


def body_of(page: Page, title: str) -> Element:
    """Return the body of the page."""
    links = [element("li", element("a", text, href=f"#{id}")) for id, text in SECTIONS.items()]
    top = element(
        "header",
        element("p", f"As of {moment_text(page.data['as_of'])}", class_="soft"),
        element("h1", name_of(title)),
        lead(page),
        element("nav", element("ul", links), aria_label="Sections"),
    )
    main = element(
        "main",
        answers(page),
        next_steps(page),
        projects_section(page),
        money_section(page),
        backups_section(page),
        releases_section(page),
        history_section(page),
        unread_section(page),
        id="main",
    )
    foot = "Amounts are those of the platform, to the cent. This file loads nothing and runs nothing."
    return element(
        "body",
        element("a", "Skip to the answers", href="#main", class_="skip"),
        definitions(),
        element("div", top, main, element("footer", element("p", foot)), class_="page"),
    )
