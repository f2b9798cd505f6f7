# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Text of the platform is safe to print: no steering of terminals, no secrets in any usual encoding."""

from __future__ import annotations

import base64
import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.hosted.services.plugins.module_utils.api.text import (
    HIDDEN,
    MAX_LENGTH,
    Redactor,
    clean,
)

SECRET = 'p/a+s"s\\w%r?>?>x'  # of a length that base64 pads


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("  two\n lines\t", "two lines"),
        ("\x1b[31mred\x1b[0m", "[31mred [0m"),
        ("a\x00b\x07c\x7fd", "a b c d"),
        ("right\u202eleft", "right left"),
        ("caf\u00e9", "caf\u00e9"),
        ("", ""),
    ],
)
def test_clean(text: str, shown: str) -> None:
    assert clean(text) == shown


def test_a_long_text_is_cut_and_says_so() -> None:
    assert clean("x" * MAX_LENGTH) == "x" * MAX_LENGTH
    assert clean("x" * (MAX_LENGTH + 1)) == "x" * MAX_LENGTH + " \u2026"


@given(st.text())
def test_clean_leaves_nothing_that_steers_a_terminal(text: str) -> None:
    shown = clean(text)
    assert shown.isprintable()
    assert len(shown) <= MAX_LENGTH + 2


ENCODED = {
    "raw": SECRET,
    "base64": base64.b64encode(SECRET.encode()).decode(),
    "base64 for URLs": base64.urlsafe_b64encode(SECRET.encode()).decode(),
    "base64 without padding": base64.b64encode(SECRET.encode()).decode().rstrip("="),
    "URL": quote(SECRET, safe=""),
    "URL path": quote(SECRET),
    "JSON": json.dumps(SECRET)[1:-1],
}


@pytest.mark.parametrize("encoded", ENCODED.values(), ids=ENCODED)
def test_a_secret_is_hidden_however_it_is_encoded(encoded: str) -> None:
    assert Redactor([SECRET])(f"before {encoded} after {encoded}") == f"before {HIDDEN} after {HIDDEN}"


def test_the_longer_of_two_secrets_goes_first() -> None:
    assert Redactor(["abc", "abcdef"])("abcdef abc") == f"{HIDDEN} {HIDDEN}"


def test_no_secret_hides_nothing() -> None:
    assert Redactor(["", ""])("text") == "text"
