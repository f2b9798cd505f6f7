# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long a restore is watched for the last change."""

from __future__ import annotations

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.backup import BACKUP
from ansible_collections.hosted.services.plugins.module_utils._resources.restore_points.restore_watch import (
    quiet_seconds,
)
from unit.plugins.fakes import FakeClient, task_of


@pytest.mark.parametrize(
    ("quiet", "timeout", "seconds"), [(30.0, 600.0, 30.0), (30.0, 20.0, 10.0), (0.0, 20.0, 0.0)]
)
def test_a_short_wait_makes_the_quiet_time_shorter(quiet: float, timeout: float, seconds: float) -> None:
    assert quiet_seconds(task_of(BACKUP, FakeClient(), quiet_time=quiet, wait_timeout=timeout)) == seconds
