#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: ssh_key_info
short_description: Read the SSH keys of the account
version_added: 1.0.0
description: Returns the public SSH keys that open SFTP on the services of the account.
options:
  name:
    description: Only keys with this name.
    type: str
  fingerprint:
    description: Only the key with this fingerprint, in hexadecimal or base64, with or without prefix.
    type: str
extends_documentation_fragment:
  - hosted.services.common.info_attributes
  - hosted.services.common
seealso:
  - module: hosted.services.ssh_key
"""

EXAMPLES = r"""
- name: Read all keys
  hosted.services.ssh_key_info:
  register: keys

- name: List keys that were never used
  ansible.builtin.debug:
    msg: "{{ keys.ssh_keys | selectattr('last_used_at', 'none') | map(attribute='name') }}"
"""

RETURN = r"""
ssh_keys:
  description: The keys.
  returned: success
  type: list
  elements: dict
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
"""

from ansible_collections.hosted.services.plugins.module_utils._ansible.module import run_module
from ansible_collections.hosted.services.plugins.module_utils._resources.ssh_key_info import SSH_KEY_INFO


def main() -> None:
    """Run the module."""
    run_module(SSH_KEY_INFO)


if __name__ == "__main__":
    main()
