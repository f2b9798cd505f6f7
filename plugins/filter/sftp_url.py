# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: sftp_url
short_description: Return the SFTP URL of a service's files
version_added: 1.0.0
author:
  - hosted.services contributors (@hosted-services)
description:
  - Returns the SFTP access of a service as C(sftp://USER@HOST:PORT/PATH), for programs such as curl, rclone and file
    managers. Names and paths are percent-encoded. The URL never holds a password.
positional: path
options:
  _input:
    description: A result of M(hosted.services.sftp_info), or its C(sftp); a service as M(hosted.services.service_info)
      returns it with C(include=[sftp]); or the variables of a host of the inventory, such as C(hostvars['survival']).
    type: dict
    required: true
  path:
    description: A path relative to the root of the service. By default, the root. One that is empty, begins with a
      slash or contains C(..) is refused. A slash at the end is kept, because some programs need it to recognize a
      folder.
    type: str
seealso:
  - module: hosted.services.sftp_info
  - plugin: hosted.services.inventory
    plugin_type: inventory
"""

EXAMPLES = r"""
- name: Read the SFTP access
  hosted.services.sftp_info:
    service: survival
  register: access

- name: Show the URL of the worlds
  ansible.builtin.debug:
    msg: "{{ access | hosted.services.sftp_url('world/') }}"
  # sftp://svc-7f3a@node-1.example.com:2022/world/

- name: Show the URLs of all game servers in the inventory
  ansible.builtin.debug:
    msg: "{{ groups['family_game'] | map('extract', hostvars) | map('hosted.services.sftp_url') | list }}"
"""

RETURN = r"""
_value:
  description: The URL.
  type: str
  sample: sftp://svc-7f3a@node-1.example.com:2022/world/
"""

from functools import partial

from ..module_utils._resources.files.paths import sftp_url
from ..plugin_utils._templating.filters import as_filter


class FilterModule:
    """Registers the filter."""

    filters = staticmethod(partial(as_filter, "sftp_url", sftp_url))
