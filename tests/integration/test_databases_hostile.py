# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# ruff: noqa: S608 - our own statements
"""Databases whose servers, users and dumps are hostile: nothing of it runs here."""

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

from ansible_collections.hosted.services.plugins.module_utils._resources.databases import dump as dumps
from ansible_collections.hosted.services.plugins.module_utils._resources.databases.dump import dump
from ansible_collections.hosted.services.plugins.module_utils._resources.recover import RECOVER
from hosted_sandbox.testing import Sandbox
from integration.database_servers import AS_OWNER, DATABASE, PASSWORD, PATH, USER, Server
from integration.test_database_jobs import shelf
from unit.plugins.module_utils._resources.platform import id_of, run

pytestmark = pytest.mark.night

Recover = Callable[[str, bytes, dict[str, Any]], str]
mariadb = pytest.mark.parametrize("servers", ["mariadb"], indirect=True)
postgresql = pytest.mark.parametrize("servers", ["postgresql"], indirect=True)
CANARY = "touch canary"


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
