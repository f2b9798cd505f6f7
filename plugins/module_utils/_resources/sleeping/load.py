# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a service is busy, by what its metrics showed in the last minutes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise

from ..._api.models import Metrics
from .options import BusyOptions

KIB = 1024


@dataclass(frozen=True)
class Sample:
    """The load of a container at a moment: its processors, and the bytes since its start."""

    at: datetime
    cpu: float | None
    traffic: int | None


@dataclass(frozen=True)
class Load:
    """Whether a service is busy. ``None`` if that is unknown. ``why`` is for people."""

    busy: bool | None
    why: str


def sample_of(metrics: Metrics | None, now: datetime) -> Sample | None:
    """Return the load of a container; ``None`` if its node cannot be reached."""
    if metrics is None:
        return None
    received, sent = metrics.net_rx_bytes, metrics.net_tx_bytes
    traffic = None if received is None or sent is None else received + sent
    return Sample(now, metrics.cpu_allocation_percent, traffic)


def recent(samples: Sequence[Sample], now: datetime, minutes: int) -> list[Sample]:
    """Return the samples of the last minutes. What is older says nothing of them."""
    first = now - timedelta(minutes=minutes)
    return sorted((sample for sample in samples if first <= sample.at <= now), key=lambda sample: sample.at)


def load_of(samples: Sequence[Sample], now: datetime, limits: BusyOptions) -> Load:
    """Tell whether a service was busy in the last minutes, at one of the samples or between two of them."""
    found = recent(samples, now, limits.minutes)
    if not any(sample.at == now for sample in found):
        return Load(None, "its node cannot be reached")
    loads = [cpu_load(found, limits.cpu_percent), traffic_load(found, limits)]
    told = [load for load in loads if load is not None]
    for wanted in (True, None):  # busy by one of them is busy, whatever the other is
        for load in told:
            if load.busy is wanted:
                return load
    return Load(False, "idle")


def cpu_load(samples: Sequence[Sample], limit: float | None) -> Load | None:
    """Tell whether the processors were busy at one of the samples; ``None`` if nobody asks."""
    if limit is None:
        return None
    if samples[-1].cpu is None:
        return Load(None, "the platform does not tell its CPU")
    highest = max(sample.cpu for sample in samples if sample.cpu is not None)
    return Load(highest > limit, f"its CPU was at {highest:g} %, and {limit:g} % is busy")


def traffic_load(samples: Sequence[Sample], limits: BusyOptions) -> Load | None:
    """Tell whether there was much traffic between two of the samples; ``None`` if nobody asks."""
    limit = limits.traffic_kib_per_second
    if limit is None:
        return None
    if samples[-1].traffic is None:
        return Load(None, "the platform does not tell its traffic")
    counted = [sample for sample in samples if sample.traffic is not None]
    if len(counted) < 2:
        return Load(
            None,
            f"its traffic was read only once in the last {limits.minutes} minutes; it takes two runs to know",
        )
    highest = max(rate_between(one, other) for one, other in pairwise(counted))
    return Load(highest > limit, f"its traffic was at {highest:.1f} KiB/s, and {limit:g} KiB/s is busy")


def rate_between(one: Sample, other: Sample) -> float:
    """Return the KiB per second between two samples. A counter that began anew counts from nothing."""
    first, last = one.traffic or 0, other.traffic or 0
    seconds = max(1.0, (other.at - one.at).total_seconds())
    return (last - first if last >= first else last) / KIB / seconds
