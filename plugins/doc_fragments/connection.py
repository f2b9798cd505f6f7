# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the connection to the platform, which everything has that reads it."""

from __future__ import annotations


class ModuleDocFragment:
    """The fragments hosted.services.connection."""

    DOCUMENTATION = r"""
options:
  base_url:
    description: Address of the platform's API, such as V(https://api.example.com). Plain V(http) is refused
      except for this machine and O(allow_http_hosts). If not set, E(HOSTED_SERVICES_URL).
    type: str
  token:
    description: API token. Most routes require scope C(FULL); application routes also accept C(REGISTRY).
      Mutually exclusive with O(token_file); use C(omit) to leave out the one that C(module_defaults) sets. If
      neither is set, E(HOSTED_SERVICES_TOKEN).
    type: str
  token_file:
    description: File with the API token on a single line. On the controller, it can be encrypted with
      ansible-vault. If not set, E(HOSTED_SERVICES_TOKEN_FILE).
    type: path
  auth_header:
    description: Name of the HTTP header that carries the token, also as E(HOSTED_SERVICES_AUTH_HEADER).
    type: str
    default: Authorization
  auth_scheme:
    description: Word before the token in the header, also as E(HOSTED_SERVICES_AUTH_SCHEME). If empty, only
      the token is sent.
    type: str
    default: Bearer
  validate_certs:
    description: Whether to verify the server's certificate, also as E(HOSTED_SERVICES_VALIDATE_CERTS). Turn
      this off only for tests on this machine.
    type: bool
    default: true
  ca_path:
    description: File or directory with the certificate authorities to trust instead of the system's, also as
      E(HOSTED_SERVICES_CA_PATH).
    type: path
  timeout:
    description: Deadline for a call to the platform with its retries, in seconds, also as
      E(HOSTED_SERVICES_TIMEOUT). Calls that last until the work is done have longer.
    type: float
    default: 60.0
  retries:
    description: How many times to retry a failed call that is safe to send again, also as
      E(HOSTED_SERVICES_RETRIES).
    type: int
    default: 5
  allow_http_hosts:
    description: Hosts to which the token may be sent over plain V(http), also as
      E(HOSTED_SERVICES_ALLOW_HTTP_HOSTS).
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
  - Nothing is cached. Each rendering of a template reads the current value from the platform.
  - The lookup neither logs nor shows the value, but a task that shows its arguments or its result does. Set
    C(no_log) to V(true) on the task that uses it, or C(diff) to V(false) if the task writes a file.
  - An option takes precedence over the variables of the host, and these over the environment of
    ansible-playbook. On hosts of the P(hosted.services.inventory#inventory) inventory, its address and token
    are used. A lookup sees neither C(module_defaults) nor the C(environment) of a task.
"""
