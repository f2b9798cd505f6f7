# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: sftp_url
short_description: The way to the files of a service as a URL
version_added: 0.1.0
author:
  - hosted.services contributors (@hosted-services)
description:
  - Writes the SFTP access of a service as C(sftp://USER@HOST:PORT/PATH), which programs such as curl, rclone, lftp and
    file managers take.
  - Names and paths are quoted as URLs want it, and an IPv6 address is put in brackets.
  - There is never a password in it.
positional: path
options:
  _input:
    description:
      - A result of M(hosted.services.sftp_info), or its C(sftp); a service as M(hosted.services.service_info) returns it
        with C(include=[sftp]); or the variables of a host of the inventory, such as C(hostvars['survival']).
    type: dict
    required: true
  path:
    description:
      - A path on the service, relative to its root, as in M(hosted.services.file). One that begins with a slash or
        contains C(..) is refused.
      - Left out, it is the root of the service. An empty text is refused.
      - A slash at its end is kept. Some programs know a folder by it.
    type: str
seealso:
  - module: hosted.services.sftp_info
  - plugin: hosted.services.inventory
    plugin_type: inventory
"""

EXAMPLES = r"""
- name: Where the files are
  hosted.services.sftp_info:
    service: survival
  register: access

- name: Say where the worlds are
  ansible.builtin.debug:
    msg: "{{ access | hosted.services.sftp_url('world/') }}"
  # sftp://svc-7f3a@node-1.example.com:2022/world/

- name: The same of every game server of the inventory
  ansible.builtin.debug:
    msg: "{{ groups['family_game'] | map('extract', hostvars) | map('hosted.services.sftp_url') | list }}"
"""

RETURN = r"""
_value:
  description: The URL.
  type: str
  sample: sftp://svc-7f3a@node-1.example.com:2022/world/
"""

from collections.abc import Callable
from typing import Any

from ansible_collections.hosted.services.plugins.module_utils._resources.files.url import sftp_url
from ansible_collections.hosted.services.plugins.plugin_utils._templating.filters import as_filter


class FilterModule:
    """Holds the filter."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return the filter by its name."""
        return as_filter("sftp_url", sftp_url)
