#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: file_info
short_description: List the files of a service, or read one
version_added: 1.0.0
description: Returns the entries of a directory on a service, or the text of a file.
options:
  path:
    description: File or directory, relative to the root of the service. A path with C(..) is refused.
    type: str
    default: "."
  recurse:
    description: Also list the entries of subdirectories. Links are not followed.
    type: bool
    default: false
  limit:
    description: Maximum number of entries. If there are more, the task warns.
    type: int
    default: 1000
  content:
    description: Read the file O(path), which must be UTF-8 text of up to 2 MB. Mutually exclusive with O(recurse).
    type: bool
    default: false
extends_documentation_fragment:
  - hosted.services.common.info_attributes
  - hosted.services.common
  - hosted.services.on_service
seealso:
  - module: hosted.services.file
  - module: hosted.services.sftp_sync
"""

EXAMPLES = r"""
- name: Read the settings of a game server
  hosted.services.file_info:
    service: survival
    path: server.properties
    content: true
  register: properties

- name: Show one setting
  ansible.builtin.debug:
    msg: "{{ properties.files[0].content | regex_search('max-players=(.*)', '\\1') | first }}"

- name: List all log files
  hosted.services.file_info:
    service: "{{ hosted_id }}"
    path: logs
    recurse: true
"""

RETURN = r"""
files:
  description: The entries of the directory, sorted by name, or only the file at O(path).
  returned: success
  type: list
  elements: dict
  contains:
    # generated: file
    path:
      description: Path relative to the root of the service.
      type: str
      sample: server.properties
    name:
      description: Name.
      type: str
      sample: server.properties
    size:
      description: Size in bytes.
      type: int
      sample: 34
    directory:
      description: Whether it is a directory.
      type: bool
    symlink:
      description: Whether it is a symbolic link.
      type: bool
    mime:
      description: Media type, as the platform reports it. Null in check mode if it would be written or renamed.
      type: str
      sample: text/plain
    mode_bits:
      description: Mode as octal digits. Null in check mode if it would be written.
      type: str
      sample: '644'
    modified_at:
      description: When it was last modified, in UTC. Null in check mode if it would be written.
      type: str
    # generated end
    content:
      description: Text of the file. Null in check mode if the play would create the file.
      returned: with O(content)
      type: str
"""

from ansible_collections.hosted.services.plugins.module_utils._ansible.module import run_module
from ansible_collections.hosted.services.plugins.module_utils._resources.file_info import FILE_INFO


def main() -> None:
    """Run the module."""
    run_module(FILE_INFO)


if __name__ == "__main__":
    main()
