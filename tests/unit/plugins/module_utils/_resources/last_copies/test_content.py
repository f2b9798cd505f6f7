# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a last copy holds, from OpenSSH and the sandbox: odd names, links, special files; and dumps."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.models import SftpAccess
from ansible_collections.hosted.services.plugins.module_utils._resources.databases import dump
from ansible_collections.hosted.services.plugins.module_utils._resources.databases.dump import Login, Source
from ansible_collections.hosted.services.plugins.module_utils._resources.last_copies.folders import Entry
from ansible_collections.hosted.services.plugins.module_utils._resources.last_copies.last_copy import (
    DumpContent,
    FileContent,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE
from ansible_collections.hosted.services.plugins.module_utils._sftp.errors import (
    TransferFailed,
)
from unit.plugins.fakes import FakeClient, task_of
from unit.plugins.module_utils._sftp import servers
from unit.plugins.module_utils._sftp.servers import Server
from unit.tiers import sample

ODD = b"not-utf8-\xff"
Open = Callable[[], FileContent]


@pytest.fixture(scope="module", params=sample(["sandbox", "openssh"]))
def running(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Each server once for all tests."""
    with servers.start(request.param, tmp_path_factory.mktemp(request.param)) as server:
        yield server


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
def folder(tmp_path: Path) -> Path:
    """The folder of a copy."""
    path = tmp_path / "copy"
    path.mkdir()
    return path


@pytest.fixture
def opened(server: Server, tmp_path: Path) -> Iterator[Open]:
    """Log in and read what there is."""
    with ExitStack() as closing:

        def open_content() -> FileContent:
            given = {"private_key_file": server.options["private_key_file"], "state": "absent", "id": "svc_1"}
            known_hosts = str(tmp_path / "known_hosts")
            task = task_of(SERVICE, FakeClient(), known_hosts=known_hosts, keep_copy="x", **given)
            closing.enter_context(task.closing)
            access = {name: server.options[name] for name in ("host", "port", "username")}
            return FileContent.open(task, SftpAccess.model_validate(access))

        yield open_content


def copied(content: FileContent, folder: Path, before: Path | None = None) -> dict[str, Entry]:
    """Copy and verify; return what the copy holds by path."""
    content.write(str(folder), str(before) if before else None)
    return {entry.path.removeprefix("files/"): entry for entry in content.verify(str(folder))}


def test_a_bit_of_everything(server: Server, opened: Open, folder: Path) -> None:
    root = server.root
    (root / "deep" / "er").mkdir(parents=True)
    (root / "deep" / "line\nbreak \u00fc.txt").write_text("b" * 100_000)
    (root / "deep" / "er" / "large").write_bytes(os.urandom(2_000_001))
    (root / "empty").mkdir()
    (root / "none").write_text("")
    (root / "-rf").write_text("x")
    (root / "run.sh").write_text("#!/bin/sh\n")
    (root / "run.sh").chmod(0o755)
    (root / "manifest.json").write_text("mine")
    (root / "inside").symlink_to("deep/er/large")
    with open(os.fsencode(root) + b"/" + ODD, "wb") as file:
        file.write(b"c")
    content = opened()
    entries = copied(content, folder)
    assert content.describe() == f"{content.count} files ({content.size} bytes)"
    assert content.count == sum(entry.kind == "file" for entry in entries.values()) == 7
    assert content.left_out == {}
    for path in (found for found in root.rglob("*") if found.is_file() and not found.is_symlink()):
        there = folder / "files" / path.relative_to(root)
        assert there.read_bytes() == path.read_bytes()
        assert there.stat().st_mode & 0o077 == 0
    assert (folder / "files" / "inside").readlink() == Path("deep/er/large")
    assert (folder / "files" / "run.sh").stat().st_mode & 0o777 == 0o700
    assert entries["run.sh"].mode == "0755"
    assert entries["inside"].target == "deep/er/large"
    assert os.fsdecode(ODD) in entries
    assert {path for path, entry in entries.items() if entry.kind == "directory"} == {
        "files",
        "deep",
        "deep/er",
        "empty",
    }


def test_what_leads_out_or_has_no_content_is_named(server: Server, opened: Open, folder: Path) -> None:
    root = server.root
    (root / "a").write_text("a")
    (root / "out").symlink_to("../../etc/passwd")
    os.mkfifo(root / "pipe")
    (root / ".hosted-0123456789abcdef.part").write_text("half")
    content = opened()
    left_out = {path: why.split(",")[0] for path, why in content.left_out.items()}
    assert left_out == {
        "out": "it is a link that leads out of the tree",
        "pipe": "it is neither a file",
        ".hosted-0123456789abcdef.part": "a transfer may be writing it",
    }
    assert set(copied(content, folder)) == {"files", "a"}
    assert [path.name for path in (folder / "files").iterdir()] == ["a"]


@pytest.mark.parametrize("running", ["sandbox"], indirect=True)
def test_a_link_of_which_nothing_is_shown_is_no_part_of_a_whole_copy(server: Server, opened: Open) -> None:
    """The sandbox hides where a link leads that leaves its root, as a server may for any link."""
    (server.root / "a").write_text("a")
    (server.root / "hidden").symlink_to("/etc/passwd")
    with pytest.raises(TransferFailed, match=r"does not show where these links lead.*: hidden\. Remove them"):
        opened()


@pytest.mark.parametrize("change", ["grow", "touch", "new", "gone", "mode", "link", "pipe"])
def test_whatever_changes_is_seen(change: str, server: Server, opened: Open, folder: Path) -> None:
    path = server.root / "a"
    path.write_text("a")
    content = opened()
    content.write(str(folder), None)
    changes: dict[str, Callable[[], object]] = {
        "grow": lambda: path.write_text("aa"),
        "touch": lambda: os.utime(path, (1, 1)),
        "new": (server.root / "b").mkdir,
        "gone": path.unlink,
        "mode": lambda: path.chmod(0o600),
        "link": lambda: (server.root / "link").symlink_to("a"),
        "pipe": lambda: os.mkfifo(server.root / "pipe"),
    }
    changes[change]()
    with pytest.raises(TransferFailed, match=r"the service changed while it was copied; these .*stopped"):
        content.verify(str(folder))


def test_files_are_shared_with_an_earlier_copy(
    server: Server, opened: Open, folder: Path, tmp_path: Path
) -> None:
    """Only those of the same content, mode and time; the earlier copy is not touched."""
    root = server.root
    (root / "deep").mkdir()
    names = ("same", "other", "touched", "mode", "deep/same")
    for name in names:
        (root / name).write_text(name)
        os.utime(root / name, (1_700_000_000, 1_700_000_000))
    copied(opened(), folder)
    before = {path: path.stat() for path in folder.rglob("*") if path.is_file()}
    (root / "other").write_text("OTHER")
    os.utime(root / "other", (1_700_000_000, 1_700_000_000))
    os.utime(root / "touched", (1_700_000_009, 1_700_000_009))
    (root / "mode").chmod(0o700)
    second = tmp_path / "second"
    second.mkdir()
    copied(opened(), second, folder)
    shared = {name for name in names if (second / "files" / name).samefile(folder / "files" / name)}
    assert shared == {"same", "deep/same"}
    assert (second / "files" / "other").read_text() == "OTHER"
    assert (folder / "files" / "other").read_text() == "other"
    assert {path: (info.st_mode, info.st_mtime) for path, info in before.items()} == {
        path: (path.stat().st_mode, path.stat().st_mtime) for path in before
    }


# --- Dumps --------------------------------------------------------------------------------------------


def dumping(tmp_path: Path, *dumps: str) -> DumpContent:
    """Return the content of a database whose program writes these dumps, one each time."""
    numbers = tmp_path / "numbers"
    numbers.write_text("")
    for number, text in enumerate(dumps):
        (tmp_path / str(number)).write_text(text)
    program = tmp_path / "mariadb-dump"
    nothing_set = '[ "$1" != --print-defaults ] || exit 0'
    writes = f'cat "{tmp_path}/$(wc -l <{numbers} | tr -d " ")"\necho >>{numbers}'
    program.write_text(f"#!/bin/sh\n{nothing_set}\n{writes}\n")
    program.chmod(0o700)
    login = Login("127.0.0.1", 1, "owner", "secret", "shop")
    return DumpContent(Source(dump.MARIADB, str(program), login))


def whole(rows: str, day: int) -> str:
    """Return a dump as the program writes it, with the day at its end."""
    return f"-- Host: 127.0.0.1\nINSERT INTO a VALUES ({rows});\n-- Dump completed on 2026-01-0{day}\n"


def test_a_second_dump_that_differs(tmp_path: Path, folder: Path) -> None:
    content = dumping(tmp_path, whole("1", 1), whole("2", 1))
    content.write(str(folder), None)
    with pytest.raises(TransferFailed, match="changed while it was copied; a second dump differs"):
        content.verify(str(folder))
    assert [path.name for path in folder.iterdir()] == ["database.sql.gz"]
