# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading snapshots and how fresh they are."""

from __future__ import annotations

from ansible_collections.hosted.services.plugins.module_utils._resources.snapshot import SNAPSHOT
from ansible_collections.hosted.services.plugins.module_utils._resources.snapshot_info import SNAPSHOT_INFO
from hosted_sandbox.testing import Sandbox
from unit.plugins.module_utils._resources.platform import run


def test_what_is_there_and_how_old_it_is(sandbox: Sandbox) -> None:
    """The pattern narrows the list; a service that offers no snapshots is an error beside the others."""
    for name in ("auto-1", "by-hand"):
        run(sandbox, SNAPSHOT, services=["disk"], name=name)
    result = run(sandbox, SNAPSHOT_INFO, services=["disk", "one"], pattern="auto-*", max_age="1h")
    disk, one = result["services"]
    assert [snapshot["name"] for snapshot in disk["snapshots"]] == ["auto-1"]
    assert (disk["newest"]["name"], disk["age_hours"], disk["freshness"]) == ("auto-1", 0, "fresh")
    assert result["failed"] and one["freshness"] is None
    assert "does not offer 'snapshots'" in one["msg"]


def test_none_is_missing(sandbox: Sandbox) -> None:
    """Without any there is no age, and with a limit that is a verdict."""
    entry = run(sandbox, SNAPSHOT_INFO, services=["disk"], max_age="1h")["services"][0]
    assert (entry["newest"], entry["age_hours"], entry["freshness"]) == (None, None, "missing")
