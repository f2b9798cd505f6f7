#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: sftp_sync
short_description: Mirror a directory or a file to or from a service over SFTP
version_added: 1.0.0
description:
  - Mirrors a local directory to a service, or a directory of a service to this machine, with many files in parallel.
  - Skips files with the same size and modification time on both sides, so an interrupted mirror continues where it was.
  - Writes each file under a temporary name and renames it. Checks that everything has arrived before it deletes
    anything.
  - Copies symbolic links as links and never follows them. Leaves out a link that leads out of the tree, with a warning,
    and does not delete what is in its place.
  - Several runs may write to one O(dest) if each has its own files and none sets O(delete).
options:
  username:
    description: User name to log in with. If not set, the user name of the service is used, or your own.
    type: str
  private_key_file:
    description: File with the private key to log in with. If neither this nor O(password) is set, the keys of the SSH
      agent and those in C(~/.ssh) are tried.
    type: path
  passphrase:
    description: Passphrase of O(private_key_file). A key in the format of OpenSSH also needs the Python library
      C(bcrypt).
    type: str
  password:
    description: Password to log in with, such as one from M(hosted.services.sftp_password).
    type: str
  host_key_checking:
    description: V(accept_new) accepts the key of a new server and adds it to O(known_hosts), but not in check mode; any
      other key is refused later. V(strict) refuses a new server. V(off) accepts any key, which lets anyone between you
      and the server read and change the transfer.
    type: str
    choices: [accept_new, strict, "off"]
    default: accept_new
  direction:
    description: V(push) mirrors from this machine to the service, V(pull) from the service to this machine.
    type: str
    choices: [push, pull]
    default: push
  src:
    description:
      - File to copy, or directory whose content to copy. A path on the service is relative to its root, V(.).
      - Refused are C(..) on the service, C(//), the root of this machine, and your home folder. With O(delete), so are
        a slash at the end, and at the beginning of a path on the service, as C(sites/{{ name }}) has with an empty
        name.
    type: str
    required: true
  dest:
    description:
      - File or directory to copy to. Missing directories above it are created. A file is copied into a directory, and
        into what ends with a slash.
      - With O(delete), it must not end with a slash, and V(.) is the root of the service. A pull then refuses the root
        of this machine, your home folder, that of the playbook, the current one, and all above them.
    type: str
    required: true
  include:
    description:
      - Patterns of the files and directories to mirror. If not set, everything. Directories without any are not
        created.
      - V(*) and V(?) match within a name, V(**) across directories. A pattern with a slash before its end, or C(./) at
        its beginning, is relative to the root of the tree; others match at any depth. A slash at the end matches only
        directories. What matches a directory matches everything below it.
    type: list
    elements: str
    default: []
  exclude:
    description: Patterns to leave out, in the form of O(include), over which they take precedence. What they match is
      not deleted either, unless O(delete_excluded) is set. With O(delete), one that matches nothing causes a warning.
    type: list
    elements: str
    default: []
  checksum:
    description: Whether to compare files of the same size by their content, not by their times. Reads them on both
      sides.
    type: bool
    default: false
  delete:
    description: Whether to delete files and directories in O(dest) that are not in O(src). Two tasks with one O(dest)
      undo each other. Without it, only a file or link that is in the place of an item of another kind is deleted.
    type: bool
    default: false
  delete_excluded:
    description: With O(delete), whether to also delete from O(dest) what O(exclude) matches.
    type: bool
    default: false
  max_delete:
    description: Fail, and change nothing, if more files, directories and links than this would be deleted.
    type: int
  allow_empty_source:
    description: Let O(delete) empty O(dest) if O(src) contains nothing to mirror. Otherwise, the task fails.
    type: bool
    default: false
  preserve_modes:
    description: Whether to copy permissions. Turn this off for servers that do not keep them; otherwise, each run
      warns.
    type: bool
    default: true
  file_mode:
    description: Permissions for all files, as octal digits in quotes, instead of O(preserve_modes).
    type: raw
  directory_mode:
    description: Permissions for all directories, as octal digits in quotes, instead of O(preserve_modes).
    type: raw
extends_documentation_fragment:
  - hosted.services.common
  - hosted.services.sftp_server
  - hosted.services.on_service
notes:
  - On this machine, no link below O(src) or O(dest) is followed, but they themselves may be links, or lie below links.
  - A tree may have 2,000,000 items, 128 levels and 16 TiB. A pull of more bytes than are free is refused.
  - If a file cannot be read or written, the others are still mirrored, but nothing is deleted, and the task fails at
    the end. A full disk or a lost connection ends it at once; run it again to continue.
  - Folders in O(dest) that are not writable for their owner are made writable while something in them is changed.
  - Times are in whole seconds. Owners, access control lists and hard links are not copied, nor are set-user-ID,
    set-group-ID and sticky bits, which O(file_mode) and O(directory_mode) can set.
seealso:
  - module: hosted.services.sftp_host_key
  - module: hosted.services.file
  - module: hosted.services.ssh_key
  - module: hosted.services.sftp_password
  - module: hosted.services.sftp_info
"""

EXAMPLES = r"""
# In a play with hosts: family_game
- name: Mirror the plugins to every game server, and delete all others
  hosted.services.sftp_sync:
    src: files/plugins
    dest: plugins
    delete: true
    max_delete: 20
    exclude: ["*.log", "cache/"]

- name: Fetch the saved games of one service
  hosted.services.sftp_sync:
    service: survival
    private_key_file: ~/.ssh/deploy
    direction: pull
    src: world
    dest: /srv/archive/world

- name: Send one file, with the password of the service
  hosted.services.sftp_sync:
    service: survival
    password: "{{ survival_sftp_password }}"
    src: files/server.properties
    dest: server.properties
    checksum: true

- name: See in check mode what a mirror would delete
  hosted.services.sftp_sync:
    service: survival
    src: files/plugins
    dest: plugins
    delete: true
  check_mode: true
  diff: true

- name: Send the site, each file readable and each folder open to all
  hosted.services.sftp_sync:
    service: site
    src: build
    dest: public
    file_mode: "0644"
    directory_mode: "0755"

- name: Fetch the configuration alone
  hosted.services.sftp_sync:
    service: survival
    direction: pull
    src: .
    dest: /srv/archive/settings
    include: ["*.properties", "*.yml"]
"""

RETURN = r"""
sftp_sync:
  description: Changes that the task made, or would in check mode. Paths are relative to O(dest), which itself is a dot.
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
    username:
      description: User name that logged in. Null if it was your own.
      type: str
    direction:
      description: Direction of the transfer.
      type: str
    src:
      description: The source.
      type: str
    dest:
      description: The destination.
      type: str
    created:
      description: Items that did not exist before.
      type: list
      elements: str
    updated:
      description: Items with new content, target or permissions.
      type: list
      elements: str
    deleted:
      description: Items that were deleted.
      type: list
      elements: str
    unchanged:
      description: Number of items that were already correct.
      type: int
    bytes:
      description: Total size of the copied files.
      type: int
    left_out:
      description: Items of O(src) that were left out although no pattern excludes them, such as links out of the tree,
        links on a server without support for links, sockets, and what another transfer may be writing.
      type: list
      elements: str
would_delete:
  description: Items that would be deleted. Paths are relative to O(dest).
  returned: if O(max_delete) or an empty O(src) stopped the task
  type: list
  elements: str
  sample: ["data.db"]
failures:
  description: Items that failed. Everything else was done, except for deletions.
  returned: if something could not be read or written
  type: list
  elements: dict
  sample:
    - path: plugins/secret.yml
      message: "cannot read /srv/files/plugins/secret.yml on this machine: Permission denied"
  contains:
    path:
      description: Path relative to O(dest).
      type: str
    message:
      description: Which side failed, and why.
      type: str
finished:
  description: Items that were done before a transfer failed. Paths are relative to O(dest).
  returned: if a transfer failed
  type: list
  elements: str
  sample: ["chat.jar"]
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
from ansible_collections.hosted.services.plugins.module_utils._resources.sftp_sync import SFTP_SYNC


def main() -> None:
    """Run the module."""
    run_module(SFTP_SYNC)


if __name__ == "__main__":
    main()
