# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lines of a log in the order in which they were written.

Whether the platform lists the oldest or the newest line first is not shown (Journals, Applications).
"""

from __future__ import annotations

from collections.abc import Sequence

from .restore_points import parse_moment


def oldest_first(lines: Sequence[str]) -> list[str]:
    """Return the lines from the oldest on, as far as the moments at their beginnings tell."""
    moments = [moment for line in lines if (moment := parse_moment(line.partition(" ")[0].strip("[]")))]
    newest_first = len(moments) > 1 and moments[0] > moments[-1]
    return list(reversed(lines)) if newest_first else list(lines)
