# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Mirrors over real SFTP: every test runs against OpenSSH and the sandbox, many against ProFTPD."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_ssh_private_key,
)

from ansible_collections.hosted.services.plugins.module_utils._ansible.execution import RunContext, execute
from ansible_collections.hosted.services.plugins.module_utils._ansible.options import CONNECTION_SPEC
from ansible_collections.hosted.services.plugins.module_utils._resources.sftp_sync import SFTP_SYNC
from ansible_collections.hosted.services.plugins.module_utils._sftp.session import Login
from unit.plugins.module_utils._sftp import servers
from unit.plugins.module_utils._sftp.servers import Server
from unit.plugins.results import Result
from unit.tiers import sample

Sync = Callable[..., dict[str, Any]]
DEFAULTS = {name: option.get("default") for name, option in {**SFTP_SYNC.options, **CONNECTION_SPEC}.items()}


@pytest.fixture(scope="module", params=sample(["sandbox", "openssh"]))
def running(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Each server once for all tests."""
    with servers.start(request.param, tmp_path_factory.mktemp(request.param)) as server:
        yield server


KINDS = sample(["openssh", "sandbox", "proftpd"], 2)
on_all = pytest.mark.parametrize("running", KINDS, indirect=True, scope="module")
"""For a test of what a server has to do its part in."""


@pytest.fixture
def server(running: Server) -> Server:
    """A server without files."""
    for path in running.root.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    return running


@pytest.fixture
def src(tmp_path: Path) -> Path:
    """A directory with a bit of everything."""
    root = tmp_path / "src"
    (root / "deep" / "er").mkdir(parents=True)
    (root / "empty").mkdir()
    (root / "a.txt").write_text("a")
    (root / "deep" / "line\nbreak ü.txt").write_text("b" * 100_000)
    (root / "deep" / "er" / "large").write_bytes(os.urandom(3_000_001))
    (root / "run.sh").write_text("#!/bin/sh\n")
    with open(os.fsencode(root) + b"/not-utf8-\xff", "wb") as file:
        file.write(b"c")
    for path in [root, *root.rglob("*")]:  # whatever umask the tests before have left
        path.chmod(0o755 if path.is_dir() else 0o644)
    (root / "run.sh").chmod(0o750)
    (root / "link").symlink_to("deep/er/large")
    return root


@pytest.fixture
def sync(server: Server, tmp_path: Path) -> Sync:
    """Run the module with the options that lead to the server."""

    def run(check_mode: bool = False, **options: Any) -> dict[str, Any]:
        given = {**DEFAULTS, **server.options, "known_hosts": str(tmp_path / "known_hosts"), **options}
        return Result(execute(SFTP_SYNC, given, RunContext(check_mode=check_mode, diff=True)))

    return run


def content(root: Path) -> dict[str, tuple[int, str | bytes]]:
    """Return what is below a directory: mode and content, or where a link points."""
    found: dict[str, tuple[int, str | bytes]] = {}
    for folder, folders, files in os.walk(root):
        for name in folders + files:
            path = Path(folder, name)
            mode = path.lstat().st_mode
            inner: str | bytes = "directory"
            if path.is_symlink():
                mode, inner = 0, f"link to {path.readlink()}"
            elif path.is_file():
                inner = path.read_bytes()
            found[str(path.relative_to(root))] = (mode, inner)
    return found


def good(result: dict[str, Any]) -> dict[str, Any]:
    """Return what the module says once it is clear that it went well."""
    assert "failed" not in result, result["msg"]
    said: dict[str, Any] = result["sftp_sync"]
    return said


def refusal(result: dict[str, Any]) -> str:
    assert result.get("failed"), result
    return str(result["msg"])


@on_all
@pytest.mark.parametrize("direction", ["push", "pull"])
def test_what_is_excluded_is_deleted_on_request(
    direction: str, sync: Sync, server: Server, src: Path, tmp_path: Path
) -> None:
    """It is not copied all the same, and stays where it comes from."""
    if direction == "push":
        here, there, names = src, server.root / "up", {"src": str(src), "dest": "up"}
    else:
        here, there, names = (
            server.root / "up",
            tmp_path / "down",
            {"src": "up", "dest": str(tmp_path / "down")},
        )
        shutil.copytree(src, here, symlinks=True)
    for side in (here, there):
        (side / "cache" / "deep").mkdir(parents=True)
        (side / "cache" / "deep" / "file").write_text("x")
    mirror = {"direction": direction, "exclude": ["cache/"], "delete": True, **names}
    assert good(sync(**mirror))["deleted"] == []
    limited = sync(**mirror, delete_excluded=True, max_delete=2)
    assert "this would delete 3 entries" in refusal(limited) and (there / "cache" / "deep" / "file").exists()
    doomed = ["cache", "cache/deep", "cache/deep/file"]
    for check_mode in (True, False):
        result = sync(check_mode, **mirror, delete_excluded=True)
        assert good(result)["deleted"] == doomed and "warnings" not in result
    assert not (there / "cache").exists() and (here / "cache" / "deep" / "file").exists()
    again = sync(**mirror, delete_excluded=True)
    assert not again["changed"]


@pytest.fixture
def ours(server: Server, tmp_path: Path) -> dict[str, Any]:
    """A mirror with deletion, of a folder with one file, to a service that holds two more."""
    (server.root / "plugins" / "deep").mkdir(parents=True)
    (tmp_path / "plugins").mkdir()
    for path in ("a.jar", "data.db", "deep/b.db"):
        (server.root / "plugins" / path).write_text("precious")
    (tmp_path / "plugins" / "a.jar").write_text("a")
    return {"src": str(tmp_path / "plugins"), "dest": "plugins", "delete": True}


def test_patterns_that_protect_nothing_are_named(sync: Sync, server: Server, ours: dict[str, Any]) -> None:
    exclude = ["*.db", "plugins/data.db", "a.log,data.db"]
    for quiet in ({**ours, "delete": False}, ours):
        assert "warnings" not in sync(True, **quiet, exclude=exclude), "nothing is deleted"
    (server.root / "plugins" / "old.jar").write_text("old")
    for check_mode in (True, False):
        (warning,) = sync(check_mode, **ours, exclude=exclude)["warnings"]
        assert "'plugins/data.db'" in warning and "'a.log,data.db'" in warning and "'*.db'" not in warning


@pytest.mark.parametrize("direction", ["push", "pull"])
@pytest.mark.parametrize("include", [[], ["*.none"]])
def test_an_empty_source_deletes_nothing(
    direction: str, include: list[str], sync: Sync, server: Server, tmp_path: Path
) -> None:
    """A mount that is not there, or a checkout that failed."""
    here, there = tmp_path / "here", server.root / "there"
    here.mkdir()
    there.mkdir()
    full = there if direction == "push" else here
    (full / "deep").mkdir()
    (full / "deep" / "x.none").write_text("precious")
    src, dest = (str(here), "there") if direction == "push" else ("there", str(here))
    mirror = {"direction": direction, "src": src, "dest": dest, "delete": True, "include": include}
    for check_mode in (True, False):
        result = sync(check_mode, **mirror)
        assert f"src {src!r} is empty" in refusal(result)
        assert "allow_empty_source: true" in result["msg"]
        assert result["would_delete"] == ["deep", "deep/x.none"] and not result["changed"]
    assert (full / "deep" / "x.none").exists()
    assert good(sync(**mirror, allow_empty_source=True))["deleted"] == ["deep", "deep/x.none"]
    assert not sync(**mirror)["changed"], "nothing is left to delete"


def test_a_source_that_does_not_exist_is_named(sync: Sync, tmp_path: Path) -> None:
    """Ansible looks for a relative path in several places."""
    src = str(tmp_path / "srcc")
    assert refusal(sync(src=src, dest="there")) == (
        f"src {src!r} does not exist on this machine; a relative path is also looked for in files/ of the "
        "role and of the playbook"
    )
    pulled = sync(direction="pull", src="srcc", dest=str(tmp_path / "copy"))
    assert refusal(pulled) == "src 'srcc' does not exist on the server"


def test_more_than_max_delete_is_refused(sync: Sync, server: Server, ours: dict[str, Any]) -> None:
    before = content(server.root)
    for check_mode, limit in ((True, 2), (False, 2), (False, 0)):
        result = sync(check_mode, **ours, max_delete=limit)
        assert "would delete 3" in refusal(result) and f"max_delete is {limit}" in result["msg"]
        assert result["would_delete"] == ["data.db", "deep", "deep/b.db"] and not result["changed"]
    assert content(server.root) == before
    assert "max_delete is -1" in refusal(sync(**ours, max_delete=-1, port=1))
    assert good(sync(**ours, max_delete=3))["deleted"] == ["data.db", "deep", "deep/b.db"]


def test_permissions_of_an_earlier_copy_stay(sync: Sync, server: Server, src: Path, tmp_path: Path) -> None:
    """Copies that are made every night share the files that did not change."""
    good(sync(src=str(src), dest="up"))
    pull = {"direction": "pull", "src": "up"}
    earlier, later = tmp_path / "earlier", tmp_path / "later"
    good(sync(**pull, dest=str(earlier)))
    before = content(earlier)
    shutil.copytree(earlier, later, symlinks=True, copy_function=os.link)
    (server.root / "up" / "a.txt").chmod(0o640)
    assert good(sync(**pull, dest=str(later)))["updated"] == ["a.txt"]
    assert (later / "a.txt").stat().st_mode & 0o777 == 0o640
    assert content(earlier) == before and content(later) == content(server.root / "up")
    assert (later / "run.sh").samefile(earlier / "run.sh"), "what did not change is still shared"
    assert not sync(**pull, dest=str(later))["changed"]


@on_all
def test_sparse_files_arrive_whole_and_stay_sparse(
    sync: Sync, server: Server, src: Path, tmp_path: Path
) -> None:
    with (src / "sparse").open("wb") as file:
        file.write(b"x" * 5000)
        file.seek(3_000_000)
        file.write(b"y")
        file.truncate(9_000_000)
    with (src / "hole").open("wb") as file:
        file.truncate(9_000_000)
    (src / "zeros").write_bytes(bytes(700_000))
    good(sync(src=str(src), dest="up"))
    assert content(server.root / "up") == content(src)
    good(sync(direction="pull", src="up", dest=str(tmp_path / "down")))
    assert content(tmp_path / "down") == content(src)
    if room(src / "hole") < 1_000_000:  # on other file systems, there is nothing to keep
        for copied in (server.root / "up", tmp_path / "down"):
            assert room(copied / "sparse") < 1_500_000 and room(copied / "hole") < 1_000_000


def room(path: Path) -> int:
    return path.stat().st_blocks * 512


@on_all
def test_links_never_lead_out(sync: Sync, server: Server, src: Path, tmp_path: Path) -> None:
    (src / "absolute").symlink_to("/etc/passwd")
    (src / "deep" / "out").symlink_to("../../src-secret")
    (src / "up").symlink_to("deep")
    (src / "sly").symlink_to("up/../../x")
    result = sync(src=str(src), dest="tree")
    warnings = " ".join(result["warnings"])
    assert all(name in warnings for name in ("absolute", "deep/out", "sly"))
    names = {path.name for path in (server.root / "tree").iterdir()}
    assert "up" in names and not names & {"absolute", "sly"}
    (server.root / "tree" / "evil").symlink_to("/etc")
    result = sync(direction="pull", src="tree", dest=str(tmp_path / "down"))
    assert "evil" in " ".join(result["warnings"])
    assert not (tmp_path / "down" / "evil").is_symlink()


@on_all
@pytest.mark.parametrize("direction", ["push", "pull"])
def test_nothing_is_written_through_a_link(
    direction: str, sync: Sync, server: Server, src: Path, tmp_path: Path
) -> None:
    outside = server.root / "outside"
    outside.mkdir()
    (outside / "er").mkdir()
    if direction == "push":
        (server.root / "tree").mkdir()
        (server.root / "tree" / "deep").symlink_to("../outside")
        result = sync(src=str(src), dest="tree")
        target = server.root / "tree"
    else:
        shutil.copytree(src, server.root / "tree", symlinks=True)
        target = tmp_path / "down"
        target.mkdir()
        (target / "deep").symlink_to(outside)
        result = sync(direction="pull", src="tree", dest=str(target))
    assert good(result)["deleted"] == ["deep"]
    assert not (target / "deep").is_symlink()
    assert content(target) == content(src)
    assert list((outside / "er").iterdir()) == []


@on_all
def test_a_directory_in_the_way_of_a_file(sync: Sync, server: Server, src: Path) -> None:
    (server.root / "up" / "a.txt" / "inner").mkdir(parents=True)
    assert "delete: true" in refusal(sync(src=str(src), dest="up"))
    assert good(sync(src=str(src), dest="up", delete=True))["deleted"] == ["a.txt", "a.txt/inner"]
    assert (server.root / "up" / "a.txt").read_text() == "a"
    (src / "a.txt").unlink()
    (src / "a.txt").mkdir()
    assert good(sync(src=str(src), dest="up"))["created"] == []
    assert (server.root / "up" / "a.txt").is_dir()


def test_what_is_shown_of_a_login_holds_no_secret() -> None:
    login = Login("node-1", 22, "user", "~/key", passphrase="open sesame", password="hunter2")
    assert "node-1" in repr(login)
    assert "open sesame" not in repr(login) and "hunter2" not in repr(login)


def test_key_files(sync: Sync, src: Path, server: Server, tmp_path: Path) -> None:
    assert "cannot be read" in refusal(sync(src=str(src), dest="up", private_key_file="/does/not/exist"))
    (tmp_path / "nonsense").write_text("no key")
    for given in ({}, {"passphrase": "open sesame"}):
        message = refusal(sync(src=str(src), dest="up", private_key_file=str(tmp_path / "nonsense"), **given))
        assert "not a private key" in message and "encrypted" not in message
    locked = tmp_path / "locked"
    key = load_ssh_private_key(Path(server.options["private_key_file"]).read_bytes(), None)
    locked.write_bytes(
        key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"open sesame"))
    )
    assert "passphrase" in refusal(sync(src=str(src), dest="up", private_key_file=str(locked)))
    message = refusal(sync(src=str(src), dest="up", private_key_file=str(locked), passphrase="wrong one"))
    assert "the passphrase does not open it" in message and "wrong one" not in message
    good(sync(src=str(src), dest="up", private_key_file=str(locked), passphrase="open sesame"))
