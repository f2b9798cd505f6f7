# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Snapshots on a real server: taken once, rolled back to when agreed, never sent twice."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils.resources.snapshot import SNAPSHOT
from ansible_collections.hosted.services.plugins.module_utils.resources.snapshot_info import SNAPSHOT_INFO
from sandbox.testing import Sandbox
from unit.plugins.module_utils.resources.platform import calls, id_of, run, writes


def test_snapshots(sandbox: Sandbox) -> None:
    """Taken once, rolled back to when agreed, deleted once."""
    disk, name = id_of(sandbox, "disk"), dict[str, Any](services=["disk"], name="s")
    assert run(sandbox, SNAPSHOT, **name)["changed"]
    assert not run(sandbox, SNAPSHOT, **name)["changed"]
    sandbox.api("POST", f"/api/resources/{disk}/files/write", {"path": "b.txt", "content": "later"})
    refused = run(sandbox, SNAPSHOT, **name, state="rolled_back")
    assert "all that changed on service 'disk'" in refused["msg"]
    assert run(sandbox, SNAPSHOT, **name, state="rolled_back", confirm=True)["changed"]
    assert sandbox.api("GET", f"/api/resources/{disk}/files?directory=").json() == []
    info = run(sandbox, SNAPSHOT_INFO, services=["disk"], max_age="1h")["services"][0]
    assert (info["newest"]["name"], info["freshness"]) == ("s", "fresh")
    assert run(sandbox, SNAPSHOT, **name, state="absent")["changed"]
    assert not run(sandbox, SNAPSHOT, **name, state="absent")["changed"]


def test_a_name_that_could_not_be_deleted_is_refused(sandbox: Sandbox) -> None:
    """Snapshots are addressed by their names, and no address can hold these."""
    for name in (".", ".."):
        assert "cannot be part of an address" in run(sandbox, SNAPSHOT, services=["disk"], name=name)["msg"]
    assert writes(sandbox) == []


def test_no_call_is_spared_or_wasted(sandbox: Sandbox) -> None:
    """The list is read before the call that takes a snapshot and after it, and no more."""
    sandbox.clear_journal()
    result = run(sandbox, SNAPSHOT, services=["disk"], name="s")
    read, write = "snapshots.list", "snapshots.create"
    assert calls(sandbox) == ["resources.list", "resources.get", read, write, read]
    assert result["services"][0]["snapshot"]["name"] == "s"


def test_nothing_is_rolled_back_where_one_of_many_cannot_be(sandbox: Sandbox) -> None:
    """All are looked at before the first rollback is sent."""
    run(sandbox, SNAPSHOT, services=["disk"], name="n")
    sandbox.clear_journal()
    wanted = {"services": ["disk", "nobody"], "name": "n", "state": "rolled_back", "confirm": True}
    result = run(sandbox, SNAPSHOT, **wanted)
    assert result["failed"] and not result["changed"]
    assert "nothing was done: 1 of 2 services failed" in result["msg"]
    assert writes(sandbox) == []


def test_a_rollback_is_never_sent_twice(sandbox: Sandbox) -> None:
    """When its answer is lost nobody knows, and the error says so."""
    run(sandbox, SNAPSHOT, services=["disk"], name="s")
    sandbox.clear_journal()
    sandbox.fault("snapshots.rollback", "reset", when="after")
    result = run(sandbox, SNAPSHOT, services=["disk"], name="s", state="rolled_back", confirm=True)
    assert "is unknown" in result["msg"] and "Nothing was sent again" in result["msg"]
    assert writes(sandbox) == ["snapshots.rollback"]


def test_a_check_goes_on_where_the_play_may_take_the_snapshot_before(sandbox: Sandbox) -> None:
    """With a warning; outside check mode there is nothing to go back to."""
    options = dict[str, Any](services=["disk"], name="s", state="rolled_back", confirm=True)
    result = run(sandbox, SNAPSHOT, True, **options)
    assert result["changed"] and not result.get("failed")
    assert "has no snapshot named 's'" in result["warnings"][0]
    assert "only if the play takes it before this task" in result["warnings"][0]
    assert "has no snapshot named 's'" in run(sandbox, SNAPSHOT, **options)["msg"]
    assert writes(sandbox) == []


@pytest.mark.parametrize("event", ["when it begins", "when it ends"])
def test_a_rollback_that_goes_on_after_its_answer_is_waited_for(sandbox: Sandbox, event: str) -> None:
    """As long as the journal shows that something happened, the quiet time begins anew."""
    sandbox.profile("plain", **{"rollback.pace": "no", "restore.event": event})
    disk = id_of(sandbox, "disk")
    run(sandbox, SNAPSHOT, services=["disk"], name="s")
    sandbox.api("POST", f"/api/resources/{disk}/files/write", {"path": "b.txt", "content": "later"})
    sandbox.delays(restore=1.5)
    result = run(sandbox, SNAPSHOT, services=["disk"], name="s", state="rolled_back", confirm=True)
    assert sandbox.api("GET", f"/api/resources/{disk}/files?directory=").json() == []
    assert result["changed"] and not result.get("warnings"), result
    assert result["services"][0]["start_seen"] is True


def test_a_rollback_of_which_nothing_is_seen_is_told(sandbox: Sandbox) -> None:
    """It is taken for done after the quiet time, with a warning."""
    run(sandbox, SNAPSHOT, services=["disk"], name="s")
    sandbox.profile("plain", **{"rollback.pace": "no", "restore.event": "when it ends"})
    sandbox.delays(restore=3600)
    result = run(sandbox, SNAPSHOT, services=["disk"], name="s", state="rolled_back", confirm=True)
    (warning,) = result["warnings"]
    assert "the start of the rollback of service 'disk'" in warning and "was not seen" in warning
    assert result["services"][0]["start_seen"] is False
