#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: database_query
short_description: Run a statement in a database
version_added: 1.0.0
author:
  - hosted.services contributors (@hosted-services)
description:
  - Runs one SQL statement through the platform, so that no connection to the database is needed.
  - A plain read is run in check mode too, and leaves the task unchanged. What is one is decided by the text alone, so
    a C(SELECT) that calls a function which writes is sent in check mode as well; see O(read_only).
  - Anything else is refused unless O(read_only=false), is not run in check mode, and is never sent twice. When its answer
    is lost, or the platform cuts it at 15 seconds, the task fails and says that the outcome is unknown.
  - Whether two queries share a session is not documented. Send a transaction whole, from C(BEGIN) to C(COMMIT), in one
    query; a task that sends one half alone warns.
  - The platform cuts every statement at 15 seconds and returns at most 500 rows at once.
options:
  query:
    description:
      - The statement. C(:name) stands for a value of O(params), outside quotes and comments.
    type: str
    required: true
  params:
    description:
      - Values for the statement. They are written as literals in the way of the engine, so they cannot become SQL, and
        are never shown.
      - Text, numbers, true, false, null and dates can be used, and a list for C(IN (:names)).
      - Known for postgresql, mysql, mariadb and sqlite; refused for other engines.
    type: dict
    default: {}
  read_only:
    description:
      - Refuse everything that is not one plain read, such as C(SELECT), C(WITH), C(SHOW) or C(EXPLAIN).
      - This goes by the text alone. A C(SELECT) that calls a function counts as a plain read even if the function writes.
        It is sent whatever this option is, in check mode too, and again when its answer is lost. Skip such a task in
        check mode by the condition C(not ansible_check_mode).
    type: bool
    default: true
  all_rows:
    description:
      - Read all rows of a C(SELECT), in pages of 500 for which LIMIT and OFFSET are added. The query must have neither,
        and when there are more rows than one page has, an C(ORDER BY) that tells every two rows apart.
    type: bool
    default: false
  allow_truncated:
    description:
      - Accept that the platform leaves out rows beyond 500. The task fails otherwise.
    type: bool
    default: false
  csv_dest:
    description:
      - File on the machine where the task runs that takes the rows as CSV with a line of names, for its owner alone. A
        null becomes an empty field.
      - The task is changed when the file was not as it had to be. It is not written in check mode.
    type: path
extends_documentation_fragment:
  - hosted.services.common
  - hosted.services.common.attributes
  - hosted.services.on_service
attributes:
  idempotent:
    description: Run twice in a row, the second run changes nothing.
    support: partial
    details: Reads are. What a statement that writes does the second time depends on it.
seealso:
  - module: hosted.services.database_info
"""

EXAMPLES = r"""
- name: Who ordered lately?
  hosted.services.database_query:
    service: shop-db
    query: SELECT id, email FROM orders WHERE placed > :since ORDER BY id
    params:
      since: "2026-11-01"
    all_rows: true
  register: orders

- name: Show the first
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
  description: Result of the statement. Null for a statement that writes in check mode.
  returned: success
  type: dict
  sample:
    columns: [{name: id, type: integer}, {name: email, type: text}]
    rows: [["1", "ann@example.com"]]
    records: [{id: "1", email: ann@example.com}]
    row_count: 1
    truncated: false
    elapsed_ms: 3
    command: SELECT
  contains:
    columns:
      description: Name and type of each column, as the engine calls them.
      type: list
      elements: dict
      contains:
        name:
          description: Name of the column.
          type: str
        type:
          description: Type of the column.
          type: str
    rows:
      description: The rows as lists. Every value is a string, and null stays null.
      type: list
      elements: list
    records:
      description: The rows as dictionaries by column. When a name comes twice, the second column is C(NAME_2).
      type: list
      elements: dict
    row_count:
      description: Rows that were read, or changed.
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
actions:
  description: Changes that the task made, or would make in check mode, one sentence each. Reads are not included.
  returned: success
  type: list
  elements: str
  sample: ["run the DELETE statement"]
"""

from ansible_collections.hosted.services.plugins.module_utils._ansible.module import run_module
from ansible_collections.hosted.services.plugins.module_utils._resources.database_query import DATABASE_QUERY


def main() -> None:
    """Run the module."""
    run_module(DATABASE_QUERY)


if __name__ == "__main__":
    main()
