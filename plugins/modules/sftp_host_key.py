#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: sftp_host_key
short_description: Pin the key of the SFTP server of a service
version_added: 1.0.0
author:
  - hosted.services contributors (@hosted-services)
description:
  - Asks the SFTP server of a service for its key, without logging in, and compares it with a C(known_hosts) file.
  - A server that is not in the file is written down with the key that it shows. From then on any other key is an error,
    and the file stays as it is.
  - M(hosted.services.sftp_sync) does the same when it connects. This is for programs that only read the file, such as
    C(sftp) and C(ssh).
  - In a play over hosts of the P(hosted.services.inventory#inventory) inventory, or over any hosts with an SSH server, the
    task works on the host itself if neither O(service) nor O(host) is set. It uses the variables C(ansible_host) and
    C(ansible_port), does not call the API and needs no token.
options:
  service:
    description:
      - Id of the service, or its name. An id wins over a name, and O(project) and O(family)
        must agree with it.
      - Where its files are reached is read from the API.
    type: str
    required: false
  host:
    description:
      - Name or address of a server, to reach it without asking the API.
    type: str
  port:
    description:
      - Port of the server. If not set, it is that of the service, else 22.
    type: int
  known_hosts:
    description:
      - File of the known keys of servers, in the format of OpenSSH. It is on the machine that the task runs on, which is the
        controller as a rule. It is made when it is not there, with its folder.
    type: path
    default: ~/.ssh/known_hosts
extends_documentation_fragment:
  - hosted.services.common
  - hosted.services.common.attributes
  - hosted.services.on_service
requirements:
  - asyncssh >= 2.14.2
notes:
  - The connection options O(base_url) and O(token) are needed with O(service) only. O(timeout) is also the deadline of asking
    the server.
  - The key of the first time is taken on trust. Compare RV(host_key.fingerprint) with what the platform publishes, where it
    does.
  - The role P(hosted.services.sftp_access#role) pins the servers of all services, and writes an ssh_config for them.
  - When a server was set up anew, C(ssh-keygen -R) takes its old key out of the file. The error has the whole command.
seealso:
  - module: hosted.services.sftp_info
  - module: hosted.services.sftp_sync
"""

EXAMPLES = r"""
- name: Pin the server of a service
  hosted.services.sftp_host_key:
    service: survival
  register: pinned

- name: Show what to compare
  ansible.builtin.debug:
    msg: "{{ pinned.host_key.fingerprint }}"

# In a play with hosts: family_game
- name: Pin the servers of all game servers in a file of their own
  hosted.services.sftp_host_key:
    known_hosts: ~/.ssh/hosted_services_known_hosts
"""

RETURN = r"""
host_key:
  description: The server and the key that it shows.
  returned: success
  type: dict
  sample:
    host: node-1.example.com
    port: 2022
    algorithm: ssh-ed25519
    fingerprint: SHA256:0fu4pvKwtGD2v0TZdW1Vd2xBBFNOcEQ4yyI5Ewvwmkg
    known_hosts: /home/me/.ssh/known_hosts
  contains:
    host:
      description: The server.
      type: str
    port:
      description: Its port.
      type: int
    algorithm:
      description: Type of the key.
      type: str
    fingerprint:
      description: The fingerprint of the key, as OpenSSH writes it.
      type: str
    known_hosts:
      description: The file in which it is pinned.
      type: str
fingerprint:
  description: The fingerprint of a key that was refused.
  returned: when the key is not the one that is pinned
  type: str
  sample: SHA256:0fu4pvKwtGD2v0TZdW1Vd2xBBFNOcEQ4yyI5Ewvwmkg
actions:
  description: Change that the task made, or would make in check mode, in one sentence.
  returned: success
  type: list
  elements: str
"""

from ansible_collections.hosted.services.plugins.module_utils._ansible.module import run_module
from ansible_collections.hosted.services.plugins.module_utils._resources.sftp_host_key import SFTP_HOST_KEY


def main() -> None:
    """Run the module."""
    run_module(SFTP_HOST_KEY)


if __name__ == "__main__":
    main()
