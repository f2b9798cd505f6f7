#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: ssh_key
short_description: Manage the SSH keys of the account
version_added: 1.0.0
description:
  - Registers and removes public SSH keys. A key opens SFTP on all services of the account, without a password.
  - Refuses a private key, a damaged key, and a key of another type or size, before anything is sent.
  - Recognizes a key by its fingerprint, SHA256 or MD5. If the platform shows another kind, O(state=absent) with a key
    or a fingerprint fails, as the key may still be registered; give its O(name) alone.
options:
  name:
    description: Name of the key. Required to register one. With O(state=absent), the key given by other options must
      have it.
    type: str
  public_key:
    description: The key, as in a public-key file, of type C(ssh-ed25519), C(ecdsa-sha2-*), or C(ssh-rsa) of 2048 bits
      or more. It is not shown, in case it is a private key by mistake. Options in front of it are refused, because the
      platform would drop them.
    type: str
  public_key_file:
    description: File that contains the key, on the machine where the task runs, usually the controller.
    type: path
  fingerprint:
    description: Fingerprint of a key to remove, in hexadecimal digits or base64, with or without the prefix.
    type: str
  replace:
    description: Replace another key of this name. The new key is registered before the old one is removed. If several
      other keys have the name, the task fails.
    type: bool
    default: false
  state:
    description: V(present) registers the key, V(absent) removes it. A removed key stops opening SFTP at once;
      established sessions continue until they end.
    type: str
    choices: [present, absent]
    default: present
extends_documentation_fragment:
  - hosted.services.common
seealso:
  - module: hosted.services.ssh_key_info
"""

EXAMPLES = r"""
- name: Register the deploy key
  hosted.services.ssh_key:
    name: deploy
    public_key: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJdD7y3aLq454yWBdwLWbieU1ebz9/cu7/QEXn9OIeZJ deploy@example

- name: Replace the key with this name
  hosted.services.ssh_key:
    name: deploy
    public_key_file: ~/.ssh/deploy.pub
    replace: true

- name: Remove a key by its fingerprint
  hosted.services.ssh_key:
    fingerprint: SHA256:rdEdEyCDVphgjdPgyNRXFp2hIjIWnMf0hzX2Nn7QPzo
    state: absent

- name: Register the keys of a team
  hosted.services.ssh_key:
    name: "{{ item | basename | splitext | first }}"
    public_key_file: "{{ item }}"
  loop: "{{ query('ansible.builtin.fileglob', 'keys/*.pub') }}"

- name: Remove a key by its name
  hosted.services.ssh_key:
    name: deploy
    state: absent
"""

RETURN = r"""
ssh_key:
  description: The key, or null if it is absent. In check mode, the expected result.
  returned: success
  type: dict
  contains:
    # generated: ssh_key
    id:
      description: Id of the key. Null in check mode if it would be registered.
      type: str
      sample: key_71c0
    name:
      description: Name of the key.
      type: str
      sample: deploy
    algorithm:
      description: Type of the key.
      type: str
      sample: ssh-ed25519
    label:
      description: Label of the key.
      type: str
      sample: deploy@example
    fingerprint:
      description: Fingerprint of the key, in the platform's notation.
      type: str
      sample: SHA256:rdEdEyCDVphgjdPgyNRXFp2hIjIWnMf0hzX2Nn7QPzo
    created_at:
      description: When the key was registered, in UTC.
      type: str
      sample: '2026-11-20T08:15:30.000Z'
    last_used_at:
      description: When the key was last used, in UTC. Null if it was never used.
      type: str
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
from ansible_collections.hosted.services.plugins.module_utils._resources.ssh_key import SSH_KEY


def main() -> None:
    """Run the module."""
    run_module(SSH_KEY)


if __name__ == "__main__":
    main()
