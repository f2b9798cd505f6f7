# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Environments: replaced on difference, and remembered by fingerprints alone."""

from __future__ import annotations

import json
import secrets
import stat
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import routes as r
from ansible_collections.hosted.services.plugins.module_utils._resources.app_deploy import APP_DEPLOY
from ansible_collections.hosted.services.plugins.module_utils._resources.environment import ENVIRONMENT
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.options import (
    FilePath,
    StateDirOptions,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.pending import (
    KEY_BYTES,
    PENDING,
    Prints,
    record_of,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.store import records_folder
from hosted_sandbox.gaps import POINTS
from unit.plugins.apps import Platform, plain, platform, server
from unit.plugins.module_utils._resources.platform import before_each

__all__ = ["plain", "platform", "server"]
SET = "apps.environment"
SECRET = "correct horse battery staple"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "states"


def state_file(folder: Path) -> Path:
    (found,) = folder.glob("*.json")
    return found


def kept(platform: Platform) -> Any:
    return platform.sandbox.control("GET", f"/services/{platform.app['id']}")["environment"]


def test_a_refusal_forgets_no_environment_that_another_run_wrote_meanwhile(
    plain: Platform, folder: Path
) -> None:
    """That one has to be deployed, and nothing but the record tells so."""

    def meanwhile(*given: Any) -> None:
        monkeypatch.undo()
        assert plain.run(ENVIRONMENT, variables={"A": "other"})["changed"]
        plain.sandbox.fault(SET, "status", status=423)

    with pytest.MonkeyPatch.context() as monkeypatch:
        before_each(monkeypatch, r.APP_ENVIRONMENT, meanwhile)
        assert plain.run(ENVIRONMENT, variables={"A": "mine"}, state_dir=str(folder))["failed"]
    assert kept(plain) == {"A": "other"}
    assert list(Path(records_folder(PENDING.folder)).glob("*.json")), "it is outstanding"


def test_the_file_tells_no_secret(plain: Platform, folder: Path) -> None:
    """Neither as it is nor to somebody who hashes guesses without the key; for the owner alone."""
    wish: dict[str, Any] = {"secret_variables": {"B": SECRET, "C": SECRET}, "state_dir": str(folder)}
    plain.run(ENVIRONMENT, **wish)
    path = state_file(folder)
    content = json.loads(path.read_text())
    assert SECRET not in path.read_text()
    assert content["prints"]["B"] != content["prints"]["C"], "equal values are not seen to be equal"
    other = Prints(content["id"], secrets.token_hex(KEY_BYTES))
    assert other.of("B", SECRET) != content["prints"]["B"], "the key matters"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.parametrize("damage", [b"", b"[]", b'{"key": 1}', b"\xff"])
def test_a_damaged_file_is_named_and_left(plain: Platform, folder: Path, damage: bytes) -> None:
    wish: dict[str, Any] = {"variables": {"A": "1"}, "state_dir": str(folder)}
    plain.run(ENVIRONMENT, **wish)
    state_file(folder).write_bytes(damage)
    failed = plain.run(ENVIRONMENT, **wish)
    assert failed["failed"] and f"{state_file(folder)}" in failed["msg"] and "it is damaged" in failed["msg"]
    assert state_file(folder).read_bytes() == damage
    state_file(folder).unlink()
    assert plain.run(ENVIRONMENT, **wish)["changed"]
    assert not plain.run(ENVIRONMENT, **wish)["changed"]


def test_an_application_made_anew_is_not_taken_for_the_one_before(plain: Platform, folder: Path) -> None:
    """The slug is the same, the environment is gone."""
    wish: dict[str, Any] = {"variables": {"A": "1"}, "state_dir": str(folder)}
    plain.run(ENVIRONMENT, **wish)
    assert plain.sandbox.api("DELETE", f"/api/resources/{plain.app['id']}").ok
    assert plain.sandbox.api("POST", "/api/apps", {"slug": "shop"}).ok
    assert plain.run(ENVIRONMENT, **wish)["changed"]


@pytest.mark.parametrize("status", [401, 403, 404, 410, 423])
def test_after_a_refusal_of_the_call_itself_the_file_is_as_before(
    plain: Platform, folder: Path, status: int
) -> None:
    """What was in force still is."""
    wish: dict[str, Any] = {"variables": {"A": "1"}, "state_dir": str(folder)}
    plain.run(ENVIRONMENT, **wish)
    before = state_file(folder).read_bytes()
    plain.sandbox.fault(SET, "status", status=status)
    refused = plain.run(ENVIRONMENT, **{**wish, "variables": {"A": "2"}})
    assert refused["failed"] and not refused.get("unconfirmed")
    assert state_file(folder).read_bytes() == before
    plain.sandbox.clear_faults()
    assert not plain.run(ENVIRONMENT, **wish)["changed"]


@pytest.mark.parametrize("status", [400, 409, 418, 422])
def test_a_refusal_that_may_be_of_the_start_is_no_proof_that_nothing_was_written(
    plain: Platform, folder: Path, status: int
) -> None:
    """A platform may refuse with one status what breaks a rule, and what it wrote and could not start."""
    before: dict[str, Any] = {"variables": {"A": "1"}, "state_dir": str(folder)}
    plain.run(ENVIRONMENT, **before)
    assert plain.run(APP_DEPLOY, tag="v1", state_dir=str(folder))["changed"]
    plain.sandbox.fault(SET, "status", status=status, when="after")
    broken = plain.run(ENVIRONMENT, **{**before, "variables": {"A": "2"}})
    assert broken["failed"] and broken["unconfirmed"] and kept(plain) == {"A": "2"}
    assert "may have replaced it all the same" in broken["msg"]
    planned = plain.run(APP_DEPLOY, check_mode=True, tag="v1", state_dir=str(folder))
    assert "its environment was written" in planned["actions"][0]
    assert plain.run(ENVIRONMENT, **before)["changed"]
    assert kept(plain) == {"A": "1"}


STATUSES = POINTS["refusal.environment_start"].values


def test_a_run_holds_the_lock_until_it_has_written(plain: Platform, folder: Path) -> None:
    """While another one holds it nothing is sent; check mode, which writes nothing, does not wait."""
    wish: dict[str, Any] = {"variables": {"A": "1"}, "state_dir": str(folder)}
    options = StateDirOptions(base_url=plain.sandbox.base_url, state_dir=FilePath(str(folder)))
    with record_of(options, "shop").held(0):
        result = plain.run(ENVIRONMENT, **wish, timeout=2.0)
        assert plain.run(ENVIRONMENT, check_mode=True, **wish)["changed"]
    assert result["failed"] and "another run" in result["msg"]
    assert plain.writes() == []
    assert plain.run(ENVIRONMENT, **wish)["changed"]
