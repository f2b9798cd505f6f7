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
  - An option that identifies, narrows or limits what the task touches must not be null, empty or blank. Use
    C(omit) to leave it out.
  - A connection option that is not set comes from C(module_defaults), the C(environment) of the task, the
    variables of the host (C(hosted_services_url), C(hosted_services_token) or C(hosted_services_token_file),
    and what its inventory sets), or the environment of ansible-playbook, in this order. A host's token goes
    to the host's platform only.
  - The task runs inside the controller, without Python on the host, and C(become) has no effect. With
    C(async), or if C(delegate_to) names a host whose connection is not local, or if the variable
    C(hosted_in_process) is V(false), it runs as an ordinary module, where the libraries have to be installed.
  - A file to read is searched for as by C(ansible.builtin.copy). A relative path of a file to write, or from
    the environment, is relative to the playbook's folder.
  - Locks, records, and secrets for which no file is set are in C(~/.ansible/hosted_services), or in the
    folder that E(HOSTED_SERVICES_HOME) names.
  - Long operations report their progress to a terminal every ten seconds, or as often as the variable
    C(hosted_progress_interval) says, in seconds. V(0) turns this off.
"""
    )

    # Waiting for the platform to get somewhere.
    WAIT = r"""
options:
  wait:
    description: Whether to wait until the platform has completed the request.
    type: bool
    default: true
  wait_timeout:
    description: How long to wait, in seconds.
    type: float
    default: 600.0
  wait_interval:
    description: Longest pause between two checks, in seconds.
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
    description: File of the private key for SFTP, which must be registered with M(hosted.services.ssh_key).
      If not set, the keys of the SSH agent and those in C(~/.ssh) are tried.
    type: path
  known_hosts:
    description: File of the known keys of SFTP servers, in OpenSSH format. If not set, C(~/.ssh/known_hosts).
      The key of an unknown server is added outside of check mode. Another key for a known server is refused.
    type: path
"""

    # What is shown once.
    SECRETS = r"""
options:
  secrets_dest:
    description: File for the secrets that the platform generates and shows only once, with mode 0600. An
      existing one is renamed. If neither this nor O(return_secrets) is set, a file in
      C(hosted_services/secrets) in Ansible's home, and a warning says so.
    type: path
  return_secrets:
    description: Whether to return the generated secrets in the result, with C(no_log) on the task. Without
      O(secrets_dest), they are not kept on disk.
    type: bool
    default: false
"""

    # Where a module remembers something between two runs.
    STATE_DIR = r"""
options:
  state_dir:
    description: Folder on the controller for what is remembered between runs. If not set, C(hosted_services)
      in Ansible's home, or the folder that E(HOSTED_SERVICES_HOME) names.
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
