#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: database_query
short_description: Run a statement in a database
version_added: 1.0.0
description:
  - Runs one SQL statement through the platform, which stops it after 15 seconds and returns at most 500 rows.
  - Runs plain reads in check mode too. They do not report a change.
  - Refuses every other statement unless O(read_only=false), does not run it in check mode, and never sends it twice. If
    the response is lost, or the platform stops it, the task fails and says that the outcome is unknown.
  - Send a transaction as a whole, from C(BEGIN) to C(COMMIT), in one query. Two queries may not share a session.
options:
  query:
    description: The SQL statement. Outside quotes and comments, C(:name) is replaced with a value from O(params).
    type: str
    required: true
  params:
    description: Values for the statement, which are strings, numbers, booleans, null, dates, or lists for C(IN
      (:names)). They are never shown, and cannot inject SQL. MySQL and MariaDB get a string with a backslash in hex,
      and refuse it in C(IDENTIFIED BY :password).
    type: dict
    default: {}
  read_only:
    description:
      - Refuse every query that is not a single plain read, such as C(SELECT), C(WITH), C(SHOW) or C(EXPLAIN).
      - Only the text is checked. A C(SELECT) of a function that writes counts as a plain read. It runs in check mode
        too, unless the condition C(not ansible_check_mode) skips it, and again if the response is lost.
    type: bool
    default: true
  all_rows:
    description: Read all rows of a C(SELECT) without LIMIT and OFFSET, in pages of 500. For more than one page, it
      needs an C(ORDER BY) that gives every row a distinct position.
    type: bool
    default: false
  allow_truncated:
    description: Accept that the platform omits rows beyond 500. Otherwise, the task fails in this case.
    type: bool
    default: false
  csv_dest:
    description: File for the rows as CSV with a header line, with mode 0600, where the task runs. A null becomes an
      empty field. New content of it is a change.
    type: path
extends_documentation_fragment:
  - hosted.services.common
  - hosted.services.on_service
attributes:
  idempotent:
    support: partial
    details: Reads are idempotent. For a statement that writes, it depends on the statement.
seealso:
  - module: hosted.services.database_info
"""

EXAMPLES = r"""
- name: Read recent orders
  hosted.services.database_query:
    service: shop-db
    query: SELECT id, email FROM orders WHERE placed > :since ORDER BY id
    params:
      since: "2026-11-01"
    all_rows: true
  register: orders

- name: Show the first one
  ansible.builtin.debug:
    msg: "{{ orders.result.records[0].email }}"

- name: Close old sessions
  hosted.services.database_query:
    service: shop-db
    query: DELETE FROM sessions WHERE seen < :limit
    params:
      limit: "2026-10-01"
    read_only: false
"""

RETURN = r"""
result:
  description: Result of the statement. Null in check mode for a statement that writes.
  returned: success
  type: dict
  contains:
    # generated: rows
    columns:
      description: Name and type of each column, as the engine reports them.
      type: list
      elements: dict
      contains:
        name:
          description: Name of the column.
          type: str
          sample: email
        type:
          description: Type of the column.
          type: str
          sample: text
    rows:
      description: The rows as lists. Every value is a string, and null stays null.
      type: list
      elements: list
      sample:
      - - '1'
        - ann@example.com
    records:
      description: The rows as dictionaries by column. If two columns have the same name, the second one is C(NAME_2).
      type: list
      elements: dict
    row_count:
      description: Number of rows that were read or changed.
      type: int
    truncated:
      description: Whether the platform left rows out.
      type: bool
    elapsed_ms:
      description: How long it took, in milliseconds.
      type: int
    command:
      description: The kind of statement.
      type: str
      sample: SELECT
    # generated end
# generated: actions
actions:
  description: Changes that the task made, or would make in check mode, one sentence each.
  type: list
  elements: str
  sample:
  - stop service 'survival' (svc_8c1d)
  returned: success
# generated end
"""

from ansible_collections.hosted.services.plugins.module_utils._ansible.module import run_module
from ansible_collections.hosted.services.plugins.module_utils._resources.database_query import DATABASE_QUERY


def main() -> None:
    """Run the module."""
    run_module(DATABASE_QUERY)


if __name__ == "__main__":
    main()
