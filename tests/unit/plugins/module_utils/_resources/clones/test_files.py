# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files from one service of the sandbox to another: the clone is stopped, the source only read."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.clone import FILES
from ansible_collections.hosted.services.plugins.module_utils._sftp.errors import (
    ConnectionBroken,
    LoginRefused,
)
from hosted_sandbox.testing import Sandbox
from unit.plugins.module_utils._resources.clones.platform import (
    files,
    home_of,
    refuse_logins,
    writes_to,
)
from unit.plugins.module_utils._resources.platform import id_of, run


@pytest.fixture
def given(sandbox: Sandbox, key_file: Path, tmp_path: Path) -> dict[str, Any]:
    """Copy from service ``one`` to service ``two``."""
    public = key_file.with_suffix(".pub").read_text().strip()
    sandbox.seed({"ssh_keys": [{"name": "deploy", "public_key": public}]})
    sandbox.clear_journal()
    source, copy = id_of(sandbox, "one"), id_of(sandbox, "two")
    return {
        "source_id": source,
        "source_name": "one",
        "in_use": True,
        "service": copy,
        "project_id": home_of(sandbox, copy),
        "private_key_file": str(key_file),
        "known_hosts": str(tmp_path / "known_hosts"),
        "delete": True,
    }


def test_files_are_copied_and_the_source_is_not_touched(sandbox: Sandbox, given: dict[str, Any]) -> None:
    planned = run(sandbox, FILES, check_mode=True, **given)
    assert planned["actions"] == [
        f"copy the files of service 'one' to service {given['service']}: create 1 (5 bytes)"
    ]
    assert not Path(given["known_hosts"]).exists(), "check mode trusts no host for the next run"
    done = run(sandbox, FILES, **given)
    assert [action.split(" ")[0] for action in done["actions"]] == ["stop", "copy"]
    assert Path(given["known_hosts"]).exists()
    assert files(sandbox, given["service"]) == files(sandbox, given["source_id"]) != {}
    assert writes_to(sandbox, {"one": given["source_id"]}) == []
    again = run(sandbox, FILES, **given)
    assert not again["changed"] and again["files"]["unchanged"]


def test_a_file_that_only_looks_changed_stops_nothing(sandbox: Sandbox, given: dict[str, Any]) -> None:
    """Times may differ, where a server does not keep them."""
    run(sandbox, FILES, **given)
    body = {"path": "a.txt", "content": "first"}
    sandbox.api("POST", f"/api/resources/{given['service']}/files/write", body)
    sandbox.clear_journal()
    assert not run(sandbox, FILES, **given)["changed"]
    assert sandbox.writes() == []


@pytest.mark.night
@pytest.mark.real_time
@pytest.mark.parametrize("_try", range(3))
def test_what_is_written_while_it_is_copied_is_found_by_the_next_copy(
    sandbox: Sandbox, given: dict[str, Any], _try: int
) -> None:
    """Times are whole seconds, and the size stays: only that the copy waits tells the files apart."""
    numbers, ended = count(10_000), Event()

    def keep_writing() -> None:
        while not ended.is_set():
            body = {"path": "a.txt", "content": str(next(numbers))}
            sandbox.api("POST", f"/api/resources/{given['source_id']}/files/write", body)

    writer = Thread(target=keep_writing)
    writer.start()
    try:
        assert run(sandbox, FILES, **given)["changed"]
    finally:
        ended.set()
        writer.join()
    run(sandbox, FILES, **{**given, "in_use": False})
    assert files(sandbox, given["service"]) == files(sandbox, given["source_id"])


def test_a_suspended_clone_is_left_as_it_is(sandbox: Sandbox, given: dict[str, Any]) -> None:
    sandbox.api("POST", f"/api/resources/{given['service']}/suspend")
    sandbox.clear_journal()
    left = run(sandbox, FILES, **given)
    assert not left["changed"] and left["files"] is None
    assert "is suspended, so its files were left as they are" in left["warnings"][0]
    assert sandbox.writes() == []


def test_a_clone_that_does_not_let_the_account_in_yet_is_waited_for_by_a_step(
    sandbox: Sandbox, given: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The guard of all tests would notice a plan that waits."""
    attempts = refuse_logins(monkeypatch, given["service"], 2)
    done = run(sandbox, FILES, **given)
    assert [action.split(" ")[0] for action in done["actions"]] == ["stop", "copy"], done["msg"]
    copy, source = given["service"], given["source_id"]
    assert attempts == [copy, source, copy, copy, source]
    assert files(sandbox, given["service"]) == files(sandbox, given["source_id"]) != {}


@pytest.mark.parametrize("error", [LoginRefused, ConnectionBroken])
def test_check_mode_waits_for_no_login_and_tells_that_it_does_not_know(
    sandbox: Sandbox, given: dict[str, Any], monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    attempts = refuse_logins(monkeypatch, given["service"], 99, error)
    planned = run(sandbox, FILES, check_mode=True, **given)
    assert attempts == [given["service"], given["source_id"]]
    assert planned["actions"] == [
        f"copy the files of service 'one' to service {given['service']}: create 1 (5 bytes)"
    ]
    assert f"what service {given['service']} holds is unknown: not yet" in planned["warnings"][0]
    assert sandbox.writes() == [] and not Path(given["known_hosts"]).exists()


def test_a_key_that_opens_nothing_is_told_without_a_wait(
    sandbox: Sandbox, given: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that opens a service of the account opens all of them, so the source tells."""
    attempts = refuse_logins(monkeypatch, given["service"], 0)
    [key] = sandbox.api("GET", "/api/users/me/ssh-keys").json()
    sandbox.api("DELETE", f"/api/users/me/ssh-keys/{key['id']}")
    sandbox.clear_journal()
    for check_mode in (True, False):
        refused = run(sandbox, FILES, check_mode, **given)
        assert "Register a key with hosted.services.ssh_key" in refused["msg"]
    assert attempts == [given["service"], given["source_id"]] * 2
    assert sandbox.writes() == []


def test_the_source_is_no_clone(sandbox: Sandbox, given: dict[str, Any]) -> None:
    refused = run(sandbox, FILES, **{**given, "service": given["source_id"]})
    assert "is the source of the clone" in refused["msg"]
    assert sandbox.writes() == []
