# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The layout of graphs: from left to right, and never two cards in one place."""

from __future__ import annotations

import random

import pytest

from ansible_collections.hosted.services.plugins.plugin_utils._report.graph import (
    WIDTH,
    Edge,
    arrange,
    height_of,
    ranks_of,
)


def test_each_service_is_behind_those_that_refer_to_it() -> None:
    edges = [("web", "db"), ("admin", "web"), ("admin", "db")]
    assert ranks_of(["admin", "db", "web"], edges) == {"admin": 0, "web": 1, "db": 2}


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
