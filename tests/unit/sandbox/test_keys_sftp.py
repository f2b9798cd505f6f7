# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sections Endpoints / SSH keys and Endpoints / SFTP."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import asyncssh
import pytest

from hosted_sandbox.testing import Sandbox
from unit.sandbox.conftest import Order

PATH = "/api/users/me/ssh-keys"
DENIED = asyncssh.PermissionDenied
OTHER = {"Authorization": "Bearer sandbox-other-token"}


DIGESTS = {"SHA256": "sha256", "MD5": "md5"}


def _generate(kind: str = "ssh-ed25519", **options: Any) -> asyncssh.SSHKey:
    return asyncssh.generate_private_key(kind, **options)


def _public(key: asyncssh.SSHKey) -> str:
    return key.export_public_key().decode()


def _add(sandbox: Sandbox, key: asyncssh.SSHKey, **options: Any) -> Any:
    return sandbox.api("POST", PATH, {"name": "laptop", "publicKey": _public(key)}, **options)


@asynccontextmanager
async def _session(
    sandbox: Sandbox, key: str, headers: dict[str, str] | None = None, **login: Any
) -> AsyncIterator[asyncssh.SFTPClient]:
    access = sandbox.api("GET", f"/api/resources/{key}/sftp", headers=headers or {}).json()
    options = {"known_hosts": None, "config": None, "agent_path": None, "client_keys": None, **login}
    async with (
        asyncssh.connect(access["host"], access["port"], username=access["username"], **options) as shell,
        shell.start_sftp_client() as client,
    ):
        yield client


def _opens(sandbox: Sandbox, key: str, headers: dict[str, str] | None = None, **login: Any) -> bool:
    async def attempt() -> bool:
        try:
            async with _session(sandbox, key, headers, **login):
                return True
        except DENIED:
            return False

    return asyncio.run(attempt())


@pytest.mark.rule("keys-types")
def test_keys_that_are_refused(sandbox: Sandbox) -> None:
    private = _generate().export_private_key().decode()
    weak = _public(_generate("ssh-rsa", key_size=1024))
    unknown = "ssh-dss AAAAB3NzaC1kc3M="
    for text in (private, weak, unknown, "", "ssh-ed25519", "ssh-ed25519 AAAA", "ssh-ed25519 ????", weak * 2):
        answer = sandbox.api("POST", PATH, {"name": "laptop", "publicKey": text})
        assert answer.status_code == 400, text
        assert "PRIVATE KEY" not in answer.text
    assert sandbox.api("GET", PATH).json() == []


@pytest.mark.rule("keys-deleted")
def test_a_deleted_key_opens_no_more(sandbox: Sandbox, order: Order) -> None:
    service, key = order(), _generate()
    added = _add(sandbox, key).json()["id"]

    async def use() -> None:
        async with _session(sandbox, service, client_keys=[key]) as client:
            assert sandbox.api("GET", PATH).json()[0]["lastUsedAt"]
            assert sandbox.api("DELETE", f"{PATH}/{added}").status_code == 200
            async with client.open("late.txt", "w") as file:
                await file.write("still here")

    asyncio.run(use())
    assert not _opens(sandbox, service, client_keys=[key])
    content = sandbox.api("GET", f"/api/resources/{service}/files/contents?path=late.txt").json()
    assert content == {"content": "still here"}


@pytest.mark.rule("keys-all")
def test_a_key_opens_all_services_of_its_account_only(sandbox: Sandbox, order: Order) -> None:
    """And a new one only after a while."""
    mine = [order(), order(name="second")]
    seed = {"services": [{"name": "theirs", "product": "minecraft", "account": "account-other"}]}
    theirs = sandbox.seed(seed)["services"]["theirs"]
    key = _generate()
    _add(sandbox, key)
    assert all(_opens(sandbox, service, client_keys=[key]) for service in mine)
    assert not _opens(sandbox, theirs, OTHER, client_keys=[key])
    sandbox.delays(sftp=3600)
    service = order(name="third")
    assert not _opens(sandbox, service, client_keys=[key])
    sandbox.clock(advance=3601)
    assert _opens(sandbox, service, client_keys=[key])


@pytest.mark.rule("sftp-password")
def test_the_next_password_invalidates_the_last(sandbox: Sandbox, order: Order) -> None:
    key, other = order(), order(name="other")
    path = f"/api/resources/{key}/sftp"
    assert sandbox.api("GET", path).json()["passwordSetAt"] is None
    first = sandbox.api("POST", f"{path}/password").json()
    assert set(first) == {"host", "port", "username", "password"}
    shown = sandbox.api("GET", path)
    assert shown.json()["passwordSetAt"] and first["password"] not in shown.text
    assert _opens(sandbox, key, password=first["password"])
    second = sandbox.api("POST", f"{path}/password").json()
    assert second["username"] == first["username"]
    assert not _opens(sandbox, key, password=first["password"])
    assert _opens(sandbox, key, password=second["password"])
    assert not _opens(sandbox, other, password=second["password"])
    sandbox.operator(f"services/{key}", status="FAILED")
    assert not _opens(sandbox, key, password=second["password"])


@pytest.mark.rule("sftp-root")
def test_a_session_stays_in_its_root(sandbox: Sandbox, order: Order) -> None:
    service, key = order(), _generate()
    _add(sandbox, key)
    sandbox.api("POST", f"/api/resources/{service}/files/write", {"path": "mine.txt", "content": "x"})

    async def roam() -> None:
        async with _session(sandbox, service, client_keys=[key]) as client:
            assert await client.listdir("../../..") == await client.listdir("/")
            assert "mine.txt" in await client.listdir(".")
            for path in ("/etc/passwd", "../../../etc/passwd"):
                with pytest.raises(asyncssh.SFTPNoSuchFile):
                    await client.stat(path)
            with pytest.raises(asyncssh.SFTPError):
                await client.symlink("../../../../../../../etc", "out")
            await client.symlink("/etc/passwd", "absolute")
            with pytest.raises(asyncssh.SFTPNoSuchFile):
                await client.open("absolute")
            await client.symlink("mine.txt", "good")
            assert await (await client.open("good")).read() == "x"

    asyncio.run(roam())
    names = {entry["name"]: entry for entry in sandbox.api("GET", f"/api/resources/{service}/files").json()}
    assert names["good"]["symlink"] is True
    missing = sandbox.api("GET", f"/api/resources/{service}/files/contents?path=absolute")
    assert missing.status_code == 404


async def _lead_out(client: asyncssh.SFTPClient, target: Path, name: str) -> None:
    """Make a link that leads out of the root: where it was made, it led inside."""
    await client.makedirs(deep := "a/" * 20, exist_ok=True)
    await client.symlink("../" * 20 + str(target)[1:], f"{deep}l")
    await client.rename(f"{deep}l", name)


def test_a_moved_link_leads_nowhere(sandbox: Sandbox, order: Order, tmp_path: Path) -> None:
    """Neither SFTP, nor the file manager with its own temporary file, nor a backup follows it."""
    (victim := tmp_path / "victim.txt").write_text("mine")
    (folder := tmp_path / "folder").mkdir()
    service, key = order(), _generate()
    base = f"/api/resources/{service}"
    _add(sandbox, key)
    part = f".new.txt.{sandbox.control('GET', '/')['pid']}.part"

    async def roam() -> None:
        async with _session(sandbox, service, client_keys=[key]) as client:
            for target, name in ((victim, "file"), (folder, "folder"), (victim, part)):
                await _lead_out(client, target, name)
            for path in ("file", "folder", "folder/new"):
                for act in (client.stat, client.open, client.listdir, client.realpath, client.mkdir):
                    with pytest.raises(asyncssh.SFTPError):
                        await act(path)
            # A folder that was opened, and became a link before it was read.
            await client.mkdir("plain")
            handle = await client._handler.opendir(b"plain")
            await client.rename("plain", "moved")
            await client.rename("folder", "plain")
            with pytest.raises(asyncssh.SFTPError):
                await client._handler.readdir(handle)
            await client.open("s", "w", asyncssh.SFTPAttrs(permissions=0o4755))
            await client.chmod("s", 0o6755)
            assert (await client.stat("s")).permissions in (0o100755, 0o755)

    asyncio.run(roam())
    for path in ("file", "plain/new", "new.txt"):
        sandbox.api("POST", f"{base}/files/write", {"path": path, "content": "theirs"})
        sandbox.api("POST", f"{base}/backups", {"name": "copy"})
        answer = sandbox.api("GET", f"{base}/files/contents?path={path}")
        assert (answer.status_code == 404) is (path != "new.txt")
    assert "bWluZQ" not in str(sandbox.control("GET", "/state")["files"])
    assert (victim.read_text(), os.listdir(folder)) == ("mine", [])


@pytest.mark.parametrize("name", ["data", "data/database.sqlite3", "data/database.sqlite3-journal"])
def test_a_database_follows_no_link(sandbox: Sandbox, order: Order, tmp_path: Path, name: str) -> None:
    service, key = order("postgresql", "db"), _generate()
    _add(sandbox, key)

    async def roam() -> None:
        async with _session(sandbox, service, client_keys=[key]) as client:
            if name != "data":
                await client.mkdir("data")
            await _lead_out(client, tmp_path if name == "data" else tmp_path / "new", name)

    asyncio.run(roam())
    answer = sandbox.api("POST", f"/api/resources/{service}/database/query", {"sql": "CREATE TABLE t (a)"})
    assert (answer.status_code, "link" in answer.text, os.listdir(tmp_path)) == (400, True, [])


def test_a_name_that_is_not_utf_8_is_listed(sandbox: Sandbox, order: Order) -> None:
    """SFTP takes any bytes, and JSON does not."""
    key, login = order(), _generate()
    _add(sandbox, login)

    async def write() -> None:
        async with (
            _session(sandbox, key, client_keys=[login]) as client,
            client.open(b"bad\xff", "wb", encoding=None) as file,
        ):
            await file.write(b"x")

    asyncio.run(write())
    listed = sandbox.api("GET", f"/api/resources/{key}/files", params={"directory": ""})
    assert listed.status_code == 200
    assert "bad\ufffd" in [entry["name"] for entry in listed.json()]


@pytest.mark.rule("keys-types", "error-key-present")
@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="needs ssh-keygen")
@pytest.mark.parametrize("value", DIGESTS)
@pytest.mark.parametrize("kind", ["ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp521", "ssh-rsa"])
def test_keys_that_are_taken_once_with_the_fingerprint_that_ssh_keygen_tells(
    sandbox: Sandbox, tmp_path: Path, kind: str, value: str
) -> None:
    sandbox.profile("plain", fingerprint=value)
    key = _generate(kind, **({"key_size": 2048} if kind == "ssh-rsa" else {}))
    answers = [_add(sandbox, key), _add(sandbox, key), _add(sandbox, key, headers=OTHER)]
    assert [answer.status_code for answer in answers] == [201, 409, 201]
    (tmp_path / "key.pub").write_text(_public(key))
    command = ["ssh-keygen", "-l", "-E", DIGESTS[value], "-f", str(tmp_path / "key.pub")]
    line = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    (shown,) = sandbox.api("GET", PATH).json()
    assert (shown["name"], shown["algorithm"], shown["lastUsedAt"]) == ("laptop", kind, None)
    assert shown["fingerprint"] == line.split()[1]
