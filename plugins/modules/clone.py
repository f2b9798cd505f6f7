#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: clone
short_description: Clone a project, with its files, databases and images
version_added: 1.0.0
description:
  - Makes another project like an existing one. Orders the same services under other names, and copies their files over
    SFTP, their databases as dumps, and images within the registry.
  - A second run brings over what has changed in the source since. It continues a run that was interrupted, and orders
    nothing twice. The source is never written to.
  - Finds everything that is missing before it orders anything. In check mode, shows what the clone would cost.
options:
  source:
    description: Id or name of the project to clone.
    type: str
    required: true
  project:
    description: Name of the project for the clone, which is created if it does not exist. It cannot be the default
      project.
    type: str
    required: true
  services:
    description: Names, slugs or ids of the services and applications to clone. If not set, all.
    type: list
    elements: str
  hosts:
    description: Nodes of the clone, by the id or label of the node of the source. They take precedence over O(host).
    type: dict
  dimensions:
    description: Size of everything in the clone. Parts that are not set are those of the source.
  public:
    description: Whether everything in the clone is open to the Internet. If not set, as in the source.
    type: bool
  src:
    description: Blueprint of the source, for the environments that O(environments) does not give.
    type: path
  blueprint:
    description: The same as O(src), as data.
    type: dict
  copy_secrets:
    description: Whether to use C(secret_environment) of O(src), such as the secrets of production, for the clone.
    type: bool
    default: false
  without_environment:
    description: Slugs or ids of applications to clone without the known variables that are not given.
    type: list
    elements: str
    default: []
  existing:
    description: What to do with services in O(project) that the clone did not make. V(refuse) fails. V(keep) leaves
      them alone, and fails if one has a name of the clone. V(adopt) takes such ones and B(overwrites what they hold).
    type: str
    choices: [refuse, keep, adopt]
    default: refuse
extends_documentation_fragment:
  - hosted.services.common
  - hosted.services.common.wait
  - hosted.services.budget
  - hosted.services.common.dimensions
  - hosted.services.common.sftp_login
  - hosted.services.common.state_dir
  - hosted.services.project
  - hosted.services.project.rename
  - hosted.services.project_copy
  - hosted.services.project_copy.environments
notes:
  - Services of the clone are stopped while their files are copied, and started again if those of the source run. Files
    that are written in the source meanwhile may be copied in part; the next run corrects that.
  - Databases are copied with the programs of their engine on the controller, such as C(pg_dump), which must reach both.
  - The platform does not show the variables of an order. Where they had references, give C(variables) in O(overrides).
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
  description: What became of each part, or would in check mode. A task that fails returns it too; if some parts cannot
    be planned, only these.
  returned: if the clone can be planned
  type: list
  elements: dict
  contains:
    # generated: part
    section:
      description: Section of the blueprint.
      type: str
      sample: services
    key:
      description: Key in that section, or the id of a service that is deleted because it is not in the blueprint.
      type: str
      sample: db
    module:
      description: Module that does the same for this part, or C(files), C(database) or C(image) if copied.
      type: str
      sample: service
    name:
      description: Name on the platform, or slug.
      type: str
      sample: db
    changed:
      description: Whether something was changed, or would be in check mode.
      type: bool
    failed:
      description: Whether it failed.
      type: bool
    skipped:
      description: Whether it was not begun, because something that it needs failed.
      type: bool
    msg:
      description: The error, or why it was not begun. Null if there is neither.
      type: str
    actions:
      description: Changes that were made, or would be in check mode, one sentence each.
      type: list
      elements: str
    unfinished:
      description: Those of the changes that the platform had not finished when the task gave up waiting.
      type: list
      elements: str
    unconfirmed:
      description: Changes of which nobody knows whether they were made.
      type: list
      elements: str
    cost:
      description: Effect on the monthly price. Null if there is none.
      type: dict
      contains:
        monthly_before:
          description: The rate that is billed before the change. Null if it is not known.
          type: str
          sample: '0.00'
        monthly_after:
          description: The rate that is billed after the whole task. Null if it cannot be known.
          type: str
          sample: '10.74'
        monthly_change:
          description: The difference.
          type: str
          sample: '10.74'
        currency:
          description: Currency of the amounts. Null if this token cannot read it.
          type: str
          sample: EUR
        moves:
          description: The changes that affect the price, in order, V(order), V(create), V(resize), V(suspend),
            V(resume) or V(delete). If the task failed, those that were made or may have been made.
          type: list
          elements: str
          sample:
          - order
        service:
          description: Name of the service.
          type: str
          sample: survival
        service_id:
          description: Id of the service. Null if it does not exist yet.
          type: str
        project:
          description: Name of the project that the service is ordered in or deleted from, if the task names one.
          type: str
          sample: games
        balance:
          description: The balance, if a quote shows it.
          type: str
          sample: '12.50'
        min_balance:
          description: The minimum balance that the order requires, if a quote shows it.
          type: str
          sample: '0.36'
        days_covered:
          description: How many days the balance covers, if a quote shows it.
          type: int
          sample: 34
        lines:
          description: The lines of the quote, with the monthly price of each in currency units.
          type: list
          elements: dict
          sample:
          - label: Memory
            detail: 4 GB
            monthly: '4.24'
    secrets_file:
      description: File with the secrets that the platform shows only once.
      type: str
    # generated end
    result:
      description: What the module of the part returns. Null if it failed or was not begun. Of a database, whether a
        dump was C(restored), and its C(bytes). Of an image, how many parts the registry C(mounted) by itself, and how
        many were C(sent).
      type: dict
cost:
  description: Effect of all changes together on the monthly price.
  returned: if a price changes, or would
  type: dict
  contains:
    # generated: total
    monthly_before:
      description: The sum of the rates that are billed before the change, of what changes.
      type: str
      sample: '0.00'
    monthly_after:
      description: The sum of the rates after it.
      type: str
      sample: '3.53'
    monthly_change:
      description: The difference.
      type: str
      sample: '3.53'
    currency:
      description: Currency of the amounts. Null if this token cannot read it.
      type: str
      sample: EUR
    unpriced:
      description: What has an unknown price. It is in none of the sums.
      type: list
      elements: str
    lines:
      description: Each part whose price changes.
      type: list
      elements: dict
      contains:
        label:
          description: Module and name of the part.
          type: str
          sample: service 'db'
        monthly_before:
          description: Its monthly rate before the change. Null if the platform does not show it.
          type: str
          sample: '0.00'
        monthly_after:
          description: Its monthly rate after the change. Null if the platform does not show it.
          type: str
          sample: '3.53'
    # generated end
blueprint:
  description: Blueprint of the clone for M(hosted.services.blueprint), without environments and variables.
  returned: if the clone can be planned
  type: dict
  sample: {project: shop-staging, services: {survival: {name: survival-staging, product: minecraft}}}
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
from ansible_collections.hosted.services.plugins.module_utils._resources.clone import CLONE


def main() -> None:
    """Run the module."""
    run_module(CLONE)


if __name__ == "__main__":
    main()
