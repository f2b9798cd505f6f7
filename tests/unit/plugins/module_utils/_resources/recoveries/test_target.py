# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a recovery writes to: nothing that it did not make, unless that is said."""

from __future__ import annotations

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.recoveries.record import (
    RecoveryRecord,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.recoveries.target import (
    Target,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import (
    Invalid,
)
from unit.plugins.module_utils._resources.recoveries.platform import member


def target(record: RecoveryRecord, *overwrite: str) -> Target:
    """Return a project with a service that was there before."""
    there = {"world": member("world")}
    return Target(record, there, frozenset({"svc_world", "svc_live"}), frozenset(overwrite))


def test_what_was_there_before_is_not_written_to() -> None:
    """Nor is a service that took its place meanwhile. One that is new is the recovery's own."""
    found = target(RecoveryRecord("nowhere"))
    assert found.kept == {"world"} and not found.lacks_content("world") and found.lacks_content("lobby")
    for key, id in (("world", "svc_world"), ("lobby", "svc_live")):
        with pytest.raises(Invalid, match="this recovery did not make it"):
            found.check_may_write(key, id)
    found.check_may_write("lobby", "svc_new")


def test_what_it_made_is_written_to_until_it_is_restored() -> None:
    record = RecoveryRecord("nowhere", ids={"world": "svc_world"})
    found = target(record)
    assert found.is_own("world") and found.lacks_content("world") and found.kept == set()
    found.check_may_write("world", "svc_world")
    record.restored["world"] = {"id": "svc_world"}
    assert not found.lacks_content("world")


def test_what_is_named_is_overwritten() -> None:
    found = target(RecoveryRecord("nowhere", restored={"world": {"id": "svc_world"}}), "world")
    assert found.lacks_content("world") and found.kept == set()
    found.check_may_write("world", "svc_world")
    with pytest.raises(Invalid, match="this recovery did not make it"):
        found.check_may_write("world", "svc_live")


def test_what_it_did_not_bring_is_known() -> None:
    """All that is there if it is overwritten, also by a run that was cut off."""
    record = RecoveryRecord("nowhere", ids={"world": "svc_world"})
    assert not target(record).holds_anything("world")
    assert target(record, "world", "lobby").holds_anything("world")
    assert not target(record, "world", "lobby").holds_anything("lobby")
    record.lacking["svc_world"] = [["2026-11-20T03:00:00+00:00", None]]
    assert target(record).holds_anything("world")
