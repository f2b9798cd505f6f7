# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The graph of what needs what."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.graph import (
    find_cycle,
    levels,
)

NODES = [f"n{number}" for number in range(8)]
GRAPHS = st.dictionaries(st.sampled_from(NODES), st.lists(st.sampled_from(NODES), max_size=4, unique=True))


def test_a_cycle_is_its_path() -> None:
    assert find_cycle({"web": ["api"], "api": ["db"], "db": ["web"]}) in (
        ["web", "api", "db", "web"],
        ["api", "db", "web", "api"],
        ["db", "web", "api", "db"],
    )
    assert find_cycle({"web": ["api"], "api": []}) == []


@given(GRAPHS)
def test_each_comes_after_what_it_needs_or_there_is_a_cycle(needs: dict[str, list[str]]) -> None:
    cycle = find_cycle(needs)
    if cycle:
        assert cycle[0] == cycle[-1]
        assert all(after in needs[node] for node, after in pairwise(cycle))
        return
    seen: set[str] = set()
    for group in levels(needs):
        assert all(set(needs.get(node, ())) <= seen for node in group)
        seen |= set(group)
    assert needs.keys() <= seen
