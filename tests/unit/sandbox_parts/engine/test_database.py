# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The database behind the tunnel (section Database tunnel of the specification)."""

# ruff: noqa: S608 - the statements are put together from what stands in this file

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from hosted_sandbox.engine import CutError, DatabaseEngine, EngineError

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"


@pytest.fixture
def engine(tmp_path: Path) -> DatabaseEngine:
    engine = DatabaseEngine(tmp_path / "database")
    engine.query("CREATE TABLE users (id INTEGER PRIMARY KEY, name VARCHAR(20), note TEXT)")
    engine.query("INSERT INTO users (name) VALUES ('anna'), ('ben'), (NULL)")
    return engine


def fill(engine: DatabaseEngine, rows: int) -> None:
    engine.query(f"{ENDLESS} INSERT INTO users (name) SELECT 'user ' || i FROM n LIMIT {rows}")


def failure(call: Any, *arguments: Any) -> EngineError:
    with pytest.raises(EngineError) as caught:
        call(*arguments)
    assert str(caught.value)
    return caught.value


class TestQuery:
    def test_read(self, engine: DatabaseEngine) -> None:
        result = engine.query("SELECT id, name, 1.5 AS half, x'c0ff' AS raw FROM users ORDER BY id")
        assert result.pop("elapsedMs") >= 0
        assert result == {
            "columns": [
                {"name": "id", "type": "integer"},
                {"name": "name", "type": "text"},
                {"name": "half", "type": "real"},
                {"name": "raw", "type": "blob"},
            ],
            "rows": [
                ["1", "anna", "1.5", r"\xc0ff"],
                ["2", "ben", "1.5", r"\xc0ff"],
                ["3", None, "1.5", r"\xc0ff"],
            ],
            "rowCount": 3,
            "truncated": False,
            "command": "SELECT",
        }

    @pytest.mark.parametrize(
        ("sql", "count", "command"),
        [
            ("INSERT INTO users (name) VALUES ('x'), ('y')", 2, "INSERT"),
            ("update users set name = 'x' where id < 3", 2, "UPDATE"),
            ("DELETE FROM users", 3, "DELETE"),
            ("DROP TABLE users", 0, "DROP"),
            ("CREATE TABLE other (a)", 0, "CREATE"),
            ("-- first\n/* then */ DELETE FROM users", 3, "DELETE"),
            (
                "WITH gone AS (SELECT 1 AS id) DELETE FROM users WHERE id IN (SELECT id FROM gone)",
                1,
                "DELETE",
            ),
        ],
    )
    def test_write(self, engine: DatabaseEngine, sql: str, count: int, command: str) -> None:
        result = engine.query(sql)
        assert (result["columns"], result["rows"]) == ([], [])
        assert (result["rowCount"], result["command"]) == (count, command)

    def test_a_write_that_returns_rows(self, engine: DatabaseEngine) -> None:
        result = engine.query("INSERT INTO users (name) VALUES ('x'), ('y') RETURNING id")
        assert (result["rows"], result["rowCount"], result["command"]) == ([["4"], ["5"]], 2, "INSERT")

    @pytest.mark.parametrize(
        "sql",
        [
            "SELEC 1",
            "",
            "-- nothing",
            "SELECT 1; SELECT 2",
            "SELECT nobody FROM users",
            "SELECT '\0'",
            "SELECT ?",
        ],
    )
    def test_refused(self, engine: DatabaseEngine, sql: str) -> None:
        failure(engine.query, sql)

    @pytest.mark.parametrize("statement", ["ATTACH DATABASE '{}' AS other", "VACUUM INTO '{}'"])
    def test_no_file_is_made_elsewhere(self, engine: DatabaseEngine, tmp_path: Path, statement: str) -> None:
        target = tmp_path / "elsewhere.sqlite3"
        failure(engine.query, statement.format(target))
        assert not target.exists()

    def test_from_many_threads(self, engine: DatabaseEngine) -> None:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda i: engine.query(f"INSERT INTO users (name) VALUES ('{i}')"), range(64)))
        assert engine.query("SELECT count(*) FROM users")["rows"] == [["67"]]


def test_a_cut_write_is_undone(engine: DatabaseEngine) -> None:
    hurried = DatabaseEngine(engine.folder, limit_seconds=0.05)
    assert isinstance(failure(fill, hurried, 10_000_000), CutError)
    assert engine.query("SELECT count(*) FROM users")["rows"] == [["3"]]


class TestRows:
    def test_shape(self, engine: DatabaseEngine) -> None:
        page = engine.rows("main", "users", 0)
        assert page["columns"] == [
            {"name": "id", "type": "integer"},
            {"name": "name", "type": "varchar(20)"},
            {"name": "note", "type": "text"},
        ]
        assert page["rows"][2] == ["3", None, None]
        assert (page["truncated"], page["command"]) == (False, "SELECT")

    @pytest.mark.parametrize(
        ("schema", "table"),
        [
            ("main", "nobody"),
            ("public", "users"),
            ("main", "users; DROP TABLE users"),
            ("main", 'users" UNION SELECT * FROM sqlite_schema --'),
            ("main", "sqlite_schema"),
            ("", ""),
        ],
    )
    def test_a_table_that_is_not_in_the_catalogue(
        self, engine: DatabaseEngine, schema: str, table: str
    ) -> None:
        assert "the database has no table" in str(failure(engine.rows, schema, table, 0))
        assert len(engine.inventory()["tables"]) == 1

    def test_names_that_need_quotes(self, engine: DatabaseEngine) -> None:
        engine.query('CREATE TABLE "odd ""name"" é" (a)')
        engine.query('INSERT INTO "odd ""name"" é" VALUES (1)')
        assert engine.rows("main", 'odd "name" é', 0)["rows"] == [["1"]]
        assert {table["name"]: table["rows"] for table in engine.inventory()["tables"]}['odd "name" é'] == 1

    def test_a_page_beyond_all_numbers(self, engine: DatabaseEngine) -> None:
        failure(engine.rows, "main", "users", 10**30)


class TestInventory:
    def test_shape(self, engine: DatabaseEngine) -> None:
        (table,) = engine.inventory().pop("tables")
        assert table.pop("bytes") >= 0
        assert table == {"schema": "main", "name": "users", "rows": 3}
        head = {key: value for key, value in engine.inventory().items() if key != "tables"}
        assert head == {
            "engine": "sqlite",
            "supported": True,
            "database": "main",
            "version": sqlite3.sqlite_version,
        }

    def test_rows_are_an_estimate(self, engine: DatabaseEngine) -> None:
        engine.query("DELETE FROM users WHERE id < 3")
        assert engine.inventory()["tables"][0]["rows"] == 3

    def test_without_row_numbers(self, engine: DatabaseEngine) -> None:
        engine.query("CREATE TABLE pairs (a PRIMARY KEY, b) WITHOUT ROWID")
        engine.query("INSERT INTO pairs VALUES (2, 'x'), (1, 'y')")
        assert engine.inventory()["tables"][0] | {"bytes": 0} == {
            "schema": "main",
            "name": "pairs",
            "rows": 2,
            "bytes": 0,
        }
        assert engine.rows("main", "pairs", 0)["rows"] == [["1", "y"], ["2", "x"]]


class TestFile:
    def test_the_folder_holds_one_file_between_calls(self, engine: DatabaseEngine) -> None:
        assert list(engine.folder.iterdir()) == [engine.path]

    def test_the_file_may_be_put_back_from_outside(self, engine: DatabaseEngine) -> None:
        before = engine.path.read_bytes()
        engine.query("DROP TABLE users")
        engine.path.write_bytes(before)
        assert engine.query("SELECT count(*) FROM users")["rows"] == [["3"]]
