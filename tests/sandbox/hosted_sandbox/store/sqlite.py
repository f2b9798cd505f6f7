# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records in memory, written through to SQLite in one transaction per request.

Reads never touch the database, so they take microseconds; a write is committed before the response
is sent, so a killed process loses nothing that it acknowledged.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from hosted_sandbox.store.records import KINDS, Record

R = TypeVar("R", bound=Record)

SCHEMA = """
CREATE TABLE IF NOT EXISTS record (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    body TEXT NOT NULL,
    UNIQUE (kind, id)
)
"""


class Store:
    """All records of the sandbox, in memory (`path` None) or in one SQLite file."""

    def __init__(self, path: Path | None = None) -> None:
        if path:
            path.touch(mode=0o600)
        self._db = sqlite3.connect(str(path) if path else ":memory:", isolation_level=None)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = NORMAL")
        self._db.execute(SCHEMA)
        self._dirty = False
        self._empty()
        self._read()

    def get(self, kind: type[R], key: str) -> R | None:
        """Return the record of this kind and id, or None."""
        return self._records[kind].get(key)  # type: ignore[return-value]

    def need(self, kind: type[R], key: str) -> R:
        """Return the record of this kind and id; raise KeyError if there is none."""
        return self._records[kind][key]  # type: ignore[return-value]

    def all(self, kind: type[R]) -> list[R]:
        """Return every record of a kind, oldest first."""
        return list(self._records[kind].values())  # type: ignore[arg-type]

    def of(self, kind: type[R], owner: str) -> list[R]:
        """Return the records of a kind that belong to one owner, oldest first."""
        return list(self._owned[kind].get(owner, {}).values())  # type: ignore[arg-type]

    def put(self, record: Record) -> None:
        """Store a new or changed record, within the current transaction."""
        self._begin()
        body = json.dumps(vars(record), separators=(",", ":"))
        self._db.execute(
            "INSERT INTO record (kind, id, body) VALUES (?, ?, ?)"
            " ON CONFLICT (kind, id) DO UPDATE SET body = excluded.body",
            (type(record).__name__.lower(), record.id, body),
        )
        self._index(record)

    def drop(self, record: Record) -> None:
        """Delete a record, within the current transaction."""
        self._begin()
        self._db.execute(
            "DELETE FROM record WHERE kind = ? AND id = ?", (type(record).__name__.lower(), record.id)
        )
        self._records[type(record)].pop(record.id, None)
        if record.OWNER:
            self._owned[type(record)].get(getattr(record, record.OWNER), {}).pop(record.id, None)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit at the end, or roll back everything (memory included) if the block raises."""
        try:
            yield
        except BaseException:
            self.rollback()
            raise
        self.commit()

    def commit(self) -> None:
        """Commit the writes so far; needed before a wait."""
        if self._dirty:
            self._db.execute("COMMIT")
            self._dirty = False

    def rollback(self) -> None:
        """Roll back the writes since the last commit."""
        if self._dirty:
            self._db.execute("ROLLBACK")
            self._dirty = False
            self._read()

    def dump(self) -> dict[str, list[dict[str, Any]]]:
        """Return all records by kind, as data for JSON."""
        return {
            name: [dict(vars(record)) for record in self._records[kind].values()]
            for name, kind in KINDS.items()
        }

    def load(self, dump: dict[str, list[dict[str, Any]]]) -> None:
        """Replace all records by those of a dump."""
        records = [KINDS[name](**body) for name, bodies in dump.items() for body in bodies]
        self._begin()
        self._db.execute("DELETE FROM record")
        self._empty()
        for record in records:
            self.put(record)
        self.commit()

    def close(self) -> None:
        """Commit and close the database."""
        self.commit()
        self._db.close()

    def _begin(self) -> None:
        if not self._dirty:
            self._db.execute("BEGIN IMMEDIATE")
            self._dirty = True

    def _empty(self) -> None:
        self._records: dict[type[Record], dict[str, Record]] = {kind: {} for kind in KINDS.values()}
        self._owned: dict[type[Record], dict[str, dict[str, Record]]] = {kind: {} for kind in KINDS.values()}

    def _read(self) -> None:
        """Load the database. Records in memory stay the same objects, because others refer to them."""
        before = self._records
        self._empty()
        for name, body in self._db.execute("SELECT kind, body FROM record ORDER BY seq"):
            values = json.loads(body)
            record = before[KINDS[name]].get(values["id"]) or KINDS[name](**values)
            vars(record).update(values)
            self._index(record)

    def _index(self, record: Record) -> None:
        kind = type(record)
        self._records[kind][record.id] = record
        if record.OWNER:
            self._owned[kind].setdefault(getattr(record, record.OWNER), {})[record.id] = record
