#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: ssh_key
short_description: Manage the SSH keys of the account
version_added: 1.0.0
author:
  - hosted.services contributors (@hosted-services)
description:
  - Registers and removes public SSH keys.
  - A key on the account opens SFTP on all services of the account, without a password.
  - A private key, a damaged key, a key of a type that the platform does not accept and an RSA key of less than
    2048 bits are refused before anything is sent.
options:
  name:
    description:
      - Name of the key. Needed to register one.
      - With O(state=absent), the name has to agree with O(public_key), O(public_key_file) or O(fingerprint) if one
        of them is given too.
    type: str
  public_key:
    description:
      - The key as it stands in a public-key file.
      - Accepted are C(ssh-ed25519), C(ecdsa-sha2-*), and C(ssh-rsa) of 2048 bits or more.
      - It is not shown in the task's output, in case that something else is given by mistake.
    type: str
  public_key_file:
    description:
      - File that holds the key. It is read where the task runs, which is the controller as a rule.
      - A relative path is looked for in C(files/) of the role and next to the playbook, see the notes.
    type: path
  fingerprint:
    description:
      - Fingerprint of a registered key to remove, as SHA256 or MD5, with or without the prefix.
    type: str
  replace:
    description:
      - When one other key has this name, put this one in its place. The new one is registered before the old one goes, so
        that one of them opens at any time. Where the platform refuses two keys of one name, the old one goes first; should
        the new one then be refused, the error names the one that went.
      - Where several other keys have the name, the task is refused, since which of them to replace is not known.
    type: bool
    default: false
  state:
    description:
      - V(present) makes sure that the key is registered.
      - V(absent) makes sure that it is not. It stops opening SFTP at once; sessions that stand live until they end.
    type: str
    choices: [present, absent]
    default: present
extends_documentation_fragment:
  - hosted.services.common
  - hosted.services.common.attributes
seealso:
  - module: hosted.services.ssh_key_info
"""

EXAMPLES = r"""
- name: Let the deploy key in
  hosted.services.ssh_key:
    name: deploy
    public_key: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJdD7y3aLq454yWBdwLWbieU1ebz9/cu7/QEXn9OIeZJ deploy@example

- name: Put a new key in the place of the one of this name
  hosted.services.ssh_key:
    name: deploy
    public_key_file: ~/.ssh/deploy.pub
    replace: true

- name: Lock somebody out
  hosted.services.ssh_key:
    fingerprint: SHA256:rdEdEyCDVphgjdPgyNRXFp2hIjIWnMf0hzX2Nn7QPzo
    state: absent
"""

RETURN = r"""
ssh_key:
  description: The key, or nothing when it is absent. In check mode, as it is expected to be.
  returned: success
  type: dict
  sample:
    id: key_71c0
    name: deploy
    algorithm: ssh-ed25519
    label: deploy@example
    fingerprint: SHA256:rdEdEyCDVphgjdPgyNRXFp2hIjIWnMf0hzX2Nn7QPzo
    created_at: "2026-11-20T08:15:30.000Z"
    last_used_at: null
  contains:
    id:
      description: Id of the key. Null in check mode when it would be registered.
      type: str
    name:
      description: Name of the key.
      type: str
    algorithm:
      description: Type of the key.
      type: str
    label:
      description: Label of the key.
      type: str
    fingerprint:
      description: Fingerprint of the key, in the platform's notation.
      type: str
    created_at:
      description: When the key was registered, in UTC.
      type: str
    last_used_at:
      description: When the key last opened a session, in UTC. Null when it never did.
      type: str
actions:
  description: Changes that the task made, or would make in check mode, one sentence each.
  returned: success
  type: list
  elements: str
  sample: ["register SSH key 'deploy' (SHA256:rdEdEyCDVphgjdPgyNRXFp2hIjIWnMf0hzX2Nn7QPzo)"]
"""

from ansible_collections.hosted.services.plugins.module_utils._ansible.module import run_module
from ansible_collections.hosted.services.plugins.module_utils._resources.ssh_key import SSH_KEY


def main() -> None:
    """Run the module."""
    run_module(SSH_KEY)


if __name__ == "__main__":
    main()
