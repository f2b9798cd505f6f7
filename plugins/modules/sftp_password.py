#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: sftp_password
short_description: Generate the SFTP password of a service
version_added: 1.0.0
description:
  - Generates an SFTP password for a service. A new one invalidates the one before it.
  - The file of O(secrets_dest) is JSON with the keys C(host), C(port), C(username) and C(password).
  - An SSH key on the account opens SFTP without a password; see M(hosted.services.ssh_key).
options:
  update_password:
    description: V(on_create) generates a password if the service has none. V(always) generates one in every run.
    type: str
    choices: [on_create, always]
    default: on_create
extends_documentation_fragment:
  - hosted.services.common
  - hosted.services.common.secrets
  - hosted.services.on_service
notes:
  - A password that the service already has cannot be read again. With O(return_secrets) and without O(secrets_dest),
    the task returns none and warns. If a run is killed before it stored the password, set O(update_password=always).
seealso:
  - module: hosted.services.sftp_info
  - module: hosted.services.sftp_sync
  - module: hosted.services.ssh_key
"""

EXAMPLES = r"""
- name: Generate a password for a partner who has no key
  hosted.services.sftp_password:
    service: survival
    secrets_dest: ~/secrets/survival-sftp.json

- name: Replace the password, because somebody left
  hosted.services.sftp_password:
    service: survival
    update_password: always
    return_secrets: true
  register: access
  no_log: true
"""

RETURN = r"""
sftp_password:
  description: The SFTP access, without its password.
  returned: success
  type: dict
  contains:
    # generated: sftp
    host:
      description: The server.
      type: str
      sample: node-1.example.com
    port:
      description: Its port.
      type: int
      sample: 2022
    username:
      description: User name to log in with.
      type: str
      sample: svc-7f3a
    password_set_at:
      description: When the password was set, in UTC. Null if there is none.
      type: str
    # generated end
secrets:
  description: The SFTP access with its password.
  returned: if a password was generated and O(return_secrets) is set
  type: dict
  contains:
    # generated: sftp host port username
    host:
      description: The server.
      type: str
      sample: node-1.example.com
    port:
      description: Its port.
      type: int
      sample: 2022
    username:
      description: User name to log in with.
      type: str
      sample: svc-7f3a
    # generated end
    password:
      description: The new password.
      type: str
# generated: secrets_file
secrets_file:
  description: File that the generated secrets were written to, if there are any.
  type: str
  sample: /home/me/survival.json
  returned: success
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
from ansible_collections.hosted.services.plugins.module_utils._resources.sftp_password import SFTP_PASSWORD


def main() -> None:
    """Run the module."""
    run_module(SFTP_PASSWORD)


if __name__ == "__main__":
    main()
