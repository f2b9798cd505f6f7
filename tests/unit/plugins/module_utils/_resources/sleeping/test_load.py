# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a service is busy: by the samples of the last minutes, and no older ones."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.models import Metrics
from ansible_collections.hosted.services.plugins.module_utils._resources.sleeping.load import (
    KIB,
    Sample,
    load_of,
    with_sample,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.sleeping.options import BusyOptions

NOW = datetime(2026, 11, 23, 20, 0, tzinfo=UTC)
CPU = BusyOptions(cpu_percent=20, minutes=15)
TRAFFIC = BusyOptions(traffic_kib_per_second=10, minutes=15)


def sample(minutes_ago: float, cpu: float = 0, traffic: int = 0) -> Sample:
    """Return a sample of some minutes ago."""
    return Sample(NOW - timedelta(minutes=minutes_ago), cpu, traffic)


@pytest.mark.parametrize(
    ("samples", "busy"),
    [
        ([sample(0, 50)], True),
        ([sample(15, 50), sample(0, 1)], True),
        ([sample(0, 20)], False),
        ([sample(5, 50)], None),  # nothing is known of now
        ([], None),
    ],
)
def test_the_processors(samples: list[Sample], busy: bool | None) -> None:
    """One sample above the limit is enough, and without one of now nothing is known."""
    assert load_of(samples, NOW, CPU).busy is busy


@pytest.mark.parametrize(
    ("samples", "busy"),
    [
        ([sample(5, traffic=0), sample(0, traffic=11 * 300 * KIB)], True),
        ([sample(5, traffic=0), sample(0, traffic=10 * 300 * KIB)], False),
        ([sample(5, traffic=10**9), sample(0, traffic=11 * 300 * KIB)], True),  # it was restarted between
        ([sample(0, traffic=10**9)], None),
    ],
)
def test_the_traffic(samples: list[Sample], busy: bool | None) -> None:
    """It takes two samples within the minutes that count."""
    assert load_of(samples, NOW, TRAFFIC).busy is busy


def test_busy_by_one_of_both_is_busy() -> None:
    """Unknown by one of them is unknown, unless the other says busy."""
    both = BusyOptions(cpu_percent=20, traffic_kib_per_second=10, minutes=15)
    assert load_of([sample(0, 50)], NOW, both).busy is True
    assert load_of([sample(0, 5)], NOW, both).busy is None
    assert load_of([sample(1, 5, 0), sample(0, 5, 0)], NOW, both).busy is False


def test_the_samples_of_the_last_minutes_are_kept() -> None:
    """A node that cannot be reached gives none."""
    metrics = Metrics(cpu_allocation_percent=2, net_rx_bytes=3, net_tx_bytes=4)
    known = [sample(15), sample(15.1)]
    assert with_sample(known, metrics, NOW, 15) == (sample(15), Sample(NOW, 2, 7))
    assert with_sample(known, None, NOW, 15) == with_sample(known, Metrics(), NOW, 15) == (sample(15),)
