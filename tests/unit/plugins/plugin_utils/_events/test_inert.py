# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Texts of events, as rulebooks get them."""

from __future__ import annotations

import pytest

from ansible_collections.hosted.services.plugins.plugin_utils._events.inert import inert


@pytest.mark.parametrize(
    "text",
    [
        "Map (new)",
        "Map #1",
        "service 'Map (new)' stopped",
        "it's down (code 12), 3 of 4",
        "Öl/Gas | EU",
        "$5",
    ],
)
def test_ordinary_texts_stay(text: str) -> None:
    assert inert({"a": [text], "b": 1}) == {"a": [text], "b": 1}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("{{ x }}", "\uff5b\uff5b x }}"),
        ("lookup ('x')", "lookup \uff08'x')"),
        ("not q ('x')", "not q \uff08'x')"),
        ("x.y ('x')", "x.y \uff08'x')"),
        ("'loo' 'kup ()'", "'loo' 'kup \uff08)'"),
        ("#jinja2: a=b", "\uff03jinja2: a\uff1db"),
        ("'\\x7b'", "'\uff3cx7b'"),
        ("$ANSIBLE_VAULT;1.1", "\uff04ANSIBLE_VAULT;1.1"),
        ("a\x1b\n\u202eb", "a   b"),
    ],
)
def test_what_could_be_evaluated_is_no_syntax(text: str, shown: str) -> None:
    assert inert(text) == shown
