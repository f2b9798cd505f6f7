# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which of what is deleted goes first; tests/unit/data/blueprint has what is deleted, and what stays."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.hosted.services.plugins.module_utils._api.models import Edge
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.removal import (
    by_references,
)

GOING = [f"svc_{number}" for number in range(6)]
EDGES = st.lists(st.tuples(st.sampled_from(GOING), st.sampled_from([*GOING, "svc_9"])), max_size=15)


@given(EDGES)
def test_what_refers_to_another_goes_first(pairs: list[tuple[str, str]]) -> None:
    """One that refers to itself, or to what stays, is no reason; of two that refer to each other, one is."""
    order = by_references(GOING, [Edge(from_=user, to=used) for user, used in pairs])
    assert sorted(order) == GOING
    place = {id: number for number, id in enumerate(order)}
    for id, users in order.items():
        assert all(place[user] < place[id] for user in users)
    inside = {(user, used) for user, used in pairs if user != used and used in place}
    for user, used in inside:
        if user not in order[used]:  # only where references lead back to where they begin
            assert reaches(inside, used, user)


def reaches(edges: set[tuple[str, str]], start: str, end: str) -> bool:
    """Tell whether references lead from one service to another."""
    seen, left = set[str](), [start]
    while left:
        here = left.pop()
        if here not in seen:
            seen.add(here)
            left += [used for user, used in edges if user == here]
    return end in seen
