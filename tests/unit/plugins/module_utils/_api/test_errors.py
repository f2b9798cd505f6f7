# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an error lets a caller conclude."""

from __future__ import annotations

import inspect

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import errors

EVERY_STATUS = range(400, 500)
KINDS = [
    kind
    for _name, kind in inspect.getmembers(errors, inspect.isclass)
    if issubclass(kind, errors.HostedError) and kind is not errors.HostedError
]


@pytest.mark.parametrize("status", EVERY_STATUS)
def test_a_refusal_is_of_the_class_of_its_status(status: int) -> None:
    error = errors.error_for_status("no", status, hint=1)
    assert error.__class__ is errors.REFUSALS.get(status, errors.Refused)
    assert error.status == status
    assert error.details == {"status": status, "hint": 1}
    assert error.message == "no"


def test_which_statuses_leave_open_whether_the_platform_acted() -> None:
    assert {status for status in range(400, 600) if errors.leaves_open(status)} == {408, *range(500, 600)}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_which_errors_say_that_the_platform_did_nothing(kind: type[errors.HostedError]) -> None:
    sure = (errors.Refused, errors.NotSent, errors.ConfigurationError)
    assert kind.nothing_done is issubclass(kind, sure)


def test_an_error_keeps_what_it_is_when_something_is_said_around_it() -> None:
    error = errors.Refused("no", status=409, limit=3)
    assert error.prepend("the backup\x1b: ").append(". Delete one\u202e") is error
    assert error.message == str(error) == "the backup\\x1b: no. Delete one\\u202e"
    assert error.details == {"status": 409, "limit": 3}
