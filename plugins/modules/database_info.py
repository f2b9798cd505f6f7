#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: database_info
short_description: Read the tables of a database
version_added: 1.0.0
description: Returns the engine, version and tables of a database, and on request a page of a table and the data to
  connect with.
options:
  table:
    description: Table to read a page of.
    type: str
  schema:
    description: Schema of O(table), if several schemas have a table with this name.
    type: str
  page:
    description: Page of O(table), counted from 0. A page has 50 rows.
    type: int
    default: 0
  inventory:
    description: Whether to read the version and the tables, for which the database must be running. With V(false),
      returns only the engine, and the connection with O(return_secrets).
    type: bool
    default: true
  return_secrets:
    description: Whether to return the connection data, including the password. Set C(no_log) on the task.
    type: bool
    default: false
extends_documentation_fragment:
  - hosted.services.common.info_attributes
  - hosted.services.common
  - hosted.services.on_service
seealso:
  - module: hosted.services.database_query
"""

EXAMPLES = r"""
- name: Read the tables and their sizes
  hosted.services.database_info:
    service: shop-db
  register: db

- name: The largest table
  ansible.builtin.debug:
    msg: "{{ db.database.tables | sort(attribute='bytes') | map(attribute='name') | last }}"

- name: The first rows of a table
  hosted.services.database_info:
    service: shop-db
    table: orders
  register: orders

- name: How an application connects
  hosted.services.database_info:
    service: shop-db
    return_secrets: true
  register: access
  no_log: true
"""

RETURN = r"""
database:
  description: The database, with everything that the platform shows of it, and the requested parts.
  returned: success
  type: dict
  contains:
    engine:
      description: The engine.
      type: str
    supported:
      description: Whether the platform can read rows and run queries in this engine.
      type: bool
    database:
      description: Name of the database.
      type: str
    version:
      description: Version of the engine.
      type: str
    tables:
      description: The tables.
      type: list
      elements: dict
      contains:
        schema:
          description: Schema.
          type: str
        name:
          description: Name.
          type: str
        rows:
          description: Number of rows, as the engine estimates it.
          type: int
        bytes:
          description: Size on disk, in bytes.
          type: int
    page:
      description: A page of O(table).
      returned: if O(table) is set
      type: dict
      contains:
        schema:
          description: The schema of the table.
          type: str
        table:
          description: The table.
          type: str
        number:
          description: Number of the page, counted from 0.
          type: int
        maybe_more:
          description: Whether the page is full, so that another may follow.
          type: bool
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
          description: The rows as dictionaries by column. If two columns have the same name, the second one is
            C(NAME_2).
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
    connection:
      description: Connection data for other services of the project.
      returned: if O(return_secrets) is true
      type: dict
      contains:
        engine:
          description: Database engine.
          type: str
        host:
          description: Host.
          type: str
        port:
          description: Port.
          type: int
        user:
          description: User.
          type: str
        password:
          description: Password of the user.
          type: str
        database:
          description: Name of the database.
          type: str
        url:
          description: The full connection URL.
          type: str
"""

from ansible_collections.hosted.services.plugins.module_utils._ansible.module import run_module
from ansible_collections.hosted.services.plugins.module_utils._resources.database_info import DATABASE_INFO


def main() -> None:
    """Run the module."""
    run_module(DATABASE_INFO)


if __name__ == "__main__":
    main()
