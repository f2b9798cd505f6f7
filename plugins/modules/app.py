#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: app
short_description: Create applications
version_added: 1.0.0
description:
  - Creates an application, to which you can then push images in the platform's registry.
  - Requests a quote first. Never sends the request twice, even if the response is lost.
  - Does not change an existing application. Warns if its project, size or price differs, which
    M(hosted.services.service) can change, and fails if its node differs. With scope C(REGISTRY), nothing is compared.
options:
  slug:
    description: Slug of the application and name of its repository, with 3 to 40 lowercase letters, digits and hyphens.
      Unique across all accounts.
    type: str
    required: true
  host:
    description: Id or label of the node to create it on. If not set, the platform chooses one. The image must be built
      for the architecture of the node.
    type: str
  project:
    description: Id or name of the project to create it in. If not set, the default project.
    type: str
  dimensions:
    description: Size of the application, with all three values. If not set, the entry-level size.
  state:
    description: V(present) creates the application if it does not exist. To delete it, use M(hosted.services.service)
      with C(state=absent) and C(family=APP).
    type: str
    choices: [present]
    default: present
extends_documentation_fragment:
  - hosted.services.common
  - hosted.services.common.wait
  - hosted.services.budget
  - hosted.services.common.dimensions
  - hosted.services.budget.max_monthly
notes:
  - A token with scope C(REGISTRY) is sufficient.
  - O(wait=true) waits for at most ten seconds if the application was never deployed, because the platform may keep it
    C(PROVISIONING) until then.
seealso:
  - module: hosted.services.app_info
  - module: hosted.services.app_release
  - module: hosted.services.app_deploy
  - module: hosted.services.environment
  - module: hosted.services.service
"""

EXAMPLES = r"""
- name: Create an application of the smallest size, on any node
  hosted.services.app:
    slug: acme-shop

- name: Create one with a given size and node, within a budget
  hosted.services.app:
    slug: acme-shop
    host: node-paris-1
    project: web
    dimensions:
      cpu_cores: 2
      ram_gb: 4
      storage_gb: 20
    max_monthly: 15

- name: Show what it would cost
  hosted.services.app:
    slug: acme-shop
  check_mode: true
  register: planned

- name: Delete it (token of scope FULL)
  hosted.services.service:
    name: acme-shop
    family: APP
    state: absent

- name: Create one for each part of a shop
  hosted.services.app:
    slug: "acme-{{ item }}"
    project: web
  loop: [shop, mailer, search]

- name: Create one, and register what the platform knows of it
  hosted.services.app:
    slug: acme-shop
  register: shop

- name: Show its address
  ansible.builtin.debug:
    msg: "{{ shop.app.address }}"
"""

RETURN = r"""
app:
  description: The application. In check mode, the expected result.
  returned: success
  type: dict
  contains:
    # generated: app
    id:
      description: Id of the application. Null in check mode if it would be created.
      type: str
      sample: svc_31c0
    name:
      description: Name of the application as a service.
      type: str
      sample: acme-shop
    slug:
      description: Slug of the application.
      type: str
      sample: acme-shop
    status:
      description: Administrative status of the application, such as V(ACTIVE).
      type: str
      sample: ACTIVE
    image_ref:
      description: The image in service, with its digest. Null before the first deploy.
      type: str
    digest:
      description: The digest of the image in service. Null before the first deploy.
      type: str
      sample: sha256:4a5c…
    address:
      description: Host and port of the application.
      type: str
      sample: 203.0.113.10:30001
    platform:
      description: The architecture of what runs. Null before the first deploy.
      type: str
      sample: linux/amd64
    released_at:
      description: When the release in service was deployed, in UTC.
      type: str
      sample: '2026-11-20T08:15:30.000Z'
    scan_status:
      description: Scan verdict on the release in service.
      type: str
      sample: PASSED
    # generated end
cost:
  description: Effect of the task on the monthly price.
  returned: if the application is created, or would be
  type: dict
  contains:
    # generated: cost
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
      description: The changes that affect the price, in order, V(order), V(create), V(resize), V(suspend), V(resume)
        or V(delete). If the task failed, those that were made or may have been made.
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
    # generated end
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
from ansible_collections.hosted.services.plugins.module_utils._resources.app import APP


def main() -> None:
    """Run the module."""
    run_module(APP)


if __name__ == "__main__":
    main()
