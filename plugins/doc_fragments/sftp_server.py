# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of what the modules share that connect to an SFTP server."""

from __future__ import annotations


class ModuleDocFragment:
    """The fragment of modules that connect to an SFTP server."""

    DOCUMENTATION = r"""
options:
  service:
    description: Id or name of the service, whose SFTP server is read from the API. An id takes precedence
      over a name.
    type: str
    required: false
  host:
    description: Name or address of an SFTP server, to connect to it without the API.
    type: str
  port:
    description: Port of the SFTP server. If not set, the port of the service is used, or 22.
    type: int
  known_hosts:
    description: File of known host keys, in OpenSSH format, on the machine where the task runs. It is created
      if missing.
    type: path
    default: ~/.ssh/known_hosts
requirements:
  - asyncssh >= 2.14.2
notes:
  - If neither O(service) nor O(host) is set, the task works on the host of the play, with its C(ansible_host)
    and C(ansible_port), also with C(delegate_to). It then needs no token. A service of the
    P(hosted.services.inventory#inventory) inventory without C(ansible_host) is refused.
  - O(base_url) and O(token) are required only with O(service). O(timeout) is also the deadline for connecting
    and logging in.
"""
