# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation that all modules share, or modules of several families. Each written once."""

from __future__ import annotations

from ansible_collections.hosted.services.plugins.doc_fragments.connection import (
    ModuleDocFragment as Connection,
)


class ModuleDocFragment:
    """The fragments of hosted.services."""

    # What the modules have beside the connection.
    DOCUMENTATION = (
        Connection.DOCUMENTATION
        + r"""
attributes:
  check_mode:
    description: Can run in C(check_mode) and report what it would change, without changing anything.
    support: full
  diff_mode:
    description: Shows what changes when run with C(--diff).
    support: full
  idempotent:
    description: If run twice in a row, the second run changes nothing.
    support: full
  action_group:
    description: Takes defaults from C(module_defaults) for C(group/hosted.services.all).
    support: full
    membership:
      - hosted.services.all
  async:
    description: Supports being used with the C(async) keyword.
    support: full
author:
  - hosted.services contributors (@hosted-services)
notes:
  - An option that identifies, narrows or limits what the task touches must have a value if it is set. Null,
    an empty string, blanks, an empty list, and a name that begins or ends with blanks or control characters
    are errors. Use C(omit) to leave an option out.
  - A task takes its platform and token from the nearest source. First comes the task itself, with its
    options, C(module_defaults) and C(environment), then the variables of the host, and last the environment
    of ansible-playbook. The other connection options have variables of the same kind, such as
    C(hosted_services_ca_path). See the table in the inventory guide.
  - The task runs inside the controller, so it needs no C(delegate_to) and no Python on the host of the play,
    and C(become) has no effect. With C(async), or if C(delegate_to) names a host with a connection that is
    not local, it runs as an ordinary module on that host, which then needs the libraries.
  - Set the variable C(hosted_in_process) to V(false) to run every task as an ordinary module.
  - A relative path of a file to read on this machine is searched for in the same places as the source of
    C(ansible.builtin.copy), in C(files/) of the role, in the role, in C(files/) next to the playbook, then
    next to the playbook. A relative path of a file to write, or a relative path from the environment, is
    relative to the playbook's folder.
  - Connections to the platform stay open between tasks. A process that the first task starts keeps them open
    and ends with the run. Set the variable C(hosted_keep_connections) to V(false) to let every task open its
    own connections. A task with C(environment) always does.
  - The collection stores its own files, such as fingerprints, locks, and secrets for which no file is set, in
    C(hosted_services) of Ansible's home, which is C(~/.ansible) by default. To use another folder, set the
    environment variable E(HOSTED_SERVICES_HOME). A relative path is relative to the playbook's folder.
  - Long operations, such as a wait or a transfer, report their progress every ten seconds if they run inside
    the controller and the output is a terminal. To change the interval, set the variable
    C(hosted_progress_interval) to a number of seconds; V(0) turns progress off.
"""
    )

    # Waiting for the platform to get somewhere.
    WAIT = r"""
options:
  wait:
    description:
      - Whether to wait until the platform has completed the request.
    type: bool
    default: true
  wait_timeout:
    description:
      - How long to wait, in seconds.
    type: float
    default: 600.0
  wait_interval:
    description:
      - Longest pause between two checks, in seconds. A pause is at most one second in the first ten seconds,
        and later at most a tenth of the time waited so far.
    type: float
    default: 5.0
"""

    # The size of a service. Each module says what it is of.
    DIMENSIONS = r"""
options:
  dimensions:
    type: dict
    suboptions:
      cpu_cores:
        description: Number of vCPUs.
        type: int
      ram_gb:
        description: Memory in GB.
        type: int
      storage_gb:
        description: Disk in GB.
        type: int
"""

    # What an order takes beside the product, the node and the size.
    ORDER = r"""
options:
  runtime:
    description: Id of the edition of the product. If not set, the first one.
    type: str
  preset:
    description: Id of a ready-made size, instead of O(dimensions).
    type: str
  variables:
    description: Settings for the order of this product. Never shown.
    type: dict
  options:
    description: Options for the order of this product.
    type: list
    elements: dict
    suboptions:
      option:
        description: Id of the option.
        type: str
        required: true
      choice:
        description: Id of the choice.
        type: str
        required: true
"""

    # How a module that copies files logs in.
    SFTP_LOGIN = r"""
options:
  private_key_file:
    description:
      - File of the private key to log in with over SFTP. It must be registered on the account, see
        M(hosted.services.ssh_key). If not set, the keys of the SSH agent and those in C(~/.ssh) are tried.
    type: path
  known_hosts:
    description:
      - File of the known keys of servers, in the format of OpenSSH. If not set, C(~/.ssh/known_hosts). The
        key of a server that is not in it is accepted and added, but not in check mode. From then on, any
        other key is refused.
    type: path
"""

    # What is shown once.
    SECRETS = r"""
options:
  secrets_dest:
    description:
      - File for the secrets that the platform generates and shows only once, with mode 0600. An existing file
        is renamed. If neither this nor O(return_secrets) is set, a file in C(hosted_services/secrets) in
        Ansible's home is used, and a warning says so.
      - A test file of the same size is written there first; if that fails, nothing is changed. If a run is
        killed before the file is written, the next task on the service warns about it.
    type: path
  return_secrets:
    description:
      - Whether to return the generated secrets in the result. Set C(no_log) on the task. Without
        O(secrets_dest), they are on disk only until the task ends.
    type: bool
    default: false
"""

    # Where a module remembers something between two runs.
    STATE_DIR = r"""
options:
  state_dir:
    description:
      - Folder on the controller for what is remembered between runs. If not set, C(hosted_services) in
        Ansible's home, or the folder that E(HOSTED_SERVICES_HOME) names.
    type: path
"""

    # What is so for modules that only read. It comes before the fragment that all have.
    INFO_ATTRIBUTES = r"""
attributes:
  check_mode:
    description: Can run in C(check_mode). It never changes anything.
  diff_mode:
    support: N/A
    details: Nothing changes.
"""
