# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every shape of the specification's chapter on resources: the examples of tests/unit/data/shapes.yml."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.hosted.services.plugins.module_utils._api import models as m

SHAPES = yaml.safe_load((Path(__file__).parents[3] / "data" / "shapes.yml").read_text(encoding="utf-8"))
EXAMPLES: list[tuple[type[m.Model], dict[str, Any]]] = [
    (getattr(m, name), shape["example"]) for name, shape in SHAPES.items()
]


def undone(value: Any) -> Any:
    """Take snake_case keys back to camelCase, and exact numbers to JSON's, without the models' help."""
    if isinstance(value, dict):
        return {
            "".join(part if i == 0 else part.title() for i, part in enumerate(key.split("_"))): undone(item)
            for key, item in value.items()
        }
    return [undone(item) for item in value] if isinstance(value, list) else value


def unknown(value: Any) -> list[str]:
    """Return the fields, at any depth, that no model names."""
    if isinstance(value, m.Model):
        inside = [field for _name, item in value for field in unknown(item)]
        return [*(value.model_extra or {}), *inside]
    return [field for item in value for field in unknown(item)] if isinstance(value, list) else []


def without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize(("model", "example"), EXAMPLES, ids=SHAPES)
def test_a_shape_of_the_specification_is_read_whole(model: type[m.Model], example: dict[str, Any]) -> None:
    read = model.model_validate(example)
    assert unknown(read) == [], "a field that the specification names is not in the model"
    shown = read.as_dict()
    if model is m.App:
        assert shown.pop("digest") is None, "the example has no whole digest"
    assert set(shown) == set(type(read).model_fields) - {"from_", "schema_"} | {
        name.rstrip("_") for name in type(read).model_fields if name.endswith("_")
    }
    shown = undone(shown)
    if model is m.BillingOverview:  # exact numbers are shown as strings
        shown = {key: float(value) if key.startswith("current") else value for key, value in shown.items()}
    assert without_nulls(shown) == without_nulls(example)


@pytest.mark.parametrize(("model", "example"), EXAMPLES, ids=SHAPES)
def test_a_field_of_tomorrow_is_kept(model: type[m.Model], example: dict[str, Any]) -> None:
    read = model.model_validate({**example, "brandNew": {"keyAsItIs": [1]}})
    assert read.as_dict()["brand_new"] == {"keyAsItIs": [1]}


def test_keys_that_are_data_are_not_respelt() -> None:
    report = m.ScanReport.model_validate(
        {"scanStatus": "PASSED", "scanVerdict": {"counts": {"VeryLow": 3}}, "extraMap": {"MY_VAR": 1}}
    ).as_dict()
    assert report["scan_verdict"]["counts"] == {"VeryLow": 3}
    assert report["extra_map"] == {"MY_VAR": 1}


def test_fractions_of_cents_stay_exact() -> None:
    overview = m.BillingOverview.model_validate({"currentHourlyBurnCents": 0.1})
    assert overview.current_hourly_burn_cents == Decimal("0.1")
    assert overview.as_dict()["current_hourly_burn_cents"] == "0.1"
