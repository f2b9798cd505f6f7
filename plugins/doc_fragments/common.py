# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation that the plugins share: the connection, waiting, and attributes. Each written once."""

from __future__ import annotations


class ModuleDocFragment:
    """The fragments of hosted.services."""

    # The options of the connection to the platform.
    DOCUMENTATION = r"""
options:
  base_url:
    description:
      - Address of the platform's API, such as V(https://api.example.com).
      - Plain V(http) is refused unless the host is this machine or is named in O(allow_http_hosts),
        because the token would travel in the clear.
      - If not set, the variable C(hosted_services_url) of the host is used, or C(hosted_url), which the
        P(hosted.services.inventory#inventory) inventory hands on to its hosts. Without these it is the
        environment variable E(HOSTED_SERVICES_URL).
    type: str
  token:
    description:
      - API token. Most routes need one of scope C(FULL); those of applications take C(REGISTRY) too.
      - Mutually exclusive with O(token_file). Where C(module_defaults) set one and the task the other, the
        task has to leave the default out with C(omit), as they may be of two accounts.
      - If neither is set, the token of the host is used, unless the task names another platform than the
        host's. It is in the variable C(hosted_services_token), in the file of
        C(hosted_services_token_file), or where the host's inventory says that it is. Without these it is the
        environment variable E(HOSTED_SERVICES_TOKEN).
    type: str
  token_file:
    description:
      - File that holds the API token on a single line. On the controller it may be encrypted with
        ansible-vault.
      - If not set, the environment variable E(HOSTED_SERVICES_TOKEN_FILE) is used.
    type: path
  auth_header:
    description:
      - Name of the HTTP header that carries the token.
      - If not set, the environment variable E(HOSTED_SERVICES_AUTH_HEADER) is used.
    type: str
    default: Authorization
  auth_scheme:
    description:
      - Word before the token in the header. An empty string sends the token alone.
      - If not set, the environment variable E(HOSTED_SERVICES_AUTH_SCHEME) is used.
    type: str
    default: Bearer
  validate_certs:
    description:
      - Whether the server's certificate is checked. Turn it off for tests on this machine only.
      - If not set, the environment variable E(HOSTED_SERVICES_VALIDATE_CERTS) is used.
    type: bool
    default: true
  ca_path:
    description:
      - File or directory of the certificate authorities to trust instead of the system's.
      - If not set, the environment variable E(HOSTED_SERVICES_CA_PATH) is used.
    type: path
  timeout:
    description:
      - Deadline of one call to the platform with all its retries, in seconds.
      - Calls that the platform answers only when their work is done, such as a deployment, have a longer one.
      - If not set, the environment variable E(HOSTED_SERVICES_TIMEOUT) is used.
    type: float
    default: 60.0
  retries:
    description:
      - How often a call is sent again after a failure, where that cannot do harm. An order, for example, is
        never sent again when it may have arrived.
      - If not set, the environment variable E(HOSTED_SERVICES_RETRIES) is used.
    type: int
    default: 5
  allow_http_hosts:
    description:
      - Hosts to which the token may be sent over plain V(http).
      - If not set, the environment variable E(HOSTED_SERVICES_ALLOW_HTTP_HOSTS) is used.
    type: list
    elements: str
    default: []
requirements:
  - python >= 3.11
  - requests
  - pydantic >= 2
  - cryptography
  - PyYAML
notes:
  - An option that identifies, narrows or limits what the task touches must hold something when it is
    written. Null, an empty text, blanks, an empty list, and blanks or control characters at the ends of a
    name are errors. Leave out with C(omit) what is not to be given.
  - What is nearest to a task says which platform and which token it uses. First comes the task itself,
    with its options, C(module_defaults) and C(environment), then the variables of the host, and last the
    environment of ansible-playbook. The other options of the connection have variables of the same kind,
    such as C(hosted_services_ca_path). The guide to the inventory has a table.
  - The task runs inside the controller, so it needs no C(delegate_to) and no Python on the host of the play,
    and C(become) has no effect.
    With C(async), or when C(delegate_to) names a host with a connection that is not local, it runs as an
    ordinary module on that host, which then needs the libraries.
  - Set the variable C(hosted_in_process) to V(false) to have every task run as an ordinary module.
  - A relative path of a file to read on this machine is looked for as C(ansible.builtin.copy) looks for its
    source, in C(files/) of the role, in the role, in C(files/) next to the playbook, then next to the
    playbook. A relative path of a file to write, or one from the environment, begins at the folder of the
    playbook.
  - Connections to the platform stay open from task to task. They are kept by a process that the first task
    of a run starts and that ends with the run. Set the variable C(hosted_keep_connections) to V(false) to
    have every task make its own, as one with an C(environment) does in any case.
  - What the collection keeps between tasks and runs, such as secrets without a file of their own,
    fingerprints and locks, is in C(hosted_services) of Ansible's home, which is C(~/.ansible) by default.
    The environment variable E(HOSTED_SERVICES_HOME) names another folder for it. A relative path begins at
    the folder of the playbook.
  - Long work such as a wait or a transfer says every ten seconds how far it is, when it runs inside the
    controller and the output is a terminal. The variable C(hosted_progress_interval) sets another number of
    seconds, and V(0) turns it off.
"""

    # The options of the connection for the inventory, which reads the environment by Ansible's own means.
    INVENTORY_CONNECTION = r"""
options:
  base_url:
    description:
      - Address of the platform's API, such as V(https://api.example.com). May be a template.
      - Plain V(http) is refused unless the host is this machine or is named in O(allow_http_hosts),
        because the token would travel in the clear.
    type: str
    env:
      - name: HOSTED_SERVICES_URL
  token:
    description:
      - API token of scope C(FULL). May be a template, such as a lookup in a password store.
      - Takes precedence over O(token_file). One of the environment does not, where O(token_file) is set.
    type: str
    env:
      - name: HOSTED_SERVICES_TOKEN
  token_file:
    description:
      - File that holds the API token on a single line. May be a template, and may be encrypted with
        ansible-vault.
      - Where it is set in the file of the inventory, tasks and lookups on its hosts read their token from it
        too.
    type: path
    env:
      - name: HOSTED_SERVICES_TOKEN_FILE
  auth_header:
    description:
      - Name of the HTTP header that carries the token.
    type: str
    default: Authorization
    env:
      - name: HOSTED_SERVICES_AUTH_HEADER
  auth_scheme:
    description:
      - Word before the token in the header. An empty string sends the token alone.
    type: str
    default: Bearer
    env:
      - name: HOSTED_SERVICES_AUTH_SCHEME
  validate_certs:
    description:
      - Whether the server's certificate is checked. Turn it off for tests on this machine only.
    type: bool
    default: true
    env:
      - name: HOSTED_SERVICES_VALIDATE_CERTS
  ca_path:
    description:
      - File or directory of the certificate authorities to trust instead of the system's.
    type: path
    env:
      - name: HOSTED_SERVICES_CA_PATH
  timeout:
    description:
      - Deadline of one call to the platform with all its retries, in seconds.
    type: float
    default: 60.0
    env:
      - name: HOSTED_SERVICES_TIMEOUT
  retries:
    description:
      - How often a call is sent again after a failure.
    type: int
    default: 5
    env:
      - name: HOSTED_SERVICES_RETRIES
  allow_http_hosts:
    description:
      - Hosts to which the token may be sent over plain V(http).
    type: list
    elements: str
    default: []
    env:
      - name: HOSTED_SERVICES_ALLOW_HTTP_HOSTS
requirements:
  - python >= 3.11
  - requests
  - pydantic >= 2
  - cryptography
  - PyYAML
"""

    # Variables for the same options, for lookups: a template has no task whose defaults could hold them.
    LOOKUP_VARIABLES = r"""
options:
  base_url:
    vars:
      - name: hosted_services_url
  token:
    vars:
      - name: hosted_services_token
  token_file:
    vars:
      - name: hosted_services_token_file
  auth_header:
    vars:
      - name: hosted_services_auth_header
  auth_scheme:
    vars:
      - name: hosted_services_auth_scheme
  validate_certs:
    vars:
      - name: hosted_services_validate_certs
  ca_path:
    vars:
      - name: hosted_services_ca_path
  timeout:
    vars:
      - name: hosted_services_timeout
  retries:
    vars:
      - name: hosted_services_retries
  allow_http_hosts:
    vars:
      - name: hosted_services_allow_http_hosts
notes:
  - Nothing is cached. The platform is asked every time that a template is rendered, so the value is that of
    the moment.
  - The value is neither logged nor shown by the lookup. A task that shows its arguments or its result shows
    it all the same. Set C(no_log) to V(true) on the task that uses it, or C(diff) to V(false) where a file
    is written.
  - An option that is given to the lookup wins over the variables of the host, and these win over the
    environment of ansible-playbook. Variables may be templates. They are those of the modules, so the address
    and the token of the P(hosted.services.inventory#inventory) inventory are used on its hosts. A lookup sees
    neither C(module_defaults) nor the C(environment) of a task.
"""

    # Waiting for the platform to get somewhere.
    WAIT = r"""
options:
  wait:
    description:
      - Whether to wait until the platform has done what was asked for.
    type: bool
    default: true
  wait_timeout:
    description:
      - How long to wait, in seconds.
    type: float
    default: 600.0
  wait_interval:
    description:
      - The longest pause between two looks, in seconds. The first looks come faster.
    type: float
    default: 5.0
"""

    # What modules that change something can do.
    ATTRIBUTES = r"""
options: {}
attributes:
  check_mode:
    description: Can run in C(check_mode) and say what it would do without doing it.
    support: full
  diff_mode:
    description: Shows what changes when run with C(--diff).
    support: full
  idempotent:
    description: Run twice in a row, the second run changes nothing.
    support: full
  action_group:
    description: Takes defaults from C(module_defaults) for C(group/hosted.services.all).
    support: full
    membership:
      - hosted.services.all
  async:
    description: Supports being used with the C(async) keyword.
    support: full
"""

    # What modules that only read can do.
    INFO_ATTRIBUTES = r"""
options: {}
attributes:
  check_mode:
    description: Can run in C(check_mode). It changes nothing anyway.
    support: full
  diff_mode:
    description: Shows what changes when run with C(--diff).
    support: N/A
    details: Nothing changes.
  idempotent:
    description: Run twice in a row, the second run changes nothing.
    support: full
  action_group:
    description: Takes defaults from C(module_defaults) for C(group/hosted.services.all).
    support: full
    membership:
      - hosted.services.all
  async:
    description: Supports being used with the C(async) keyword.
    support: full
"""
