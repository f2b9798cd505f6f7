#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: file
short_description: Manage the files of a service
version_added: 1.0.0
author:
  - hosted.services contributors (@hosted-services)
description:
  - Writes text files, makes directories, and renames or removes either on a service, through the platform's file manager.
  - It takes text of at most 2 MB. Larger and binary files, and whole directories, go over with
    M(hosted.services.sftp_sync).
  - The root of the service, paths that begin with a slash, and paths that contain C(..) in any form are refused before
    anything is sent.
  - With O(state=absent) and O(state=renamed), so is a path that ends in C(/) or C(/.) or contains C(//), since
    C(folder/{{ name }}) looks so when the variable holds nothing.
options:
  path:
    description:
      - The file or directory, relative to the root of the service.
    type: str
  paths:
    description:
      - Several of them, to remove with O(state=absent). They are removed in calls of up to 100.
    type: list
    elements: str
  new_name:
    description:
      - With O(state=renamed), the name that what is at O(path) is to have. It stays in its directory.
    type: str
  state:
    description:
      - V(present) writes O(content), or the content of O(src), to the file if it differs.
      - V(directory) creates the directory if it does not exist.
      - V(renamed) renames the file or directory to O(new_name). If only the new name exists, nothing is done. If both
        exist, the task fails, because the platform does not say what a rename does to the other one.
      - V(absent) permanently deletes the file, or the directory with its content. It deletes a symbolic link, but not
        its target.
    type: str
    choices: [present, directory, renamed, absent]
    default: present
  content:
    description:
      - Content of the file. Anything but text is written as JSON.
      - It is not shown among the arguments of the task, but it is in the diff. Set C(no_log) on the task for content
        that nobody may see.
    type: raw
  src:
    description:
      - File whose content it is to hold. It is read where the task runs, which is the controller as a rule, and must be
        text in UTF-8.
      - A relative path is looked for in C(files/) of the role and next to the playbook, see the notes.
    type: path
  create_parents:
    description:
      - Whether directories above O(path) that are missing are made.
    type: bool
    default: true
  allow_empty:
    description:
      - Whether O(content) or O(src) may be empty where the file holds something. Without it such a task is refused,
        since a variable that holds nothing looks the same.
    type: bool
    default: false
    version_added: 0.2.0
extends_documentation_fragment:
  - hosted.services.common
  - hosted.services.common.attributes
  - hosted.services.on_service
notes:
  - A symbolic link in the place of the file is an error, since the platform does not say whether it would write to the
    link or to what it leads to.
  - The file manager has no way to set permissions.
seealso:
  - module: hosted.services.file_info
  - module: hosted.services.sftp_sync
"""

EXAMPLES = r"""
- name: Settings of a game server
  hosted.services.file:
    service: survival
    path: server.properties
    content: |
      max-players=20
      motd=Welcome

- name: A file of the role, in a directory that may be missing
  hosted.services.file:
    service: survival
    path: plugins/chat/config.yml
    src: chat.yml # in files/ of the role, or next to the playbook

- name: A directory
  hosted.services.file:
    service: survival
    path: backups/before-update
    state: directory

- name: The world of last season, out of the way
  hosted.services.file:
    service: survival
    path: world
    new_name: world-2026
    state: renamed

- name: Files that are not wanted any more
  hosted.services.file:
    service: "{{ hosted_id }}"
    paths: "{{ old_logs.files | map(attribute='path') }}"
    state: absent
"""

RETURN = r"""
file:
  description:
    - The file or directory, or nothing when it is absent. In check mode, as it is expected to be.
    - Fields that the platform adds in the future are returned as well.
  returned: success
  type: dict
  sample:
    path: server.properties
    name: server.properties
    size: 34
    directory: false
    symlink: false
    mime: text/plain
    mode_bits: "644"
    modified_at: "2026-11-20T08:15:30.000Z"
  contains:
    path:
      description: Path relative to the root of the service.
      type: str
    name:
      description: Name.
      type: str
    size:
      description: Size in bytes.
      type: int
    directory:
      description: Whether it is a directory.
      type: bool
    symlink:
      description: Whether it is a symbolic link.
      type: bool
    mime:
      description: Media type, as the platform sees it. Null in check mode when it would be written or renamed.
      type: str
    mode_bits:
      description: Mode as octal digits. Null in check mode when it would be written.
      type: str
    modified_at:
      description: When it was changed, in UTC. Null in check mode when it would be written.
      type: str
actions:
  description: Changes that the task made, or would make in check mode, one sentence each.
  returned: success
  type: list
  elements: str
  sample: ["replace server.properties (34 bytes) on service 'survival' (svc_7f3a)"]
"""

from ansible_collections.hosted.services.plugins.module_utils._ansible.module import run_module
from ansible_collections.hosted.services.plugins.module_utils._resources.file import FILE


def main() -> None:
    """Run the module."""
    run_module(FILE)


if __name__ == "__main__":
    main()
