#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: file
short_description: Manage the files of a service
version_added: 1.0.0
description:
  - Writes text files of up to 2 MB, creates directories, and renames or deletes files and directories on a service. For
    larger or binary files, permissions and whole directories, use M(hosted.services.sftp_sync).
  - Refuses the root of the service and paths with C(..). To rename or delete, also refuses a path that may come from an
    empty variable, such as C(folder/), C(a//b) or, to delete, C(/folder).
options:
  path:
    description: The file or directory, relative to the root of the service. C(/config/a) is the same as C(config/a).
    type: str
  paths:
    description: Several files or directories to delete with O(state=absent).
    type: list
    elements: str
  new_name:
    description: With O(state=renamed), the new name of what is at O(path). It stays in the same directory.
    type: str
  state:
    description:
      - V(present) writes O(content) or O(src) to the file if it differs. V(directory) creates the directory.
      - V(renamed) renames to O(new_name). If only the new name exists, nothing is done. If both exist, the task fails.
      - V(absent) permanently deletes the file, the directory with its content, or a symbolic link without its target.
    type: str
    choices: [present, directory, renamed, absent]
    default: present
  content:
    description: Content of the file. A value that is not a string is written as JSON. The diff shows it, so if it is
      secret, set C(no_log) on the task.
    type: raw
  src:
    description: Local file to copy the content from, which must be UTF-8 text.
    type: path
  create_parents:
    description: Whether to create missing directories above O(path).
    type: bool
    default: true
  allow_empty:
    description: Let an empty O(content) or O(src), which an empty variable may have caused, replace a file that is not
      empty.
    type: bool
    default: false
extends_documentation_fragment:
  - hosted.services.common
  - hosted.services.on_service
notes:
  - If a symbolic link is in the place of the file to write, the task fails.
seealso:
  - module: hosted.services.file_info
  - module: hosted.services.sftp_sync
"""

EXAMPLES = r"""
- name: Write the settings of a game server
  hosted.services.file:
    service: survival
    path: server.properties
    content: |
      max-players=20
      motd=Welcome

- name: Copy a file of the role, and create missing directories
  hosted.services.file:
    service: survival
    path: plugins/chat/config.yml
    src: chat.yml # in files/ of the role, or next to the playbook

- name: Create a directory
  hosted.services.file:
    service: survival
    path: backups/before-update
    state: directory

- name: Rename the world of last season
  hosted.services.file:
    service: survival
    path: world
    new_name: world-2026
    state: renamed

- name: Delete old log files
  hosted.services.file:
    service: "{{ hosted_id }}"
    paths: "{{ old_logs.files | map(attribute='path') }}"
    state: absent
"""

RETURN = r"""
file:
  description: The file or directory, with all that the platform tells of it. Null if it is absent.
  returned: success
  type: dict
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
from ansible_collections.hosted.services.plugins.module_utils._resources.file import FILE


def main() -> None:
    """Run the module."""
    run_module(FILE)


if __name__ == "__main__":
    main()
