#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: sftp_host_key
short_description: Pin the key of the SFTP server of a service
version_added: 1.0.0
description:
  - Compares the host key of a service's SFTP server with a C(known_hosts) file, without logging in. Adds the key of a
    server that is not in the file. From then on, a different key is an error, and the file is not changed.
  - M(hosted.services.sftp_sync) does the same. Use this module for programs that only read the file, such as C(sftp).
options: {}
extends_documentation_fragment:
  - hosted.services.common
  - hosted.services.sftp_server
  - hosted.services.on_service
notes:
  - The first key is trusted. If the platform publishes its fingerprints, compare them with RV(host_key.fingerprint).
  - The role P(hosted.services.sftp_access#role) pins the servers of all services, and writes an ssh_config for them.
  - If a server was reinstalled, remove its old key with C(ssh-keygen -R), as the error says.
seealso:
  - module: hosted.services.sftp_info
  - module: hosted.services.sftp_sync
"""

EXAMPLES = r"""
- name: Pin the server of a service
  hosted.services.sftp_host_key:
    service: survival
  register: pinned

- name: Show the fingerprint to compare
  ansible.builtin.debug:
    msg: "{{ pinned.host_key.fingerprint }}"

# In a play with hosts: family_game
- name: Pin the servers of all game servers in a file of their own
  hosted.services.sftp_host_key:
    known_hosts: ~/.ssh/hosted_services_known_hosts
"""

RETURN = r"""
host_key:
  description: The server and its key.
  returned: success
  type: dict
  contains:
    # generated: sftp host port
    host:
      description: The server.
      type: str
      sample: node-1.example.com
    port:
      description: Its port.
      type: int
      sample: 2022
    # generated end
    # generated: ssh_key algorithm
    algorithm:
      description: Type of the key.
      type: str
      sample: ssh-ed25519
    # generated end
    fingerprint:
      description: The fingerprint of the key, as OpenSSH writes it.
      type: str
    known_hosts:
      description: The file in which the key is pinned.
      type: str
fingerprint:
  description: The fingerprint of a key that was refused.
  returned: if the key is not the pinned one
  type: str
  sample: SHA256:0fu4pvKwtGD2v0TZdW1Vd2xBBFNOcEQ4yyI5Ewvwmkg
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
from ansible_collections.hosted.services.plugins.module_utils._resources.sftp_host_key import SFTP_HOST_KEY


def main() -> None:
    """Run the module."""
    run_module(SFTP_HOST_KEY)


if __name__ == "__main__":
    main()
