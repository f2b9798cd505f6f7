# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading what is in a database, the rows of its tables, and how to connect to it (Database tunnel)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .._api.models import DatabaseInventory, DatabaseTable
from .databases.engine import as_table, check_supported
from .services.on_service import OnServiceOptions, known_id
from .shared.account import no_rows
from .shared.identify import near_miss
from .shared.options import option
from .shared.plan import Plan, Resource, Task
from .shared.task_errors import Ambiguous, Invalid, NoSuchItem

ROWS_PER_PAGE = 50


@dataclass(frozen=True, kw_only=True)
class DatabaseInfoOptions(OnServiceOptions):
    table: str | None = option(None, selects=True)
    schema: str | None = option(None, selects=True)
    page: int = 0
    inventory: bool = True
    return_secrets: bool = option(False, no_log=False)


class DatabaseInfoResource(Resource[DatabaseInfoOptions]):
    """A database. Only what is asked for is read beside the inventory."""

    result_key = "database"

    def plan(self, task: Task[DatabaseInfoOptions]) -> Plan:
        options = task.options
        if options.page < 0:
            raise Invalid(f"page is {options.page}; pages are counted from 0")
        for name, value in (("schema", options.schema), ("page", options.page)):
            if value and not options.table:
                unset = "table is not set; set table as well"
                raise Invalid(f"{name} is {value!r}, and {unset}, or leave {name} out")
        if options.table and not options.inventory:
            raise Invalid("table is looked up in the inventory; leave inventory at true to read a table")
        return Plan(result=read_database(task, known_id(task)))


DATABASE_INFO = DatabaseInfoResource()


def read_database(task: Task[DatabaseInfoOptions], id: str) -> dict[str, Any]:
    """Return what was asked for. Without the inventory the connection tells the engine, and no more."""
    options, found = task.options, {}
    if options.inventory:
        inventory = task.account.database(id)
        found = inventory.as_dict()
        if options.table:
            check_supported(inventory, options.service)
            found["page"] = page_of(task, id, find_table(task, inventory, options.table))
    if options.return_secrets or not options.inventory:
        connection = task.account.database_connection(id)
        found.setdefault("engine", connection.engine)
        if options.return_secrets:
            found["connection"] = connection.as_dict()
    return found


def find_table(
    task: Task[DatabaseInfoOptions], inventory: DatabaseInventory, name: str
) -> DatabaseTable | None:
    """Return the table that the task names; none where check mode takes it that the play makes it."""
    schema = task.options.schema
    tables = [table for table in inventory.tables or [] if schema in (None, table.schema_)]
    found = [table for table in tables if table.name == name]
    if not found:
        where = f" in schema {schema!r}" if schema else ""
        known = (table.name for table in tables if table.name)
        missing = NoSuchItem(f"there is no table {name!r}{where}{near_miss(name, known)}")
        task.expect_created(missing, name)
        return None
    if len(found) > 1:
        schemas = sorted(table.schema_ or "" for table in found)
        raise Ambiguous(f"the schemas {', '.join(schemas)} have a table {name!r} each; set schema")
    return found[0]


def page_of(task: Task[DatabaseInfoOptions], id: str, table: DatabaseTable | None) -> dict[str, Any]:
    """Return a page of a table. A full one may be the last: the platform does not say."""
    number = task.options.page
    if table is None:
        schema, name, result = task.options.schema, task.options.table, as_table(no_rows())
    else:
        schema, name = table.schema_ or "", table.name or ""
        result = as_table(task.client.database_rows(id, schema, name, number))
    full = len(result["rows"]) >= ROWS_PER_PAGE
    return {"schema": schema, "table": name, "number": number, "maybe_more": full, **result}
