# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Dumps by a program of the test's own: whole or not at all, the password in a file that only it can read.

What real engines make of it is in tests/integration/test_backups_dumps.py.
"""

from __future__ import annotations

import gzip
import os
import re
import socket
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.databases import dump as script

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


def test_option_files_that_cannot_be_read_are_told(tmp_path: Path, tools: Path, port: int) -> None:
    """What they say of encryption is not known then."""
    program(tools, "mariadb-dump", "")
    (tools / "mariadb-dump").write_text("#!/bin/sh\necho 'no group in .my.cnf' >&2\nexit 1\n")
    with pytest.raises(
        script.NoDumpError, match=r"read its option files; correct them: no group in \.my\.cnf"
    ):
        script.dump(folder_of(tmp_path), connection(port, "mariadb"))
    assert list((tmp_path / "copy").iterdir()) == []


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


def test_what_cannot_be_dumped(tmp_path: Path, tools: Path, port: int) -> None:
    """An engine without a program known here, and a program that is not installed."""
    with pytest.raises(script.NoDumpError, match="a database of engine 'valkey' cannot be dumped"):
        script.dump(tmp_path, connection(port, "valkey"))
    with pytest.raises(script.NoDumpError, match="mariadb-dump or mysqldump is not installed"):
        script.dump(tmp_path, connection(port, "mariadb"))


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
