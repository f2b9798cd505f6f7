# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Restores by programs of the test's own: what they are told, what is left out, and what their failure means.

What real engines make of it is in tests/integration/test_database_jobs.py.
"""

from __future__ import annotations

import gzip
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.databases import restore as module
from ansible_collections.hosted.services.plugins.module_utils._resources.databases.dump import (
    MARIADB,
    POSTGRESQL,
    NoDumpError,
    Source,
    dump_from,
    find_source,
    restorable,
)
from unit.plugins.module_utils._resources.databases.test_dump import PASSWORD, connection, program

ROWS = "INSERT INTO orders VALUES (1,'-- Host: not a header');"


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which programs are looked for first."""
    folder = tmp_path / "tools"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return folder


def dumps(tools: Path, *lines: str) -> None:
    """Let the dump program of MariaDB print these lines for each database, and which one it is."""
    said = "\n".join(["-- Host: 127.0.0.1    Database: $last", *lines, "-- Dump completed on $(date)"])
    program(tools, "mariadb-dump", f'for last in "$@"; do :; done\ncat <<END\n{said}\nEND')


def source(tools: Path, port: int, database: str = "shop") -> Source:
    """Return a database whose dump program there is."""
    return find_source(connection(port, "mariadb", database))


def test_two_databases_of_the_same_content_have_the_same_checksum(tools: Path, port: int) -> None:
    """Whatever they are called, and whenever they were dumped. A row is never taken for a header."""
    dumps(tools, ROWS)
    with module.Dump.of(source(tools, port)) as one, module.Dump.of(source(tools, port, "copy")) as other:
        assert one.digest == other.digest and one.is_in(source(tools, port, "copy"))
        assert one.size and b"Database: shop" in b"".join(restorable(one.path, MARIADB))
    dumps(tools, ROWS.replace("not a", "another"))
    with module.Dump.of(source(tools, port)) as changed:
        assert changed.digest != one.digest and not one.is_in(source(tools, port))


def test_a_dump_has_no_name_and_is_gone_with_the_process(
    tools: Path, port: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dumps(tools, ROWS)
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    with module.Dump.of(source(tools, port)) as held:
        assert os.fstat(held.file.fileno()).st_nlink == 0
        assert os.fstat(held.file.fileno()).st_mode & 0o077 == 0
        assert [*(tmp_path / "temporary").iterdir()] == []
        assert held.path.stat().st_size == held.size


def test_what_is_there_is_dropped_before_a_dump_is_restored(tools: Path, port: int, tmp_path: Path) -> None:
    """The client reads the password from a file in memory, and gets it in no argument."""
    dumps(tools, ROWS)
    log = tmp_path / "log"
    asks = "grep -q information_schema && echo 'DROP TABLE `old`;'"
    program(tools, "mariadb", f'echo "args: $*" >> {log}\ntee -a {log} | {asks}\nexit 0')
    with module.Dump.of(source(tools, port)) as held:
        held.restore(source(tools, port, "copy"))
    said = log.read_text()
    asked, written = said.split("args: ")[1:]
    assert "information_schema.TABLES" in asked and ROWS not in asked
    assert written.index("DROP TABLE `old`;") < written.index(ROWS)
    assert written.splitlines()[0].endswith(" -- copy")
    place = f"--protocol=tcp --host=127.0.0.1 --port={port} --user=owner "
    assert PASSWORD not in said and re.match(rf"--defaults-file=/proc/self/fd/\d+ {place}", asked)


def test_a_dump_that_cannot_be_read_to_its_end_ends_the_client(
    tools: Path, port: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PostgreSQL's would commit what it has read so far if its input just ended.

    What was not sent yet cannot be sent any more then, which is no error of its own.
    """
    kill = subprocess.Popen.kill

    def kill_and_wait(process: subprocess.Popen[bytes]) -> None:
        kill(process)
        process.wait()

    monkeypatch.setattr(subprocess.Popen, "kill", kill_and_wait)
    committed = tmp_path / "committed"
    program(tools, "mariadb", f"cat > /dev/null && touch {committed}")

    def lines() -> Iterator[bytes]:
        yield b"BEGIN;\n"
        raise NoDumpError("the dump cannot be read back")

    with pytest.raises(NoDumpError, match="cannot be read back"):
        dumps(tools, ROWS)
        module.run_client(source(tools, port), lines())
    assert not committed.exists()


def test_a_client_that_ends_before_it_has_read_everything_says_why(tools: Path, port: int) -> None:
    program(tools, "mariadb", "echo 'no room left' >&2; exit 3")
    dumps(tools, ROWS)
    with pytest.raises(NoDumpError, match="mariadb ended with 3: no room left"):
        module.run_client(source(tools, port), [b"BEGIN;\n"] * 100_000)


def test_the_database_to_restore_into_is_another_one(tools: Path, port: int) -> None:
    dumps(tools, ROWS)
    old = source(tools, port)
    assert module.find_target(connection(port, "mariadb", "copy"), old).login.database == "copy"
    with pytest.raises(NoDumpError, match=r"cannot be told from the one that was dumped.*public: true"):
        module.find_target(connection(port, "mariadb"), old)
    program(tools, "pg_dump", "")
    with pytest.raises(NoDumpError, match="cannot be restored into a database of engine 'postgresql'"):
        module.find_target(connection(port, "postgresql", "copy"), old)


@pytest.mark.parametrize("printed", ["yes", "yes >&2"])
def test_a_client_that_prints_without_end_is_stopped(tools: Path, port: int, printed: str) -> None:
    dumps(tools, ROWS)
    program(tools, "mariadb", printed)
    with pytest.raises(NoDumpError, match="mariadb printed more than 67,108,864 bytes, so it was stopped"):
        module.check_login(source(tools, port))


def test_an_answer_without_end_fills_no_memory(tools: Path, port: int) -> None:
    """psql takes in all of its rows."""
    program(tools, "pg_dump", "")
    program(tools, "psql", f"exec {sys.executable} -c 'bytes(3 << 30)'")
    with pytest.raises(NoDumpError, match="MemoryError"):
        module.check_login(find_source(connection(port)))


def test_a_setting_that_older_servers_lack_is_left_out(tools: Path, tmp_path: Path) -> None:
    """It stands at the beginning alone: further down the same text is a row."""
    line = "SET transaction_timeout = 0;"
    rows = "\n".join(["x"] * 50)
    program(tools, "pg_restore", f"cat <<END\n-- begin\n{line}\n{rows}\n{line}\nEND")
    found = [*restorable(tmp_path, POSTGRESQL)]
    assert found[0] == b"-- begin\n" and found[1] == b"x\n"
    assert found[-1] == f"{line}\n".encode()


def test_a_dump_that_was_kept_is_read_to_its_end(tools: Path, port: int, tmp_path: Path) -> None:
    """It has the checksum of the database that it was made from. One that was cut off is none."""
    dumps(tools, ROWS)
    database = source(tools, port)
    path = dump_from(tmp_path, database)
    with module.Dump.kept_at(path) as kept, module.Dump.of(database) as held:
        assert (kept.digest, kept.size) == (held.digest, path.stat().st_size)
        whole = path.read_bytes()
        path.unlink()  # as a plan may meanwhile: what was checked is restored
        assert kept.path.read_bytes() == whole
    for half in (whole[:-9], gzip.compress(ROWS.encode()), b""):
        path.write_bytes(half)
        with pytest.raises(NoDumpError, match=r"database\.sql\.gz"), module.Dump.kept_at(path):
            pass
    (tmp_path / "database.dump").write_bytes(b"something else")
    with (
        pytest.raises(NoDumpError, match="is no whole dump"),
        module.Dump.kept_at(tmp_path / "database.dump"),
    ):
        pass
