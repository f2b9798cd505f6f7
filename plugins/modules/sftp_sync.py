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
  - Mirrors a local directory to a service, or a directory of a service to this machine, over one SFTP connection that
    transfers many files in parallel.
  - Does not copy files with the same size and modification time on both sides. So an interrupted mirror continues
    where it stopped if you run it again.
  - Writes each file under a temporary name and renames it, so that readers see the old file or the new one. Before it
    deletes anything, lists what it wrote once more, and fails if a file is missing there or has another size.
  - Copies symbolic links as links and never follows them. A link that leads out of the tree is left out with a
    warning. What is left out with a warning is not deleted from O(dest) either.
  - Several runs may write to one O(dest) at the same time if each has files of its own and none sets O(delete). The
    guide to SFTP says what happens where a server keeps no links, times or permissions, or finds names regardless of
    case.
options:
  username:
    description: User name to log in with. If not set, the user name of the service is used, or your own.
    type: str
  private_key_file:
    description:
      - File with the private key to log in with. If neither this nor O(password) is set, the keys of the SSH agent and
        those in C(~/.ssh) are tried.
    type: path
  passphrase:
    description:
      - Passphrase of O(private_key_file), if it has one. A key in OpenSSH's own format needs the Python library
        C(bcrypt) for that; without it, add the key to an agent.
    type: str
  password:
    description: Password to log in with, such as one from M(hosted.services.sftp_password).
    type: str
  host_key_checking:
    description:
      - V(accept_new) accepts the key of a server that is not in O(known_hosts) and adds it there, but not in check
        mode. From then on, any other key is refused.
      - V(strict) refuses a server that is not in O(known_hosts). V(off) accepts any key, which lets anyone between you
        and the server read and change the transfer.
    type: str
    choices: [accept_new, strict, "off"]
    default: accept_new
  direction:
    description:
      - V(push) mirrors O(src) on this machine to O(dest) on the service, V(pull) O(src) on the service to O(dest) on
        this machine.
    type: str
    choices: [push, pull]
    default: push
  src:
    description:
      - The file to copy, or the directory whose content to copy. C(world/) is the same as C(world). A path on the
        service is relative to its root, which is V(.).
      - Refused are C(..) in a path on the service, C(//), the root of this machine and your home folder, and with
        O(delete) a slash at the end, which C(sites/{{ name }}) has if the variable is empty, or at the beginning of a
        path on the service.
    type: str
    required: true
  dest:
    description:
      - The file or directory to copy to. Missing directories above it are created. If O(src) is a file, and this is a
        directory or ends with a slash, the file is copied into it under its own name.
      - With O(delete), it must not end with a slash, and the root of the service must be written as V(.). A pull
        refuses the root of this machine, your home folder, the folder of the playbook, the current directory and all
        folders above them then.
    type: str
    required: true
  include:
    description:
      - Patterns of the files and directories to mirror. By default, everything is mirrored. A directory is created
        only if it contains something to mirror.
      - V(*) and V(?) match within a name; V(**) also matches across directories. A pattern without a slash before its
        end matches at any depth; one with a slash, or with C(./) at the beginning, is relative to the root of the
        tree. A slash at the end matches only directories. What matches a directory matches everything below it.
      - A pattern that is empty, has an empty part or contains C(..) is refused, and so is a string with a comma
        instead of a list.
    type: list
    elements: str
    default: []
  exclude:
    description:
      - Patterns of the files and directories to leave out, in the form of O(include), over which they take precedence.
        Excluded items are neither copied nor deleted, unless O(delete_excluded) is set.
      - With O(delete), a pattern that matches nothing on either side causes a warning.
    type: list
    elements: str
    default: []
  checksum:
    description:
      - Compare files of the same size by their content, not by their times, which reads them on both sides. Without
        this option, a file that is rewritten with the same size within the second in which it was copied looks
        unchanged.
    type: bool
    default: false
  delete:
    description:
      - Delete files and directories in O(dest) that are not in O(src). Two tasks with another O(src) and one O(dest)
        undo each other in every run; the second task warns.
      - Without it, nothing is deleted except an item that must be replaced with one of another kind. A directory in
        the place of a file is an error then.
    type: bool
    default: false
  delete_excluded:
    description:
      - With O(delete), also delete from O(dest) what O(exclude) matches. Use it if O(dest) is only ever a copy of
        O(src).
    type: bool
    default: false
  max_delete:
    description:
      - Fail, and change nothing, if more files, directories and links than this would be deleted. If not set, there is
        no limit.
    type: int
  allow_empty_source:
    description: Let O(delete) empty O(dest) if O(src) contains nothing to mirror. Otherwise, this is an error.
    type: bool
    default: false
  preserve_modes:
    description:
      - Give files and directories the permissions that they have in O(src). Turn this off for servers that do not keep
        permissions; otherwise, each run warns.
    type: bool
    default: true
  file_mode:
    description: Permissions for all files, as octal digits in quotes. Takes precedence over O(preserve_modes).
    type: raw
  directory_mode:
    description: Permissions for all directories, as octal digits in quotes. Takes precedence over O(preserve_modes).
    type: raw
extends_documentation_fragment:
  - hosted.services.common
  - hosted.services.sftp_server
  - hosted.services.on_service
notes:
  - On this machine, no link below O(src) or O(dest) is followed, even if another user makes it while the task runs.
    O(src) and O(dest) themselves may be links, or lie below links.
  - A tree may have 2,000,000 items, 128 levels and 16 TiB. A name that a server lists as items of two kinds is
    refused, and so is a pull of more bytes than are free; sparse and compressed files count with their full size.
  - A file that cannot be read or written does not stop the others. The task fails at the end, RV(failures) says why,
    and RV(finished) lists what was done. Nothing is deleted in such a run. A full disk or a lost connection ends the
    task at once; run it again to continue from there.
  - Folders in O(dest) that are not writable for their owner are made writable while something in them is changed.
  - Times are in whole seconds from 1970 to 2106. Owners, groups, access control lists and hard links are not copied,
    nor are set-user-ID, set-group-ID and sticky bits, unless O(file_mode) and O(directory_mode) set them.
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
"""

RETURN = r"""
sftp_sync:
  description: >-
    Changes that the task made, or would make in check mode. Paths are relative to O(dest); O(dest) itself is a dot.
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
      description: Items that got different content, a different target, or different permissions.
      type: list
      elements: str
    deleted:
      description: Items that were deleted.
      type: list
      elements: str
    unchanged:
      description: Number of files, directories and links that were already correct.
      type: int
    bytes:
      description: Total size of the copied files.
      type: int
    left_out:
      description:
        - Items of O(src) that were left out although no pattern excludes them. These are links that lead out of the
          tree, links on a server without support for links, and items that are neither files, directories nor links.
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
