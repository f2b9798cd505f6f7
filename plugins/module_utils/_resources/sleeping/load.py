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
    cpu: float
    traffic: int


@dataclass(frozen=True)
class Load:
    """Whether a service is busy. ``None`` if that is unknown. ``why`` is for people."""

    busy: bool | None
    why: str


def with_sample(
    samples: Sequence[Sample], metrics: Metrics | None, now: datetime, minutes: int
) -> tuple[Sample, ...]:
    """Return the samples of the last minutes with what metrics show now. Older ones say nothing of them."""
    first = now - timedelta(minutes=minutes)
    kept = sorted((each for each in samples if first <= each.at < now), key=lambda each: each.at)
    if metrics is not None:
        cpu, received, sent = metrics.cpu_allocation_percent, metrics.net_rx_bytes, metrics.net_tx_bytes
        if cpu is not None and received is not None and sent is not None:
            return (*kept, Sample(now, cpu, received + sent))
    return tuple(kept)


def load_of(samples: Sequence[Sample], now: datetime, limits: BusyOptions) -> Load:
    """Tell whether a service was busy in the last minutes, at one of the samples or between two of them."""
    if not samples or samples[-1].at != now:
        return Load(None, "its node does not tell its load")
    highest, limit = max(sample.cpu for sample in samples), limits.cpu_percent
    if limit is not None and highest > limit:
        return Load(True, f"its CPU was at {highest:g} %, and {limit:g} % is busy")
    limit = limits.traffic_kib_per_second
    if limit is None:
        return Load(False, "idle")
    if len(samples) < 2:
        once = f"its traffic was read only once in the last {limits.minutes} minutes"
        return Load(None, f"{once}; it takes two runs to know")
    rates = []
    for one, other in pairwise(samples):
        since = other.traffic - one.traffic if other.traffic >= one.traffic else other.traffic  # begun anew
        rates.append(since / KIB / max(1.0, (other.at - one.at).total_seconds()))
    highest = max(rates)
    if highest > limit:
        return Load(True, f"its traffic was at {highest:.1f} KiB/s, and {limit:g} KiB/s is busy")
    return Load(False, "idle")
