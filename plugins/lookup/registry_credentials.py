# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: registry_credentials
short_description: Return the credentials for the account's image registry
version_added: 1.0.0
author:
  - hosted.services contributors (@hosted-services)
description:
  - Returns the credentials for the account's space in the platform's image registry, with the images
    C(HOST/PROJECT/SLUG:TAG). They are distinct from the API token.
  - A token of scope C(REGISTRY) is enough.
options:
  _terms:
    description: Takes no terms. An account has one registry.
    type: list
    elements: str
extends_documentation_fragment:
  - hosted.services.connection
  - hosted.services.connection.environment
  - hosted.services.connection.lookup_variables
notes:
  - M(hosted.services.app_image) does not need this lookup to push images.
seealso:
  - module: hosted.services.app_image
  - plugin: hosted.services.database_url
    plugin_type: lookup
"""

EXAMPLES = r"""
- name: Let podman pull from the registry
  containers.podman.podman_login:
    registry: "{{ registry.host }}"
    username: "{{ registry.username }}"
    password: "{{ registry.secret }}"
  no_log: true
  vars:
    registry: "{{ lookup('hosted.services.registry_credentials') }}"

- name: Write the credentials to docker's configuration file
  ansible.builtin.copy:
    content: "{{ {'auths': {registry.host: {'auth': login | b64encode}}} | to_json }}"
    dest: ~/.docker/config.json
    mode: "0600"
  no_log: true
  vars:
    registry: "{{ lookup('hosted.services.registry_credentials', token_file='~/.config/hosted/registry-token') }}"
    login: "{{ registry.username ~ ':' ~ registry.secret }}"
"""

RETURN = r"""
_list:
  description: The credentials, as the only item of the list. Fields that the platform adds in the future are returned,
    too.
  type: list
  elements: dict
  contains:
    host:
      description: The host name of the registry.
      type: str
    project:
      description: The account's space in the registry.
      type: str
    username:
      description: The user name.
      type: str
    secret:
      description: The password.
      type: str
"""

from typing import Any

from ..module_utils._api.client import Client
from ..module_utils._resources.shared.account import Account
from ..module_utils._resources.shared.task_errors import Invalid
from ..plugin_utils._templating.lookups import ReadingLookup


class LookupModule(ReadingLookup):
    """Returns the account's registry credentials."""

    def read(self, client: Client, terms: list[str]) -> list[Any]:
        """Return the credentials as a list of one dictionary."""
        if terms:
            raise Invalid(f"an account has one registry, so this lookup takes no terms; it got {len(terms)}")
        return [Account(client).registry_credentials().as_dict()]
