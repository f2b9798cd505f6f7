# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names that a platform may take for the same."""

from __future__ import annotations

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.shared.names import (
    may_be_one,
    may_be_part,
    same_name,
)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [("a b", "A-B", False), ("!", "!", True), ("caf\u00e9", "cafe\u0301", True), ("web1", "web-1", False)],
)
def test_names_that_are_the_same(one: str, other: str, same: bool) -> None:
    for pair in ((one, other), (other, one)):
        assert same_name(*pair) is same


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Café", "cafe", True),
        ("web1", "web-1", True),
        ("a b", "A-B", True),
        ("1.1", "11", False),
        ("1-a", "1a", True),
        ("!", "?", False),
        ("web", "web1", False),
        ("Tom & Jerry", "Tom &amp; Jerry", True),
        ("John's", "John&#39;s", True),
        ("R&amp;D", "R&amp;amp;D", True),
        ("5 &lt; 6", "5 &amp;lt; 6", True),
        ("a & b", "a &amp; c", False),
    ],
)
def test_names_that_a_platform_may_strip(one: str, other: str, same: bool) -> None:
    for pair in ((one, other), (other, one)):
        assert may_be_one(*pair) is same


@pytest.mark.parametrize(
    ("one", "other", "part"),
    [
        ("Tom & Jerry", "Tom & Je", True),
        ("Tom & Jerry", "acme/tom-jerry-1", True),
        ("web", "web", True),
        ("web-1", "web-2", False),
        ("!", "web", False),
    ],
)
def test_names_of_which_one_is_part_of_the_other(one: str, other: str, part: bool) -> None:
    for pair in ((one, other), (other, one)):
        assert may_be_part(*pair) is part
