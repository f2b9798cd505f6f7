# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page of a report: what it draws and tells, and that nothing on it is run."""

from __future__ import annotations

import base64
import hashlib
import random
import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from markupsafe import Markup

from ansible_collections.hosted.services.plugins.module_utils._api import models as m
from ansible_collections.hosted.services.plugins.module_utils._resources.reports.reading import Facts, Unread
from ansible_collections.hosted.services.plugins.plugin_utils._report import render
from ansible_collections.hosted.services.plugins.plugin_utils._report.render import (
    SHAPES,
    STYLE,
    WIDTH,
    Edge,
    Sign,
    arrange,
    harmless,
    height_of,
    report_html,
    report_prometheus,
)
from unit.plugins.reports import HOSTILE, account, hostile_report, report_on


@pytest.mark.parametrize("seed", range(30))
def test_nothing_overlaps(seed: int) -> None:
    chance = random.Random(seed)
    nodes = [f"n{number}" for number in range(chance.randint(1, 14))]
    pairs = [(chance.choice(nodes), chance.choice(nodes)) for __ in range(chance.randint(0, 20))]
    edges: list[Edge] = sorted({pair for pair in pairs if pair[0] != pair[1]})
    layout = arrange(nodes, edges)
    boxes = [(x, y, x + WIDTH, y + height_of(slot)) for slot, (x, y) in layout.places.items()]
    for place, one in enumerate(boxes):
        for two in boxes[place + 1 :]:
            apart = one[2] <= two[0] or two[2] <= one[0] or one[3] <= two[1] or two[3] <= one[1]
            assert apart, (one, two)
    assert layout.width == max(box[2] for box in boxes) and layout.height == max(box[3] for box in boxes)
    assert all(x >= 0 and y >= 0 for x, y, __, ___ in boxes)


LABEL = r'[a-z_]+="([^"\\\n]|\\["\\n])*"'
LINE = re.compile(
    rf"hosted_report_[a-z_]+(\{{({LABEL},?)+\}})? -?[0-9]+(\.[0-9]+)?|# (HELP|TYPE) hosted_report_.+"
)


def samples(text: str) -> dict[str, str]:
    """Return the values by name and labels."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return {name: value for name, __, value in (line.rpartition(" ") for line in lines)}


def test_figures_are_samples_and_what_is_unknown_has_none() -> None:
    facts = account(["db", "web"])
    found = samples(report_prometheus(report_on(facts)))
    db, web = 'service="db",service_id="s0000"', 'service="web",service_id="s0001"'
    told = {
        "timestamp_seconds": "1795080600",
        'forecast{currency="EUR"}': "13.10",
        'balance{currency="EUR"}': "500.00",
        'monthly{project="team 0",currency="EUR"}': "2.001",
        f'service_status{{{db},status="ACTIVE"}}': "1",
        f"disk_percent{{{web}}}": "10",
        f"backup_age_seconds{{{db}}}": "86400",
        'matters{kind="balance",level="warning"}': "1",
        "unread": "0",
    }
    assert found.items() >= {f"hosted_report_{name}": value for name, value in told.items()}.items()
    facts.details.clear()
    assert "hosted_report_monthly{" not in report_prometheus(report_on(facts))
    unread = Facts(apps=[], unread=[Unread("services", None, None, "refused")])
    assert samples(report_prometheus(report_on(unread))) == {
        "hosted_report_timestamp_seconds": "1795080600",
        "hosted_report_unread": "1",
    }


def test_every_line_is_well_formed_whatever_names_hold() -> None:
    text = report_prometheus(hostile_report())
    assert [line for line in text.removesuffix("\n").split("\n") if not LINE.fullmatch(line)] == []
    text.encode()


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


def test_the_policy_allows_this_style_and_nothing_else() -> None:
    html = report_html(report_on(account([f"service {number}" for number in range(20)], 3)))
    [style] = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    found = Parsed(html)
    [policy] = [v for tag, name, v in found.attributes if tag == "meta" and v and "default-src" in v]
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    )
    assert html.index("Content-Security-Policy") < html.index("<style>")
    assert "url(" not in style.replace("url(#arrow)", "") and "@import" not in style
    links = {value for tag, name, value in found.attributes if name in ("href", "src", "xlink:href")}
    assert {link for link in links if not str(link).startswith("#")} == {"data:,"}
    assert not any(name.startswith("on") or name == "style" for tag, name, value in found.attributes)


def test_hostile_names_stay_text() -> None:
    """Nor does the template leave anything unescaped but our own style."""
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
    assert type(harmless(Markup("<b>"))) is str
    text = (Path(render.__file__).parent / "page.html.j2").read_text(encoding="utf-8")
    text = text.replace("{{ style | safe }}", "")
    # An attribute without quotes would end at a blank.
    assert re.findall(r"=\s*\{\{|\|\s*safe|autoescape", text) == []


def test_what_could_not_be_read_is_told_and_never_zero() -> None:
    empty = Parsed(report_html(report_on(Facts(projects=[], services=[], apps=[]))))
    for said in ("Nothing is urgent.", "Everything could be read.", "There are no applications."):
        assert said in empty.text
    facts = Facts(apps=[], unread=[Unread("services", None, None, "the token has scope REGISTRY")])
    found = Parsed(report_html(report_on(facts)))
    assert "Something could not be read" in found.text
    assert "services: the token has scope REGISTRY" in found.text
    assert found.text.count("The services could not be read.") == 2
    assert found.text.count("Unknown") >= 4
    assert "0.00" not in found.text


BLOCKS = re.findall(r":root\{([^}]*)\}", STYLE)
GROUPS = [render.VERDICTS, render.LEVELS, render.FRESHNESS, {**render.STATES, **render.STATUSES}]


def luminance(color: str) -> float:
    """Return how bright a color is (WCAG 2)."""
    digits = color[1:] if len(color) == 7 else "".join(digit * 2 for digit in color[1:])
    parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, two: str) -> float:
    """Return the contrast of two colors (WCAG 2)."""
    light, dark = sorted((luminance(one), luminance(two)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("block", BLOCKS, ids=["light", "dark", "paper"])
def test_text_and_shapes_stand_out(block: str) -> None:
    """4.5 for text, and 3 for shapes and columns."""
    found = dict(re.findall(r"--([a-z0-9]+):(#[0-9a-f]+)", block.replace("\n", "")))
    pairs = [(name, ground, 4.5) for name in ("ink", "soft", "accent") for ground in ("bg", "card")]
    pairs += [(shape, "card", 3) for shape in ("good", "warn", "bad", "calm", "dim")]
    for name, ground, least in pairs:
        assert contrast(found[name], found[ground]) >= least, (name, ground)


@pytest.mark.parametrize("group", GROUPS)
def test_colors_alone_tell_nothing(group: dict[str, Sign]) -> None:
    """Whoever cannot tell colors apart sees another shape."""
    tones = {sign.shape: sign.tone for sign in group.values()}
    for sign in group.values():
        assert sign.shape in SHAPES
        assert tones[sign.shape] == sign.tone, "one shape, one color"


def report(**changes: Any) -> dict[str, Any]:
    """Return the report on an account with one service, with some of it changed."""
    return {**report_on(account(["db"])), **changes}


def text_of(html: str) -> str:
    """Return the text of a part of a page, in one line."""
    return " ".join(unescape(re.sub("<[^>]*>", "", html)).split())


def lead(shown: dict[str, Any]) -> str:
    """Return the first sentences."""
    return text_of(report_html(shown).partition('<p class="lead">')[2].partition("</p>")[0])


@pytest.mark.parametrize(
    ("backed_up", "short", "more"),
    [
        ({"fresh": 1, "none": 1, "of": 3}, "No", "1 has no backup; 1 of 3 have one from the last 26h"),
        ({"fresh": 2, "of": 2, "unknown": 1, "not_offered": 1, "not_created": 1}, "As far as is known",
         "1 could not be read; 2 of 2 have one from the last 26h; 1 offers no backups; "
         "1 service does not exist yet"),
        ({"not_offered": 2, "not_created": 2}, "Nothing to back up",
         "2 offer no backups; 2 services do not exist yet"),
        ({"unknown": None}, "Unknown", "The services cannot be read"),
    ],
)  # fmt: skip
def test_whether_all_is_backed_up(backed_up: dict[str, Any], short: str, more: str) -> None:
    counts = dict.fromkeys(("fresh", "none", "of", "unknown", "not_offered", "not_created"), 0) | backed_up
    html = report_html(report(answers={**report()["answers"], "backed_up": counts}))
    boxes = dict(re.findall("<div><dt>(.*?)</dt>(.*?)</div>", html, re.DOTALL))
    said = boxes["Is everything backed up?"].split("</dd>")[:-1]
    assert [text_of(each) for each in said] == [short, more]


def test_the_first_sentence_counts_what_is_urgent() -> None:
    assert lead(report()).startswith("2 things need attention soon. November will cost")
    bare = {**report()["answers"], "backed_up": {**report()["answers"]["backed_up"], "none": 1}}
    assert lead(report(answers=bare)).startswith("1 service has no backup. 2 things need")
    assert lead(report(advice=[])).startswith("Nothing is urgent. November")
    urgent = {"level": "critical", "kind": "failed", "do": "Do it", "subjects": []}
    unread = {"part": "backups", "reason": "refused", "name": None}
    text = lead(report(advice=[urgent], unread=[unread]))
    assert text.startswith("1 thing needs attention now. ") and "Something could not be read" in text
    assert "2 things need attention now." in lead(report(advice=[urgent] * 2))
