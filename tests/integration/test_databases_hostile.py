# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# ruff: noqa: S608 - our own statements
"""Databases whose servers, users and dumps are hostile: nothing of it runs here, and every text arrives."""

from __future__ import annotations

import gzip
import shutil
import socket
import socketserver
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.clone import CLONE
from ansible_collections.hosted.services.plugins.module_utils._resources.databases import dump as dumps
from ansible_collections.hosted.services.plugins.module_utils._resources.databases.dump import dump
from ansible_collections.hosted.services.plugins.module_utils._resources.recover import RECOVER
from hosted_sandbox.testing import Sandbox
from integration.database_servers import AS_OWNER, DATABASE, PASSWORD, PATH, USER, Server, connect
from integration.test_database_jobs import shelf
from unit.plugins.module_utils._resources.platform import id_of, run

pytestmark = pytest.mark.night

Recover = Callable[[str, bytes, dict[str, Any]], str]
mariadb = pytest.mark.parametrize("servers", ["mariadb"], indirect=True)
postgresql = pytest.mark.parametrize("servers", ["postgresql"], indirect=True)
CANARY = "touch canary"
TEXTS = [
    f"\\! {CANARY}",
    f"\n\\! {CANARY}\n",
    f"\n\\. evil\nsource evil\nsystem {CANARY}\ntee canary\npager {CANARY}\nsandbox\n",
    '\nDELIMITER ;;\ndelimiter x ;; ; it\'s "one" `\n',
    f";;\nCREATE DEFINER=`a'; -- `\n\\! {CANARY}\n",
    "x\n/*!50001 CREATE ALGORITHM=UNDEFINED */\n/*!50013 DEFINER=`a`@`b` SQL SECURITY DEFINER */\n",
    "\n\\.\n",
    "\\.",
    f"\\restrict abc\n\\unrestrict abc\n\\copy t to program '{CANARY}'\n\\o |{CANARY}\n",
    "-- Dumped from a row",
    "-- Dump completed",
    "a\r\nb\rc\td \x1b[2J \\N \\0 \\\\ \\' ''",
    f"$$ $_$ :ENCODING :'USER' \\gexec \\; \\g |{CANARY}",
]
"""What the clients, and those who read dumps by their lines, take for commands."""
NAME = f"t\n\\! {CANARY}\nx"
"""A name that a user of a database may give to a table."""


@pytest.fixture(autouse=True)
def watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Work in a folder in which nothing may make a file."""
    folder = tmp_path / "watched"
    folder.mkdir()
    (folder / "evil").write_text(f"\\! {CANARY}\n")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PATH", PATH)
    monkeypatch.setenv("HOSTED_SERVICES_HOME", str(tmp_path / "home"))
    yield
    assert [each.name for each in folder.iterdir()] == ["evil"]


@pytest.fixture
def recover(sandbox: Sandbox, tmp_path: Path) -> Recover:
    """Recover a database from a dump that was kept; return why that failed."""

    def go(engine: str, content: bytes, connection: dict[str, Any]) -> str:
        copy, given = shelf(sandbox, tmp_path, engine)
        (copy / ("database.dump" if engine == "postgresql" else "database.sql.gz")).write_bytes(content)
        first = run(sandbox, RECOVER, **given)
        if "cannot reach the database" not in first["msg"]:
            return str(first["msg"])
        sandbox.operator(f"services/{id_of(sandbox, 'db')}", connection=connection)
        done = run(sandbox, RECOVER, **given)
        return str(done["msg"]) if done.get("failed") else ""

    return go


def packed(*statements: str) -> bytes:
    """Return a dump of MariaDB."""
    return gzip.compress("\n".join([*statements, "-- Dump completed on 2026-11-20  3:15:00", ""]).encode())


# --- Honest databases ---------------------------------------------------------------------------------


def mysql_text(text: str) -> str:
    """Write a text for MariaDB."""
    return "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


def for_mariadb() -> str:
    """Return the statements of a user of MariaDB, whose bodies hold every text, in texts and in comments."""
    table, texts, owner = f"`{NAME}`", [mysql_text(each) for each in TEXTS], f"DEFINER={USER}@'127.0.0.1'"
    shown, rows = ", ".join(texts), ", ".join(f"({text}, X'00275C0A5C2100')" for text in texts)
    inside = " ".join(TEXTS).replace("*/", "").replace("/*", "")
    one = f"-- it's \\! {CANARY} `\n# it's \"\n/* it's {inside} */"
    # mariadb-dump itself never ends where an event has two semicolons in a row.
    event = f"DO BEGIN {one} SELECT {shown}; END".replace(";;", "; ;")
    bodies = [
        f"CREATE TABLE {table} (note text, raw blob, `c\n{NAME}` int) COMMENT {texts[1]}",
        f"INSERT INTO {table} (note, raw) VALUES {rows}",
        # A dump names the columns of such a table, here with as many backticks as a name can have.
        f"CREATE TABLE named (`{'``' * 60}\nx` int, y int INVISIBLE)",
        "INSERT INTO named () VALUES ()",
        f"CREATE {owner} TRIGGER tr BEFORE INSERT ON {table} FOR EACH ROW BEGIN {one} "
        f"SET NEW.note = CONCAT({shown});\n SET NEW.note = NEW.note; {one} END",
        f"CREATE {owner} PROCEDURE pr() COMMENT {texts[4]} BEGIN {one} SELECT {shown}; {one}\r\nEND",
        f"CREATE {owner} FUNCTION fu() RETURNS text DETERMINISTIC RETURN CONCAT({shown})",
        f"CREATE {owner} EVENT ev ON SCHEDULE EVERY 1 DAY {event}",
        f"CREATE {owner} SQL SECURITY INVOKER VIEW `v\n{NAME}` AS SELECT {shown}, note FROM {table}",
        # Where an owner were cut out of a text, the next text would be read as a command.
        f"CREATE {owner} PROCEDURE cut() BEGIN SELECT ';;\nCREATE DEFINER=`a'; -- `\n "
        f"SELECT '\n\\! {CANARY}\n'; END",
        "SET sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES'",
        f"CREATE {owner} PROCEDURE plain() BEGIN SELECT 'a\\'; SELECT ';;\nCREATE DEFINER=`a`@`b` x\\'; END",
        f'CREATE {owner} PROCEDURE names() SELECT 1 AS "a;;\nCREATE DEFINER=`a`@`b` "',
    ]
    return "DELIMITER $end$\n" + "$end$\n".join(bodies) + "$end$\n"


def for_postgresql() -> str:
    """Return the statements of a user of PostgreSQL, whose names, rows and bodies hold every text."""
    table, texts = f'"{NAME}"', ["'" + each.replace("'", "''") + "'" for each in TEXTS]
    rows = ", ".join(f"({text})" for text in texts)
    return f"""
CREATE TABLE {table} (note text, "c\n{NAME}" integer, CHECK (note <> {texts[1]} || 'x'));
CREATE TABLE alone (note text);
INSERT INTO {table} VALUES {rows};
INSERT INTO alone VALUES {rows};
CREATE FUNCTION "f\n{NAME}"() RETURNS text LANGUAGE sql AS
    $body$SELECT {" || ".join(texts)}; -- it's \\!\n$body$;
CREATE VIEW "v\n{NAME}" AS SELECT ROW({", ".join(texts)})::text AS "c\n{NAME}", note FROM {table};
COMMENT ON TABLE {table} IS {texts[1]};
CREATE TYPE "e\n{NAME}" AS ENUM ({texts[0]}, {texts[1]});
CREATE SCHEMA "s\n{NAME}";
"""


SEEDS = {"mariadb": for_mariadb, "postgresql": for_postgresql}
ALL_OF_IT = {
    "mariadb": f"""
SELECT TABLE_NAME, HEX(TABLE_COMMENT) FROM information_schema.TABLES
    WHERE TABLE_SCHEMA = DATABASE() ORDER BY 1;
SELECT ROUTINE_NAME, HEX(ROUTINE_DEFINITION), HEX(ROUTINE_COMMENT), SQL_MODE FROM information_schema.ROUTINES
    WHERE ROUTINE_SCHEMA = DATABASE() ORDER BY 1;
SELECT HEX(ACTION_STATEMENT) FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = DATABASE();
SELECT HEX(EVENT_DEFINITION) FROM information_schema.EVENTS WHERE EVENT_SCHEMA = DATABASE();
SELECT HEX(REPLACE(VIEW_DEFINITION, DATABASE(), '')) FROM information_schema.VIEWS
    WHERE TABLE_SCHEMA = DATABASE();
SELECT HEX(note), HEX(raw) FROM `{NAME}` ORDER BY 1;
""",
    "postgresql": f"""
SELECT to_json(it) FROM (
    SELECT relname || coalesce(obj_description(oid, 'pg_class'), '') FROM pg_class
        WHERE relnamespace = 'public'::regnamespace
    UNION ALL SELECT proname || prosrc FROM pg_proc WHERE pronamespace = 'public'::regnamespace
    UNION ALL SELECT definition FROM pg_views WHERE schemaname = 'public'
    UNION ALL SELECT enumlabel FROM pg_enum UNION ALL SELECT nspname FROM pg_namespace WHERE nspname LIKE 's%'
    UNION ALL SELECT note FROM "{NAME}" UNION ALL SELECT note FROM alone) AS every (it) ORDER BY it;
""",
}


def test_every_text_of_an_honest_database_arrives(
    servers: tuple[Server, Server], sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Byte for byte, whatever the clients or the dumps take it for. A change of such a row is one."""
    old, new = servers
    monkeypatch.setattr(dumps, "PIECE", 150)  # most lines are read in several
    old.sql(AS_OWNER[old.engine] + SEEDS[old.engine](), DATABASE)
    sandbox.seed(
        {"projects": ["shop"], "services": [{"name": "db", "product": old.engine, "project": "shop"}]}
    )
    connect(sandbox, "db", old)
    given: dict[str, Any] = {"source": "shop", "project": "copy", "rename": {"suffix": "-copy"}}

    def clone() -> dict[str, Any]:
        return run(sandbox, CLONE, wait_timeout=2.0, secrets_dir=str(tmp_path), **given)

    clone()
    connect(sandbox, "db-copy", new)
    done = clone()
    assert not done.get("failed"), done["msg"]
    found = old.sql(ALL_OF_IT[old.engine], DATABASE)
    assert found == new.sql(ALL_OF_IT[old.engine], "fresh") and found.count("\n") > len(TEXTS)
    if old.engine == "postgresql":
        old.sql("UPDATE alone SET note = '-- Dumped from b' WHERE note = '-- Dumped from a row'", DATABASE)
        assert clone()["changed"]
    assert not clone()["changed"]


# --- Hostile dumps --------------------------------------------------------------------------------------


@mariadb
@pytest.mark.parametrize(
    "line",
    [
        *(f"\\! {CANARY}", f"SELECT 1 \\! {CANARY}", f"system {CANARY}", "\\. evil", "source evil"),
        *("tee canary\nSELECT 1", "\\T canary\nSELECT 1", f"\\P {CANARY}\nSELECT 1"),
        "CREATE TABLE got (it text);\nLOAD DATA LOCAL INFILE 'evil' INTO TABLE got",
    ],
)
def test_a_dump_of_mariadb_gives_its_client_no_command(
    servers: tuple[Server, Server], recover: Recover, line: str
) -> None:
    """It may come from a server that is hostile, or from a folder of copies to which others write."""
    _old, new = servers
    new.empty()
    assert "mariadb ended with 1: " in recover("mariadb", packed(f"{line};"), new.connection)
    tables = new.sql("SHOW TABLES;", "fresh").split()
    assert [new.sql(f"SELECT * FROM {table};", "fresh") for table in tables] == [""] * len(tables)


RAW = "SELECT 'the text that becomes a command of the client'"


@postgresql
@pytest.mark.parametrize(
    "line",
    [f"\\! {CANARY}", f"\\o |{CANARY}", f"SELECT 1 \\g |{CANARY}", "\\i evil"],
)
def test_a_dump_of_postgresql_gives_its_client_no_command(
    servers: tuple[Server, Server],
    recover: Recover,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    line: str,
) -> None:
    """Not even where pg_restore is of a version that does not restrict psql, as here."""
    old, new = servers
    old.sql(f"{AS_OWNER[old.engine]} CREATE OR REPLACE VIEW raw AS {RAW};", DATABASE)
    new.empty()
    dump(tmp_path, {"engine": old.engine, **old.connection})
    whole = (tmp_path / "database.dump").read_bytes()
    text = f"SELECT 1;\n{line}\n"
    assert RAW.encode() in whole
    hostile = whole.replace(RAW.encode(), text.ljust(len(RAW)).encode())
    real = shutil.which("pg_restore", path=PATH)
    (tmp_path / "pg_restore").write_text(f"#!/bin/sh\n{real} \"$@\" | sed '/^.\\(un\\)\\?restrict /d'\n")
    (tmp_path / "pg_restore").chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}:{PATH}")
    said = recover("postgresql", hostile, new.connection)
    assert "psql ended with 3: " in said and "backslash commands are restricted" in said


def test_a_client_that_cannot_be_restricted_is_refused(
    recover: Recover, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "psql").write_text("#!/bin/sh\necho '  \\copyright'\n")
    (tmp_path / "psql").chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}:{PATH}")
    assert "psql on this machine has no restricted mode" in recover("postgresql", b"PGDMP", {})


# --- Hostile servers ------------------------------------------------------------------------------------


class Hostile(socketserver.BaseRequestHandler):
    """Answers whatever a client of MySQL asks: with a row, FB for a file, FE for a login."""

    answer = b""
    got: list[bytes]

    def handle(self) -> None:
        self.number = 0
        greeting = b"\x0a8.0.30\0" + struct.pack("<I", 7) + b"a" * 8 + b"\0"
        abilities = 0x0009_8289  # of version 4.1, with passwords and LOCAL INFILE
        greeting += struct.pack("<HBHHB", abilities & 0xFFFF, 45, 2, abilities >> 16, 21)
        self.send(greeting + bytes(10) + b"b" * 12 + b"\0mysql_native_password\0")
        self.receive()
        if self.answer.startswith(b"\xfe"):
            self.send(self.answer)
            self.got.append(self.receive())
            return
        self.send(bytes(3) + b"\2" + bytes(3))
        while (asked := self.receive()) and asked[0] != 1:
            self.reply(asked)

    def reply(self, asked: bytes) -> None:
        if self.answer.startswith(b"\xfb"):
            self.send(self.answer)
            while part := self.receive():
                self.got.append(part)
        if self.answer.startswith(b"\xfb") or b"SELECT" not in asked:
            self.send(bytes(3) + b"\2" + bytes(3))
            return
        end = b"\xfe\0\0\2\0"
        column = b"\3def\0\0\0\1c\0\x0c" + struct.pack("<HIBHB", 45, 1024, 0xFD, 0, 0) + bytes(2)
        for part in (b"\1", column, end, bytes([len(self.answer)]) + self.answer, end):
            self.send(part)

    def send(self, content: bytes) -> None:
        self.request.sendall(struct.pack("<I", len(content))[:3] + bytes([self.number]) + content)
        self.number += 1

    def receive(self) -> bytes:
        """Return the next packet; empty at the end."""
        stream = self.request.makefile("rb", buffering=0)
        head = stream.read(4)
        if not head:
            return b""
        self.number = head[3] + 1
        found: bytes = self.request.recv(int.from_bytes(head[:3], "little"), socket.MSG_WAITALL)
        return found


@contextmanager
def hostile(answer: bytes) -> Iterator[tuple[dict[str, Any], list[bytes]]]:
    """Run a server that gives one answer; yield how to connect to it, and what it gets."""
    got: list[bytes] = []
    handler = type("Handler", (Hostile,), {"answer": answer, "got": got})
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,)).start()
        try:
            login = {"user": USER, "password": PASSWORD, "database": DATABASE}
            yield {"host": "127.0.0.1", "port": server.server_address[1], **login}, got
        finally:
            server.shutdown()


@pytest.mark.parametrize(
    "answer",
    [f"\\! {CANARY}", f"system {CANARY}", "\\. evil", "tee canary", "\xfbevil", "x\x1b[2J\ty", "9" * 200],
)
def test_what_a_server_answers_is_no_command(recover: Recover, answer: str) -> None:
    """The rows that name its tables, among others; nor does a server get a file of this machine."""
    with hostile(answer.encode("latin-1")) as (connection, got):
        said = recover("mariadb", packed("SELECT 1;"), connection)
    assert "cannot be restored" in said and "\x1b" not in said
    assert got == []


@pytest.mark.parametrize("asks", [b"mysql_clear_password\0", b"dialog\0\4Password: \0"])
def test_no_server_gets_a_password_as_it_is(recover: Recover, tmp_path: Path, asks: bytes) -> None:
    """What answers with a checksum of it still can."""
    with hostile(b"\xfe" + asks) as (connection, got):
        with pytest.raises(dumps.NoDumpError, match=r"Plugin \w+ could not be loaded"):
            dump(tmp_path, {"engine": "mysql", **connection})
        assert "could not be loaded" in recover("mariadb", packed("SELECT 1;"), connection)
    assert {*got} == {b""}
    with (
        hostile(b"\xfecaching_sha2_password\0" + b"c" * 20 + b"\0") as (connection, got),
        pytest.raises(dumps.NoDumpError),
    ):
        dump(tmp_path, {"engine": "mysql", **connection})
    assert [len(each) for each in got] == [32]


@pytest.mark.parametrize(
    "password",
    ["x" * 4085 + "tee=canary", *("x" * length + "\ntee=canary" for length in (1, 4000)), "a\0b"],
)
def test_a_password_is_no_option(recover: Recover, password: str) -> None:
    """The platform tells it, and the client reads it from a file, whose long lines it takes for several."""
    with hostile(b"1") as (connection, _got):
        said = recover("mariadb", packed("SELECT 1;"), {**connection, "password": password})
    assert "the password that the platform names" in said
