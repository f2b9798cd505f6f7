#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: sftp_password
short_description: Make the SFTP password of a service
version_added: 1.0.0
author:
  - hosted.services contributors (@hosted-services)
description:
  - Makes an SFTP password where a service has none yet, or a new one on every run.
  - The platform shows a password this once, and a new one ends the one before. It is written to O(secrets_dest) before
    anything else can fail.
  - A key on the account opens SFTP without any password; see M(hosted.services.ssh_key).
options:
  update_password:
    description:
      - V(on_create) makes a password when the service has none.
      - V(always) makes one on every run, which ends the one before. Such a task is never unchanged.
    type: str
    choices: [on_create, always]
    default: on_create
  secrets_dest:
    description:
      - File on the machine where the task runs that takes the password, as JSON with the keys C(host), C(port),
        C(username) and C(password), for its owner alone. A file that is there is put aside.
      - If neither this nor O(return_secrets) is set, a file in C(hosted_services/secrets) of Ansible's home is used,
        which is C(~/.ansible) by default.
      - Before the password is asked for, a file of the size is written there and removed. Where that fails, nothing is
        asked for.
      - A run that ends between the call and the file, such as one that is killed, leaves a note in
        C(hosted_services/secrets/unkept). The next task on the service warns of it; set O(update_password=always) then.
    type: path
  return_secrets:
    description:
      - Whether the password is in the result, as RV(secrets). Use C(no_log) with it.
    type: bool
    default: false
extends_documentation_fragment:
  - hosted.services.common
  - hosted.services.common.attributes
  - hosted.services.on_service
seealso:
  - module: hosted.services.sftp_info
  - module: hosted.services.sftp_sync
  - module: hosted.services.ssh_key
"""

EXAMPLES = r"""
- name: A password for a partner who has no key
  hosted.services.sftp_password:
    service: survival
    secrets_dest: ~/secrets/survival-sftp.json

- name: Another one, because somebody left
  hosted.services.sftp_password:
    service: survival
    update_password: always
    return_secrets: true
  register: access
  no_log: true
"""

RETURN = r"""
sftp_password:
  description: The access, without its password.
  returned: success
  type: dict
  sample:
    host: node-1.example.com
    port: 2022
    username: svc-7f3a
    password_set_at: "2026-11-20T08:15:30.000Z"
  contains:
    host:
      description: The server.
      type: str
    port:
      description: Its port.
      type: int
    username:
      description: Who logs in.
      type: str
    password_set_at:
      description: When the password was made, in UTC. Null when there is none.
      type: str
secrets:
  description: The access with its password.
  returned: when a password was made, and O(return_secrets) is set
  type: dict
  sample:
    host: node-1.example.com
    port: 2022
    username: svc-7f3a
    password: example
  contains:
    host:
      description: Host.
      type: str
    port:
      description: Port.
      type: int
    username:
      description: User.
      type: str
    password:
      description: The new password.
      type: str
secrets_file:
  description: The file that took the password.
  returned: when a password was made and a file was written
  type: str
  sample: /home/deploy/secrets/survival-sftp.json
actions:
  description: Changes that the task made, or would make in check mode, one sentence each.
  returned: success
  type: list
  elements: str
  sample: ["generate an SFTP password for svc-7f3a"]
"""

from ansible_collections.hosted.services.plugins.module_utils._ansible.module import run_module
from ansible_collections.hosted.services.plugins.module_utils._resources.sftp_password import SFTP_PASSWORD


def main() -> None:
    """Run the module."""
    run_module(SFTP_PASSWORD)


if __name__ == "__main__":
    main()
