# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values in SQL: a server reads them back as they were. And what passes for a plain read."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import date
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ansible_collections.hosted.services.plugins.module_utils._resources.databases.sql import (
    Statement,
    mysql_text,
    postgresql_text,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid

ENGINES = ["postgresql", "MariaDB", "mysql", "sqlite"]
TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))
VALUES = (
    st.none() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False) | TEXTS
)


def fill(text: str, engine: str | None = "postgresql", **params: Any) -> str:
    return Statement(text, engine).filled(params).text


# --- Values -----------------------------------------------------------------------------------------


@given(st.lists(VALUES, min_size=1, max_size=5))
def test_a_real_engine_reads_values_back(values: list[Any]) -> None:
    names = [f"p{number}" for number in range(len(values))]
    text = "SELECT " + ", ".join(f"-1, :{name}" for name in names)
    with closing(sqlite3.connect(":memory:")) as engine:
        row = engine.execute(fill(text, "sqlite", **dict(zip(names, values, strict=True)))).fetchone()
    assert [type(value) for value in row[1::2]] == [type(value) for value in values]
    # SQLite reads a decimal to 15 significant digits, so a float comes back within the last place.
    assert all(
        read == pytest.approx(value, rel=1e-15, abs=5e-324) if isinstance(value, float) else read == value
        for read, value in zip(row[1::2], values, strict=True)
    )


@given(TEXTS)
@example("it's \\")
def test_text_is_the_same_whatever_a_backslash_means(text: str) -> None:
    """PostgreSQL reads E'' the same under any setting; in MySQL no backslash is left inside quotes."""
    literal = postgresql_text(text)
    inside = literal.removeprefix("E")[1:-1]
    if literal.startswith("E"):
        inside = inside.replace("\\\\", "\\")
    assert inside.replace("''", "'") == text
    literal = mysql_text(text)
    assert "\\" not in literal
    if literal.startswith("_utf8mb4 X'"):
        assert bytes.fromhex(literal[len("_utf8mb4 X'") : -1]).decode() == text
    else:
        assert literal[1:-1].replace("''", "'") == text


@given(TEXTS, st.sampled_from(ENGINES))
def test_a_value_never_becomes_sql(text: str, engine: str) -> None:
    """Read again, the statement has one piece of text where the place was, and no other word."""
    filled = Statement(fill("SELECT :x FROM t", engine, x=text), engine)
    assert [word for word in filled.words if word not in ("E", "_UTF8MB4", "X")] == ["SELECT", "FROM", "T"]
    assert sum(token.kind == "quoted" for token in filled.tokens) == 1
    assert not filled.several


@pytest.mark.parametrize(
    ("value", "literal"),
    [
        (None, "NULL"),
        (True, "TRUE"),
        (False, "FALSE"),
        (7, "7"),
        (-7, "(-7)"),
        (1.5, "1.5"),
        ("it's", "'it''s'"),
        (date(2026, 11, 21), "'2026-11-21'"),
        ([1, "a", None], "1, 'a', NULL"),
    ],
)
def test_literals(value: Any, literal: str) -> None:
    assert fill("SELECT -:x", x=value) == f"SELECT - {literal}"


@pytest.mark.parametrize("value", ["a\0b", "\ud800", float("nan"), float("inf"), {"a": 1}, [], [[]], b"x"])
def test_values_that_have_no_literal(value: Any) -> None:
    with pytest.raises(Invalid, match=r"params\.x"):
        fill("SELECT :x", x=value)


@pytest.mark.parametrize(
    ("text", "engine"),
    [
        ("SELECT ':x', :x", "postgresql"),
        ('SELECT ":x", :x', "postgresql"),
        ("SELECT $$:x$$, $a$ :x $$ $a$, :x", "postgresql"),
        ("SELECT a::x, b[1:x], :x -- :x", "postgresql"),
        ("SELECT 1 /* :x */, 'a''b :x', :x", "mysql"),
        ("SELECT `:x`, :x # :x", "mysql"),
        ("SELECT [:x], :x -- :x", "sqlite"),
    ],
)
def test_only_places_are_filled(text: str, engine: str) -> None:
    before, __, after = text.rpartition(", :x")
    assert fill(text, engine, x=5) == f"{before},  5{after}"


@pytest.mark.parametrize("engine", ["mongodb", "valkey", "", None])
def test_engines_that_are_not_known(engine: str | None) -> None:
    with pytest.raises(Invalid, match="postgresql"):
        fill("SELECT :x", engine, x=1)


@pytest.mark.parametrize(
    ("text", "engine"),
    [
        (r"SELECT 'it\'s', :x", "mysql"),
        (r"SELECT E'it\'s', :x", "postgresql"),
        ("SELECT 'open, :x", "postgresql"),
        ("SELECT /* open :x", "mysql"),
        ("SELECT /* a /* b */ :x */ :x", "postgresql"),
        ("SELECT /*!50000 :x */ :x", "mysql"),
        ("SELECT /*M! :x */ :x", "mariadb"),
        ("SELECT $a$ :x", "postgresql"),
    ],
)
def test_a_text_that_can_be_read_in_two_ways(text: str, engine: str) -> None:
    with pytest.raises(Invalid, match="depends on the server"):
        fill(text, engine, x=1)
    assert not Statement(text, engine).is_read


# --- Reads ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1",
        "  -- DELETE\n select 'DELETE; x', \"update\" from t ;\n",
        "(SELECT 1) UNION (SELECT 2)",
        "WITH a AS (SELECT 1) SELECT * FROM a",
        "VALUES (1)",
        "TABLE t",
        "SHOW TABLES",
        "EXPLAIN SELECT 1",
        "SELECT deleted, updated_at FROM t /* INTO */",
        "SELECT a AS analyze FROM t",
        r"SELECT 'a\d' FROM t",
    ],
)
def test_plain_reads(text: str) -> None:
    assert Statement(text, "postgresql").is_read


@pytest.mark.parametrize(
    "text",
    [
        "",
        "-- SELECT",
        "DELETE FROM t",
        "/* SELECT */ DROP TABLE t",
        "SELECT 1; DELETE FROM t",
        "SELECT * INTO copy FROM t",
        "WITH gone AS (DELETE FROM t RETURNING *) SELECT * FROM gone",
        "SELECT * FROM t FOR UPDATE",
        "EXPLAIN ANALYZE DELETE FROM t",
        "EXPLAIN (analyse) SELECT f()",
        "CREATE TABLE a AS SELECT 1",
        "PRAGMA user_version = 5",
        "CALL f()",
    ],
)
def test_everything_else_is_no_read(text: str) -> None:
    assert not Statement(text, "postgresql").is_read


def test_comments_end_where_the_engine_ends_them() -> None:
    """Two minuses begin a comment in MySQL only before a space; what follows would not be seen else."""
    text = "SELECT 1--1 INTO OUTFILE '/tmp/x'"
    assert not Statement(text, "mariadb").is_read
    assert Statement(text, "postgresql").is_read
    assert not Statement(text, "some other").is_read
    assert not Statement("SELECT 1 # a comment of MySQL alone", "some other").is_read
    assert Statement("SELECT 1", "some other").is_read


# --- Pages ------------------------------------------------------------------------------------------


def test_a_page_is_asked_for_behind_the_query() -> None:
    statement = Statement("SELECT a FROM (SELECT b LIMIT 5) x ORDER BY a; -- LIMIT 3\n", "postgresql")
    assert statement.page(500, 1000) == "SELECT a FROM (SELECT b LIMIT 5) x ORDER BY a\nLIMIT 500 OFFSET 1000"
    assert "ORDER" in statement.outer_words
