#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: clone
short_description: Clone a project, with its files, databases and images
version_added: 1.0.0
author:
  - hosted.services contributors (@hosted-services)
description:
  - Makes another project like an existing one. The platform cannot do that, so the module describes the source as a
    blueprint, orders what it describes under other names, and copies what each service holds. Files go over SFTP from
    service to service, databases as a dump, and images from one repository of the registry to the other.
  - A second run brings over what has changed in the source since, and nothing else. A run that was interrupted is
    continued by the next one, and nothing is ordered twice.
  - Never writes to the source, not even an SFTP password. Its files are read with an SSH key of the account. If there
    is none yet, M(hosted.services.ssh_key) registers one.
  - Everything that can be known to be missing is found before anything is ordered. In check mode, the task shows what the
    clone would cost, as the sum of the platform's quotes.
  - The platform does not show the values of environments, the variables of orders, or backups of a service as files, so
    these are not cloned. The guide to cloning lists what is copied and what is not.
options:
  source:
    description:
      - Id or name of the project to clone.
    type: str
    required: true
  project:
    description:
      - Name of the project that the clone is in. It is created if it does not exist.
      - Refused if it is the source, if it may be the default project of the account, or if it holds what the clone did
        not make, see O(existing).
    type: str
    required: true
  services:
    description:
      - Names, slugs or ids of the services and applications of the source to clone. If not set, all are cloned.
    type: list
    elements: str
  rename:
    description:
      - How the names of services and the slugs of applications in the clone come from those of the source. Slugs are
        unique across all accounts, so a source with applications needs at least one rule.
    type: dict
    suboptions:
      prefix:
        description: Text before each name.
        type: str
        default: ""
      suffix:
        description: Text after each name, such as V(-staging).
        type: str
        default: ""
      pattern:
        description: Python regular expression. Each match in a name is replaced by O(rename.replacement).
        type: str
      replacement:
        description: What replaces matches of O(rename.pattern). May refer to groups, as in V(\\1).
        type: str
        default: ""
      names:
        description:
          - Names in the clone, by name, slug or id in the source. The other rules do not apply to these.
        type: dict
  host:
    description:
      - Id or label of the node for everything in the clone. If not set, each service is ordered on the node of its source.
    type: str
  hosts:
    description:
      - Nodes of the clone by the id or label of the node of the source. These take precedence over O(host).
    type: dict
  dimensions:
    description:
      - Size of everything in the clone. Parts that are not set are those of the source.
    type: dict
    suboptions:
      cpu_cores:
        description: Number of vCPUs.
        type: int
      ram_gb:
        description: Memory in GB.
        type: int
      storage_gb:
        description: Disk in GB. It must hold the files of the source.
        type: int
  public:
    description:
      - Whether everything in the clone is open to the Internet. If not set, what is open in the source is.
      - A database can only be copied if the controller reaches that of the source and that of the clone.
    type: bool
  overrides:
    description:
      - What single services and applications have in the clone, by name, slug or id in the source. Each is a dictionary
        with the keys of an entry of M(hosted.services.blueprint), such as C(name), C(slug), C(host), C(dimensions),
        C(public), C(command), C(state), C(variables) or C(max_monthly). They take precedence over all other options.
      - Services whose order had variables with references need C(variables) here, as the platform does not show them.
    type: dict
  environments:
    description:
      - Environments of applications in the clone, by slug or id in the source. Each replaces the whole environment.
      - A reference may name a service by its alias, name or slug in the source. In the clone, it leads to the clone of
        that service. A reference to a service of the source that is not cloned is refused.
      - If an application is known to have variables that are given nowhere, nothing is ordered. Known are variables that
        refer to another service, and those that were written from this controller.
    type: dict
  secret_environments:
    description:
      - As O(environments), with values that are never shown.
    type: dict
  src:
    description:
      - Blueprint of the source, from which the environments are taken that O(environments) does not give. It is read as
        M(hosted.services.blueprint) reads it, with templates and values from Ansible Vault.
    type: path
  blueprint:
    description:
      - The same as O(src), as data.
    type: dict
  copy_secrets:
    description:
      - Whether C(secret_environment) of O(src) is used for the clone. By default it is not, so that the secrets of
        production do not end up in staging.
    type: bool
    default: false
  without_environment:
    description:
      - Slugs or ids of applications of the source to clone without the variables that are known and not given.
    type: list
    elements: str
    default: []
  without_data:
    description:
      - Names, slugs or ids of services of the source to clone without what they hold. Needed for services that have
        neither files over SFTP nor a database, such as buckets, and for databases that cannot be dumped from here.
    type: list
    elements: str
    default: []
  existing:
    description:
      - What to do if O(project) holds services that the clone is not known to have made. The controller remembers what
        it made, below O(state_dir).
      - V(refuse) fails. V(keep) leaves them alone, and fails if one has a name of the clone. V(adopt) takes those with a
        name of the clone for the clone, and B(overwrites what they hold); it leaves the others alone.
      - Services that appear by a name of the clone while the task runs are left as they are, and the task fails, unless
        this is V(adopt).
    type: str
    choices: [refuse, keep, adopt]
    default: refuse
  delete:
    description:
      - Whether files in the clone are deleted if the source does not have them. The content of a database is always
        replaced as a whole.
    type: bool
    default: true
  checksum:
    description:
      - Whether files of the same size and time are compared by their content.
    type: bool
    default: false
  max_monthly:
    description:
      - Maximum price per month of everything in O(project), in currency units. Nothing is ordered if the clone would
        exceed it.
    type: str
  private_key_file:
    description:
      - File of the private key to log in with over SFTP. It must be registered on the account, see
        M(hosted.services.ssh_key). If not set, the keys of the SSH agent and those in C(~/.ssh) are tried.
    type: path
  known_hosts:
    description:
      - File of the known keys of servers, in the format of OpenSSH. C(~/.ssh/known_hosts) when it is not set. The key of
        a server that is not in it is accepted and written down there, but not in check mode.
    type: path
  max_parallel:
    description:
      - Maximum number of parts that are planned or changed at the same time.
    type: int
    default: 16
  secrets_dir:
    description:
      - Folder on the controller for the secrets that the platform generates for an order and shows only once, with a file
        for each service, C(KEY.json), of mode 0600. It is made if missing. If not set, they are kept below
        C(hosted_services) in Ansible's home.
    type: path
  state_dir:
    description:
      - Folder on the controller for what is remembered, such as what the clone made. If not set, C(hosted_services) in
        Ansible's home, or the folder that E(HOSTED_SERVICES_HOME) names.
    type: path
extends_documentation_fragment:
  - hosted.services.common
  - hosted.services.common.attributes
  - hosted.services.common.wait
  - hosted.services.budget
notes:
  - Services of the clone are stopped while their files are copied, and started again if those of the source run. The
    source keeps running, so files that are written at that moment may be copied in part. The next run corrects that.
  - Databases are dumped and restored with the programs of their engine on the controller, such as C(pg_dump),
    C(pg_restore) and C(psql). A dump is in a file without a name, which is gone with the process. It holds the one
    database that the platform names for the service, and no other that somebody created on its server.
  - To delete a clone, give RV(blueprint) to M(hosted.services.blueprint) with C(state=absent).
seealso:
  - module: hosted.services.blueprint
  - module: hosted.services.blueprint_info
  - module: hosted.services.ssh_key
  - module: hosted.services.sftp_sync
"""

EXAMPLES = r"""
- name: Show what a clone would cost
  hosted.services.clone:
    source: shop
    project: shop-staging
    rename: {suffix: -staging}
    environments:
      acme-web: {API: "${acme-api.URL}", LOG_LEVEL: debug}
  check_mode: true
  register: planned

- name: Clone a project as a smaller one that only the controller can reach
  hosted.services.clone:
    source: shop
    project: shop-staging
    rename: {suffix: -staging}
    dimensions: {cpu_cores: 1, ram_gb: 2}
    public: false
    max_monthly: 30
    private_key_file: ~/.ssh/deploy
    environments:
      acme-web: {API: "${acme-api.URL}", LOG_LEVEL: debug}
    secret_environments:
      acme-web: {SESSION_KEY: "{{ staging_session_key }}"}
  register: staging

- name: Clone one service onto another node
  hosted.services.clone:
    source: games
    services: [survival]
    project: try-the-update
    host: node-lyon-1

- name: Delete the clone
  hosted.services.blueprint:
    blueprint: "{{ staging.blueprint }}"
    state: absent
"""

RETURN = r"""
parts:
  description:
    - What became of each part, or would become of it in check mode, with the keys of
      RV(hosted.services.blueprint#module:parts) but C(copy). What copies the content of a service comes after what
      makes it, as C(files), C(database) or C(image).
    - A task that fails returns it too, unless nothing could be planned. If some parts cannot be planned, only these.
  returned: if the clone can be planned
  type: list
  elements: dict
  sample:
    - section: services
      key: survival
      module: files
      name: survival
      changed: true
      failed: false
      skipped: false
      msg: null
      actions: ["copy the files of service 'survival' to service svc_77aa: create 3 (70007 bytes)"]
      unfinished: []
      unconfirmed: []
      cost: null
      result: {created: [server.properties], updated: [], deleted: [], unchanged: 1, bytes: 70007}
  contains:
    module:
      description:
        - Module that does the same for this part alone, or C(files), C(database) or C(image) for what is copied.
      type: str
    result:
      description:
        - What the module of the part returns. Null if it failed or was not begun.
        - Of C(files), what M(hosted.services.sftp_sync) returns. Of C(database), whether a dump was C(restored), and its
          C(bytes). Of C(image), how many parts the registry took over by itself (C(mounted)) and how many went through
          the controller (C(sent)).
      type: dict
cost:
  description:
    - Effect of all changes together on the monthly price, with the keys of RV(hosted.services.blueprint#module:cost).
  returned: if a price changes, or would
  type: dict
  sample:
    monthly_before: "0.00"
    monthly_after: "3.53"
    monthly_change: "3.53"
    currency: EUR
    lines: [{label: "service 'db'", monthly_before: "0.00", monthly_after: "3.53"}]
    unpriced: []
blueprint:
  description:
    - The blueprint of the clone, as M(hosted.services.blueprint) takes it, without environments and variables. With
      C(state=absent) it deletes the clone.
  returned: if the clone can be planned
  type: dict
  sample: {project: shop-staging, services: {survival: {name: survival-staging, product: minecraft}}}
actions:
  description: Changes that the task made, or would make in check mode, one sentence each, for all parts.
  returned: success
  type: list
  elements: str
  sample: ["create project 'shop-staging'", "order minecraft as service 'survival-staging' for 5.37 EUR a month"]
"""

from ansible_collections.hosted.services.plugins.module_utils._ansible.module import run_module
from ansible_collections.hosted.services.plugins.module_utils._resources.clone import CLONE


def main() -> None:
    """Run the module."""
    run_module(CLONE)


if __name__ == "__main__":
    main()
