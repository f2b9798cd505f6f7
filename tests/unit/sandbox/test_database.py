# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Section Endpoints / Database tunnel, and the engine behind it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hosted_sandbox.engine import CutError, DatabaseEngine, EngineError
from hosted_sandbox.testing import Sandbox
from unit.sandbox.conftest import Order

#: Statements about the numbers from 1 to some end.
NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) SELECT i FROM n"
COUNT = NUMBERS.replace("SELECT i FROM n", "SELECT count(*) FROM n")
FILL = NUMBERS.replace("SELECT i FROM n", "INSERT INTO t SELECT i, NULL FROM n")


class Database:
    """The tunnel to one database."""

    def __init__(self, sandbox: Sandbox, key: str) -> None:
        self.sandbox = sandbox
        self.base = f"/api/resources/{key}/database"

    def query(self, sql: str) -> Any:
        """The answer to a statement that succeeds."""
        answer = self.sandbox.api("POST", f"{self.base}/query", {"sql": sql})
        assert answer.status_code == 200, answer.text
        return answer.json()

    def rows(self, **query: Any) -> Any:
        """A page of a table."""
        return self.sandbox.api("GET", f"{self.base}/rows", params=query)


@pytest.fixture
def database(sandbox: Sandbox, order: Order) -> Database:
    """A database with a table of 120 rows."""
    found = Database(sandbox, order("postgresql", "db"))
    found.query("CREATE TABLE t (a integer, b text)")
    found.query(FILL.format(120))
    return found


@pytest.mark.rule("database-rows")
def test_rows_come_in_pages_of_fifty(database: Database) -> None:
    (table,) = database.sandbox.api("GET", database.base).json()["tables"]
    where = {"schema": table["schema"], "table": table["name"]}
    pages = [database.rows(**where, page=page).json() for page in range(4)]
    assert [len(page["rows"]) for page in pages] == [50, 50, 20, 0]
    assert pages[0]["rows"][0] == ["1", None]
    assert [column["name"] for column in pages[0]["columns"]] == ["a", "b"]
    assert database.rows(schema=table["schema"], table="t; DROP TABLE t").status_code == 400
    assert database.rows(schema="nothing", table="t").status_code == 400
    assert database.rows(**where, page=-1).status_code == 400


@pytest.mark.rule("database-truncated")
def test_five_hundred_rows_at_most(database: Database) -> None:
    sql = NUMBERS
    whole, cut = database.query(sql.format(500)), database.query(sql.format(501))
    assert (len(whole["rows"]), whole["truncated"]) == (500, False)
    assert (len(cut["rows"]), cut["truncated"], cut["rowCount"]) == (500, True, 501)
    following = database.query(f"{sql.format(501)} LIMIT 500 OFFSET 500")
    assert following["rows"] == [["501"]]


@pytest.mark.rule("database-cut")
def test_a_query_is_cut(database: Database) -> None:
    assert database.sandbox.control("GET", "/delays")["query"] == 15
    database.sandbox.delays(query=0.1)
    sql = COUNT.format(10**12)
    answer = database.sandbox.api("POST", f"{database.base}/query", {"sql": sql})
    assert answer.status_code == 408
    assert "cut" in answer.json()["message"]


@pytest.mark.rule("database-writes")
def test_writes_count_their_rows(database: Database) -> None:
    changed = database.query("UPDATE t SET b = 'x' WHERE a <= 7")
    assert (changed["columns"], changed["rowCount"], changed["command"]) == ([], 7, "UPDATE")
    database.query("DROP TABLE t")
    assert database.sandbox.api("GET", database.base).json()["tables"] == []
    answer = database.sandbox.api("POST", f"{database.base}/query", {"sql": "SELECT * FROM t"})
    assert answer.status_code == 400


def test_a_connection_may_lead_to_a_real_database(sandbox: Sandbox, order: Order) -> None:
    """Otherwise it is for neighbors."""
    key = order("mariadb", "db")
    path = f"/api/resources/{key}/database/connection"
    found = sandbox.api("GET", path).json()
    login = f"{found['user']}:{found['password']}@{found['host']}:{found['port']}"
    assert found["host"].startswith("db.")
    assert found["url"] == f"mariadb://{login}/{found['database']}"
    real = {"host": "127.0.0.1", "port": 13306, "user": "u", "password": "p@s", "database": "shop"}
    sandbox.operator(f"services/{key}", connection=real)
    found = sandbox.api("GET", path).json()
    assert found == {"engine": "mariadb", **real, "url": "mariadb://u:p%40s@127.0.0.1:13306/shop"}
    sandbox.operator(f"services/{key}", connection={"port": 13307})
    assert sandbox.api("GET", path).json()["port"] == 13307
    for service, parts in ((key, {"colour": "red"}), (order(), real)):
        with pytest.raises(RuntimeError):
            sandbox.operator(f"services/{service}", connection=parts)


@pytest.mark.rule("database-unsupported")
def test_what_cannot_be_opened(sandbox: Sandbox, order: Order) -> None:
    database = Database(sandbox, order("valkey", "cache"))
    assert sandbox.api("GET", f"{database.base}/connection").json()["engine"] == "valkey"
    assert sandbox.api("GET", database.base).json()["supported"] is False
    assert database.rows(schema="main", table="t").status_code == 400
    assert sandbox.api("POST", f"{database.base}/query", {"sql": "SELECT 1"}).status_code == 400
    game = order()
    for path in ("", "/connection", "/rows?schema=main&table=t"):
        assert sandbox.api("GET", f"/api/resources/{game}/database{path}").status_code == 400


def test_a_cut_write_is_undone_and_no_file_is_made_elsewhere(tmp_path: Path) -> None:
    engine, target = DatabaseEngine(tmp_path / "database"), tmp_path / "elsewhere.sqlite3"
    engine.query("CREATE TABLE t (a integer, b text)")
    engine.query(FILL.format(3))
    with pytest.raises(CutError, match=r"\w"):
        DatabaseEngine(engine.folder, limit_seconds=0.05).query(FILL.format(10_000_000))
    assert engine.query("SELECT count(*) FROM t")["rows"] == [["3"]]
    for statement in (f"ATTACH DATABASE '{target}' AS other", f"VACUUM INTO '{target}'"):
        with pytest.raises(EngineError, match=r"\w"):
            engine.query(statement)
        assert not target.exists()
