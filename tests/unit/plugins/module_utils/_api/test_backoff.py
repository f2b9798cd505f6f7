# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pauses between tries: random, growing, bounded."""

from __future__ import annotations

import random

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.backoff import FIRST, LONGEST, backoff


@pytest.mark.parametrize(
    ("failures", "bound"), [(1, FIRST), (2, 2 * FIRST), (3, 4 * FIRST), (6, 32 * FIRST), (7, LONGEST)]
)
def test_the_bound_doubles_with_each_failure_up_to_the_longest(
    monkeypatch: pytest.MonkeyPatch, failures: int, bound: float
) -> None:
    asked: list[tuple[float, float]] = []

    def uniform(low: float, high: float) -> float:
        asked.append((low, high))
        return high

    monkeypatch.setattr(random, "uniform", uniform)
    assert backoff(failures) == bound
    assert asked == [(0, bound)]


def test_any_number_of_failures_has_a_pause() -> None:
    assert 0 <= backoff(100_000) <= LONGEST


def test_two_clients_do_not_retry_together() -> None:
    assert len({backoff(9) for _client in range(100)}) > 90
