# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A test that expects no change does not pass because the task failed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from unit.plugins.results import Result

FAILED = {"failed": True, "changed": False, "msg": "it broke"}


@pytest.mark.parametrize("read", [lambda result: result["changed"], lambda result: result.get("changed")])
def test_whether_a_failed_task_changed_something_is_not_told(read: Callable[[Result], object]) -> None:
    with pytest.raises(AssertionError, match="the task failed: it broke"):
        read(Result(FAILED))


@pytest.mark.parametrize("key", ["failed", "msg"])
def test_it_is_told_to_a_test_that_expects_the_failure(key: str) -> None:
    result = Result(FAILED)
    assert result[key] and not result["changed"]
    result = Result(FAILED)
    assert key in result and not result["changed"]
    result = Result(FAILED)
    assert result.get(key) and not result["changed"]


def test_a_failure_may_be_told_beside_the_result() -> None:
    with pytest.raises(AssertionError, match="the task failed"):
        Result({"changed": False}, failed=True)["changed"]


def test_a_task_that_succeeded_is_read_as_it_is() -> None:
    assert Result({"changed": True})["changed"]
    assert not Result({"changed": False, "failed": False}).get("changed")
