# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Limits of the platform that several modules hold before anything is sent (Limits)."""

from __future__ import annotations

from .task_errors import Invalid

MAX_PROJECT_NAME = 60

MAX_LOG_LINES = 100


def check_log_lines(log_lines: int) -> None:
    """Hold the bounds of the number of log lines.

    :raises Invalid: naming the value and the bounds.
    """
    if not 1 <= log_lines <= MAX_LOG_LINES:
        raise Invalid(f"log_lines is {log_lines}; it must be from 1 to {MAX_LOG_LINES}")


def check_max_parallel(number: int | None) -> None:
    """Check how many things may be under way at the same time; ``None`` is as many as the platform takes.

    :raises Invalid: if nothing could ever begin.
    """
    if number is not None and number < 1:
        raise Invalid(f"max_parallel is {number}; it must be 1 or more")
