#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: sftp_sync
short_description: Mirror a directory or a file to or from a service over SFTP
version_added: 1.0.0
author:
  - hosted.services contributors (@hosted-services)
description:
  - Mirrors a local directory to a service, or a directory of a service to this machine, over one SFTP connection that
    transfers many files in parallel.
  - Does not copy files with the same size and modification time on both sides. So an interrupted mirror continues
    where it stopped when you run it again.
  - Writes each file under a temporary name and renames it. Readers see the old file or the new one, never a part of
    one. The next run removes the temporary files of an interrupted transfer.
  - Symbolic links are copied as links and never followed. One that leads out of the tree is left out with a warning,
    on either side.
  - Servers differ in what they do beyond reading and writing. What this one does is tried before it counts, with
    files and links of our own inside of O(dest), which are removed again. Where it makes no links, they are left out
    with a warning. Where it keeps no times or no permissions, what was copied is told by its content, with a warning.
  - What is left out with a warning is not deleted from O(dest) either.
  - In a play over hosts of the P(hosted.services.inventory#inventory) inventory, or over any hosts that speak SFTP,
    the task works on the host itself if neither O(service) nor O(host) is set. Its variables C(ansible_host),
    C(ansible_port), C(ansible_user), C(ansible_ssh_private_key_file) and C(ansible_password) are used.
    The task then does not call the API and needs no token.
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
      - Name or address of an SFTP server, to reach it without asking the API.
    type: str
  port:
    description:
      - Port of the SFTP server. If not set, it is that of the service, else 22.
    type: int
  username:
    description:
      - Name to log in with. If not set, it is that of the service, else your own.
    type: str
  private_key_file:
    description:
      - File of the private key to log in with.
      - If neither this nor O(password) is set, the keys of the SSH agent and those in C(~/.ssh) are tried.
    type: path
  passphrase:
    description:
      - Passphrase of O(private_key_file), if it has one.
      - A key in OpenSSH's own format needs the Python library C(bcrypt) for that. Without it, use an agent.
    type: str
  password:
    description:
      - Password to log in with, such as M(hosted.services.sftp_password) makes one.
    type: str
  host_key_checking:
    description:
      - V(accept_new) takes the key of a server that is not in O(known_hosts) and writes it down there. From then on
        any other key is refused. In check mode it is not written down.
      - V(strict) refuses a server that is not in O(known_hosts).
      - V(off) takes any key, which lets anybody on the way read and change what is transferred.
    type: str
    choices: [accept_new, strict, "off"]
    default: accept_new
  known_hosts:
    description:
      - File of the known keys of servers, in the format of OpenSSH.
    type: path
    default: ~/.ssh/known_hosts
  direction:
    description:
      - V(push) makes O(dest) on the service like O(src) on this machine.
      - V(pull) makes O(dest) on this machine like O(src) on the service.
    type: str
    choices: [push, pull]
    default: push
  src:
    description:
      - The file to copy, or the directory whose content to copy.
      - It must not end in a slash, contain C(//), or be the root of this machine or your home, since
        C(sites/{{ name }}) looks so when the variable holds nothing.
      - A relative path on this machine is looked for in C(files/) of the role and next to the playbook, see the notes.
      - A path on the service is relative to the root of the service, which is V(.); one that begins with a slash or
        contains C(..) is refused.
    type: str
    required: true
  dest:
    description:
      - Where it goes. Directories above it are made. A relative path on this machine begins at the folder of the playbook.
      - When O(src) is a file and this is a directory, or ends with a slash, the file goes into it under its own name.
      - With O(delete) it must not end in a slash, nor be anything but V(.) for the root of the service, since
        C(folder/{{ name }}) ends so when the variable holds nothing.
      - With O(delete) and O(direction=pull), the root of this machine, your home folder, the folder of the playbook, the
        current directory and all folders above them are refused.
    type: str
    required: true
  include:
    description:
      - Patterns of what takes part. Without any, everything does.
      - V(*) and V(?) stay within a name, V(**) crosses directories. A pattern without a slash before its end is good at
        any depth; one with a slash begins at the root of the tree. A slash at the end means directories only. What
        matches a directory matches everything below it. C(./) at the beginning is the root of the tree too.
      - A pattern that names nothing, has an empty part or contains C(..) is refused, and so is a text with a comma in
        place of a list.
      - Directories are made only where something in them takes part.
    type: list
    elements: str
    default: []
  exclude:
    description:
      - Patterns of what takes no part, written as in O(include), over which they win.
      - What takes no part is neither copied nor deleted.
      - With O(delete), a pattern that matches nothing on either side gives a warning.
    type: list
    elements: str
    default: []
  checksum:
    description:
      - Compare the content of files of the same size, and not their times.
      - SFTP counts time in whole seconds. Without this option, a file that is written again within the second in which
        it was copied, to the same size, looks unchanged until it changes once more.
      - The protocol has no checksums, so such files are read on both sides.
    type: bool
    default: false
  delete:
    description:
      - Delete what is in O(dest) and not in O(src).
      - Without it nothing is deleted, save what is in the way of something of another kind. A directory in the way of a
        file is an error then.
      - Where O(src) is a directory that holds nothing, or nothing that takes part, the task fails before anything would
        be deleted for that, unless O(allow_empty_source) says otherwise.
    type: bool
    default: false
  max_delete:
    description:
      - Fail, and change nothing, if more files, directories and links than this would be deleted. If not set, there is
        no limit.
      - It counts RV(sftp_sync.deleted), without what a broken transfer has left behind.
    type: int
    version_added: 0.2.0
  allow_empty_source:
    description:
      - Let O(delete) empty O(dest) where O(src) holds nothing.
    type: bool
    default: false
    version_added: 0.2.0
  preserve_modes:
    description:
      - Give files and directories the permissions they have in O(src).
      - Turn it off for servers that do not keep permissions. If it is on there, a warning says so in each run.
    type: bool
    default: true
  file_mode:
    description:
      - Permissions for all files, as octal digits in quotes. It wins over O(preserve_modes).
    type: raw
  directory_mode:
    description:
      - Permissions for all directories, as octal digits in quotes. It wins over O(preserve_modes).
    type: raw
extends_documentation_fragment:
  - hosted.services.common
  - hosted.services.common.attributes
  - hosted.services.on_service
requirements:
  - asyncssh >= 2.14.2
notes:
  - The connection options O(base_url) and O(token) are needed with O(service) only. O(timeout) is also the deadline of
    connecting and logging in over SFTP.
  - What cannot be read or written does not keep the rest from being done. The task fails at its end, RV(failures) says
    why, and RV(finished) lists what was done. Nothing is deleted in such a run. A full disk and a lost connection
    end the task at once. Running it again goes on from there.
  - Folders in O(dest) that their owner may not write to are made writable for as long as something in them is changed.
  - Check mode writes nothing, and so knows of a server that refuses links, times or permissions only where it says
    so at once. One that takes such requests and does nothing is found out when the task is carried out.
  - The protocol has times from 1970 to 2106, in whole seconds. Other times are set to the nearest of these, with a
    warning. It has no holes either. A sparse file arrives with the same content and takes up all of its size.
  - Set-user-ID, set-group-ID and sticky bits are not copied, which a warning says. O(file_mode) and
    O(directory_mode) set them. Owners, groups, access control lists and hard links are not copied.
seealso:
  - module: hosted.services.sftp_host_key
  - module: hosted.services.file
  - module: hosted.services.ssh_key
  - module: hosted.services.sftp_password
  - module: hosted.services.sftp_info
"""

EXAMPLES = r"""
# In a play with hosts: family_game
- name: Mirror the plugins to every game server, and remove what is not ours
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
  description: Changes that the task made, or would make in check mode. Paths are relative to O(dest), whose own is a dot.
  returned: success
  type: dict
  sample:
    host: node-1.example.com
    port: 2022
    username: svc-7f3a
    direction: push
    src: files/plugins
    dest: plugins
    created: ["maps.jar"]
    updated: ["chat.jar", "chat/config.yml"]
    deleted: []
    unchanged: 41
    bytes: 1204411
    left_out: []
  contains:
    host:
      description: The server.
      type: str
    port:
      description: Its port.
      type: int
    username:
      description: Who logged in. Null when it was you under your own name.
      type: str
    direction:
      description: The direction.
      type: str
    src:
      description: What was copied.
      type: str
    dest:
      description: Where to.
      type: str
    created:
      description: What was not there before.
      type: list
      elements: str
    updated:
      description: What was there and got other content, another target, or other permissions.
      type: list
      elements: str
    deleted:
      description: What was removed.
      type: list
      elements: str
    unchanged:
      description: How many files, directories and links were right already.
      type: int
    bytes:
      description: The size of all files that were copied.
      type: int
    left_out:
      description:
        - What of O(src) takes no part though nothing excludes it. These are links that lead out of the tree or that the
          server does not make, and what is neither a file, a directory nor a link.
      type: list
      elements: str
      version_added: 0.2.0
would_delete:
  description: What would be deleted. Paths are relative to O(dest).
  returned: when O(max_delete) or an empty O(src) stopped the task
  type: list
  elements: str
  sample: ["data.db"]
failures:
  description: What could not be done. Everything else was, except for deletions.
  returned: when something could not be read or written
  type: list
  elements: dict
  version_added: 0.2.0
  sample:
    - path: plugins/secret.yml
      message: "cannot read /srv/files/plugins/secret.yml on this machine: Permission denied"
  contains:
    path:
      description: Its path relative to O(dest).
      type: str
    message:
      description: Which side refused what, and why.
      type: str
finished:
  description: What was done before a transfer failed. Paths are relative to O(dest).
  returned: when a transfer failed
  type: list
  elements: str
  sample: ["chat.jar"]
actions:
  description: Change that the task made, or would make in check mode, in one sentence.
  returned: success
  type: list
  elements: str
  sample: ["push files/plugins to plugins on svc-7f3a@node-1.example.com:2022: create 1, update 2 (1204411 bytes)"]
"""

from ansible_collections.hosted.services.plugins.module_utils._ansible.module import run_module
from ansible_collections.hosted.services.plugins.module_utils._resources.sftp_sync import SFTP_SYNC


def main() -> None:
    """Run the module."""
    run_module(SFTP_SYNC)


if __name__ == "__main__":
    main()
