# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Limits that are held before anything is sent."""

from __future__ import annotations

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.shared.limits import (
    check_log_lines,
    check_max_parallel,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid


def test_from_one_to_a_hundred_lines_of_a_log() -> None:
    check_log_lines(1)
    check_log_lines(100)
    for wrong in (0, 101, -1):
        with pytest.raises(Invalid, match=f"log_lines is {wrong}; it must be from 1 to 100"):
            check_log_lines(wrong)


def test_nothing_could_begin_with_less_than_one_in_parallel() -> None:
    for number in (None, 1, 100):
        check_max_parallel(number)
    for wrong in (0, -1):
        with pytest.raises(Invalid, match=f"max_parallel is {wrong}; it must be 1 or more"):
            check_max_parallel(wrong)
