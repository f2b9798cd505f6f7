#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: app
short_description: Create applications
version_added: 1.0.0
author:
  - hosted.services contributors (@hosted-services)
description:
  - Creates an application, which then takes images that are pushed to its repository in the platform's registry.
  - It is quoted first, and not created when it costs more than O(max_monthly). It is never asked for twice. When the
    answer is lost, the list of applications tells what became of it.
  - An application that is there is not changed. When its node, project, size or price is not what the task asks for,
    the task fails. Size and project are changed by M(hosted.services.service); the node cannot be changed.
  - Comparing takes a token of scope C(FULL). With one of scope C(REGISTRY) the task warns that it cannot compare.
options:
  slug:
    description:
      - Slug of the application, 3 to 40 lowercase letters, digits and hyphens. It names the repository in the
        registry and is unique across all accounts.
    type: str
    required: true
  host:
    description:
      - Id or label of the node to create it on. The platform chooses one when it is not set.
      - The image must be built for the architecture of the node.
    type: str
  project:
    description:
      - Id or name of the project to create it in. The default project when it is not set.
    type: str
  dimensions:
    description:
      - Size of the application, all three parts. The entry-level size when it is not set.
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
  max_monthly:
    description:
      - The most that the application may cost in a month, in currency units, such as V(12.50). One that is there and
        costs more is an error.
    type: str
  state:
    description:
      - V(present) creates the application when it is missing.
      - There is no V(absent) here, because the routes of applications do not delete. To delete an application use
        M(hosted.services.service) with C(state=absent), C(family=APP) and its name or id.
    type: str
    choices: [present]
    default: present
extends_documentation_fragment:
  - hosted.services.common
  - hosted.services.common.wait
  - hosted.services.common.attributes
notes:
  - A token of scope C(REGISTRY) is enough.
  - The platform may keep an application C(PROVISIONING) until its first deploy. So O(wait=true) waits no longer than
    ten seconds for one that has had none, and warns.
seealso:
  - module: hosted.services.app_info
  - module: hosted.services.app_release
  - module: hosted.services.app_deploy
  - module: hosted.services.environment
  - module: hosted.services.service
"""

EXAMPLES = r"""
- name: An application of the smallest size, wherever there is room
  hosted.services.app:
    slug: acme-shop

- name: One of a certain size on a certain node, within a budget
  hosted.services.app:
    slug: acme-shop
    host: node-paris-1
    project: web
    dimensions:
      cpu_cores: 2
      ram_gb: 4
      storage_gb: 20
    max_monthly: 15

- name: What would it cost?
  hosted.services.app:
    slug: acme-shop
  check_mode: true
  register: planned

- name: Delete it (token of scope FULL)
  hosted.services.service:
    name: acme-shop
    family: APP
    state: absent
"""

RETURN = r"""
app:
  description: The application. In check mode, as it is expected to be.
  returned: success
  type: dict
  sample:
    id: svc_31c0
    name: acme-shop
    slug: acme-shop
    status: ACTIVE
    image_ref: null
    address: 203.0.113.10:30001
    platform: null
    released_at: null
    scan_status: null
    digest: null
  contains:
    id:
      description: Id of the application. Null in check mode when it would be created.
      type: str
    name:
      description: Name of the application as a service.
      type: str
    slug:
      description: Its slug.
      type: str
    status:
      description: Its administrative status, such as V(ACTIVE).
      type: str
    image_ref:
      description: The image in service, with its digest. Null before the first deploy.
      type: str
    digest:
      description: The digest of the image in service. Null before the first deploy.
      type: str
    address:
      description: Host and port that the application answers at.
      type: str
    platform:
      description: The architecture of what runs. Null before the first deploy.
      type: str
    released_at:
      description: When the version in service was released.
      type: str
    scan_status:
      description: The verdict on the version in service.
      type: str
cost:
  description: Effect of the creation on the monthly price, in currency units as strings.
  returned: when the application is created, or would be
  type: dict
  sample:
    monthly_before: "0.00"
    monthly_after: "3.885"
    monthly_change: "3.885"
    currency: EUR
    lines: []
  contains:
    monthly_before:
      description: Monthly rate before the change.
      type: str
    monthly_after:
      description: Monthly rate after the change.
      type: str
    monthly_change:
      description: Difference of the two.
      type: str
    currency:
      description: Currency of the amounts. Null if the platform does not name it to this token.
      type: str
    moves:
      description:
        - What changes the price, in its order, V(order), V(create), V(resize), V(suspend), V(resume) or V(delete).
          After a task that failed, what was done and what may have been done.
      type: list
      elements: str
    service:
      description: Name of the service.
      type: str
    service_id:
      description: Id of the service. Null if it does not exist yet.
      type: str
    balance:
      description: The balance, if a quote tells it.
      type: str
    min_balance:
      description: The least balance that the order requires, if a quote tells it.
      type: str
    days_covered:
      description: How many days the balance covers, if a quote tells it.
      type: int
    lines:
      description: Parts of the price.
      type: list
      elements: dict
      contains:
        label:
          description: Name of the part.
          type: str
        detail:
          description: Details, for people.
          type: str
        monthly:
          description: Its monthly price.
          type: str
actions:
  description: Changes that the task made, or would make in check mode, one sentence each.
  returned: success
  type: list
  elements: str
  sample: ["create application 'acme-shop' for 3.885 EUR a month", "wait until application 'acme-shop' is created"]
"""

from ansible_collections.hosted.services.plugins.module_utils._ansible.module import run_module
from ansible_collections.hosted.services.plugins.module_utils._resources.app import APP


def main() -> None:
    """Run the module."""
    run_module(APP)


if __name__ == "__main__":
    main()
