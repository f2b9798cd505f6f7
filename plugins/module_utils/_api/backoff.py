# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long to pause before a retry."""

from __future__ import annotations

import random

FIRST = 0.25
LONGEST = 10.0
DOUBLINGS = 10
"""More than it takes to reach the longest pause, and few enough to compute."""


def backoff(failures: int) -> float:
    """Return the seconds to pause after this many failures.

    They are random, so that clients that failed together do not retry together; their bound doubles with
    each failure, up to :data:`LONGEST`.
    """
    return random.uniform(0, min(FIRST * 2 ** min(failures - 1, DOUBLINGS), LONGEST))  # noqa: S311 - no secret
