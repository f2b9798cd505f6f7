# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Off-site copies of databases: dumps that real servers make and take back, or why there is none."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from hosted_sandbox.testing import Sandbox
from integration.backup_machine import BackupMachine
from integration.database_servers import (
    DATABASE,
    PASSWORD,
    USER,
    MariaDB,
    Server,
    missing,
)

pytestmark = pytest.mark.night

ROWS = 1200  # more than the platform's own tunnel returns at once
TABLE = "CREATE TABLE orders (id integer PRIMARY KEY, note varchar(80));"
NOTE = "night's \\ work; \u00e9\u00df"


@pytest.fixture
def engine(running: Server) -> Server:
    """The server with a new table that its user owns."""
    is_mariadb = isinstance(running, MariaDB)
    note = NOTE.replace("'", "''").replace("\\", "\\\\" if is_mariadb else "\\")
    rows = [f"(0, '{note}')", *(f"({number}, 'by day')" for number in range(1, ROWS))]
    table = ["DROP TABLE IF EXISTS orders;", TABLE, "INSERT INTO orders VALUES", ", ".join(rows), ";"]
    running.sql("\n".join(table), DATABASE)
    if not is_mariadb:
        running.sql(f"ALTER TABLE orders OWNER TO {USER};", DATABASE)
    return running


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


def report(machine: BackupMachine) -> dict[str, Any]:
    """Return what the last run reported."""
    found: dict[str, Any] = json.loads((machine.folder / "state" / "nightly.json").read_text())
    return found


def seed(sandbox: Sandbox, product: str, **service: Any) -> str:
    """Let there be a database; return its id."""
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
    assert report(machine)["offsite"] == [
        {"service": "db", "service_id": id, "copied": "dump", "dest": f"{shelf}/nightly-20260103t020000z"}
    ]
    for path in machine.folder.rglob("*"):
        assert not path.is_file() or PASSWORD.encode() not in path.read_bytes(), path


def test_a_dump_by_the_public_address(machine: BackupMachine, engine: Server) -> None:
    """Where the internal name is not known, an open database is reached as the Internet does."""
    sizes = ("cpuCores", "ramGb", "storageGb")
    node = {"id": "node-here", "ip": "127.0.0.1", "families": ["APP"], "first_port": engine.port}
    rates = {"rates": dict.fromkeys(sizes, 1), "bounds": {size: [1, 100] for size in sizes}}
    machine.sandbox.seed({"nodes": [{**node, **rates}]})
    id = seed(machine.sandbox, engine.engine, host="node-here", public=True)
    login = {name: engine.connection[name] for name in ("user", "password", "database")}
    machine.sandbox.operator(f"services/{id}", connection=login)
    machine.install(plan(machine)).succeed()
    code, output = night(machine, 1)
    assert code == 0, output
    assert report(machine)["offsite"][0]["copied"] == "dump"


def test_a_dump_that_fails(machine: BackupMachine, engine: Server) -> None:
    """The engine's own words are reported, nothing half-made is left, and what was there stays."""
    id = seed(machine.sandbox, engine.engine)
    machine.sandbox.operator(f"services/{id}", connection=engine.connection)
    machine.install(plan(machine)).succeed()
    assert night(machine, 1)[0] == 0
    machine.sandbox.operator(f"services/{id}", connection={"password": "another-one"})
    code, output = night(machine, 2)
    assert code not in (0, 75), output
    shelf = machine.folder / "shelf" / id
    assert [path.name for path in shelf.glob("nightly-*")] == ["nightly-20260101t020000z"]
    (problem,) = report(machine)["problems"]
    assert problem.startswith("db off-site: ") and USER in problem and "ended with" in problem
    assert "another-one" not in problem + output
    assert len(machine.names(id)) == 2  # the backup itself was made


@pytest.mark.parametrize("status", [404, 409])
def test_a_database_that_does_not_tell_how_to_connect_is_not_copied_as_files(
    machine: BackupMachine, engine: Server, status: int
) -> None:
    """Such as for a moment, while it restarts. The earlier dumps stay, and stay dumps."""
    id = seed(machine.sandbox, engine.engine)
    machine.sandbox.operator(f"services/{id}", connection=engine.connection)
    machine.install(plan(machine)).succeed()
    assert night(machine, 1)[0] == 0
    machine.sandbox.fault("database.connection", "status", status=status, count=None)
    code, output = night(machine, 2)
    assert code not in (0, 75), output
    shelf = machine.folder / "shelf" / id
    assert [path.name for path in shelf.glob("nightly-*")] == ["nightly-20260101t020000z"]
    assert engine.engine in json.loads((shelf / "service.json").read_text())["engine"].lower()
    (problem,) = report(machine)["problems"]
    assert problem.startswith("db off-site: it is a database (") and "Its earlier copies stay" in problem
    machine.install(plan(machine, databases="skip")).succeed()
    code, output = night(machine, 3)
    assert code == 0, output
    assert "the plan leaves those out" in report(machine)["offsite"][0]["why"]


@pytest.mark.parametrize(
    ("product", "says"),
    [
        ("valkey", r"a database of engine '(?i:valkey)[- .\d]*' cannot be dumped"),
        ("postgresql", r"this machine cannot reach the database \(db\.internal\.sandbox\.test:5432: "),
    ],
)
def test_where_there_is_no_dump(machine: BackupMachine, product: str, says: str) -> None:
    """The run says why, copies and thins out the rest, and fails; unless the plan leaves databases out."""
    if names := missing("postgresql"):
        pytest.skip(f"not installed: {names}")
    id = seed(machine.sandbox, product)
    machine.install(plan(machine)).succeed()
    code, output = night(machine, 1)
    assert code not in (0, 75), output
    (problem,) = report(machine)["problems"]
    assert re.match(f"db off-site: {says}", problem) and "offsite.databases: skip" in problem
    (entry,) = report(machine)["offsite"]
    assert (entry["copied"], f"db off-site: {entry['why']}") == ("nothing", problem)
    machine.install(plan(machine, databases="skip")).succeed()
    code, output = night(machine, 2)
    assert code == 0, output
    why = rf"a database of engine (?i:{product})[- .\d]*; the plan leaves those out"
    assert re.fullmatch(why, report(machine)["offsite"][0]["why"])
    assert [path for path in (machine.folder / "shelf").rglob("*") if path.is_file()] == []
    assert len(machine.names(id)) == 2
