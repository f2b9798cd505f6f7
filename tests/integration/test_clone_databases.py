# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Clones of real databases: the rows of the source in the clone's own database, and nowhere else."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.clone import CLONE
from hosted_sandbox.testing import Sandbox
from integration.database_servers import (
    DATABASE,
    PASSWORD,
    PATH,
    USER,
    MariaDB,
    PostgreSQL,
    Server,
    serving,
)
from unit.plugins.module_utils._resources.platform import run

pytestmark = pytest.mark.night

Clone = Callable[..., dict[str, Any]]
KINDS: dict[str, type[Server]] = {"postgresql": PostgreSQL, "mariadb": MariaDB}
AS_OWNER = {"postgresql": f"SET ROLE {USER};", "mariadb": ""}
TABLES = """
CREATE TABLE orders (id integer PRIMARY KEY, note text);
CREATE VIEW noted AS SELECT note FROM orders;
INSERT INTO orders VALUES (1, 'first'), (2, '-- Dumped from nowhere'), (3, NULL);
"""
POSTGRESQL = """
CREATE TYPE mood AS ENUM ('sad', 'glad');
CREATE DOMAIN amount AS integer CHECK (VALUE > 0);
CREATE SCHEMA extra;
CREATE TABLE extra.parts (id serial PRIMARY KEY, mood mood, price amount, one integer REFERENCES orders);
INSERT INTO extra.parts (mood, price, one) VALUES ('glad', 5, 1);
CREATE FUNCTION twice(a integer) RETURNS integer LANGUAGE sql AS 'SELECT 2 * a';
CREATE MATERIALIZED VIEW counted AS SELECT count(*) FROM orders;
CREATE AGGREGATE total(integer) (SFUNC = int4pl, STYPE = integer);
SELECT lo_from_bytea(4242, 'a large object');
"""
MARIADB = f"""
CREATE DEFINER={USER}@'127.0.0.1' FUNCTION twice(a integer) RETURNS integer DETERMINISTIC RETURN 2 * a;
CREATE DEFINER={USER}@'127.0.0.1' PROCEDURE nothing() SELECT 1;
CREATE TABLE parts (id integer PRIMARY KEY AUTO_INCREMENT, one integer REFERENCES orders (id));
INSERT INTO parts (one) VALUES (1);
"""  # noqa: S608 - our own statements
OF_OWNER = {
    "postgresql": f"CREATE DATABASE {{}} OWNER {USER};",
    "mariadb": f"CREATE DATABASE {{0}}; GRANT ALL ON {{0}}.* TO {USER}@'127.0.0.1';",
}
"""Another database of the same user."""
MORE = {"postgresql": POSTGRESQL, "mariadb": MARIADB}
"""Kinds of objects that a restore has to drop first, in an order that lets it."""
BROKEN = {
    "postgresql": "CREATE FUNCTION stop() RETURNS event_trigger LANGUAGE plpgsql AS "
    "'BEGIN RAISE EXCEPTION ''not now''; END'; "
    "CREATE EVENT TRIGGER stop ON ddl_command_start EXECUTE FUNCTION stop();",
    "mariadb": "REVOKE CREATE ON fresh.* FROM tenant@'127.0.0.1';",
}
"""What keeps a dump from being restored into the clone."""
MENDED = {
    "postgresql": "DROP EVENT TRIGGER stop; DROP FUNCTION stop();",
    "mariadb": "GRANT CREATE ON fresh.* TO tenant@'127.0.0.1';",
}
LEFT_OVER = """
CREATE TABLE scratch (id integer PRIMARY KEY);
CREATE VIEW unwanted AS SELECT id FROM scratch;
"""
"""What somebody made in the clone."""


@pytest.fixture(scope="module", params=KINDS)
def servers(request: pytest.FixtureRequest) -> Iterator[tuple[Server, Server]]:
    """A server for the source and one for the clone, whose user and database have other names."""
    kind = KINDS[request.param]
    with serving(kind) as old, serving(kind, "tenant", "fresh") as new:
        old.sql(AS_OWNER[kind.engine] + TABLES + MORE[kind.engine], DATABASE)
        yield old, new


def content(server: Server, database: str) -> list[str]:
    """Return the rows of the table, in order, and the names of all tables and views."""
    rows = server.sql("SELECT id, note FROM orders ORDER BY id;", database).splitlines()
    schema = "public" if isinstance(server, PostgreSQL) else database
    names = "SELECT table_name FROM information_schema.tables WHERE table_schema = '{}' ORDER BY 1;"
    return rows + server.sql(names.format(schema), database).splitlines()


def connect(sandbox: Sandbox, name: str, server: Server) -> None:
    """Let a service of the sandbox be a real database."""
    sandbox.operator(f"services/{id_of(sandbox, name)}", connection=server.connection)


@pytest.fixture
def clone(
    servers: tuple[Server, Server], sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., dict[str, Any]]:
    """Clone a project with the database of the source, with records of its own."""
    old, _new = servers
    monkeypatch.setenv("PATH", PATH)
    monkeypatch.setenv("HOSTED_SERVICES_HOME", str(tmp_path))
    service = {"name": "db", "product": old.engine, "project": "shop"}
    sandbox.seed({"projects": ["old", "shop"], "services": [service]})
    connect(sandbox, "db", old)
    sandbox.clear_journal()
    given: dict[str, Any] = {"source": "shop", "project": "copy", "rename": {"suffix": "-copy"}}

    def go(check_mode: bool = False) -> dict[str, Any]:
        return run(sandbox, CLONE, check_mode, wait_timeout=2.0, secrets_dir=str(tmp_path), **given)

    return go


def id_of(sandbox: Sandbox, name: str) -> str:
    """Return the id of a service."""
    services = sandbox.api("GET", "/api/resources").json()["items"]
    return str(next(each["id"] for each in services if each["name"] == name))


def test_a_database_is_cloned(
    servers: tuple[Server, Server], sandbox: Sandbox, clone: Clone, tmp_path: Path
) -> None:
    """Until the new database answers, the clone fails and goes on later; a change is brought over."""
    old, new = servers
    source = id_of(sandbox, "db")
    assert "cannot reach the database" in clone()["msg"]
    connect(sandbox, "db-copy", new)
    done = clone()
    assert not done.get("failed"), done["msg"]
    assert content(new, "fresh") == content(old, DATABASE)
    assert not clone()["changed"]
    old.sql("UPDATE orders SET note = 'changed' WHERE id = 1;", DATABASE)
    new.sql(AS_OWNER[old.engine].replace(USER, "tenant") + LEFT_OVER, "fresh")
    planned = clone(check_mode=True)
    assert [each for each in planned["actions"] if "restore a dump of database 'shop'" in each]
    assert clone()["changed"]
    assert content(new, "fresh") == content(old, DATABASE)
    assert "changed" in content(new, "fresh")[0]
    assert not clone()["changed"]
    assert len(sandbox.ledger()["orders"]) == 1
    assert [line for line in sandbox.journal() if line["method"] != "GET" and source in line["path"]] == []
    assert not [name for name in os.listdir(tmp_path) if "dump" in name or "sql" in name]


def test_a_clone_that_leads_to_its_source_is_refused(
    servers: tuple[Server, Server], sandbox: Sandbox, clone: Clone
) -> None:
    """An internal name may lead to the source: then nothing is restored anywhere."""
    old, _new = servers
    before = content(old, DATABASE)
    clone()
    connect(sandbox, "db-copy", old)
    assert "cannot be told from the one that was dumped" in clone()["msg"]
    assert content(old, DATABASE) == before


def lead_elsewhere(stranger: Server, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the files and the environment of a user name another server, as a backup host's may."""
    address = {"host": "127.0.0.1", "port": str(stranger.port), "user": USER}
    quoted = PASSWORD.replace("\\", "\\\\").replace('"', '\\"')
    lines = [f"{name}={value}" for name, value in address.items()]
    (home / ".my.cnf").write_text(
        "\n".join(["[client]", *lines, f'password="{quoted}"', "[mysqldump]", "no-data"])
    )
    service = [f"{name}={value}" for name, value in address.items()]
    (home / ".pg_service.conf").write_text("\n".join(["[elsewhere]", *service]))
    (home / ".pgpass").write_text("*:*:*:*:wrong\n")
    (home / ".pgpass").chmod(0o600)
    port = address["port"]
    hostile = {"HOME": str(home), "PGSERVICE": "elsewhere", "PGHOSTADDR": "127.0.0.1", "PGPORT": port}
    hostile |= {
        "MYSQL_HOST": "127.0.0.1",
        "MYSQL_TCP_PORT": port,
        "MYSQL_PWD": PASSWORD,
        "MYSQL_HOME": str(home),
    }
    for name, value in hostile.items():
        monkeypatch.setenv(name, value)


def test_what_names_another_server_leads_nowhere(
    servers: tuple[Server, Server],
    sandbox: Sandbox,
    clone: Clone,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The other one has databases of both names: it would be copied, and what it holds be dropped."""
    old, new = servers
    clone()
    connect(sandbox, "db-copy", new)
    with serving(type(old)) as stranger:
        for database in (DATABASE, "fresh"):
            if database == "fresh":
                stranger.sql(OF_OWNER[old.engine].format(database))
            stranger.sql(AS_OWNER[old.engine] + TABLES.replace("first", "of a stranger"), database)
        before = [content(stranger, database) for database in (DATABASE, "fresh")]
        lead_elsewhere(stranger, tmp_path, monkeypatch)
        old.sql("UPDATE orders SET note = 'of the source' WHERE id = 1;", DATABASE)
        done = clone()
        assert not done.get("failed"), done["msg"]
        assert "of the source" in content(new, "fresh")[0]
        assert content(new, "fresh") == content(old, DATABASE)
        assert [content(stranger, database) for database in (DATABASE, "fresh")] == before


KILLED = """
import json, os, sys
from ansible_collections.hosted.services.plugins.module_utils._resources.databases import restore
from ansible_collections.hosted.services.plugins.module_utils._resources.databases.dump import find_source

def cut(path, engine):
    for line in lines(path, engine):
        if line.strip() == b"COMMIT;":
            yield b"--" + b"x" * 200_000 + b"\\n"  # so that all before it is sent
            os.kill(os.getpid(), 9)
        yield line

old, new = map(find_source, json.load(sys.stdin))
with restore.held_dump(old) as dump:
    lines, restore.restorable = restore.restorable, cut
    restore.restore(dump, new)
"""
"""Restores a dump, and is killed before it is told that it was restored to its end."""


def test_a_restore_that_is_killed_leaves_what_was_there(
    servers: tuple[Server, Server], sandbox: Sandbox, clone: Clone
) -> None:
    """PostgreSQL's client takes the end of its input for the end of the statements, and must not commit."""
    old, new = servers
    if not isinstance(old, PostgreSQL):
        pytest.skip("MariaDB has no transactions for tables")
    clone()
    connect(sandbox, "db-copy", new)
    assert not clone().get("failed")
    before = content(new, "fresh")
    old.sql("UPDATE orders SET note = 'newer' WHERE id = 1;", DATABASE)
    sources = [{"engine": each.engine, **each.connection} for each in servers]
    command = [sys.executable, "-c", KILLED]
    ended = subprocess.run(command, input=json.dumps(sources), text=True, check=False)
    assert ended.returncode == -signal.SIGKILL
    others = "SELECT count(*) FROM pg_stat_activity WHERE datname = 'fresh' AND pid <> pg_backend_pid();"
    end = time.monotonic() + 300
    while new.sql(others, "fresh").strip() != "0":
        assert time.monotonic() < end, "the client goes on"
        time.sleep(0.1)
    assert content(new, "fresh") == before != content(old, DATABASE)


def test_a_restore_that_fails_is_told(servers: tuple[Server, Server], sandbox: Sandbox, clone: Clone) -> None:
    """The next run restores everything. PostgreSQL has kept what was there."""
    old, new = servers
    clone()
    connect(sandbox, "db-copy", new)
    assert not clone().get("failed")
    new.sql(BROKEN[old.engine], "fresh")
    before = content(new, "fresh")
    old.sql("UPDATE orders SET note = 'again' WHERE id = 2;", DATABASE)
    failed = clone()
    assert "cannot be copied: " in failed["msg"] and " ended with " in failed["msg"], failed
    if isinstance(new, PostgreSQL):
        assert content(new, "fresh") == before
    new.sql(MENDED[old.engine], "fresh")
    assert not clone().get("failed")
    assert content(new, "fresh") == content(old, DATABASE)
