# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Dumps and restores by programs of the test's own: whole or not at all, the password in a file in memory.

What real engines make of it is in tests/integration/test_backups_dumps.py and test_database_jobs.py.
"""

from __future__ import annotations

import gzip
import os
import re
import socket
import subprocess
import sys
import tempfile
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.databases import dump as script
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

MIB = 2**20
PASSWORD = "p:a\\ss'w\"o#rd"
PROGRAMS = {"postgresql": "pg_dump", "mariadb": "mariadb-dump", "mysql": "mysqldump"}


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder in which programs are looked for, but for those of the system that a script needs."""
    folder = tmp_path / "tools"
    folder.mkdir()
    for name in ("cat", "stat"):
        (folder / name).symlink_to(f"/bin/{name}" if Path(f"/bin/{name}").exists() else f"/usr/bin/{name}")
    monkeypatch.setenv("PATH", str(folder))
    return folder


def program(tools: Path, name: str, body: str) -> None:
    """Let there be a dump program, of which nothing is set in files."""
    (tools / name).write_text(f'#!/bin/sh\n[ "$1" != --print-defaults ] || exit 0\n{body}\n')
    (tools / name).chmod(0o700)


def connection(port: int, engine: str = "postgresql", database: str = "shop") -> dict[str, Any]:
    """What the platform tells of a database."""
    facts = {"engine": engine, "user": "owner", "password": PASSWORD, "database": database}
    return {**facts, "host": "127.0.0.1", "port": port}


def folder_of(tmp_path: Path) -> Path:
    """Make the folder that takes a dump."""
    folder = tmp_path / "copy"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("mode", ["require", "verify-full"])
def test_postgresql(
    tmp_path: Path, tools: Path, port: int, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    """Names are in the environment, the password in a file of mode 0600, and nothing of it elsewhere."""
    monkeypatch.setenv("PGPASSWORD", "of somebody else")
    monkeypatch.setenv("PGSSLMODE", mode)
    program(
        tools,
        "pg_dump",
        'echo "PGDMP$*|$PGHOST:$PGPORT|$PGUSER|$PGDATABASE|$PGPASSWORD|$PGSSLMODE|$PGREQUIREAUTH"\n'
        'stat -Lc %a "$PGPASSFILE"; cat "$PGPASSFILE"',
    )
    done = script.dump(folder_of(tmp_path), connection(port))
    lines = (tmp_path / "copy" / "database.dump").read_text().splitlines()
    logins = "" if mode == "verify-full" else "!password"
    assert lines == [
        f"PGDMP--no-password --format=custom|127.0.0.1:{port}|owner|shop||{mode}|{logins}",
        "600",
        "*:*:*:*:p\\:a\\\\ss'w\"o#rd",
    ]
    assert done["file"] == "database.dump"
    assert os.stat(tmp_path / "copy" / "database.dump").st_mode & 0o777 == 0o600


@pytest.mark.parametrize("engine", ["mariadb", "mysql"])
def test_mariadb_and_mysql(tmp_path: Path, tools: Path, port: int, engine: str) -> None:
    """The password alone is in an option file, and what the program writes is compressed."""
    program(tools, PROGRAMS[engine], 'echo "$*"; cat "${1#*=}"; echo "-- Dump completed"')
    script.dump(folder_of(tmp_path), connection(port, engine))
    arguments, *options = lines_of_dump(tmp_path)
    place = f"--protocol=tcp --host=127.0.0.1 --port={port} --user=owner"
    assert re.match(rf"--defaults-file=/proc/self/fd/\d+ {place} ", arguments)
    assert arguments.endswith(" -- shop")
    assert "--loose-column-statistics=0" in arguments, "older servers have none"
    assert "--single-transaction" in arguments and "rd" not in arguments.replace("--hex", "")
    assert options == ["[client]", 'password="p:a\\\\ss\'w\\"o#rd"', "-- Dump completed"]


def lines_of_dump(tmp_path: Path) -> list[str]:
    """Return what the program has written."""
    return gzip.decompress((tmp_path / "copy" / "database.sql.gz").read_bytes()).decode().splitlines()


def test_of_the_user_s_option_files_counts_how_to_connect_alone(
    tmp_path: Path, tools: Path, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of MariaDB and MySQL name a server, and may leave out rows. Nor do saved logins count."""
    kept = (
        "--ssl-ca=/my own/ca.pem --loose-ssl_mode=REQUIRED --skip-ssl --max_allowed_packet=1G "
        "--tls-version=x --plugin-dir=/p --default_auth=x --enable-cleartext-plugin"
    )
    set_in_files = f"--host=elsewhere --password=x {kept} --no-data --ignore-table=shop.ssl "
    said = (
        f'#!/bin/sh\nif [ "$1" = --print-defaults ]; then echo "would start with:"; echo "{set_in_files}"\n'
    )
    rest = 'else echo "$*|$MYSQL_HOST|$MYSQL_TEST_LOGIN_FILE"; echo "-- Dump completed"; fi\n'
    (tools / "mysqldump").write_text(said + rest)
    (tools / "mysqldump").chmod(0o700)
    monkeypatch.setenv("MYSQL_HOST", "elsewhere")
    script.dump(folder_of(tmp_path), connection(port, "mysql"))
    told = lines_of_dump(tmp_path)[0]
    arguments, host, logins = told.split("|")
    assert f" {kept} --protocol=tcp --host=127.0.0.1 " in arguments and host == ""
    assert not any(each in arguments for each in ("elsewhere", "--password", "--no-data", "--ignore-table"))
    assert not os.path.lexists(logins)


def test_a_dump_names_no_owners() -> None:
    """Rows and bodies that look alike stay as they are; MySQL gets no line of MariaDB's client."""
    lines = [
        b"/*M!999999\\- enable the sandbox mode */ \n",
        b"INSERT INTO `x` VALUES\n",
        b"(1,'/*!50013 DEFINER=`a`@`b` SQL SECURITY DEFINER */'),\n",
        b"/*!50001 CREATE ALGORITHM=UNDEFINED */\n",
        b"/*!50013 DEFINER=`a``b`@`%` SQL SECURITY INVOKER */\n",
        b"/*!50001 VIEW `v` AS select 1 */;\n",
        b"DELIMITER ;;\n",
        b"CREATE DEFINER=`a`@`b` PROCEDURE `p`()\n",
        b"DELIMITER ;;\n",
        b"CREATE DEFINER=`in a body`@`%`\n",
        b"/*!50001 CREATE ALGORITHM=UNDEFINED */\n",
        b"/*!50013 DEFINER=`a`@`%` SQL SECURITY INVOKER */\n",
        b"DELIMITER ;\n",
        b"DELIMITER ;;;\n",
        b"/*!50003 SET sql_mode = '' */ ;;;\n",
        b"/*!50106 CREATE*/ /*!50117 DEFINER=`role`*/ /*!50106 EVENT `e`\n",
    ]
    without = [*lines]
    without[4] = b"/*!50013 SQL SECURITY INVOKER */\n"
    without[7] = b"CREATE PROCEDURE `p`()\n"
    without[-1] = b"/*!50106 CREATE*/ /*!50117 */ /*!50106 EVENT `e`\n"
    assert list(script.MARIADB.lines(lines)) == without
    assert list(script.MYSQL.lines(lines)) == without[1:]
    assert list(script.POSTGRESQL.lines(lines)) == lines


@pytest.mark.parametrize("engine", ["postgresql", "mariadb"])
def test_a_program_that_fails(tmp_path: Path, tools: Path, port: int, engine: str) -> None:
    """Its last words are told, without the password, and what it wrote is not left behind."""
    (tmp_path / "words").write_text(f"no:\n  {PASSWORD}  is wrong")
    program(tools, PROGRAMS[engine], f"echo half; cat {tmp_path}/words >&2; exit 3")
    with pytest.raises(script.NoDumpError, match=f"{PROGRAMS[engine]} ended with 3: no: \\*\\*\\* is wrong$"):
        script.dump(folder_of(tmp_path), connection(port, engine))
    assert list((tmp_path / "copy").iterdir()) == []


@pytest.mark.parametrize(
    ("engine", "wrote"),
    [
        ("postgresql", ""),
        ("postgresql", "-- a plain dump of PostgreSQL\n-- Dump completed\n"),
        ("mariadb", ""),
        ("mariadb", "-- Dump completed of an earlier one\n" + 9 * "INSERT;\n"),
        ("mysql", "INSERT INTO `t` VALUES ('-- Dump completed');\n"),
    ],
)
def test_a_program_that_writes_no_whole_dump(
    tmp_path: Path, tools: Path, port: int, engine: str, wrote: str
) -> None:
    """It counts as none, although the program says that all went well; and nothing of it is left."""
    (tmp_path / "wrote").write_text(wrote)
    program(tools, PROGRAMS[engine], f"cat {tmp_path}/wrote")
    sign = "no PGDMP at its beginning" if engine == "postgresql" else "no line '-- Dump completed'"
    with pytest.raises(script.NoDumpError, match=f"ended with 0, but .* no whole dump: it has {sign}"):
        script.dump(folder_of(tmp_path), connection(port, engine))
    assert list((tmp_path / "copy").iterdir()) == []


def test_the_public_address_is_the_second_choice(port: int) -> None:
    """What does not answer is passed over; when nothing does, every reason is told."""
    with socket.create_server(("127.0.0.1", 0)) as closed:
        silent = closed.getsockname()[1]
    inside = {"host": "127.0.0.1", "port": silent}
    assert script.reach({**inside, "public_host": "127.0.0.1", "public_port": port}) == ("127.0.0.1", port)
    assert script.reach({"host": "127.0.0.1", "port": port, "public_host": "x", "public_port": 1})[1] == port
    with pytest.raises(script.NoDumpError, match=rf"127\.0\.0\.1:{silent}: .*only inside the project's"):
        script.reach({**inside, "public_host": None, "public_port": None})
    for half in ({"host": None, "port": port}, {"host": "127.0.0.1", "port": None}):
        with pytest.raises(script.NoDumpError, match="it has no address"):
            script.reach(half)


def packed(folder: Path, text: str) -> Path:
    """Write a dump of MariaDB."""
    with gzip.open(folder / "database.sql.gz", "wt") as file:
        file.write(text)
    return folder / "database.sql.gz"


@pytest.mark.parametrize("elsewhere", [True, False])
def test_the_time_of_a_dump_is_no_content(tmp_path: Path, elsewhere: bool) -> None:
    def digest(text: str) -> str:
        return script.content_digest(packed(tmp_path, text), script.MARIADB, elsewhere=elsewhere)

    first = digest("INSERT 1;\n-- Dump completed on 2026-01-01\n")
    assert first == digest("INSERT 1;\n-- Dump completed on 2026-01-02\n")
    assert first != digest("INSERT 2;\n-- Dump completed on 2026-01-01\n")


def test_what_is_deleted_is_compared_with_its_owners(tmp_path: Path, tools: Path) -> None:
    """Another database with the same content may have others."""
    file = tmp_path / "database.dump"
    without = 'while read line; do case $line in *OWNER*) ;; *) echo "$line" ;; esac; done < "$6"'
    program(tools, "pg_restore", f'if test "$3" = --; then exec cat "$4"; fi; {without}')
    found = []
    for owner in ("one", "two"):
        file.write_text(f"CREATE TABLE t;\nALTER TABLE t OWNER TO {owner};\n")
        found.append(
            [script.content_digest(file, script.POSTGRESQL, elsewhere=each) for each in (True, False)]
        )
    assert found[0][0] == found[1][0] and found[0][1] != found[1][1]


def test_the_key_of_a_restricted_dump_is_no_content(tmp_path: Path, tools: Path) -> None:
    file = tmp_path / "database.dump"

    def digest(text: str) -> str:
        file.write_text(text)
        return script.content_digest(file, script.POSTGRESQL)

    program(tools, "pg_restore", 'test "$1 $2" = "--file=- --single-transaction" && exec cat "$6"')
    assert digest("\\restrict a1\nCOPY\n\\unrestrict a1\n") == digest(
        "\\restrict b2\nCOPY\n\\unrestrict b2\n"
    )
    # That is a row whose text begins with a carriage return.
    assert digest("\\restrict a1\tx\n") != digest("\\restrict b2\tx\n")


@pytest.mark.parametrize("begin", ["INSERT INTO `t` VALUES ('", "CREATE PROCEDURE `p`() SELECT '", "-- "])
def test_a_line_that_does_not_end_fills_no_memory(tmp_path: Path, tools: Path, port: int, begin: str) -> None:
    line = tmp_path / "line"
    line.write_text(begin)
    os.truncate(line, 50 * MIB)
    program(tools, "mariadb-dump", f"cat {line}; echo; echo '-- Dump completed'")
    program(tools, "pg_restore", f"cat {line}")
    tracemalloc.start()
    try:
        script.dump(folder_of(tmp_path), connection(port, "mariadb"))
        script.content_digest(tmp_path / "copy" / "database.sql.gz", script.MARIADB)
        script.content_digest(line, script.POSTGRESQL)
        assert tracemalloc.get_traced_memory()[1] < 20 * MIB
    finally:
        tracemalloc.stop()


def test_a_dump_that_cannot_be_read_back(tmp_path: Path, tools: Path) -> None:
    cut = packed(tmp_path, "INSERT 1;\n" * 100)
    cut.write_bytes(cut.read_bytes()[:-9])
    with pytest.raises(script.NoDumpError, match=r"database\.sql\.gz cannot be read back"):
        script.content_digest(cut, script.MARIADB)
    file = tmp_path / "database.dump"
    with pytest.raises(script.NoDumpError, match="pg_restore is not installed"):
        script.content_digest(file, script.POSTGRESQL)
    program(tools, "pg_restore", "echo half; echo 'unexpected end of file' >&2; exit 1")
    with pytest.raises(
        script.NoDumpError, match=r"database\.dump cannot be read back: unexpected end of file"
    ):
        script.content_digest(file, script.POSTGRESQL)


# --- Restores ---

ROWS = "INSERT INTO orders VALUES (1,'-- Host: not a header');"


@pytest.fixture
def tools_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which programs are looked for first."""
    folder = tmp_path / "first"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return folder


def dumps(tools_first: Path, *lines: str) -> None:
    """Let the dump program of MariaDB print these lines for each database, and which one it is."""
    said = "\n".join(["-- Host: 127.0.0.1    Database: $last", *lines, "-- Dump completed on $(date)"])
    program(tools_first, "mariadb-dump", f'for last in "$@"; do :; done\ncat <<END\n{said}\nEND')


def source(tools_first: Path, port: int, database: str = "shop") -> Source:
    """Return a database whose dump program there is."""
    return find_source(connection(port, "mariadb", database))


def test_two_databases_of_the_same_content_have_the_same_checksum(tools_first: Path, port: int) -> None:
    """Whatever they are called, and whenever they were dumped. A row is never taken for a header."""
    dumps(tools_first, ROWS)
    with (
        module.Dump.of(source(tools_first, port)) as one,
        module.Dump.of(source(tools_first, port, "copy")) as other,
    ):
        assert one.digest == other.digest and one.is_in(source(tools_first, port, "copy"))
        assert one.size and b"Database: shop" in b"".join(restorable(one.path, MARIADB))
    dumps(tools_first, ROWS.replace("not a", "another"))
    with module.Dump.of(source(tools_first, port)) as changed:
        assert changed.digest != one.digest and not one.is_in(source(tools_first, port))


def test_a_dump_has_no_name_and_is_gone_with_the_process(
    tools_first: Path, port: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dumps(tools_first, ROWS)
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    with module.Dump.of(source(tools_first, port)) as held:
        assert os.fstat(held.file.fileno()).st_nlink == 0
        assert os.fstat(held.file.fileno()).st_mode & 0o077 == 0
        assert [*(tmp_path / "temporary").iterdir()] == []
        assert held.path.stat().st_size == held.size


def test_what_is_there_is_dropped_before_a_dump_is_restored(
    tools_first: Path, port: int, tmp_path: Path
) -> None:
    """The client reads the password from a file in memory, and gets it in no argument."""
    dumps(tools_first, ROWS)
    log = tmp_path / "log"
    asks = "grep -q information_schema && echo 'DROP TABLE `old`;'"
    program(tools_first, "mariadb", f'echo "args: $*" >> {log}\ntee -a {log} | {asks}\nexit 0')
    with module.Dump.of(source(tools_first, port)) as held:
        held.restore(source(tools_first, port, "copy"))
    said = log.read_text()
    asked, written = said.split("args: ")[1:]
    assert "information_schema.TABLES" in asked and ROWS not in asked
    assert written.index("DROP TABLE `old`;") < written.index(ROWS)
    assert written.splitlines()[0].endswith(" -- copy")
    place = f"--protocol=tcp --host=127.0.0.1 --port={port} --user=owner "
    assert PASSWORD not in said and re.match(rf"--defaults-file=/proc/self/fd/\d+ {place}", asked)


def test_a_dump_that_cannot_be_read_to_its_end_ends_the_client(
    tools_first: Path, port: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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
    program(tools_first, "mariadb", f"cat > /dev/null && touch {committed}")

    def lines() -> Iterator[bytes]:
        yield b"BEGIN;\n"
        raise NoDumpError("the dump cannot be read back")

    with pytest.raises(NoDumpError, match="cannot be read back"):
        dumps(tools_first, ROWS)
        module.run_client(source(tools_first, port), lines())
    assert not committed.exists()


def test_a_client_that_ends_before_it_has_read_everything_says_why(tools_first: Path, port: int) -> None:
    program(tools_first, "mariadb", "echo 'no room left' >&2; exit 3")
    dumps(tools_first, ROWS)
    with pytest.raises(NoDumpError, match="mariadb ended with 3: no room left"):
        module.run_client(source(tools_first, port), [b"BEGIN;\n"] * 100_000)


def test_the_database_to_restore_into_is_another_one(tools_first: Path, port: int) -> None:
    dumps(tools_first, ROWS)
    old = source(tools_first, port)
    assert module.find_target(connection(port, "mariadb", "copy"), old).login.database == "copy"
    with pytest.raises(NoDumpError, match=r"cannot be told from the one that was dumped.*public: true"):
        module.find_target(connection(port, "mariadb"), old)
    program(tools_first, "pg_dump", "")
    with pytest.raises(NoDumpError, match="cannot be restored into a database of engine 'postgresql'"):
        module.find_target(connection(port, "postgresql", "copy"), old)


@pytest.mark.parametrize("printed", ["yes", "yes >&2"])
def test_a_client_that_prints_without_end_is_stopped(tools_first: Path, port: int, printed: str) -> None:
    dumps(tools_first, ROWS)
    program(tools_first, "mariadb", printed)
    with pytest.raises(NoDumpError, match="mariadb printed more than 67,108,864 bytes, so it was stopped"):
        module.check_login(source(tools_first, port))


def test_an_answer_without_end_fills_no_memory(tools_first: Path, port: int) -> None:
    """psql takes in all of its rows."""
    program(tools_first, "pg_dump", "")
    program(tools_first, "psql", f"exec {sys.executable} -c 'bytes(3 << 30)'")
    with pytest.raises(NoDumpError, match="MemoryError"):
        module.check_login(find_source(connection(port)))


def test_a_setting_that_older_servers_lack_is_left_out(tools_first: Path, tmp_path: Path) -> None:
    """It stands at the beginning alone: further down the same text is a row."""
    line = "SET transaction_timeout = 0;"
    rows = "\n".join(["x"] * 50)
    program(tools_first, "pg_restore", f"cat <<END\n-- begin\n{line}\n{rows}\n{line}\nEND")
    found = [*restorable(tmp_path, POSTGRESQL)]
    assert found[0] == b"-- begin\n" and found[1] == b"x\n"
    assert found[-1] == f"{line}\n".encode()


def test_a_dump_that_was_kept_is_read_to_its_end(tools_first: Path, port: int, tmp_path: Path) -> None:
    """It has the checksum of the database that it was made from. One that was cut off is none."""
    dumps(tools_first, ROWS)
    database = source(tools_first, port)
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
