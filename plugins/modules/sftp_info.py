#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: sftp_info
short_description: Read the SFTP access of a service
version_added: 1.0.0
description: Returns how to reach a service over SFTP. The password cannot be read; M(hosted.services.sftp_password)
  generates a new one.
options: {}
extends_documentation_fragment:
  - hosted.services.common.info_attributes
  - hosted.services.common
  - hosted.services.on_service
seealso:
  - module: hosted.services.sftp_host_key
  - module: hosted.services.sftp_password
  - module: hosted.services.sftp_sync
  - module: hosted.services.ssh_key
"""

EXAMPLES = r"""
- name: Read the SFTP access
  hosted.services.sftp_info:
    service: survival
  register: access

- name: Show it as a URL
  ansible.builtin.debug:
    msg: "sftp://{{ access.sftp.username }}@{{ access.sftp.host }}:{{ access.sftp.port }}"
"""

RETURN = r"""
sftp:
  description: The SFTP access. It opens only this service, and follows the service to another node.
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
"""

from ansible_collections.hosted.services.plugins.module_utils._ansible.module import run_module
from ansible_collections.hosted.services.plugins.module_utils._resources.sftp_info import SFTP_INFO


def main() -> None:
    """Run the module."""
    run_module(SFTP_INFO)


if __name__ == "__main__":
    main()
