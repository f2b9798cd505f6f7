# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Batches of random fleets: sizes, order, and that nobody is left out."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.hosted.services.plugins.module_utils._resources.fleets.options import (
    Share,
    read_share,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.fleets.run import (
    batch_sizes,
    plan_batches,
    turned_around,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.services.start_order import order_of
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid

IDS = list("abcdefghij")
References = dict[str, set[str]]
FLEETS = st.lists(st.sampled_from(IDS), unique=True, max_size=10)
REFERENCES = st.dictionaries(st.sampled_from(IDS), st.sets(st.sampled_from(IDS), max_size=3))
SHARES = st.builds(Share, st.integers(1, 100), st.booleans())


@given(FLEETS, REFERENCES, st.lists(SHARES, min_size=1, max_size=3), st.booleans(), st.booleans())
def test_batches_of_random_fleets(
    fleet: list[str], references: References, sizes: list[Share], canary: bool, stops: bool
) -> None:
    """Everybody once, never more than the size, and always after those that come before."""
    needs = {id: set(others) for id, others in order_of(fleet, references).needs.items()}
    before = turned_around(needs) if stops else needs
    batches = plan_batches(fleet, before, batch_sizes(sizes, len(fleet), canary))
    assert sorted(itertools.chain(*batches)) == sorted(fleet)
    for batch, most in zip(batches, batch_sizes(sizes, len(fleet), canary), strict=False):
        assert 1 <= len(batch) <= most
    turn = {id: number for number, batch in enumerate(batches) for id in batch}
    for id in fleet:
        assert all(turn[other] < turn[id] for other in before.get(id, ()) if other in turn)
    if canary and batches:
        assert len(batches[0]) == 1


@pytest.mark.parametrize(("text", "found"), [("3", Share(3)), (" 25% ", Share(25, True)), ("0", Share(0))])
def test_shares(text: str, found: Share) -> None:
    """Numbers and percentages."""
    assert read_share(text, "max_failures", least=0) == found


@pytest.mark.parametrize("text", ["", "-1", "1.5", "101%", "x", "25 %", "0", "0%", "9999999"])
def test_what_is_no_share(text: str) -> None:
    """It names the option and the value."""
    with pytest.raises(Invalid, match="batch_size is"):
        read_share(text, "batch_size", least=1)
