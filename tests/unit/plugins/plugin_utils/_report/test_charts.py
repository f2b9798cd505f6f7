# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Charts: as tall as the amounts, and a shape for each kind of day."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.plugin_utils._report.copies import (
    CELLS,
    calendar_row,
    sample,
)
from ansible_collections.hosted.services.plugins.plugin_utils._report.spending import (
    TALL,
    nice_top,
    spend_chart,
)

DAYS: list[dict[str, Any]] = [
    {
        "date": "2026-11-01",
        "amount": "3.00",
        "projects": [{"id": "a", "amount": "1.00"}, {"id": "b", "amount": "2.00"}],
    },
    {"date": "2026-11-02", "amount": "4.00", "projects": [{"id": "a", "amount": "4.00"}]},
    {"date": "2026-11-03", "amount": "0.00", "projects": []},
]


@pytest.mark.parametrize(
    ("amount", "top"),
    [
        ("0", "1"),
        ("0.07", "0.1"),
        ("1", "1"),
        ("1.01", "2"),
        ("3.6", "4"),
        ("4.5", "5"),
        ("51", "100"),
        ("99", "100"),
    ],
)
def test_a_scale_ends_with_a_round_number(amount: str, top: str) -> None:
    assert nice_top(Decimal(amount)) == Decimal(top)


def test_columns_are_as_tall_as_the_amounts() -> None:
    chart = spend_chart(DAYS, [["a"], ["b"]], "Spend", "EUR")
    [drawing] = chart.iter("svg")
    paths = {path.get("class"): str(path.get("d")) for path in drawing.iter("path")}
    heights = {
        name: [float(found) for found in re.findall(r"h10v([\d.]+)", path)] for name, path in paths.items()
    }
    assert heights["p0"] == [TALL / 4, TALL] and heights["p1"] == [TALL / 2]
    tops = [float(found) for found in re.findall(r"M[\d.]+ ([\d.]+)h10", paths["p1"])]
    assert tops == [TALL / 4], "it stands on the other one"
    titles = [title.text for title in drawing.iter("title")]
    assert titles == ["1\u00a0Nov: 3.00 EUR", "2\u00a0Nov: 4.00 EUR", "3\u00a0Nov: 0.00 EUR"]
    scale = [span.text for span in chart.iter("span")]
    assert scale == [
        "4.00 EUR",
        "2.00 EUR",
        "0.00 EUR",
        "1\u00a0Nov",
        "2\u00a0Nov",
        "3\u00a0Nov",
    ]


def test_a_calendar_has_a_shape_for_each_kind() -> None:
    row = calendar_row(["before", "none", "fresh", "fresh", "failed"], "db: fresh")
    paths = {path.get("class"): path.get("d") for path in row}
    assert paths == {
        "fresh": "M21 1h8v8h-8zM31 1h8v8h-8z",
        "failed": "M41 1l8 8m0-8l-8 8",
        "none": "M11 1m2 4h4",
    }
    assert (row.get("viewBox"), row.get("aria-label")) == ("0 0 50 10", "db: fresh")
    assert len(set(CELLS.values())) == len(CELLS)
    assert [path.get("class") for path in sample("stale")] == ["stale"]
