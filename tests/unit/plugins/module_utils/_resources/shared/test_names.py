# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names that are the same."""

from __future__ import annotations

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.shared.names import same_name


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [("a b", "A-B", False), ("!", "!", True), ("caf\u00e9", "cafe\u0301", True), ("web1", "web-1", False)],
)
def test_names_that_are_the_same(one: str, other: str, same: bool) -> None:
    for pair in ((one, other), (other, one)):
        assert same_name(*pair) is same
