# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pause between polls."""

from __future__ import annotations

from ansible_collections.hosted.services.plugins.module_utils._resources.account_events.pace import (
    LONGEST_ASKED,
    Pace,
)


def test_a_quiet_account_is_polled_less_and_less() -> None:
    pace = Pace.of(10, 60)
    pauses = []
    for _poll in range(7):
        pauses.append(pace.pause)
        pace = pace.after(changed=False)
    assert pauses == [10, 15, 22.5, 33.75, 50.625, 60, 60]
    assert pace.after(changed=True).pause == 10
    assert Pace.of(0.5, 60).after(changed=True).pause == 0.5


def test_failures_make_it_slower_and_success_ends_that() -> None:
    pace = Pace.of(10, 60)
    pauses = []
    for _poll in range(9):
        pace = pace.after_failure(None, 1.0)
        pauses.append(pace.pause)
    assert pauses == [20, 40, 80, 160, 320, 600, 600, 600, 600]
    assert pace.after(changed=False).pause == 10


def test_sources_that_failed_together_do_not_return_together() -> None:
    assert Pace.of(10, 60).after_failure(None, 0.0).pause == 10
    assert Pace.of(10, 60).after_failure(None, 0.5).pause == 15


def test_the_platform_may_ask_for_a_longer_pause_and_not_for_ever() -> None:
    pace = Pace.of(10, 60)
    assert pace.after_failure(120, 0.0).pause == 120
    assert pace.after_failure(1, 1.0).pause == 20
    assert pace.after(changed=True, asked=90).pause == 90
    assert pace.after_failure(10**9, 0.0).pause == LONGEST_ASKED
    assert pace.after_failure(-5, 0.0).pause == 10


def test_a_year_of_failures_is_no_overflow() -> None:
    pace = Pace.of(10, 60)
    for _poll in range(2000):
        pace = pace.after_failure(None, 0.5)
    assert pace.pause == 450
