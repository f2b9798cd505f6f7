# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a drill has made is deleted, also if nobody got to note its ids; everything else stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.recoveries.record import (
    RecoveryRecord,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.options import StateDirOptions
from hosted_sandbox.testing import Sandbox
from unit.plugins.module_utils._resources.clones.platform import ids_of
from unit.plugins.module_utils._resources.recoveries.platform import Recover, recovering


@pytest.fixture
def recover(sandbox: Sandbox, key_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Recover:
    """An account without the project."""
    return recovering(sandbox, key_file, tmp_path, monkeypatch)


def record_of(sandbox: Sandbox, project: str) -> RecoveryRecord:
    """Return the record of a project, as the module reads it."""
    return RecoveryRecord.read(StateDirOptions(base_url=sandbox.base_url, token="x"), project)


def test_what_was_ordered_right_before_a_kill_is_deleted(sandbox: Sandbox, recover: Recover) -> None:
    """The names were noted before the order, and the project did not exist then."""
    record = record_of(sandbox, "shop-drill")
    record.drill = True
    record.names = {"world": "Survival-drill", "lobby": "lobby-drill"}
    record.write()
    sandbox.seed({"services": [{"name": "Survival-drill", "product": "minecraft", "project": "shop-drill"}]})
    gone = recover(state="absent", project="shop-drill")
    assert not gone.get("failed"), gone["msg"]
    assert "shop-drill" not in [each["name"] for each in sandbox.api("GET", "/api/projects").json()]
    assert not record_of(sandbox, "shop-drill").known


def test_a_namesake_of_a_service_whose_id_is_known_stays(sandbox: Sandbox, recover: Recover) -> None:
    record = record_of(sandbox, "shop-drill")
    record.drill = True
    record.names, record.ids = {"world": "Survival"}, {"world": "svc_gone"}
    record.write()
    sandbox.seed({"services": [{"name": "Survival", "product": "minecraft", "project": "shop-drill"}]})
    kept = recover(state="absent", project="shop-drill")
    assert "project 'shop-drill' stays" in " ".join(kept["warnings"]) and not kept["changed"]
    assert set(ids_of(sandbox, "shop-drill")) == {"Survival"}


def test_a_project_that_nobody_knows_is_left_alone(sandbox: Sandbox, recover: Recover) -> None:
    sandbox.seed({"services": [{"name": "mine", "product": "minecraft", "project": "shop-drill"}]})
    sandbox.clear_journal()
    assert not recover(state="absent", project="shop-drill")["changed"]
    assert sandbox.writes() == []


def test_what_somebody_moved_stays_and_is_told(sandbox: Sandbox, recover: Recover) -> None:
    """The services of a project that was deleted by hand are in the default project."""
    own = {"project": "shop-drill", "drill": True, "rename": {"suffix": "-drill"}}
    assert not recover(**own).get("failed")
    [project] = [each for each in sandbox.api("GET", "/api/projects").json() if each["name"] == "shop-drill"]
    sandbox.api("DELETE", f"/api/projects/{project['id']}")
    kept = recover(state="absent", project="shop-drill")
    assert "is in another project by now and stays" in " ".join(kept["warnings"]) and not kept["changed"]
    names = {each["name"] for each in sandbox.api("GET", "/api/resources").json()["items"]}
    assert {"Survival-drill", "lobby-drill"} <= names
