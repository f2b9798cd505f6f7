# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Clones, recoveries and relocations of real databases: all rows are in the new one, and nowhere else."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.hosted.services.plugins.module_utils._resources.clone import CLONE
from ansible_collections.hosted.services.plugins.module_utils._resources.databases.dump import dump
from ansible_collections.hosted.services.plugins.module_utils._resources.recover import RECOVER
from ansible_collections.hosted.services.plugins.module_utils._resources.relocate import RELOCATE
from hosted_sandbox.testing import Sandbox
from integration.ansible_run import PLAY_SECONDS
from integration.backup_machine import NIGHTLY, BackupMachine
from integration.database_servers import (
    AS_OWNER,
    DATABASE,
    PASSWORD,
    PATH,
    USER,
    PostgreSQL,
    Server,
    connect,
    serving,
)
from integration.test_blueprint_killed import register_key
from integration.test_recover import check_live_alone, drill_play
from unit.plugins.module_utils._resources.clones.platform import environment, ids_of
from unit.plugins.module_utils._resources.platform import id_of, run
from unit.plugins.module_utils._resources.recoveries.platform import MOMENT
from unit.plugins.module_utils._resources.relocations.platform import done, status_of

pytestmark = pytest.mark.night

Job = Callable[..., dict[str, Any]]
SIZE = {"cpu_cores": 1, "ram_gb": 2, "storage_gb": 10}
ROWS = 5
"""How many rows there are in all tables together."""
TABLES = """
CREATE TABLE orders (id integer PRIMARY KEY, note text);
CREATE VIEW noted AS SELECT note FROM orders;
INSERT INTO orders VALUES (1, 'first'), (2, '-- Dumped from nowhere'), (3, NULL);
"""
POSTGRESQL = r"""
CREATE TABLE "t
\! touch canary" (note text);
INSERT INTO "t
\! touch canary" VALUES ('
\.
\! touch canary
$_$ :ENCODING -- Dumped from a row
');
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
MARIADB = rf"""
CREATE TABLE `t
\! touch canary` (note text);
INSERT INTO `t
\! touch canary` VALUES (';;
CREATE DEFINER=`a''; -- `
\\! touch canary
DELIMITER ;;
');
CREATE DEFINER={USER}@'127.0.0.1' VIEW `v
\! touch canary` AS SELECT 'a
\\! touch canary' AS note;
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


@pytest.fixture(scope="module")
def pair(servers: tuple[Server, Server]) -> tuple[Server, Server]:
    """The servers, of which the source holds something."""
    old, _new = servers
    old.sql(AS_OWNER[old.engine] + TABLES + MORE[old.engine], DATABASE)
    return servers


@pytest.fixture(autouse=True)
def usual(
    pair: tuple[Server, Server], sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Records of each test's own, an empty target, and a project with the database of the source."""
    old, new = pair
    monkeypatch.setenv("PATH", PATH)
    monkeypatch.setenv("HOSTED_SERVICES_HOME", str(tmp_path))
    new.empty()
    service = {"name": "db", "product": old.engine, "project": "shop"}
    sandbox.seed({"balance_cents": 100_000, "projects": ["old", "shop"], "services": [service]})
    connect(sandbox, "db", old)
    sandbox.clear_journal()


def content(server: Server, database: str) -> list[str]:
    """Return the rows of the table, in order, and the names of all tables and views."""
    rows = server.sql("SELECT id, note FROM orders ORDER BY id;", database).splitlines()
    schema = "public" if isinstance(server, PostgreSQL) else database
    names = "SELECT table_name FROM information_schema.tables WHERE table_schema = '{}' ORDER BY 1;"
    return rows + server.sql(names.format(schema), database).splitlines()


def note(server: Server, text: str, database: str = DATABASE) -> None:
    """Change a row."""
    server.sql(f"UPDATE orders SET note = '{text}' WHERE id = 1;", database)  # noqa: S608 - our own


# --- Clones -----------------------------------------------------------------------------------------------


@pytest.fixture
def clone(sandbox: Sandbox, tmp_path: Path) -> Job:
    """Clone the project. Until its new database answers, that fails and goes on later."""
    given: dict[str, Any] = {"source": "shop", "project": "copy", "rename": {"suffix": "-copy"}}

    def go(check_mode: bool = False) -> dict[str, Any]:
        return run(sandbox, CLONE, check_mode, wait_timeout=2.0, secrets_dir=str(tmp_path), **given)

    assert "cannot reach the database" in go()["msg"]
    return go


def test_a_database_is_cloned(
    pair: tuple[Server, Server], sandbox: Sandbox, clone: Job, tmp_path: Path
) -> None:
    """A change is brought over, and what somebody made in the clone goes; the source is only read.

    An internal name may lead to the source: then nothing is restored anywhere.
    """
    old, new = pair
    source, before = id_of(sandbox, "db"), content(old, DATABASE)
    connect(sandbox, "db-copy", old)
    assert "cannot be told from the one that was dumped" in clone()["msg"]
    assert content(old, DATABASE) == before
    connect(sandbox, "db-copy", new)
    done(clone())
    assert content(new, "fresh") == before
    assert not done(clone())["changed"]
    note(old, "changed")
    new.sql(AS_OWNER[old.engine].replace(USER, "tenant") + LEFT_OVER, "fresh")
    planned = clone(check_mode=True)
    assert [each for each in planned["actions"] if "restore a dump of database 'shop'" in each]
    assert done(clone())["changed"]
    assert "changed" in content(new, "fresh")[0] and content(new, "fresh") == content(old, DATABASE)
    assert not done(clone())["changed"]
    assert len(sandbox.ledger()["orders"]) == 1
    assert [line for line in sandbox.journal() if line["method"] != "GET" and source in line["path"]] == []
    assert not [name for name in os.listdir(tmp_path) if "dump" in name or "sql" in name]


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
    pair: tuple[Server, Server],
    sandbox: Sandbox,
    clone: Job,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The other one has databases of both names: it would be copied, and what it holds be dropped."""
    old, new = pair
    connect(sandbox, "db-copy", new)
    with serving(type(old)) as stranger:
        for database in (DATABASE, "fresh"):
            if database == "fresh":
                stranger.sql(OF_OWNER[old.engine].format(database))
            stranger.sql(AS_OWNER[old.engine] + TABLES.replace("first", "of a stranger"), database)
        before = [content(stranger, database) for database in (DATABASE, "fresh")]
        lead_elsewhere(stranger, tmp_path, monkeypatch)
        note(old, "of the source")
        done(clone())
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
with restore.Dump.of(old) as dump:
    lines, restore.restorable = restore.restorable, cut
    dump.restore(new)
"""
"""Restores a dump, and is killed before it is told that it was restored to its end."""


def test_a_restore_that_is_killed_or_fails_leaves_what_was_there(
    pair: tuple[Server, Server], sandbox: Sandbox, clone: Job
) -> None:
    """The next run restores everything. MariaDB has no transactions for tables.

    PostgreSQL's client takes the end of its input for the end of the statements, and must not commit.
    """
    old, new = pair
    connect(sandbox, "db-copy", new)
    done(clone())
    before = content(new, "fresh")
    note(old, "newer")
    if isinstance(new, PostgreSQL):
        sources = [{"engine": each.engine, **each.connection} for each in pair]
        command = [sys.executable, "-c", KILLED]
        ended = subprocess.run(command, input=json.dumps(sources), text=True, check=False)
        assert ended.returncode == -signal.SIGKILL
        others = "SELECT count(*) FROM pg_stat_activity WHERE datname = 'fresh' AND pid <> pg_backend_pid();"
        end = time.monotonic() + 300
        while new.sql(others, "fresh").strip() != "0":
            assert time.monotonic() < end, "the client goes on"
            time.sleep(0.1)
        assert content(new, "fresh") == before != content(old, DATABASE)
    new.sql(BROKEN[old.engine], "fresh")
    failed = clone()
    assert "cannot be copied: " in failed["msg"] and " ended with " in failed["msg"], failed
    if isinstance(new, PostgreSQL):
        assert content(new, "fresh") == before
    new.sql(MENDED[old.engine], "fresh")
    done(clone())
    assert content(new, "fresh") == content(old, DATABASE)


# --- Recoveries -------------------------------------------------------------------------------------------


def shelf(sandbox: Sandbox, folder: Path, engine: str) -> tuple[Path, dict[str, Any]]:
    """Return where a copy of a database goes, and what recovers a project from it on a new account."""
    copy = folder / "copies" / "svc_1" / f"nightly-{MOMENT}"
    copy.mkdir(parents=True)
    about = {"id": "svc_1", "name": "db", "slug": None, "project": "shop", "engine": engine}
    (copy.parent / "service.json").write_text(json.dumps(about))
    sandbox.reset()
    sandbox.seed({"balance_cents": 100_000})
    service = {"product": engine, "host": "node-paris-1", "dimensions": SIZE}
    return copy, {
        "blueprint": {"project": "shop", "services": {"db": service}},
        "copies": str(folder / "copies"),
        "secrets_dir": str(folder),
        "wait_timeout": 2.0,
    }


def test_a_database_is_recovered_once(pair: tuple[Server, Server], sandbox: Sandbox, tmp_path: Path) -> None:
    """From a dump as role `backups` makes it. What is written afterwards stays.

    One that was cut off is found before anything is ordered. A name may lead to a database that lives: one
    that holds anything is not overwritten, and one that two services have in no case.
    """
    old, new = pair
    copy, given = shelf(sandbox, tmp_path, old.engine)
    dump(copy, {"engine": old.engine, **old.connection})

    def recover(check_mode: bool = False, **own: Any) -> dict[str, Any]:
        return run(sandbox, RECOVER, check_mode, **{**given, **own})

    [path] = copy.iterdir()
    whole = path.read_bytes()
    for half in (whole[: len(whole) // 2], b"", b"something else"):
        path.write_bytes(half)
        refused = recover()
        assert refused["failed"] and str(path) in refused["msg"]
    path.write_bytes(whole)
    planned = recover(check_mode=True)
    assert "restore the dump of 'db' from copy nightly-" in " ".join(planned["actions"]), planned.get("msg")
    assert sandbox.ledger()["orders"] == []
    assert "cannot reach the database" in recover()["msg"]
    owner = AS_OWNER[old.engine].replace(USER, "tenant")
    new.sql(f"{owner} CREATE TABLE live (id integer);", "fresh")
    connect(sandbox, "db", new)
    assert "is not empty: it has 1 table with 0 rows" in recover()["msg"]
    new.empty()
    [told] = done(recover())["recovery"]["services"]
    assert content(new, "fresh") == content(old, DATABASE)
    assert told["content"] == "dump" and told["verified"]["same_dump"]
    assert told["verified"]["tables"] >= 2 and told["verified"]["rows"] == ROWS
    note(new, "since", "fresh")
    assert not done(recover())["changed"]
    assert "since" in content(new, "fresh")[0]
    done(recover(overwrite=["db"]))
    assert content(new, "fresh") == content(old, DATABASE)
    assert len(sandbox.ledger()["orders"]) == 1
    note(new, "live", "fresh")
    sandbox.seed({"services": [{"name": "live", "product": old.engine, "project": "other"}]})
    connect(sandbox, "live", new)
    assert "is that of another service, too" in recover(overwrite=["db"])["msg"]
    assert "live" in content(new, "fresh")[0]


def test_a_drill_from_the_copies_of_role_backups(
    pair: tuple[Server, Server], sandbox: Sandbox, tmp_path: Path
) -> None:
    """From the live database over its nightly copy to another one."""
    old, new = pair
    machine, live = BackupMachine(tmp_path, sandbox), ids_of(sandbox, "shop")
    offsite = {"dest": str(tmp_path / "copies")}
    machine.install({**NIGHTLY, "project": "shop", "offsite": offsite}).succeed()
    machine.good("run", "nightly")
    service = {"product": old.engine, "host": "node-paris-1", "dimensions": SIZE}
    (tmp_path / "shop.yml").write_text(yaml.safe_dump({"project": "shop", "services": {"db": service}}))
    queries = [{"service": "db", "sql": "SELECT 1", "expect": 1}]
    key = register_key(sandbox, tmp_path)
    play = drill_play(tmp_path, key, without=(), recovery_drill_queries=queries)
    before = content(old, DATABASE)
    sandbox.clear_journal()
    sandbox.delays(provision=3)
    with ThreadPoolExecutor() as pool:
        pool.submit(connect_once_ordered, sandbox, "db-drill", new)
        machine.ansible.playbook(play).succeed()
    told = json.loads((tmp_path / "drill.json").read_text())
    assert told["restored"] and told["problems"] == []
    [restored] = told["services"]
    assert restored["verified"]["same_dump"] and restored["verified"]["rows"] == ROWS
    assert content(new, "fresh") == content(old, DATABASE) == before
    check_live_alone(sandbox, live)


def connect_once_ordered(sandbox: Sandbox, name: str, server: Server) -> None:
    """Let a service be a real database as soon as it is ordered, before it is in service."""
    end = time.monotonic() + PLAY_SECONDS
    while name not in {each["name"] for each in sandbox.api("GET", "/api/resources").json()["items"]}:
        assert time.monotonic() < end, f"nobody orders {name}"
        time.sleep(0.05)
    connect(sandbox, name, server)


# --- Relocations ------------------------------------------------------------------------------------------


def test_a_database_is_relocated_and_comes_back(pair: tuple[Server, Server], sandbox: Sandbox) -> None:
    """Its application is stopped while it is copied, and each direction brings all rows."""
    old, new = pair
    app = {"slug": "acme-api", "project": "shop", "images": [{"tag": "v1"}], "deployed": "v1"}
    sandbox.seed({"apps": [{**app, "environment": {"DATABASE": "${db.URL}"}}]})
    sandbox.clear_journal()
    ids = {"db": id_of(sandbox, "db"), "app": id_of(sandbox, "acme-api")}

    def relocate(**given: Any) -> dict[str, Any]:
        usual = {"host": "node-frankfurt-1", "environments": {"acme-api": {"DATABASE": "${db.URL}"}}}
        return run(sandbox, RELOCATE, service="db", wait_timeout=2.0, healthy_for=0.0, **{**usual, **given})

    failed = relocate()  # until the new database answers
    assert "cannot reach the database" in failed["msg"]
    assert status_of(sandbox, ids["db"]) == status_of(sandbox, ids["app"]) == ("ACTIVE", "running")
    connect(sandbox, "db-2", new)
    check = {"url": "http://127.0.0.1:9/", "status": [200], "tcp": False, "timeout": 0.2}
    unhealthy = relocate(health_checks=[check])  # the old one and its application run again
    assert "runs again, and nothing that refers to it was changed" in unhealthy["msg"]
    assert status_of(sandbox, ids["db"]) == status_of(sandbox, ids["app"]) == ("ACTIVE", "running")
    assert environment(sandbox, "acme-api") == {"DATABASE": "${db.URL}"}
    sandbox.clear_journal()
    done(relocate())
    assert content(new, "fresh") == content(old, DATABASE)
    signals = [line["path"] for line in sandbox.journal() if line["path"].endswith("/power")]
    new_id = id_of(sandbox, "db-2")  # which the run before stopped again
    assert signals == [f"/api/resources/{id}/power" for id in (new_id, ids["app"], ids["db"])]
    assert status_of(sandbox, ids["db"])[0] == "SUSPENDED"
    assert status_of(sandbox, ids["app"]) == ("ACTIVE", "running")
    assert environment(sandbox, "acme-api") == {"DATABASE": "${db-2.URL}"}
    note(new, "newer", "fresh")
    done(relocate(state="returned", copy_back=True))
    assert "newer" in content(old, DATABASE)[0]
    assert content(old, DATABASE) == content(new, "fresh")
    assert status_of(sandbox, ids["db"]) == status_of(sandbox, ids["app"]) == ("ACTIVE", "running")
    assert environment(sandbox, "acme-api") == {"DATABASE": "${db.URL}"}
    assert [each["name"] for each in sandbox.ledger()["orders"]].count("db-2") == 1
    assert [line for line in sandbox.journal() if line["method"] == "DELETE"] == []
