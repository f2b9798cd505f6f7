# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The top of the page: what people ask first, in a few words."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.plugin_utils._report.page import Page
from ansible_collections.hosted.services.plugins.plugin_utils._report.summary import answers, lead
from unit.plugins.reports import account, report_on


def page(report: dict[str, Any] | None = None, **changes: Any) -> Page:
    """Return the page of an account with one service, with some answers changed."""
    found = report or report_on(account(["db"]))
    return Page({**found, "answers": {**found["answers"], **changes}})


def said(one: Page) -> dict[str, list[str]]:
    """Return the answers by their questions, without what is hard to read in a test."""
    found: dict[str, list[str]] = {}
    for box in answers(one):
        question, *rest = ["".join(each.itertext()).replace("\u00a0", " ") for each in box]
        found[question] = rest
    return found


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
    assert said(page(backed_up=counts))["Is everything backed up?"] == [short, more]


def test_the_first_sentence_counts_what_is_urgent() -> None:
    one = page()
    assert "".join(lead(one).itertext()).startswith("2 things need attention soon. November will cost")
    calm = Page({**one.data, "advice": []})
    assert "".join(lead(calm).itertext()).startswith("Nothing is urgent. November")
    urgent = {"level": "critical", "kind": "failed", "do": "Do it", "subjects": []}
    once = Page({**one.data, "advice": [urgent], "unread": [{}]})
    text = "".join(lead(once).itertext())
    assert text.startswith("1 thing needs attention now. ") and "Something could not be read" in text
    assert "2 things need attention now." in "".join(
        lead(Page({**one.data, "advice": [urgent] * 2})).itertext()
    )
