#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: app_info
short_description: Read applications, their releases and logs
version_added: 1.0.0
author:
  - hosted.services contributors (@hosted-services)
description:
  - Returns one application or all of them, with the digest and the verdict of the version in service.
  - On request also their releases with what each tag names, their logs, and the nodes and projects that new
    applications can go to.
options:
  slug:
    description:
      - Only the application of this slug. It is an error when there is none.
    type: str
  include:
    description:
      - Parts to read in addition to the list.
      - V(releases) and V(logs) are under keys of these names in each application; V(nodes) and V(projects) in the
        result itself.
      - V(releases) takes a call for every release, because only its scan tells which digest a tag names.
    type: list
    elements: str
    choices: [releases, logs, nodes, projects]
    default: []
  log_lines:
    description:
      - Number of log lines for O(include=logs) at most, from 1 to 100. The platform may keep fewer.
    type: int
    default: 100
  state_dir:
    description:
      - Folder of the records of what was in service, for RV(apps[].previous_release). The one that was given to
        M(hosted.services.app_deploy); C(hosted_services/pending) in Ansible's home is looked into as well.
    type: path
extends_documentation_fragment:
  - hosted.services.common
  - hosted.services.common.info_attributes
notes:
  - A token of scope C(REGISTRY) is enough.
seealso:
  - module: hosted.services.app
  - module: hosted.services.app_deploy
"""

EXAMPLES = r"""
- name: What runs where?
  hosted.services.app_info:
  register: all_apps

- name: Say so
  ansible.builtin.debug:
    msg: "{{ item.slug }}: {{ item.digest or 'nothing yet' }} at {{ item.address }}"
  loop: "{{ all_apps.apps }}"
  loop_control:
    label: "{{ item.slug }}"

- name: Which version was there before?
  hosted.services.app_info:
    slug: acme-shop
    include: [releases]
  register: shop

- name: Go back to it
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
  sample:
    - id: svc_31c0
      name: acme-shop
      slug: acme-shop
      status: ACTIVE
      image_ref: registry.example.com/acme/acme-shop@sha256:4a5c…
      digest: sha256:4a5c…
      address: 203.0.113.10:30001
      platform: linux/amd64
      released_at: "2026-11-20T08:15:30.000Z"
      scan_status: PASSED
  contains:
    id:
      description: Id of the application.
      type: str
    name:
      description: Name of the application.
      type: str
    slug:
      description: Slug of the application.
      type: str
    status:
      description: Administrative status of the application.
      type: str
    image_ref:
      description: Reference of the image in service, with its digest. Null before the first deploy.
      type: str
    digest:
      description: The digest of the image in service. Null before the first deploy.
      type: str
    address:
      description: Host and port that the application answers at.
      type: str
    platform:
      description: Architecture of the running image, such as V(linux/amd64).
      type: str
    released_at:
      description: When the release in service was deployed, in UTC.
      type: str
    scan_status:
      description: Verdict of the analysis of the release in service.
      type: str
    releases:
      description:
        - Its releases, oldest first; in the order of their analysis where the platform does not show when they were
          declared.
        - Each with C(tag), C(digest), C(scan_status), C(scanned_at), C(created_at), and C(in_service), which is
          whether its image is the one in service.
      returned: with O(include=releases)
      type: list
      elements: dict
      contains:
        tag:
          description: Tag.
          type: str
        digest:
          description: Digest of the image.
          type: str
        scan_status:
          description: Verdict of the analysis.
          type: str
        scanned_at:
          description: When the image was analysed, in UTC.
          type: str
        created_at:
          description: When the release was declared, in UTC.
          type: str
        in_service:
          description: Whether its image is the one in service.
          type: bool
    releases_note:
      description:
        - Why RV(apps[].releases) may lack some, such as a list of the platform that is cut. Null when it holds all.
      returned: with O(include=releases)
      type: str
    previous_release:
      description:
        - The release to roll back to, the last one whose image was in service before the current one and started.
        - The platform does not show what was in service. It is known on the controller that made the deploys, with
          M(hosted.services.app_deploy) and the same O(state_dir). Null when it is not known.
      returned: with O(include=releases)
      type: dict
    previous_release_note:
      description: Why RV(apps[].previous_release) is not known. Null when it is.
      returned: with O(include=releases)
      type: str
    logs:
      description: The last lines of its log.
      returned: with O(include=logs)
      type: list
      elements: str
nodes:
  description: The nodes that take applications, as the platform lists them, their keys in snake_case.
  returned: with O(include=nodes)
  type: list
  elements: dict
projects:
  description: The projects that applications can join, as the platform lists them, their keys in snake_case.
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
