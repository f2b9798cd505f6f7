# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running a statement in a database: reads are unchanged, writes are sent once (Database tunnel)."""

from __future__ import annotations

import csv
import io
import os
import time
from dataclasses import dataclass
from typing import Any, ClassVar

from .._api.errors import CallOutcomeUnknown, HostedError, Refused, ServerFailure, UnexpectedAnswer
from .._api.models import QueryResult
from .databases.engine import as_table, check_supported, column_names
from .databases.sql import CHANGES, Statement
from .services.on_service import OnServiceOptions, known_id
from .shared.options import FilePath, option
from .shared.plan import Plan, Resource, Step, Task
from .shared.secrets_file import check_destination
from .shared.store import atomic_file
from .shared.task_errors import EffectUnverified, Invalid

MAX_ROWS = 500
MAX_SECONDS = 15


@dataclass(frozen=True, kw_only=True)
class DatabaseQueryOptions(OnServiceOptions):
    query: str
    params: dict[str, Any] = option({}, secret=True)
    read_only: bool = True
    all_rows: bool = False
    allow_truncated: bool = False
    csv_dest: FilePath | None = option(None, filled=True)


class DatabaseQueryResource(Resource[DatabaseQueryOptions]):
    result_key = "result"
    rules: ClassVar[dict[str, Any]] = {"mutually_exclusive": [("all_rows", "allow_truncated")]}

    def plan(self, task: Task[DatabaseQueryOptions]) -> Plan:
        """Run a read at once; a write is a step, which check mode leaves out."""
        options = task.options
        if options.csv_dest is not None:
            check_destination(options.csv_dest, "csv_dest")
        id = known_id(task)
        inventory = task.account.database(id)
        check_supported(inventory, options.service)
        asked = Statement(options.query, inventory.engine)
        if not asked.verb:
            raise Invalid("query is empty; give it a statement")
        statement = asked.filled(options.params) if id else asked  # without a service, nothing is sent
        if asked.is_read:
            return plan_read(task, id, statement)
        check_write(task, asked)
        return plan_write(task, id, asked, statement)


DATABASE_QUERY = DatabaseQueryResource()


def check_write(task: Task[DatabaseQueryOptions], asked: Statement) -> None:
    if task.options.read_only:
        why = f"it begins with {asked.verb} or holds a word that writes"
        if asked.ambiguous:
            why = "where its quotes or comments end depends on the server's settings"
        elif asked.several:
            why = "it has several statements"
        raise Invalid(
            f"this statement is not certain to be a plain read: {why}. Nothing was sent. Set read_only: "
            "false to run it anyway"
        )
    if task.options.all_rows:
        raise Invalid("all_rows is for plain reads; a statement that may write is sent once")
    if asked.spans_calls:
        task.warn(
            f"whether the next query runs in the same session is not documented, so what {asked.verb} does "
            "may end with this call. Send a transaction whole, from BEGIN to COMMIT, in one query"
        )


def plan_read(task: Task[DatabaseQueryOptions], id: str, statement: Statement) -> Plan:
    """Run a plain read. A CSV file that is not as wished is the only thing left to do."""
    result = (
        read_all_pages(task, id, statement) if task.options.all_rows else run_read(task, id, statement.text)
    )
    if result.truncated and not task.options.allow_truncated:
        raise Invalid(
            f"the query has more rows than the {len(result.rows or [])} that the platform returns at once. "
            "Set all_rows: true, put LIMIT and OFFSET into the query, or set allow_truncated: true"
        )
    path, result = task.options.csv_dest, redact_values(result, statement)
    table, text = as_table(result), as_csv(result)
    if path is None or content_of(path) == text:
        return Plan(result=table)
    return Plan(
        result=table,
        steps=[Step(f"write {len(table['rows'])} rows to {path}", lambda: write_whole(path, text))],
        before={"csv_dest": path, "exists": os.path.exists(path)},
        after={"csv_dest": path, "rows": len(table["rows"])},
    )


def read_all_pages(task: Task[DatabaseQueryOptions], id: str, statement: Statement) -> QueryResult:
    """Return all rows of a read, page by page, as one result. Without an order, they may not fit."""
    last = whole = run_read(task, id, statement.page(MAX_ROWS, 0))
    rows = list(whole.rows or [])
    while last.truncated or len(last.rows or []) >= MAX_ROWS:
        if not last.rows:
            raise UnexpectedAnswer(f"the page from row {len(rows)} on is truncated and empty; stopped")
        if "ORDER" not in statement.outer_words:
            raise Invalid(
                f"there are {MAX_ROWS} rows or more, and without an order the same row may be on two pages "
                "and another on none. Add an ORDER BY that gives every row a distinct position"
            )
        task.progress(f"{len(rows)} rows read")
        last = run_read(task, id, statement.page(MAX_ROWS, len(rows)))
        rows += last.rows or []
    return whole.model_copy(update={"rows": rows, "row_count": len(rows), "truncated": False})


def run_read(task: Task[DatabaseQueryOptions], id: str, sql: str) -> QueryResult:
    """Run a plain read, and once more when the answer was lost before its time was over."""
    begun = time.monotonic()
    try:
        return run_statement(task, id, sql)
    except CallOutcomeUnknown:
        if time.monotonic() - begun >= MAX_SECONDS:
            raise
        return run_statement(task, id, sql)


def run_statement(task: Task[DatabaseQueryOptions], id: str, sql: str) -> QueryResult:
    """Send a statement. What becomes of one that is cut is not documented, whatever the error is."""
    begun = time.monotonic()
    try:
        return task.account.database_query(id, sql)
    except (Refused, ServerFailure) as error:
        if time.monotonic() - begun >= MAX_SECONDS or (isinstance(error, ServerFailure) and error.timed_out):
            error.append(
                f". The platform cuts every query at {MAX_SECONDS} seconds: make it smaller, or give it an "
                "index"
            )
            error.nothing_done, error.effect_unknown = False, True
        raise


def redact_values(result: QueryResult, statement: Statement) -> QueryResult:
    columns = [
        column.model_copy(update={"name": statement.without_values(column.name)}) if column.name else column
        for column in result.columns or []
    ]
    return result.model_copy(update={"columns": columns})


def plan_write(task: Task[DatabaseQueryOptions], id: str, asked: Statement, statement: Statement) -> Plan:
    """Plan a statement that may write. The plan has it as the user wrote it, without the values."""
    found: list[QueryResult] = []

    def run() -> None:
        found.append(redact_values(write_once(task, id, statement), statement))

    steps, path = [Step(f"run the {asked.verb} statement", run)], task.options.csv_dest
    if path is not None:
        steps.append(Step(f"write what it returns to {path}", lambda: write_whole(path, as_csv(found[0]))))
    return Plan(
        result=None,
        steps=steps,
        reread=lambda: as_table(found[0]) if found else None,
        after={"query": asked.text},
    )


def write_once(task: Task[DatabaseQueryOptions], id: str, statement: Statement) -> QueryResult:
    try:
        result = run_statement(task, id, statement.text)
    except (Refused, CallOutcomeUnknown, UnexpectedAnswer) as error:
        if not isinstance(error, Refused) or error.effect_unknown:
            raise EffectUnverified(
                f"whether the statement was carried out is unknown: {error.message}. It was not sent again; "
                "check the data before you run it again"
            ) from error
        if statement.several:
            error.append(
                ". The query has several statements: those before it may have been carried out. Check the "
                "data before you run it again"
            )
        raise
    # Only a lone statement that counts its rows can say that nothing was changed.
    lone = statement.verb in CHANGES and not (statement.several or statement.ambiguous)
    task.effects.nothing_changed = lone and result.row_count == 0
    if result.truncated:
        task.warn("the statement was carried out, but the platform did not return all of its rows")
    return result


def as_csv(result: QueryResult) -> str:
    """Return a result as CSV with a line of names. A null is an empty field, as empty text is."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(column_names(result))
    writer.writerows(result.rows or [])
    return buffer.getvalue()


def content_of(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except (OSError, UnicodeDecodeError):
        return None


def write_whole(path: str, text: str) -> None:
    try:
        with atomic_file(path) as file:
            file.write(text)
    except OSError as error:
        raise HostedError(f"csv_dest {path!r} could not be written: {error}") from None
