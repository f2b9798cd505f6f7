# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Off-site copies of databases: dumps and restores of real servers, or why there is no dump."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hosted_sandbox.testing import Sandbox
from integration.ansible_run import REPOSITORY
from integration.backup_machine import BackupMachine
from integration.database_servers import (
    DATABASE,
    PASSWORD,
    PATH,
    ROWS,
    USER,
    MariaDB,
    PostgreSQL,
    Server,
    missing,
    serving,
)

pytestmark = pytest.mark.night


@pytest.fixture
def machine(tmp_path: Path, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> BackupMachine:
    """A machine whose dump programs note how they are called, and then do their work."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("pg_dump", "mariadb-dump"):
        spy = tools / name
        spy.write_text(
            f'#!/bin/sh\ntr "\\0" "\\n" </proc/$$/cmdline >>{tmp_path}/calls\nenv >>{tmp_path}/calls\n'
            f'for fd in /proc/$$/fd/*; do case $(readlink "$fd") in *memfd*) stat -Lc "secret %a" "$fd" '
            f'>>{tmp_path}/calls;; esac; done\nPATH={os.environ["PATH"]}\nexec {name} "$@"\n'
        )
        spy.chmod(0o700)
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    return BackupMachine(tmp_path, sandbox)


def plan(machine: BackupMachine, **offsite: Any) -> dict[str, Any]:
    """Return a plan over the database alone."""
    dest = {"dest": str(machine.folder / "shelf"), **offsite}
    return {"name": "nightly", "services": ["db"], "keep": {"last": 2}, "wait_timeout": 20, "offsite": dest}


def night(machine: BackupMachine, number: int) -> tuple[int, str]:
    """Run the plan as if it were the night of a day in January."""
    return machine.run("run", "nightly", "-e", f"backups_run_name=nightly-2026010{number}t020000z")


def seed(sandbox: Sandbox, product: str, **service: Any) -> str:
    found = sandbox.seed({"services": [{"name": "db", "product": product, **service}]})
    return str(found["services"]["db"])


def test_dumps_of_a_neighbor(machine: BackupMachine, engine: Server) -> None:
    """A whole dump a night under the retention of the backups, and no trace of the password."""
    id = seed(machine.sandbox, engine.engine)
    machine.sandbox.operator(f"services/{id}", connection=engine.connection)
    machine.install(plan(machine)).succeed()
    for number in (1, 2, 3):
        if number == 3:
            engine.sql("DELETE FROM orders WHERE id = 7;", DATABASE)
        code, output = night(machine, number)
        assert code == 0, output
        assert PASSWORD not in output
    shelf = machine.folder / "shelf" / id
    assert sorted(folder.name for folder in shelf.glob("nightly-*")) == machine.names(id)
    assert len(machine.names(id)) == 2
    name = "database.dump" if engine.engine == "postgresql" else "database.sql.gz"
    contents = {
        folder.name[:16]: [path.name for path in folder.iterdir()] for folder in shelf.glob("nightly-*")
    }
    assert contents == {"nightly-20260102": [name], "nightly-20260103": [name]}
    for folder, rows in (("nightly-20260102t020000z", ROWS), ("nightly-20260103t020000z", ROWS - 1)):
        database = folder.replace("-", "_").lower()
        engine.restore(shelf / folder / name, database)
        assert engine.sql("SELECT count(*) FROM orders;", database).strip() == str(rows)
        same = "SELECT note FROM orders WHERE id = 0;"
        assert engine.sql(same, database) == engine.sql(same, DATABASE)
    calls = (machine.folder / "calls").read_text()
    assert calls.count("secret 600") == 3
    assert PASSWORD not in calls
    assert machine.report()["offsite"] == [
        {"service": "db", "service_id": id, "copied": "dump", "dest": f"{shelf}/nightly-20260103t020000z"}
    ]
    for path in machine.folder.rglob("*"):
        assert not path.is_file() or PASSWORD.encode() not in path.read_bytes(), path


def test_a_dump_that_fails(machine: BackupMachine, engine: Server) -> None:
    """The engine's own words are reported, nothing half-made is left, and what was there stays.

    A database that does not tell how to connect, such as while it restarts, is not copied as files.
    """
    id = seed(machine.sandbox, engine.engine)
    machine.sandbox.operator(f"services/{id}", connection=engine.connection)
    machine.install(plan(machine)).succeed()
    assert night(machine, 1)[0] == 0
    shelf = machine.folder / "shelf" / id
    for number, status in enumerate((None, 404, 409), 2):
        if status is None:
            machine.sandbox.operator(f"services/{id}", connection={"password": "another-one"})
        else:
            machine.sandbox.clear_faults()
            machine.sandbox.fault("database.connection", "status", status=status, count=None)
        code, output = night(machine, number)
        assert code not in (0, 75), output
        assert [path.name for path in shelf.glob("nightly-*")] == ["nightly-20260101t020000z"]
        (problem,) = machine.report()["problems"]
        assert problem.startswith("db off-site: ") and "another-one" not in problem + output
        if status is None:
            assert USER in problem and "ended with" in problem
        else:
            assert "it is a database (" in problem and "Its earlier copies stay" in problem
        assert machine.names(id)[-1] == f"nightly-2026010{number}t020000z"  # the backup itself was made
    assert engine.engine in json.loads((shelf / "service.json").read_text())["engine"].lower()


def test_where_there_is_no_dump(machine: BackupMachine) -> None:
    """The run says why, copies and thins out the rest, and fails; unless the plan leaves databases out."""
    if names := missing("postgresql"):
        pytest.skip(f"not installed: {names}")
    services = [{"name": "cache", "product": "valkey"}, {"name": "db", "product": "postgresql"}]
    ids = machine.sandbox.seed({"services": services})["services"]
    given = {**plan(machine), "services": [*ids]}
    machine.install(given).succeed()
    code, output = night(machine, 1)
    assert code not in (0, 75), output
    report = machine.report()
    for name, says in (
        ("cache", r"a database of engine '(?i:valkey)[- .\d]*' cannot be dumped"),
        ("db", r"this machine cannot reach the database \(db\.internal\.sandbox\.test:5432: "),
    ):
        (problem,) = [told for told in report["problems"] if told.startswith(f"{name} off-site: ")]
        assert re.search(says, problem) and "offsite.databases: skip" in problem
        (entry,) = [told for told in report["offsite"] if told["service"] == name]
        assert (entry["copied"], f"{name} off-site: {entry['why']}") == ("nothing", problem)
    given["offsite"]["databases"] = "skip"
    machine.install(given).succeed()
    code, output = night(machine, 2)
    assert code == 0, output
    for entry in machine.report()["offsite"]:
        why = r"a database of engine (?i:valkey|postgresql)[- .\d]*; the plan leaves those out"
        assert re.fullmatch(why, entry["why"])
    assert [path for path in (machine.folder / "shelf").rglob("*") if path.is_file()] == []
    assert [len(machine.names(id)) for id in ids.values()] == [2, 2]


# --- Restores, word for word as the guide describes them: by another user, on a fresh server ------------

GUIDE = REPOSITORY / "docs" / "guides" / "backups-databases.md"
SCRIPT = REPOSITORY / "roles" / "backups" / "files" / "dump_database.py"
COMMANDS = {
    "postgresql": "pg_restore ",
    "mariadb": "gzip -dc database.sql.gz | mariadb ",
    "mysql": "gzip -dc database.sql.gz | mysql ",
}
#: A row that looks like what a dump says of owners: it must come back as it was.
TRAP = "/*!50013 DEFINER=`a`@`b` SQL SECURITY DEFINER */\nDELIMITER ;;\nCREATE DEFINER=`a`@`b` PROCEDURE"
POSTGRESQL = f"""
    SET ROLE {USER};
    CREATE TABLE orders (id integer PRIMARY KEY, note text);
    INSERT INTO orders VALUES (1, $${TRAP}$$);
    CREATE VIEW first AS SELECT note FROM orders WHERE id = 1;
    CREATE FUNCTION twice(a integer) RETURNS integer LANGUAGE sql AS 'SELECT 2 * a';
    RESET ROLE;
    CREATE ROLE reader;
    GRANT SELECT ON orders, first TO reader;
"""  # noqa: S608 - our own statements
MARIADB = f"""
    CREATE TABLE orders (id integer PRIMARY KEY, note text);
    INSERT INTO orders VALUES (1, '{TRAP}');
    CREATE DEFINER={USER}@'127.0.0.1' VIEW first AS SELECT note FROM orders WHERE id = 1;
    CREATE DEFINER={USER}@'127.0.0.1' FUNCTION twice(a integer) RETURNS integer DETERMINISTIC RETURN 2 * a;
    CREATE DEFINER={USER}@'127.0.0.1' PROCEDURE nothing() SELECT 1;
    CREATE DEFINER={USER}@'127.0.0.1' TRIGGER up BEFORE INSERT ON orders FOR EACH ROW SET NEW.id = NEW.id + 1;
    CREATE DEFINER={USER}@'127.0.0.1' EVENT nightly ON SCHEDULE EVERY 1 DAY DO SELECT 1;
"""  # noqa: S608 - our own statements


def documented(engine: str) -> str:
    """Return the command that the guide names for an engine."""
    (line,) = [line for line in GUIDE.read_text().splitlines() if line.startswith(COMMANDS[engine])]
    return line


@pytest.mark.parametrize("engine", ["postgresql", "mariadb", "mysql"])
def test_a_restore_as_the_guide_has_it(engine: str, tmp_path: Path) -> None:
    """All that belongs to the database comes back, and belongs to whoever restored it."""
    kind: type[Server] = PostgreSQL if engine == "postgresql" else MariaDB
    if engine == "mysql" and not (shutil.which("mysql") and shutil.which("mysqldump")):
        pytest.skip("not installed: mysql, mysqldump")
    with serving(kind) as old:
        old.sql(POSTGRESQL if kind is PostgreSQL else MARIADB, DATABASE)
        subprocess.run(
            [sys.executable, SCRIPT, tmp_path],
            input=json.dumps({**old.connection, "engine": engine}),
            env={"PATH": PATH},
            text=True,
            check=True,
        )
    with serving(kind, "tenant", "fresh") as new:
        access = {name: str(value) for name, value in new.connection.items()}
        done = subprocess.run(
            ["sh", "-euc", documented(engine)],
            cwd=tmp_path,
            env={
                "PATH": PATH,
                **{f"DB_{name.upper()}": value for name, value in access.items()},
                "PGPASSWORD": PASSWORD,
                "MYSQL_PWD": PASSWORD,
            },
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert new.sql("SELECT note FROM first;", "fresh").replace("\\n", "\n").strip() == TRAP
        assert new.sql("SELECT twice(21);", "fresh").strip() == "42"
        if kind is MariaDB:
            owners = new.sql(
                "SELECT DEFINER FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = 'fresh' "
                "UNION ALL SELECT DEFINER FROM information_schema.VIEWS WHERE TABLE_SCHEMA = 'fresh' "
                "UNION ALL SELECT DEFINER FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = 'fresh' "
                "UNION ALL SELECT DEFINER FROM information_schema.EVENTS WHERE EVENT_SCHEMA = 'fresh';",
                "fresh",
            )
            assert owners.split() == ["tenant@127.0.0.1"] * 5
        else:
            assert set(
                new.sql("SELECT tableowner FROM pg_tables WHERE schemaname = 'public';", "fresh").split()
            ) == {"tenant"}


def test_the_guide_says_how_to_log_in() -> None:
    """The commands take what these variables hold, and the guide sets each of them."""
    text = GUIDE.read_text()
    used = set(re.findall(r"\$(DB_\w+)", "".join(documented(engine) for engine in COMMANDS)))
    assert used == {"DB_HOST", "DB_PORT", "DB_USER", "DB_DATABASE"}
    assert all(f"{name}=" in text for name in (*used, "PGPASSWORD", "MYSQL_PWD"))
