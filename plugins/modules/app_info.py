#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: app_info
short_description: Read applications, their releases and logs
version_added: 1.0.0
description: Returns one application or all applications, with the digest and the scan verdict of what is in service.
options:
  slug:
    description: Only the application with this slug. If there is none, the task fails.
    type: str
  include:
    description: Parts to read in addition. V(releases) and V(logs) are those of each application; V(releases) takes
      one call per release. V(nodes) and V(projects) are those that new applications can use.
    type: list
    elements: str
    choices: [releases, logs, nodes, projects]
    default: []
  log_lines:
    description: Maximum number of log lines for O(include=logs), from 1 to 100.
    type: int
    default: 100
  state_dir:
    description: Folder with the records of previous releases, the same as for M(hosted.services.app_deploy).
      C(hosted_services/pending) in Ansible's home is read as well.
    type: path
extends_documentation_fragment:
  - hosted.services.common.info_attributes
  - hosted.services.common
notes:
  - A token with scope C(REGISTRY) is sufficient.
seealso:
  - module: hosted.services.app
  - module: hosted.services.app_deploy
"""

EXAMPLES = r"""
- name: Read all applications
  hosted.services.app_info:
  register: all_apps

- name: Show what runs where
  ansible.builtin.debug:
    msg: "{{ item.slug }}: {{ item.digest or 'nothing yet' }} at {{ item.address }}"
  loop: "{{ all_apps.apps }}"
  loop_control:
    label: "{{ item.slug }}"

- name: Read which release was in service before
  hosted.services.app_info:
    slug: acme-shop
    include: [releases]
  register: shop

- name: Roll back to it
  hosted.services.app_deploy:
    slug: acme-shop
    tag: "{{ shop.apps[0].previous_release.tag }}"
"""

RETURN = r"""
apps:
  description: The applications.
  returned: success
  type: list
  elements: dict
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
    releases:
      description: Its releases, oldest first.
      returned: with O(include=releases)
      type: list
      elements: dict
      contains:
        # generated: declared
        tag:
          description: Tag of the release.
          type: str
          sample: 1.4.0
        digest:
          description: Digest of the image.
          type: str
          sample: sha256:4a5c…
        scan_status:
          description: V(PENDING), V(PASSED), V(WARNED), V(BLOCKED) or V(FAILED).
          type: str
          sample: PASSED
        scanned_at:
          description: When the image was scanned, in UTC.
          type: str
          sample: '2026-11-20T08:15:30.000Z'
        created_at:
          description: When the release was declared, in UTC.
          type: str
          sample: '2026-11-20T08:15:30.000Z'
        in_service:
          description: Whether its image is in service.
          type: bool
        # generated end
    previous_release:
      description: The release to roll back to, the last one that ran before the current one. Known only on the
        controller that deployed the current one, with the same O(state_dir). Null if it is not known, or if the last
        deploy failed and the release before it is still in service.
      returned: with O(include=releases)
      type: dict
    previous_release_note:
      description: Why RV(apps[].previous_release) is null. Null otherwise.
      returned: with O(include=releases)
      type: str
    logs:
      description: The last lines of its log, oldest first.
      returned: with O(include=logs)
      type: list
      elements: str
nodes:
  description: Nodes that accept applications, as the platform lists them, with keys in snake_case.
  returned: with O(include=nodes)
  type: list
  elements: dict
projects:
  description: Projects that applications can join, as the platform lists them, with keys in snake_case.
  returned: with O(include=projects)
  type: list
  elements: dict
"""

from ansible_collections.hosted.services.plugins.module_utils._ansible.module import run_module
from ansible_collections.hosted.services.plugins.module_utils._resources.app_info import APP_INFO


def main() -> None:
    """Run the module."""
    run_module(APP_INFO)


if __name__ == "__main__":
    main()
