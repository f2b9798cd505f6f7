# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The layout of graphs: from left to right, and never two cards in one place."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from ansible_collections.hosted.services.plugins.plugin_utils._report.graph import (
    HEIGHT,
    WIDTH,
    Edge,
    arrange,
    draw,
    height_of,
    ranks_of,
)


def test_each_service_is_behind_those_that_refer_to_it() -> None:
    edges = [("web", "db"), ("admin", "web"), ("admin", "db")]
    assert ranks_of(["admin", "db", "web"], edges) == {"admin": 0, "web": 1, "db": 2}


def test_a_circle_is_drawn_all_the_same() -> None:
    edges = [("a", "b"), ("b", "c"), ("c", "a")]
    assert ranks_of(["a", "b", "c", "d"], [*edges, ("c", "d")]) == {"a": 0, "b": 0, "c": 0, "d": 1}
    assert set(arrange(["a", "b", "c"], edges).places) >= {"a", "b", "c"}


def test_a_long_chain_is_no_matter() -> None:
    nodes = [f"{number:04}" for number in range(300)]
    edges = list(pairwise(nodes))
    assert ranks_of(nodes[::-1], edges)[nodes[-1]] == 299


def test_an_arrow_that_passes_a_column_has_a_place_in_it() -> None:
    layout = arrange(["a", "b", "c"], [("a", "b"), ("b", "c"), ("a", "c")])
    assert layout.routes["a", "c"] == ("a", ("a", "c", 1), "c")
    lane, card = layout.places["a", "c", 1], layout.places["b"]
    assert lane[0] == card[0] and not card[1] - height_of("b") < lane[1] < card[1] + HEIGHT


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


def test_a_card_has_shape_color_name_and_price() -> None:
    service = {
        "id": "s",
        "name": "n" * 40,
        "status": "ACTIVE",
        "state": "stopped",
        "monthly": "3.885",
        "is_free": False,
    }
    free = {**service, "id": "f", "name": "hobby", "monthly": None, "is_free": True}
    unknown = {**service, "id": "u", "name": "lost", "monthly": None}
    drawing = draw([service, free, unknown], [("s", "gone"), ("s", "s")], "a graph", "EUR")
    texts = ["".join(text.itertext()) for text in drawing.iter("text")]
    assert texts == [
        "n" * 19 + "…",
        "3.885 EUR · stopped",
        "hobby",
        "free · stopped",
        "lost",
        "price unknown · stopped",
    ]
    assert {(use.get("href"), use.get("class")) for use in drawing.iter("use")} == {("#square", "warn")}
    assert next(title.text for title in drawing.iter("title")) == f"{'n' * 40}: stopped, 3.885 EUR"
    assert (drawing.get("role"), drawing.get("aria-label")) == ("img", "a graph")
    assert str(drawing.get("viewBox")).split()[2:] == [drawing.get("width"), drawing.get("height")]
    [arrows] = [group for group in drawing.iter("g") if group.get("class") == "arrows"]
    assert list(arrows) == []
