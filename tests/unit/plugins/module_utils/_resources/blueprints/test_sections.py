# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which keys there are at each place of a blueprint."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.schema import Blueprint
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.sections import (
    as_amount,
    keys_of,
    refuse_truth_values,
)


@pytest.mark.parametrize(
    ("path", "some"),
    [
        ((), {"project", "services", "backups"}),
        (("services", "db"), {"product", "dimensions"}),
        (("services", "db", "dimensions"), {"ram_gb"}),
        (("services", "db", "options", 0), {"option", "choice"}),
        (("applications", "web", "image"), {"tag", "archive"}),
        (("ssh_keys", "ops"), {"public_key_file"}),
        (("defaults",), {"services", "applications"}),
        (("defaults", "services", "dimensions"), {"ram_gb"}),
        (("sleep", "nights", "awake", 0), {"days", "from", "to"}),
        (("sleep", "nights", "exceptions", 1, "awake", 0), {"from", "to"}),
        (("backups", "nightly", "keep"), {"daily", "max_delete"}),
    ],
)
def test_the_keys_at_a_place(path: tuple[Any, ...], some: set[str]) -> None:
    assert some <= set(keys_of(Blueprint, path))


@pytest.mark.parametrize(
    "path", [("project",), ("services", "db", "variables", "x"), ("nowhere", "at", "all")]
)
def test_a_value_has_no_keys(path: tuple[Any, ...]) -> None:
    assert keys_of(Blueprint, path) == []


def test_a_truth_value_is_no_number() -> None:
    for check in (refuse_truth_values, as_amount):
        with pytest.raises(ValueError, match="is true, a truth value; it must be a number"):
            check(True)
    assert (refuse_truth_values(5), as_amount(12.5), as_amount("1.10")) == (5, "12.5", "1.10")
