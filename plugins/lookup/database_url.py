# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: database_url
short_description: Return the connection URL of a database
version_added: 1.0.0
author:
  - hosted.services contributors (@hosted-services)
description:
  - Returns the URL with which neighbors in the project connect to a database service. It holds the password. Its host
    name resolves only inside the network of the project.
  - Applications in the project do not need it. Their variables can hold C(${ALIAS.URL}), which follows the database if
    its port changes; see M(hosted.services.environment).
options:
  _terms:
    description: Ids or names of database services. An id takes precedence over a name.
    type: list
    elements: str
    required: true
  project:
    description: Name or id of the project of the services, if several services have the same name.
    type: str
  family:
    description: Family of the services, if several services have the same name.
    type: str
    choices: [GAME, APP, COMPUTE, VIRTUAL_MACHINE, DEDICATED, BUCKET]
extends_documentation_fragment:
  - hosted.services.connection
  - hosted.services.connection.environment
  - hosted.services.connection.lookup_variables
seealso:
  - module: hosted.services.database_info
  - module: hosted.services.environment
  - plugin: hosted.services.registry_credentials
    plugin_type: lookup
"""

EXAMPLES = r"""
- name: Configure a worker that runs in the project
  ansible.builtin.template:
    src: worker.ini.j2  # url = {{ lookup('hosted.services.database_url', 'orders-db', project='web') }}
    dest: /etc/worker.ini
    mode: "0600"
  diff: false

- name: Pass the URL to a program
  ansible.builtin.command:
    cmd: /usr/local/bin/migrate
  environment:
    DATABASE_URL: "{{ lookup('hosted.services.database_url', 'orders-db') }}"
  no_log: true
  changed_when: true
"""

RETURN = r"""
_list:
  description: One connection URL for each service.
  type: list
  elements: str
"""

from typing import Any

from ..module_utils._api.client import Client
from ..module_utils._resources.databases.engine import connection_url
from ..module_utils._resources.services.on_service import OneServiceOptions
from ..module_utils._resources.shared.names import check_selector
from ..module_utils._resources.shared.plan import Task
from ..module_utils._resources.shared.task_errors import Invalid
from ..plugin_utils._templating.lookups import ReadingLookup


class LookupModule(ReadingLookup):
    """Returns the connection URLs of databases."""

    def read(self, client: Client, terms: list[str]) -> list[Any]:
        """Return the connection URL of each service in ``terms``."""
        if not terms or not all(isinstance(term, str) and term.strip() for term in terms):
            raise Invalid("name a database service by id or by name; none of the terms may be empty")
        for term in terms:
            check_selector("service", term)
        narrowed = {name: self.get_option(name) for name in ("project", "family")}
        return [connection_url(Task(client, OneServiceOptions(**narrowed, service=term))) for term in terms]
