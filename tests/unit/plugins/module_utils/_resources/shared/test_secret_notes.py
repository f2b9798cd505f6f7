# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run that ends between a call and the secrets on disk is told of by the next one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.client import Client
from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE
from ansible_collections.hosted.services.plugins.module_utils._resources.sftp_password import SFTP_PASSWORD
from hosted_sandbox.testing import Sandbox
from unit.plugins.module_utils._resources.platform import id_of, run, writes

SIZE = {"cpu_cores": 1, "ram_gb": 1, "storage_gb": 10}
ORDER: dict[str, Any] = {
    "name": "db",
    "product": "postgresql",
    "host": "node-paris-1",
    "dimensions": SIZE,
}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sandbox: Sandbox) -> Path:
    sandbox.clear_journal()
    monkeypatch.setenv("ANSIBLE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def interrupted(monkeypatch: pytest.MonkeyPatch, call: str, work: Callable[[], Any]) -> None:
    """Let the platform carry out a call, and end the run before it sees the answer, as Ctrl-C does."""
    make = getattr(Client, call)

    def make_and_end(client: Client, *arguments: Any) -> None:
        make(client, *arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Client, call, make_and_end)
        with pytest.raises(KeyboardInterrupt):
            work()


def notes(home: Path) -> list[Path]:
    return list((home / "hosted_services" / "secrets" / "unkept").glob("*"))


def said(result: dict[str, Any]) -> str:
    assert not result.get("failed"), result
    return "\n".join(result.get("warnings", []))


def orders(sandbox: Sandbox) -> list[str]:
    return [entry["name"] for entry in sandbox.ledger()["orders"]]


def test_an_order_that_was_interrupted_is_told_of_and_not_placed_again(
    sandbox: Sandbox, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupted(monkeypatch, "order", lambda: run(sandbox, SERVICE, **ORDER))
    (note,) = notes(home)
    for given in (ORDER, {"id": id_of(sandbox, "db")}):
        again = run(sandbox, SERVICE, **given)
        assert not again["changed"]
        assert "the one-time secrets of service 'db' may have been generated" in said(again)
        assert "database_info with return_secrets: true reads those of a database again" in said(again)
        assert f"Remove {note} to end this warning" in said(again)
    assert orders(sandbox) == ["db"]
    run(sandbox, SERVICE, name="db", state="absent")
    assert notes(home) == [], "there is nothing to miss any more"


def test_an_order_that_ends_leaves_no_note(sandbox: Sandbox, home: Path) -> None:
    done = run(sandbox, SERVICE, **ORDER)
    assert notes(home) == []
    assert json.loads(Path(done["secrets_file"]).read_text())["secrets"]
    without = run(sandbox, SERVICE, **{**ORDER, "name": "web", "product": "linux"})
    assert "secrets_file" not in without
    assert notes(home) == []
    assert "may have been generated" not in said(run(sandbox, SERVICE, **ORDER))


def test_an_order_that_the_platform_refuses_leaves_no_note(sandbox: Sandbox, home: Path) -> None:
    sandbox.fault("order.create", "status", status=402)
    assert run(sandbox, SERVICE, **ORDER)["failed"]
    assert notes(home) == []


def test_an_answer_that_is_lost_is_told_of_at_once_and_leaves_no_note(sandbox: Sandbox, home: Path) -> None:
    sandbox.fault("order.create", "reset", when="after")
    assert "they are lost too" in said(run(sandbox, SERVICE, **ORDER))
    assert (orders(sandbox), notes(home)) == (["db"], [])


@pytest.mark.parametrize("check_mode", [False, True])
@pytest.mark.parametrize("resource", [SERVICE, SFTP_PASSWORD])
def test_nothing_is_asked_for_that_could_not_be_kept(
    sandbox: Sandbox, home: Path, resource: Any, check_mode: bool
) -> None:
    """The default place counts as the one that was named."""
    home.write_text("a file stands where the folder belongs")
    given = ORDER if resource is SERVICE else {"service": "one"}
    result = run(sandbox, resource, check_mode, **given)
    assert result["failed"] and not result["changed"]
    assert "could not be kept in" in result["msg"] and "Nothing was sent" in result["msg"]
    assert (writes(sandbox), orders(sandbox)) == ([], [])
    assert run(sandbox, resource, **given, return_secrets=True)["secrets"]


def test_a_password_that_was_interrupted_is_told_of_until_another_is_made(
    sandbox: Sandbox, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The platform says that there is a password, and nobody has it."""
    interrupted(monkeypatch, "new_sftp_password", lambda: run(sandbox, SFTP_PASSWORD, service="one"))
    again = run(sandbox, SFTP_PASSWORD, service="one")
    assert not again["changed"]
    assert "set update_password: always to make another password" in said(again)
    assert run(sandbox, SFTP_PASSWORD, service="one", update_password="always")["changed"]
    assert notes(home) == []
    assert "may have been generated" not in said(run(sandbox, SFTP_PASSWORD, service="one"))


def test_a_password_whose_answer_is_lost_is_told_of(sandbox: Sandbox, home: Path) -> None:
    sandbox.fault("sftp.password", "reset", when="after", count=None)
    assert run(sandbox, SFTP_PASSWORD, service="one", retries=0)["failed"]
    sandbox.clear_faults()
    assert "set update_password: always" in said(run(sandbox, SFTP_PASSWORD, service="one"))
