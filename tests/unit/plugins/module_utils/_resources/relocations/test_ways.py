# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The ways of a relocation: what each costs, and what is left over at its end."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any, cast

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.models import Service
from ansible_collections.hosted.services.plugins.module_utils._resources.relocations.options import (
    RelocateOptions,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.relocations.record import (
    Phase,
    Relocation,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.relocations.ways import (
    check_end,
    due_date,
    leftover,
    total,
    view,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Task
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid

SINCE = "2020-01-01T00:00:00Z"


class Platform:
    """A platform with two services."""

    def __init__(self, **statuses: str) -> None:
        self.statuses = statuses

    def service(self, id: str) -> Service | None:
        """Return a service."""
        status = self.statuses.get(id)
        return Service(id=id, name=id, family="GAME", status=status) if status else None


@pytest.fixture
def record(tmp_path: Path) -> Relocation:
    """A relocation that is complete."""
    record = Relocation.of(RelocateOptions(service="old", state_dir=str(tmp_path)), "old")  # type: ignore[arg-type]
    record.write(Phase.RELOCATED, old_name="survival", new_name="survival-2", new_id="new", since=SINCE)
    return record


def task(platform: Any = None, **given: Any) -> Task[RelocateOptions]:
    """Return a task that ends it."""
    return Task(cast(Any, platform), RelocateOptions(service="old", state="finished", **given))


def test_a_sum_of_what_is_not_known_is_not_known() -> None:
    assert total(Decimal(1), Decimal("2.5")) == Decimal("3.5")
    assert total(Decimal(1), None) is None


@pytest.mark.parametrize(
    ("phase", "ids"), [(Phase.RELOCATED, ("old", "new")), (Phase.RETURNED, ("new", "old"))]
)
def test_the_one_that_is_not_in_service_is_left_over(
    phase: Phase, ids: tuple[str, str], record: Relocation
) -> None:
    record.content.phase = phase
    assert leftover(record) == ids
    record.content.phase, record.content.deleting = Phase.FINISHED, ids[0]
    assert leftover(record) == ids


@pytest.mark.parametrize("phase", [Phase.ORDERED, Phase.STOPPED, Phase.SWITCHED, Phase.RETURNING])
def test_nothing_is_left_over_on_the_way(phase: Phase, record: Relocation) -> None:
    record.content.phase = phase
    with pytest.raises(Invalid, match=f"is not complete: it is {phase}"):
        leftover(record)


def test_the_date_is_as_it_was_said_unless_the_task_says_otherwise(record: Relocation) -> None:
    first, later = due_date(task(), record), due_date(task(keep_days=30), record)
    assert first is not None and later is not None
    assert (later - first).days == 23
    assert view(record)["delete_after"] == "2020-01-08T00:00:00Z"


@pytest.mark.parametrize(
    ("statuses", "given", "message"),
    [
        ({"old": "SUSPENDED", "new": "SUSPENDED"}, {}, "service new, which is to be in service in its place"),
        ({"old": "SUSPENDED"}, {}, "is deleted. Nothing was deleted"),
        ({"old": "ACTIVE", "new": "ACTIVE"}, {}, "somebody may use it"),
        ({"old": "SUSPENDED", "new": "ACTIVE"}, {"keep_days": 3650}, "is kept until 2029"),
    ],
)
def test_what_may_be_needed_is_not_deleted(
    statuses: dict[str, str], given: dict[str, Any], message: str, record: Relocation
) -> None:
    platform = Platform(**statuses)
    with pytest.raises(Invalid, match=message):
        check_end(task(platform, **given), record, platform.service("old"), "new")


def test_after_its_date_it_may(record: Relocation) -> None:
    platform = Platform(old="SUSPENDED", new="ACTIVE")
    check_end(task(platform), record, platform.service("old"), "new")
