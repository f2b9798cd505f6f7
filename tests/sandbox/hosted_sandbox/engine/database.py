# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The database of one service: a single SQLite file behind the tunnel's routes.

Every call opens the file, so that calls may come from any thread and see a restored file at once.
"""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

PAGE_ROWS = 50
RETURNED_ROWS = 500
LIMIT_SECONDS = 15.0

_SCHEMA = "main"
_FILE = "database.sqlite3"
# Check the time after so many steps of SQLite's virtual machine.
_STEPS = 1000
_FIRST_WORD = re.compile(r"(?:\s|--[^\n]*|/\*.*?(?:\*/|\Z)|;)*+([^\s;]\w*)", re.DOTALL)
_WRITES = {sqlite3.SQLITE_INSERT: "INSERT", sqlite3.SQLITE_UPDATE: "UPDATE", sqlite3.SQLITE_DELETE: "DELETE"}
_COUNTED = frozenset({"INSERT", "UPDATE", "DELETE", "REPLACE"})
# Operations that would open files outside the service's folder; VACUUM INTO attaches its target.
_FORBIDDEN = frozenset({sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH})

_TABLES = """
SELECT name, wr AS without_rowid FROM pragma_table_list
WHERE schema = 'main' AND type IN ('table', 'virtual') AND name NOT LIKE 'sqlite~_%' ESCAPE '~'
ORDER BY name
"""


class EngineError(Exception):
    """The error of this package, with a readable message."""


class CutError(EngineError):
    """The statement was cut for its duration."""


class DatabaseEngine:
    """The database in `folder`, which is created if missing.

    `engine`, `version` and `database` are what the platform calls it; without `supported` only the inventory
    answers, and says so. `limit_seconds` is how long a statement may run; one that writes goes on after its
    cut where `finishes_cut_writes`. With `takes_several`, statements run one by one, and the last answers. A
    read that is cut at 500 rows reports all the rows it had in ``rowCount``.
    """

    def __init__(
        self,
        folder: Path,
        *,
        engine: str = "sqlite",
        version: str = sqlite3.sqlite_version,
        database: str = "main",
        supported: bool = True,
        limit_seconds: float = LIMIT_SECONDS,
        finishes_cut_writes: bool = False,
        takes_several: bool = False,
    ) -> None:
        self.folder = folder
        self.engine = engine
        self.version = version
        self.database = database
        self.supported = supported
        self._limit = limit_seconds
        self._finishes = finishes_cut_writes
        self._several = takes_several

    @property
    def path(self) -> Path:
        """The database's file, which holds all content between two calls."""
        return self.folder / _FILE

    def inventory(self) -> dict[str, Any]:
        """``{engine, supported, database, version, tables: [{schema, name, rows, bytes}]}``.

        ``rows`` is estimated from the highest row number, so it runs ahead of the truth after deletions.
        """
        head = {
            "engine": self.engine,
            "supported": self.supported,
            "database": self.database,
            "version": self.version,
        }
        if not self.supported:
            return head | {"tables": []}
        with self._session() as session:
            tables = [
                {
                    "schema": _SCHEMA,
                    "name": name,
                    "rows": session.estimate(name, without_rowid),
                    "bytes": session.bytes_of(name),
                }
                for name, without_rowid in session.tables()
            ]
        return head | {"tables": tables}

    def rows(self, schema: str, table: str, page: int) -> dict[str, Any]:
        """Page `page` (from 0) of a table, 50 rows each, in the shape of a query result.

        The table must be in the engine's catalogue before its name goes into a statement.
        """
        self._check_supported()
        if page < 0:
            raise EngineError("pages are counted from 0")
        with self._session() as session:
            tables = dict(session.tables())
            if schema != _SCHEMA or table not in tables:
                raise EngineError(f"the database has no table {schema}.{table}")
            # A table without row numbers is stored in the order of its primary key.
            order = "" if tables[table] else " ORDER BY rowid"
            statement = f"SELECT * FROM {_quoted(table)}{order} LIMIT {PAGE_ROWS} OFFSET {page * PAGE_ROWS}"  # noqa: S608 - the name is in the catalogue and quoted
            return session.run(statement, types=session.declared_types(table))

    def query(self, sql: str) -> dict[str, Any]:
        """Run one statement: ``{columns, rows, rowCount, truncated, elapsedMs, command}``.

        It has the rights of the database's owner; whatever destroys data succeeds. What it wrote is kept
        once this returns, and undone when it fails or is cut.
        """
        self._check_supported()
        statements = parted(sql) if self._several else [sql]
        try:
            return self._run(statements, self._limit)
        except CutError:
            if self._finishes:
                self._run(statements, LIMIT_SECONDS)
            raise

    def _run(self, statements: Sequence[str], limit: float) -> dict[str, Any]:
        with self._session(limit) as session:
            *_before, last = [session.run(statement) for statement in statements]
            return last

    def _check_supported(self) -> None:
        if not self.supported:
            raise EngineError(f"the tunnel cannot open an engine of the kind {self.engine}")

    def _connect(self) -> sqlite3.Connection:
        if any(path.is_symlink() for path in (self.folder, *self.folder.glob(f"{_FILE}*"))):
            raise EngineError(f"{self.folder.name}/{_FILE} is or is behind a link")
        self.folder.mkdir(parents=True, exist_ok=True)
        return sqlite3.connect(self.path, isolation_level=None, timeout=self._limit)

    @contextmanager
    def _session(self, limit: float | None = None) -> Iterator[_Session]:
        with closing(self._connect()) as connection:
            session = _Session(connection, self._limit if limit is None else limit)
            try:
                yield session
            except (sqlite3.Error, sqlite3.Warning, OverflowError, ValueError) as error:
                raise session.explain(error) from error


class _Session:
    """The connection of one call; limits its time and records its writes."""

    def __init__(self, connection: sqlite3.Connection, limit: float) -> None:
        self._connection = connection
        self._limit = limit
        self._started = time.monotonic()
        self._written: list[str] = []
        connection.set_progress_handler(self._is_late, _STEPS)
        connection.set_authorizer(self._authorize)

    def tables(self) -> list[tuple[str, bool]]:
        """Return each table's name, and whether it lacks row numbers."""
        return [(name, bool(flag)) for name, flag in self._connection.execute(_TABLES)]

    def estimate(self, table: str, without_rowid: bool) -> int:
        """Estimate the number of rows of a table."""
        counted = "count(*)" if without_rowid else "max(rowid)"
        return int(self._value(f"SELECT {counted} FROM {_quoted(table)}") or 0)  # noqa: S608 - from the catalogue

    def bytes_of(self, table: str) -> int:
        """Return the disk space of a table; 0 if SQLite was built without dbstat."""
        try:
            return int(self._value("SELECT sum(pgsize) FROM dbstat WHERE name = ?", table) or 0)
        except sqlite3.OperationalError:
            return 0

    def declared_types(self, table: str) -> list[str]:
        """Return the declared types of a table's columns."""
        rows = self._connection.execute("SELECT type FROM pragma_table_info(?) ORDER BY cid", (table,))
        return [str(kind).lower() for (kind,) in rows]

    def run(self, sql: str, types: Sequence[str] = ()) -> dict[str, Any]:
        """Run one statement and return a query result."""
        self._written.clear()
        word = _FIRST_WORD.match(sql)
        if word is None:
            raise EngineError("there is no statement")
        cursor = self._connection.execute(sql)
        names = [column[0] for column in cursor.description or ()]
        kept = cursor.fetchmany(RETURNED_ROWS)
        more = sum(1 for __ in cursor)
        columns = zip(names, _types(kept, names, types), strict=True)
        command = self._command(word[1].upper())
        return {
            "columns": [{"name": name, "type": kind} for name, kind in columns],
            "rows": [[_text(value) for value in row] for row in kept],
            "rowCount": len(kept) + more if names else self._changes(command),
            "truncated": more > 0,
            "elapsedMs": round((time.monotonic() - self._started) * 1000),
            "command": command,
        }

    def explain(self, error: Exception) -> EngineError:
        """Explain an error. SQLite says only "interrupted" after a timeout."""
        if str(error) == "interrupted":
            return CutError(f"the query was cut after {self._limit:g} seconds")
        return EngineError(f"the engine refused the statement: {error}")

    def _command(self, word: str) -> str:
        """Return the kind of the statement that ran: for a WITH, of its main statement."""
        if word != "WITH":
            return word
        return self._written[0] if self._written else "SELECT"

    def _changes(self, command: str) -> int:
        return int(self._value("SELECT changes()")) if command in _COUNTED else 0

    def _value(self, sql: str, *parameters: str) -> Any:
        return self._connection.execute(sql, parameters).fetchone()[0]

    def _is_late(self) -> bool:
        return time.monotonic() - self._started > self._limit

    def _authorize(self, action: int, *_details: str | None) -> int:
        if action in _FORBIDDEN:
            return sqlite3.SQLITE_DENY
        if action in _WRITES:
            self._written.append(_WRITES[action])
        return sqlite3.SQLITE_OK


def parted(sql: str) -> list[str]:
    """Split a text into its statements."""
    found, text = [], ""
    for part in re.findall(r"[^;]*;|[^;]+\Z", sql):
        text += part
        if sqlite3.complete_statement(text):
            found.append(text)
            text = ""
    return [*found, text] if text.strip() or not found else found


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(value: Any) -> str | None:
    if value is None:
        return None
    return rf"\x{value.hex()}" if isinstance(value, bytes) else str(value)


def _types(rows: list[tuple[Any, ...]], names: list[str], declared: Sequence[str]) -> list[str]:
    """Return the type of each column: as declared, else that of its first value."""
    kinds = {int: "integer", float: "real", bytes: "blob"}
    found = []
    for position in range(len(names)):
        first = next((row[position] for row in rows if row[position] is not None), "")
        stated = declared[position] if position < len(declared) else ""
        found.append(stated or kinds.get(type(first), "text"))
    return found
