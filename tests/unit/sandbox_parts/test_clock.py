# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The simulated clock."""

from __future__ import annotations

import pytest

from hosted_sandbox.clock import SECOND, Clock


def test_a_running_clock_is_advanced_by_however_little() -> None:
    """Time goes on while the clock is moved, and that is no move into the past."""
    clock = Clock()
    begun = clock.now()
    for _dummy in range(20_000):
        clock.advance(0.0001)
    assert clock.now() >= begun
    clock.run(0.0)
    before = clock.now()
    clock.advance(2 * SECOND)
    assert clock.now() == before + 2 * SECOND
    with pytest.raises(ValueError, match="cannot be moved back"):
        clock.advance(-1)
