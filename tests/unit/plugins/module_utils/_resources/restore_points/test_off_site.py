# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Off-site copies stay if the policy keeps them or their backup."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.restore_points.off_site import (
    plan_off_site,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.retention import (
    Decision,
    RestorePoint,
    plan_retention,
    read_policy,
)

NOW = datetime(2026, 2, 1, 12, tzinfo=UTC)
PATTERN = "nightly-????????[Tt]??????[Zz]"


def named(day: int) -> str:
    """Return the name of the backup of a day in January 2026."""
    return f"nightly-202601{day:02}T020000Z"


def backup(day: int, status: str = "COMPLETED", name: str | None = None) -> RestorePoint:
    """Return the backup of a day in January 2026."""
    made = datetime(2026, 1, day, 2, 0, 3, tzinfo=UTC)
    return RestorePoint(f"bkp_{day}", name or named(day), status, made)


def decide(names: Sequence[str], listed: Sequence[RestorePoint], **keep: Any) -> dict[str, Decision]:
    """Return the decisions on copies with these names, on a platform that lists these backups."""
    policy = read_policy({f"keep_{rule}": count for rule, count in keep.items()}, PATTERN, UTC)
    decisions = plan_off_site(names, plan_retention(listed, policy, NOW), policy, NOW)
    return {decision.copy.name: decision for decision in decisions}


def left(names: Sequence[str], listed: Sequence[RestorePoint], **keep: Any) -> list[str]:
    """Return the names of the copies that stay."""
    return sorted(name for name, decision in decide(names, listed, **keep).items() if decision.keep)


def days(*numbers: int) -> list[str]:
    """Return the names of the backups of these days."""
    return [named(number) for number in numbers]


def test_copies_go_with_their_backups() -> None:
    found = decide(days(1, 2, 3), [backup(1), backup(2), backup(3)], last=2)
    assert [(name, one.keep) for name, one in found.items()] == [
        (named(3), True),
        (named(2), True),
        (named(1), False),
    ]
    assert found[named(1)].reasons == ["no rule keeps it"]


def test_a_copy_stays_that_the_policy_keeps_among_the_copies() -> None:
    """The backup of the 11th stands for its week, but was not copied."""
    listed = [backup(9), backup(10), backup(11), backup(12)]
    found = decide(days(9, 10, 12), listed, weekly=2)
    assert [name for name, one in found.items() if one.keep] == days(12, 10)
    assert "weekly 2026-W02" in found[named(10)].reasons


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        ("COMPLETED", "its backup stays"),
        ("RESTORING", "its backup stays"),
        ("FAILED", "its backup has failed since it was copied"),
    ],
)
def test_a_copy_stays_for_the_sake_of_its_backup(status: str, reason: str) -> None:
    """The policy keeps later ones among the copies."""
    listed = [backup(1, status), *([backup(2)] if status == "FAILED" else []), backup(4)]
    found = decide(days(1, 3, 4), listed, last=2, failed=0)
    assert found[named(1)].keep and found[named(1)].reasons == [reason]


def test_of_two_backups_with_one_name_one_that_stays_is_enough() -> None:
    listed = [backup(1), backup(5, name=named(1)), backup(4)]
    assert left(days(1, 3, 4), listed, last=2) == days(1, 3, 4)


def test_a_copy_whose_backup_is_gone_goes() -> None:
    """Another machine deleted the backups, or the platform holds fewer than the policy keeps."""
    assert left(days(1, 2, 3, 4), [backup(4)], last=2) == days(3, 4)


def test_what_is_not_of_the_plan_or_has_no_moment_stays() -> None:
    names = ["weekly-20260101T020000Z", "nightly-20261399T020000Z", "nightly-2026010xT020000Z"]
    found = decide([*names, *days(1, 2)], [backup(2)], last=1)
    assert sorted(name for name, one in found.items() if one.keep) == sorted([*names, named(2)])
    assert [found[name].managed for name in names] == [False, True, True]


def test_no_copies_are_no_reason_to_fail() -> None:
    assert decide([], [backup(1)], last=1) == {}
