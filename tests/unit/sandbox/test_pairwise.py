# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The profiles that have every pair of values between them, counted here without their own arithmetic."""

from __future__ import annotations

import subprocess
import sys
from itertools import combinations, product

import pytest

from hosted_sandbox.gaps import POINTS, Profile, pairwise_array
from hosted_sandbox.pairwise import array
from hosted_sandbox.profiles import expand
from hosted_sandbox.testing import SANDBOX

SMALL = {"a": ("1", "2", "3"), "b": ("1", "2"), "c": ("1", "2", "3"), "d": ("1", "2", "3", "4")}


def test_every_pair_of_values_is_in_a_profile() -> None:
    rows = [Profile(f"pairwise:{number}").describe() for number in range(1, len(pairwise_array()) + 1)]
    seen = {pair for row in rows for pair in combinations(row.items(), 2)}
    wanted = {
        ((one, first), (other, second))
        for one, other in combinations(POINTS, 2)
        for first, second in product(POINTS[one].values, POINTS[other].values)
    }
    assert wanted <= seen
    least = max(len(point.values) for point in POINTS.values()) ** 2  # two such points take as many
    assert len(rows) <= 4 * least


def test_the_first_profiles_have_every_filling() -> None:
    seen = {item for row in pairwise_array()[:10] for item in row.items()}
    assert seen == {(point.name, value) for point in POINTS.values() for value in point.values}


def test_a_small_array_has_no_profile_in_vain() -> None:
    rows = array(SMALL)
    assert rows == array(SMALL)
    assert 12 <= len(rows) <= 16
    seen: set[object] = set()
    for row in rows:
        pairs = set(combinations(row.items(), 2))
        assert pairs - seen
        seen |= pairs
    assert len(seen) == 3 * 2 + 3 * 3 + 3 * 4 + 2 * 3 + 2 * 4 + 3 * 4


@pytest.mark.parametrize("name", ["pairwise", "pairwise:0", "pairwise:x", "pairwise:9999"])
def test_a_profile_that_the_array_does_not_have(name: str) -> None:
    with pytest.raises(ValueError, match=r"unknown profile 'pairwise.*there are pairwise:1 to pairwise:\d+"):
        Profile(name)


def test_names_stand_for_slices() -> None:
    assert list(expand(["plain", "pairwise:2-4", "pairwise:9"], 12)) == [
        "plain", "pairwise:2", "pairwise:3", "pairwise:4", "pairwise:9",
    ]  # fmt: skip
    assert len(list(expand(["pairwise"], 12))) == 12


def test_the_command_says_how_much_is_covered() -> None:

    def said(*arguments: str) -> str:
        command = [sys.executable, "-m", "hosted_sandbox.profiles", *arguments]
        return subprocess.run(command, cwd=SANDBOX.parent, capture_output=True, text=True, check=True).stdout

    assert "(100.0 %)" in said("pairwise")
    assert said("plain").startswith(f"1 profile: {len(POINTS)} of ")
    assert said("--expand", "plain", "pairwise:1-2").split() == ["plain", "pairwise:1", "pairwise:2"]
