# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Exponential backoff with full jitter."""

from __future__ import annotations

import random

FIRST = 0.25
LONGEST = 10.0
DOUBLINGS = 10
"""Caps the exponent: enough to reach :data:`LONGEST`, too few to overflow a float."""


def backoff(failures: int) -> float:
    """Return the seconds to pause before the retry that follows ``failures`` failed attempts.

    The pause is random, so that clients that failed together do not retry together. Its upper bound doubles
    with each failure, from :data:`FIRST` up to :data:`LONGEST` seconds.
    """
    return random.uniform(0, min(FIRST * 2 ** min(failures - 1, DOUBLINGS), LONGEST))  # noqa: S311 - no secret
