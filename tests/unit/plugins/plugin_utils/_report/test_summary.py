# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The top of the page: what people ask first, in a few words."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.plugin_utils._report.render import report_html
from unit.plugins.reports import account, report_on


def report(**changes: Any) -> dict[str, Any]:
    """Return the report on an account with one service, with some of it changed."""
    return {**report_on(account(["db"])), **changes}


def text_of(html: str) -> str:
    """Return the text of a part of a page, in one line."""
    return " ".join(unescape(re.sub("<[^>]*>", "", html)).split())


def said(shown: dict[str, Any]) -> dict[str, list[str]]:
    """Return the answers by their questions."""
    boxes = re.findall("<div><dt>(.*?)</dt>(.*?)</div>", report_html(shown), re.DOTALL)
    return {question: [text_of(each) for each in rest.split("</dd>")[:-1]] for question, rest in boxes}


def lead(shown: dict[str, Any]) -> str:
    """Return the first sentences."""
    return text_of(report_html(shown).partition('<p class="lead">')[2].partition("</p>")[0])


@pytest.mark.parametrize(
    ("backed_up", "short", "more"),
    [
        ({"fresh": 1, "none": 1, "of": 3}, "No", "1 of 3 have one from the last 26h; 1 has none"),
        (
            {"fresh": 2, "of": 2, "unknown": 1, "not_offered": 1, "not_created": 1},
            "As far as is known",
            "2 of 2 have one from the last 26h; 1 could not be read; 1 offers no backups; "
            "1 service does not exist yet",
        ),
        (
            {"not_offered": 2, "not_created": 2},
            "Nothing to back up",
            "2 offer no backups; 2 services do not exist yet",
        ),
        ({"unknown": None}, "Unknown", "The services cannot be read"),
    ],
)
def test_whether_all_is_backed_up(backed_up: dict[str, Any], short: str, more: str) -> None:
    counts = dict.fromkeys(("fresh", "none", "of", "unknown", "not_offered", "not_created"), 0) | backed_up
    answers = {**report()["answers"], "backed_up": counts}
    assert said(report(answers=answers))["Is everything backed up?"] == [short, more]


def test_the_first_sentence_counts_what_is_urgent() -> None:
    assert lead(report()).startswith("2 things need attention soon. November will cost")
    assert lead(report(advice=[])).startswith("Nothing is urgent. November")
    urgent = {"level": "critical", "kind": "failed", "do": "Do it", "subjects": []}
    unread = {"part": "backups", "reason": "refused", "name": None}
    text = lead(report(advice=[urgent], unread=[unread]))
    assert text.startswith("1 thing needs attention now. ") and "Something could not be read" in text
    assert "2 things need attention now." in lead(report(advice=[urgent] * 2))
