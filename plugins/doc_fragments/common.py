# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation that the plugins share: the connection, waiting, and attributes. Each written once."""

from __future__ import annotations


class ModuleDocFragment:
    """The fragments of hosted.services."""

    # The options of the connection to the platform.
    CONNECTION = r"""
options:
  base_url:
    description:
      - Address of the platform's API, such as V(https://api.example.com). Plain V(http) is refused unless the
        host is this machine or is named in O(allow_http_hosts), because the token would be sent unencrypted.
      - If not set, the host variable C(hosted_services_url) is used, or C(hosted_url), which the
        P(hosted.services.inventory#inventory) inventory sets on its hosts, or else the environment variable
        E(HOSTED_SERVICES_URL).
    type: str
  token:
    description:
      - API token. Most routes require scope C(FULL); application routes also accept C(REGISTRY).
      - Mutually exclusive with O(token_file). If C(module_defaults) sets one and the task sets the other,
        remove the default with C(omit) on the task, because the two may belong to different accounts.
      - If neither is set, the token of the host is used, unless the task sets a different platform than the
        host's. It comes from the variable C(hosted_services_token), from the file in
        C(hosted_services_token_file), or from the source that the host's inventory names. Without any of
        these, the environment variable E(HOSTED_SERVICES_TOKEN) is used.
    type: str
  token_file:
    description:
      - File that contains the API token on a single line. On the controller, it can be encrypted with
        ansible-vault. If not set, the environment variable E(HOSTED_SERVICES_TOKEN_FILE) is used.
    type: path
  auth_header:
    description: Name of the HTTP header that carries the token, also as E(HOSTED_SERVICES_AUTH_HEADER).
    type: str
    default: Authorization
  auth_scheme:
    description:
      - Word before the token in the header, also as E(HOSTED_SERVICES_AUTH_SCHEME). With an empty string,
        only the token is sent.
    type: str
    default: Bearer
  validate_certs:
    description:
      - Whether to verify the server's certificate, also as E(HOSTED_SERVICES_VALIDATE_CERTS). Turn this off
        only for tests on this machine; a warning then says so.
    type: bool
    default: true
  ca_path:
    description:
      - File or directory with the certificate authorities to trust instead of the system's, also as
        E(HOSTED_SERVICES_CA_PATH).
    type: path
  timeout:
    description:
      - Deadline for one call to the platform, including all retries, in seconds, also as
        E(HOSTED_SERVICES_TIMEOUT). Calls that return only when the work is done, such as a deployment, have
        a longer deadline.
    type: float
    default: 60.0
  retries:
    description:
      - How many times to retry a failed call, also as E(HOSTED_SERVICES_RETRIES). A call is retried only if
        that is safe. An order that may have reached the platform is never sent again.
    type: int
    default: 5
  allow_http_hosts:
    description:
      - Hosts to which the token may be sent over plain V(http), also as E(HOSTED_SERVICES_ALLOW_HTTP_HOSTS).
    type: list
    elements: str
    default: []
requirements:
  - python >= 3.11
  - requests
  - urllib3
  - pydantic >= 2
  - cryptography
  - PyYAML
"""

    # What the modules have beside the connection.
    DOCUMENTATION = (
        CONNECTION
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

    # The environment for the same options, which inventories and lookups read by Ansible's own means.
    ENVIRONMENT = r"""
options:
  base_url:
    env:
      - name: HOSTED_SERVICES_URL
  token:
    env:
      - name: HOSTED_SERVICES_TOKEN
  token_file:
    env:
      - name: HOSTED_SERVICES_TOKEN_FILE
  auth_header:
    env:
      - name: HOSTED_SERVICES_AUTH_HEADER
  auth_scheme:
    env:
      - name: HOSTED_SERVICES_AUTH_SCHEME
  validate_certs:
    env:
      - name: HOSTED_SERVICES_VALIDATE_CERTS
  ca_path:
    env:
      - name: HOSTED_SERVICES_CA_PATH
  timeout:
    env:
      - name: HOSTED_SERVICES_TIMEOUT
  retries:
    env:
      - name: HOSTED_SERVICES_RETRIES
  allow_http_hosts:
    env:
      - name: HOSTED_SERVICES_ALLOW_HTTP_HOSTS
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
  - Nothing is cached. Each rendering of a template reads from the platform, so the value is always current.
  - The lookup neither logs nor shows the value. A task that shows its arguments or its result does show it.
    Set C(no_log) to V(true) on the task that uses it, or C(diff) to V(false) if the task writes a file.
  - An option of the lookup takes precedence over the variables of the host, and these take precedence over
    the environment of ansible-playbook. Variables can be templates. They are the same as for the modules, so
    on hosts of the P(hosted.services.inventory#inventory) inventory its address and token are used. A lookup
    sees neither C(module_defaults) nor the C(environment) of a task.
"""

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

    # When a service that was started counts as healthy.
    HEALTH = r"""
options:
  healthy_for:
    description: For how many seconds a service must have run to count as healthy.
    type: float
    default: 10
  health_checks:
    description: What else a service must do to count as healthy, within O(wait_timeout).
    type: list
    elements: dict
    default: []
    suboptions:
      url:
        description:
          - URL that must respond, requested from where the task runs, without the token and without
            redirects. C({address}) in it stands for the address of the service, with its port.
        type: str
      status:
        description: Status codes that count as healthy.
        type: list
        elements: int
        default: [200]
      tcp:
        description: Whether the address must accept a TCP connection. Use this or O(health_checks[].url).
        type: bool
        default: false
      timeout:
        description: For how many seconds to wait for one response.
        type: float
        default: 5
"""

    # The same where a check may be of some services only.
    HEALTH_OF_MANY = (
        HEALTH
        + r"""
      services:
        description: The services to check, by id or name. If it is left out, all selected ones.
        type: list
        elements: str
"""
    )

    # A server that is not that of a service.
    SFTP_SERVER = r"""
options:
  service:
    description:
      - Id or name of the service, whose SFTP server is read from the API. An id takes precedence over a name,
        and O(project) and O(family) must match it.
    type: str
    required: false
  host:
    description: Name or address of an SFTP server, to connect to it without the API.
    type: str
  port:
    description: Port of the SFTP server. If not set, the port of the service is used, or 22.
    type: int
  known_hosts:
    description:
      - File of known host keys, in OpenSSH format, on the machine where the task runs. It is created if it
        does not exist. Lines that cannot be read are left out, with a warning.
    type: path
    default: ~/.ssh/known_hosts
requirements:
  - asyncssh >= 2.14.2
notes:
  - In a play over hosts of the P(hosted.services.inventory#inventory) inventory, or over any hosts that speak
    SFTP, the task works on the host itself if neither O(service) nor O(host) is set. It uses the variables of
    the host, such as C(ansible_host) and C(ansible_port), also with C(delegate_to), does not call the API and
    needs no token. A service of the inventory without C(ansible_host) is refused.
  - The connection options O(base_url) and O(token) are required only with O(service). O(timeout) is also the
    deadline for connecting and logging in over SFTP.
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
