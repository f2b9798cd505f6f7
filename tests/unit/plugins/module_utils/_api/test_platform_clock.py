# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The platform's time is that of its last response, and runs on from there."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.platform_clock import PlatformClock

THREE = datetime(2031, 11, 20, 3, tzinfo=UTC)


def test_the_time_runs_on_after_a_response(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, seconds = PlatformClock(), [5.0]
    monkeypatch.setattr(time, "monotonic", lambda: seconds[0])
    assert abs(clock.now() - datetime.now(UTC)) < timedelta(minutes=1), "this machine's, until one came"
    clock.last = "Thu, 20 Nov 2031 03:00:00 GMT", seconds[0]
    seconds[0] += 90
    assert clock.now() == THREE + timedelta(seconds=90)
    clock.last = "Fri, 31 Dec 9999 23:59:59 GMT", seconds[0]
    seconds[0] += 90
    assert clock.now() == datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)
