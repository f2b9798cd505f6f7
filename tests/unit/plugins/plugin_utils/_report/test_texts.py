# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The texts, amounts and times of a page."""

from __future__ import annotations

from datetime import date

import pytest
from markupsafe import Markup

from ansible_collections.hosted.services.plugins.plugin_utils._report.texts import (
    ago_text,
    day_text,
    harmless,
    hours_text,
    moment_text,
    money,
    shortened,
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("plain", "plain"),
        ("a\nb\tc\r", "a b c "),
        ("\x1b[31m\u202e\ud800", "\\x1b[31m\\u202e\\ud800"),
        ("\U0001f469\u200d\U0001f467", "\U0001f469\u200d\U0001f467"),
    ],
)
def test_nothing_in_a_text_steers(text: str, said: str) -> None:
    assert harmless({"names": [text, 1, None]}) == {"names": [said, 1, None]}


def test_a_text_that_calls_itself_safe_is_text() -> None:
    assert type(harmless(Markup("<b>"))) is str


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("twelve chars", "twelve chars"),
        ("thirteen char", "thirteen ch…"),
        ("\u6f22\u5b57\u6f22\u5b57\u6f22\u5b57", "\u6f22\u5b57\u6f22\u5b57\u6f22\u5b57"),
        ("\u6f22\u5b57\u6f22\u5b57\u6f22\u5b57\u6f22", "\u6f22\u5b57\u6f22\u5b57\u6f22…"),
        ("ten chars \u200dmore", "ten chars…"),
    ],
)
def test_long_names_are_cut(text: str, said: str) -> None:
    assert shortened(text, 12) == said


@pytest.mark.parametrize(
    ("amount", "currency", "said"),
    [
        ("3.885", "EUR", "3.885 EUR"),
        ("1234567.895", None, "1,234,567.895"),
        ("-0.5", "USD", "-0.50 USD"),
        (None, "EUR", "unknown"),
    ],
)
def test_amounts_are_exact(amount: str | None, currency: str | None, said: str) -> None:
    assert money(amount, currency) == said


def test_times_are_in_words() -> None:
    assert day_text(date(2026, 11, 9)) == "9\u00a0Nov"
    assert moment_text("2026-11-09T07:05:00.000Z") == "9\u00a0Nov\u00a02026, 07:05\u00a0UTC"
    assert (moment_text(None), moment_text("soon")) == ("unknown", "soon")
    assert [ago_text(days) for days in (None, 0, 1, 2)] == ["unknown", "today", "1 day ago", "2 days ago"]
    assert [hours_text(h) for h in (None, 47, 49)] == ["\u2013", "47\u00a0h", "2\u00a0days"]
