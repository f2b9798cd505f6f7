# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sections on backups, on releases, and on what could not be read."""

from __future__ import annotations

from typing import Any

from ansible_collections.hosted.services.plugins.module_utils._resources.reports.reading import Facts, Unread
from ansible_collections.hosted.services.plugins.plugin_utils._report.copies import (
    backups_section,
    releases_section,
    unread_section,
)
from ansible_collections.hosted.services.plugins.plugin_utils._report.markup import Element
from ansible_collections.hosted.services.plugins.plugin_utils._report.page import Page
from unit.plugins.reports import account, report_on


def text(section: Element) -> str:
    """Return the text of a section, with plain blanks."""
    return "".join(section.itertext()).replace("\u00a0", " ")


def table(section: Element) -> list[list[str]]:
    """Return the cells of the first table of a section."""
    found = next(section.iter("table"))
    return [["".join(cell.itertext()).replace("\u00a0", " ") for cell in row] for row in found.iter("tr")]


def page(facts: Facts, **measures: Any) -> Page:
    """Return the page of a report."""
    return Page(report_on(facts, **measures))


def test_the_worst_comes_first() -> None:
    facts = account(["good", "bad"])
    facts.backups["s0001"] = []
    rows = table(backups_section(page(facts)))
    assert [row[0].strip() for row in rows[1:]] == ["bad team 0", "good team 0"]
    assert rows[1][2:] == ["everything", "\u2013"]
    labels = [svg.get("aria-label") for svg in backups_section(page(facts)).iter("svg") if svg.get("role")]
    assert labels[0] == "bad: no backup. Days: none 30"


def test_what_offers_no_backups_or_could_not_be_read_is_named() -> None:
    facts = account(["kept", "none", "lost"])
    del facts.backups["s0001"], facts.backups["s0002"]
    facts.backups["s0001"] = None
    found = text(backups_section(page(facts)))
    assert "Not known, as it could not be read: lost" in found and "Offer no backups: none" in found


def test_plans_and_drills_are_told() -> None:
    plans = [
        {"plan": "a", "ok": True, "finished": "2026-11-19T03:00:00Z", "problems": []},
        {"plan": "b", "ok": False, "finished": None, "problems": ["disk full"]},
        {"plan": "c", "ok": False, "finished": None, "problems": []},
    ]
    drill = {"service": "d", "finished": "2026-11-09T09:30:00Z", "restored": True}
    found = text(backups_section(page(account(["db"]), backup_reports=plans, drill_report=drill)))
    assert "Plan a: last run 19 Nov 2026, 03:00 UTC, went well" in found
    assert "Plan b: last run unknown, disk full" in found
    assert "Plan c: last run unknown, failed" in found
    assert "Last restore drill: 9 Nov 2026, 09:30 UTC (10 days ago), the backup was restored" in found
    assert "No restore drill is known" in text(backups_section(page(account(["db"]))))


def test_releases_say_what_runs_and_what_is_blocked() -> None:
    rows = table(releases_section(page(account(["web"]))))
    assert rows[1][:3] == ["web team 0", "nothing yet", "\u2013"]
    assert rows[1][3] == "web, 18 days agoweb in web web, fixed in web"


def test_releases_that_could_not_be_read_are_unknown() -> None:
    facts = account(["web"])
    facts.releases.clear()
    assert table(releases_section(page(facts)))[1][3] == "unknown: the releases could not be read"
    facts.apps = None
    assert "The applications could not be read." in text(releases_section(page(facts)))


def test_what_could_not_be_read_is_told_once_for_each_reason() -> None:
    facts = account(["db"])
    facts.unread = [Unread("settings", f"s{number}", "x", "no answer") for number in range(25)]
    facts.unread.append(Unread("SSH keys", None, None, "refused"))
    section = unread_section(page(facts))
    lines = ["".join(line.itertext()) for line in section.iter("li")]
    assert lines[0].startswith("settings of s0, s1, ") and lines[0].endswith("s19 and 5 more: no answer")
    assert lines[1] == "SSH keys: refused"
    assert "26 parts of this report could not be read" in text(section)
