# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Snapshots on a real server: taken once, rolled back to when agreed, never sent twice."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.shared.account import Account
from ansible_collections.hosted.services.plugins.module_utils._resources.snapshot import SNAPSHOT
from hosted_sandbox.gaps import POINTS
from hosted_sandbox.testing import Sandbox
from unit.plugins.module_utils._resources.platform import id_of, run, writes


def test_a_rollback_is_never_sent_twice(sandbox: Sandbox) -> None:
    """When its answer is lost nobody knows, and the error says so."""
    run(sandbox, SNAPSHOT, services=["disk"], name="s")
    sandbox.clear_journal()
    sandbox.fault("snapshots.rollback", "reset", when="after")
    result = run(sandbox, SNAPSHOT, services=["disk"], name="s", state="rolled_back", confirm=True)
    assert "is unknown" in result["msg"] and "The call was not sent again" in result["msg"]
    assert writes(sandbox) == ["snapshots.rollback"]


def test_a_rollback_that_goes_on_after_its_answer_is_waited_for(sandbox: Sandbox) -> None:
    """As long as the journal shows that something happened, the quiet time begins anew."""
    sandbox.profile("plain", delay="a second late")
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
    sandbox.fault("events.list", "status", status=403, count=None)
    result = run(sandbox, SNAPSHOT, services=["disk"], name="s", state="rolled_back", confirm=True)
    (warning,) = result["warnings"]
    assert "the start of the rollback of service 'disk'" in warning and "was not seen" in warning
    assert result["services"][0]["start_seen"] is False


# --- What a platform may do that the specification does not show ---------------------------------------

BACK = dict[str, Any](services=["disk"], state="rolled_back", confirm=True)


def names(sandbox: Sandbox) -> list[str]:
    """Return the names of the snapshots that the platform has."""
    found = sandbox.api("GET", f"/api/resources/{id_of(sandbox, 'disk')}/snapshots").json()
    return [snapshot["name"] for snapshot in found]


def three(sandbox: Sandbox, **points: str) -> None:
    """Let there be three snapshots, one after the other."""
    sandbox.profile("plain", **points)
    for name in ("first", "second", "third"):
        run(sandbox, SNAPSHOT, services=["disk"], name=name)
    sandbox.clear_journal()


def test_a_snapshot_that_is_accepted_and_never_listed_is_told(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether it is late or has failed nobody knows. It is requested once a run."""
    monkeypatch.setattr(Account, "snapshots", lambda client, id: [])
    result = run(sandbox, SNAPSHOT, services=["disk"], name="s", wait_timeout=15)
    assert result["failed"] and result["changed"] and writes(sandbox) == ["snapshots.create"]
    assert "snapshot 's' of service 'disk'" in result["msg"]
    assert "does not show it 15 seconds later: it is late, or it failed" in result["msg"]


@pytest.mark.parametrize("newer", POINTS["rollback.newer"].values)
def test_what_a_rollback_past_newer_snapshots_loses_is_told(sandbox: Sandbox, newer: str) -> None:
    three(sandbox, **{"rollback.newer": newer})
    result = run(sandbox, SNAPSHOT, **BACK, name="first", discard_newer=True)
    gone = [snapshot["name"] for snapshot in result["services"][0]["vanished"]]
    assert result["changed"] and gone == (["second", "third"] if newer == "deletes them" else [])
    warned = [line for line in result.get("warnings", []) if "no longer on its list" in line]
    assert len(warned) == (1 if gone else 0)
    assert run(sandbox, SNAPSHOT, **BACK, name=names(sandbox)[-1])["changed"], "the newest needs no consent"


def test_a_rollback_that_fails(sandbox: Sandbox) -> None:
    """What the journal says is an error."""
    sandbox.profile("plain", delay="a second late")
    disk = id_of(sandbox, "disk")
    run(sandbox, SNAPSHOT, services=["disk"], name="s")
    sandbox.operator(f"services/{disk}", restore_fails=True)
    sandbox.clear_journal()
    result = run(sandbox, SNAPSHOT, **BACK, name="s")
    assert result["failed"] and "SNAPSHOT_ROLLBACK_FAILED" in result["msg"]
    assert result["changed"] and writes(sandbox) == ["snapshots.rollback"]
