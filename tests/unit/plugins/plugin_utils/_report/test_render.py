# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The whole page: one file, the same bytes for the same figures, and text that stays text."""

from __future__ import annotations

import base64
import copy
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from ansible_collections.hosted.services.plugins.module_utils._api import models as m
from ansible_collections.hosted.services.plugins.module_utils._resources.reports.reading import Facts, Unread
from ansible_collections.hosted.services.plugins.plugin_utils._report import render
from ansible_collections.hosted.services.plugins.plugin_utils._report.render import report_html
from unit.plugins.reports import HOSTILE, account, hostile_report, report_on

MOST_BYTES = 300_000
PAGE = Path(__file__).parents[3] / "data" / "report_page.txt"
"""What stands on the page of an account with some of everything: an element a line, without its style."""
ELEMENTS = {
    *("html", "head", "meta", "title", "link", "style", "body", "header", "nav", "main", "section", "footer"),
    *("div", "span", "p", "h1", "h2", "h3", "ul", "ol", "li", "dl", "dt", "dd", "a", "bdi", "strong"),
    *("table", "thead", "tbody", "tr", "th", "td", "details", "summary"),
    *("svg", "defs", "symbol", "marker", "g", "path", "rect", "use", "text"),
}


class Parsed(HTMLParser):
    """What a browser finds in a file: its elements, their attributes, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str | None]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]

    def handle_data(self, data: str) -> None:
        """Note text."""
        self.text += data


def names(count: int, length: int = 24) -> list[str]:
    """Return the names of that many services."""
    return [f"service {number:04} ".ljust(length, "n") for number in range(count)]


def eventful_report() -> dict[str, Any]:
    """Return a report with something in each section, and with something missing in most."""
    facts = account(["db", "web", "old", "nap", "hurt", "new", "far"], 2)
    facts.backups |= {"s0001": None, "s0005": []}
    del facts.backups["s0002"], facts.details["s0006"]
    beyond = [{"from": "s0000", "to": "gone"}, {"from": "s0002", "to": "s0002"}]  # neither is an arrow
    shown = facts.graphs["p0"].edges or []
    facts.graphs["p0"].edges = [*shown, *map(m.Edge.model_validate, beyond)]
    facts.releases.pop("hurt")
    facts.unread = [Unread("settings", name, "x", "no answer") for name in ("db", "web")]
    facts.unread.append(Unread("SSH keys", None, None, "refused"))
    backups = [
        {"plan": "a", "ok": True, "finished": "2026-11-19T03:00:00Z", "problems": []},
        {"plan": "b", "ok": False, "finished": None, "problems": ["disk full"]},
        {"plan": "c", "ok": False, "finished": None, "problems": []},
    ]
    sleep = {"plan": "nights", "ok": False, "finished": None, "state": {"saved": "1.5", "saves_monthly": "2"}}
    drill = {"service": "db", "finished": "2026-11-09T09:30:00Z", "restored": True}
    report = report_on(facts, backup_reports=backups, sleep_reports=[sleep], drill_report=drill)
    begun = {"at": "2026-11-18T08:00:00Z", "who": "deploy@ci", "module": "service", "outcome": "begun"}
    report["history"] = [
        {**begun, "change": "resize 'db'", "monthly_before": "5.00", "monthly_after": "9.60"},
        {**begun, "change": "start <web>", "outcome": "done"},
    ]
    amounts = [(f"p{number}", f"{number / 100:.2f}") for number in range(1, 12)]
    report["money"]["days"] = [
        {"date": f"2026-11-0{day}", "amount": total, "projects": [{"id": id, "amount": a} for id, a in spent]}
        for day, total, spent in ((1, "0.66", amounts), (2, "1.20", [("p1", "1.20")]), (3, "0.00", []))
    ]
    return report


def test_a_page_shows_each_figure_in_its_place() -> None:
    html = re.sub("<style>.*?</style>|<defs>.*?</defs>", "", report_html(eventful_report()), flags=re.DOTALL)
    lines = re.sub("[ \n]+", " ", html).replace("<", "\n<").splitlines()
    shown = [line.strip(" ") for line in lines if line.strip(" ")]
    assert shown == PAGE.read_text(encoding="utf-8").splitlines()


def test_the_same_figures_give_the_same_bytes() -> None:
    report = report_on(account(names(20), 3))
    assert report_html(report) == report_html(copy.deepcopy(report))


def test_the_file_loads_nothing_and_runs_nothing() -> None:
    found = Parsed(report_html(report_on(account(names(20), 3))))
    assert set(found.tags) <= ELEMENTS
    links = {value for tag, name, value in found.attributes if name in ("href", "src", "xlink:href")}
    assert {link for link in links if not str(link).startswith("#")} == {"data:,"}
    assert not any(name.startswith("on") or name == "style" for tag, name, value in found.attributes)


def test_the_policy_allows_this_style_and_nothing_else() -> None:
    html = report_html(report_on(account(names(3))))
    [style] = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    [policy] = [v for tag, name, v in Parsed(html).attributes if tag == "meta" and v and "default-src" in v]
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    )
    assert html.index("Content-Security-Policy") < html.index("<style>")
    assert "url(" not in style.replace("url(#arrow)", "") and "@import" not in style


def test_hostile_names_stay_text() -> None:
    html = report_html(hostile_report(), HOSTILE[0])
    found = Parsed(html)
    assert set(found.tags) <= ELEMENTS
    assert not any(name.startswith("on") for tag, name, value in found.attributes)
    assert (found.tags.count("style"), found.tags.count("h1")) == (1, 1)
    assert "<script>alert(1)</script>" in found.text and "{{ 7 * 7 }} ${db.URL}" in found.text
    assert "\u0645\u0631\u062d\u0628\u0627" in found.text and "\U0001f469\u200d\U0001f467" in found.text
    for steering in ("\u202e", "\x00", "\x1b", "\ud800"):
        assert steering not in html
    html.encode()


def test_the_template_leaves_nothing_unescaped() -> None:
    """An attribute without quotes would end at a blank."""
    text = (Path(render.__file__).parent / "page.html.j2").read_text(encoding="utf-8")
    assert re.findall(r"=\s*\{\{|\|\s*safe|autoescape", text) == []


def test_a_hundred_services_fit() -> None:
    size = len(report_html(report_on(account(names(100, 80), 10))).encode())
    assert size <= MOST_BYTES, size


def test_an_account_without_anything_has_a_page() -> None:
    found = Parsed(report_html(report_on(Facts(projects=[], services=[], apps=[]))))
    assert "Nothing is urgent." in found.text and "Everything could be read." in found.text
    assert "There are no applications." in found.text


def test_what_could_not_be_read_is_told_and_never_zero() -> None:
    facts = Facts(apps=[], unread=[Unread("services", None, None, "the token has scope REGISTRY")])
    found = Parsed(report_html(report_on(facts)))
    assert "Something could not be read" in found.text
    assert "services: the token has scope REGISTRY" in found.text
    assert found.text.count("The services could not be read.") == 2
    assert found.text.count("Unknown") >= 4
    assert "0.00" not in found.text
