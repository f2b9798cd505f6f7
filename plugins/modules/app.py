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
  - Creates an application, to which you can then push images in the platform's registry.
  - Requests a quote first, and does not create the application if it costs more than O(max_monthly). Never sends the
    request twice. If the response is lost, reads the list of applications to find out whether it was created.
  - Does not change an existing application. If its project, size or price differs from the task, the task warns;
    M(hosted.services.service) changes these. If its node differs, which cannot be changed, the task fails.
  - The comparison requires a token with scope C(FULL). With scope C(REGISTRY), nothing is compared.
options:
  slug:
    description:
      - Slug of the application, with 3 to 40 lowercase letters, digits and hyphens. It names the repository in the
        registry and is unique across all accounts.
    type: str
    required: true
  host:
    description:
      - Id or label of the node to create it on. If not set, the platform chooses one.
      - The image must be built for the architecture of the node.
    type: str
  project:
    description:
      - Id or name of the project to create it in. If not set, the default project is used.
    type: str
  dimensions:
    description:
      - Size of the application, with all three values. If not set, the entry-level size is used.
  max_monthly:
    description:
      - Maximum price per month, in currency units, such as V(12.50). If an existing application costs more, the task
        warns.
    type: str
  state:
    description:
      - V(present) creates the application if it does not exist.
      - There is no V(absent), because the application routes cannot delete. To delete an application, use
        M(hosted.services.service) with C(state=absent), C(family=APP) and its name or id.
    type: str
    choices: [present]
    default: present
extends_documentation_fragment:
  - hosted.services.common
  - hosted.services.common.wait
  - hosted.services.budget
  - hosted.services.common.attributes
  - hosted.services.common.dimensions
notes:
  - A token with scope C(REGISTRY) is sufficient.
  - The platform may keep an application C(PROVISIONING) until its first deploy. So if it has never been deployed,
    O(wait=true) waits for at most ten seconds.
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
"""

RETURN = r"""
app:
  description: The application. In check mode, the expected result.
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
      description: Host and port of the application.
      type: str
    platform:
      description: The architecture of what runs. Null before the first deploy.
      type: str
    released_at:
      description: When the version in service was released.
      type: str
    scan_status:
      description: Scan verdict on the version in service.
      type: str
cost:
  description: Effect of the task on the monthly price, with the keys of RV(hosted.services.service#module:cost).
  returned: if the application is created, or would be
  type: dict
  sample:
    monthly_before: "0.00"
    monthly_after: "3.885"
    monthly_change: "3.885"
    currency: EUR
    lines: []
actions:
  description: Changes that the task made, or would make in check mode, one sentence each.
  returned: success
  type: list
  elements: str
  sample: ["create application 'acme-shop' for 3.885 EUR a month"]
"""

from ansible_collections.hosted.services.plugins.module_utils._ansible.module import run_module
from ansible_collections.hosted.services.plugins.module_utils._resources.app import APP


def main() -> None:
    """Run the module."""
    run_module(APP)


if __name__ == "__main__":
    main()
