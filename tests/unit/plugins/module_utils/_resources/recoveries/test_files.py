# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of a copy on a service of the sandbox: compared by content, and refused where they do not belong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.recoveries.content import (
    RecoveredFiles,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.recoveries.target import (
    RecoveryRecord,
    Target,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE
from hosted_sandbox.testing import Sandbox
from unit.plugins.module_utils._resources.clones.platform import files, home_of
from unit.plugins.module_utils._resources.platform import id_of, run
from unit.plugins.module_utils._resources.recoveries.platform import shelve


@pytest.fixture
def given(sandbox: Sandbox, key_file: Path, tmp_path: Path) -> dict[str, Any]:
    """Restore a copy onto service ``one``."""
    public = key_file.with_suffix(".pub").read_text().strip()
    sandbox.seed({"ssh_keys": [{"name": "deploy", "public_key": public}]})
    sandbox.clear_journal()
    copy = shelve(tmp_path / "copies", "svc_1", {"a.txt": "kept", "b/c": "x" * 70_000})
    (copy / "link").symlink_to("a.txt")
    (copy / "a.txt").chmod(0o640)
    one = id_of(sandbox, "one")
    return {
        "key": "one",
        "name": "one",
        "src": str(copy),
        "service": one,
        "project_id": home_of(sandbox, one),
        "private_key_file": str(key_file),
        "known_hosts": str(tmp_path / "known_hosts"),
        "delete": True,
    }


def resource(tmp_path: Path, *made: str) -> RecoveredFiles:
    """Return what restores files to services that the recovery made."""
    record = RecoveryRecord(str(tmp_path / "record.json"), ids={id: id for id in made})
    return RecoveredFiles(SERVICE, Target(record))


def test_a_service_runs_again_though_a_run_was_killed(
    sandbox: Sandbox, given: dict[str, Any], tmp_path: Path
) -> None:
    """One that the recovery made is started, whatever it did before."""
    id = given["service"]
    assert not run(sandbox, resource(tmp_path, given["service"]), **{**given, "start": True}).get("failed")
    assert state(sandbox, id) == "running"
    sandbox.api("POST", f"/api/resources/{id}/power", {"signal": "stop"})
    assert not run(sandbox, resource(tmp_path, given["service"]), **{**given, "start": True}).get("failed")
    assert state(sandbox, id) == "running"


def state(sandbox: Sandbox, id: str) -> str:
    """Return whether a service runs."""
    return str(sandbox.api("GET", f"/api/resources/metrics?ids={id}").json()[id]["state"])


def test_another_service_is_not_written_to(sandbox: Sandbox, given: dict[str, Any], tmp_path: Path) -> None:
    """One that was there before, and one of another project."""
    refused = run(sandbox, resource(tmp_path), **given)
    assert "this recovery did not make it" in refused["msg"]
    refused = run(sandbox, resource(tmp_path, given["service"]), **{**given, "project_id": "another"})
    assert "is not in the project of the recovery" in refused["msg"]
    assert sandbox.writes() == [] and files(sandbox, given["service"]) == {"/a.txt": "first"}
