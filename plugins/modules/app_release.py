#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: app_release
short_description: Declare releases of applications and wait for their scan
version_added: 1.0.0
description:
  - Declares that a tag names a pushed image, waits until the platform has scanned it, and returns the scan report.
  - Declares nothing if the tag names the digest already. If it names another one, it is moved, and the diff shows both.
options:
  tag:
    description: Tag of the release, such as a version.
    type: str
    required: true
  digest:
    description: Digest of the image, as printed at the end of the push. The platform refuses one that was not pushed.
    type: str
    required: true
  pushed:
    description: Whether the image was pushed before the play. If so, it is looked up in the registry first, in check
      mode too. If not, check mode assumes that an earlier task pushes it, and warns.
    type: bool
    default: false
  fail_on:
    description:
      - Verdicts and severities that make the task fail. An empty list accepts everything. Only a release that is
        C(BLOCKED) cannot be deployed, unless the platform's team has lifted the verdict. C(FAILED) means that the scan
        did not complete.
      - A severity matches all vulnerabilities of that severity, also those that the platform only warns about. If the
        scan does not count them, the task fails; if it did not complete, the task warns.
    type: list
    elements: str
    choices: [blocked, warned, failed, critical, high, medium, low]
    default: [blocked]
extends_documentation_fragment:
  - hosted.services.on_app
  - hosted.services.common
  - hosted.services.common.wait
notes:
  - With O(wait=false), a scan may still be C(PENDING), so O(fail_on) has little to check.
seealso:
  - module: hosted.services.app
  - module: hosted.services.app_deploy
"""

EXAMPLES = r"""
- name: Declare a pushed image, and fail if the verdict blocks its deploy
  hosted.services.app_release:
    slug: acme-shop
    tag: "1.4.0"
    digest: sha256:4a5c8d1f3b7e9a2c6d0f4b8e1a3c5d7f9b2e4a6c8d0f1b3e5a7c9d2f4b6e8a0c
  register: shop

- name: Show the warnings and where they are fixed
  ansible.builtin.debug:
    msg: "{{ item.id }}: {{ item.package }} {{ item.version }}, fixed in {{ item.fix_version }}"
  loop: "{{ shop.release.warnings }}"

- name: Apply a stricter policy
  hosted.services.app_release:
    slug: acme-shop
    tag: "1.4.0"
    digest: "{{ pushed_digest }}"
    fail_on: [blocked, failed, critical]

- name: Report every vulnerability, and fail for none
  hosted.services.app_release:
    slug: acme-shop
    tag: "1.4.0"
    digest: "{{ pushed_digest }}"
    fail_on: []

- name: See in check mode whether the image that was pushed before the play is in the registry
  hosted.services.app_release:
    slug: acme-shop
    tag: "1.4.0"
    digest: "{{ pushed_digest }}"
    pushed: true
  check_mode: true
"""

RETURN = r"""
release:
  description: The release and its scan. In check mode, as far as they are known.
  returned: success, and if O(fail_on) or the verdict made the task fail
  type: dict
  contains:
    # generated: app slug
    slug:
      description: Slug of the application.
      type: str
      sample: acme-shop
    # generated end
    # generated: scan
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
    counts:
      description: Number of vulnerabilities by severity.
      type: dict
      sample:
        Critical: 1
        High: 0
    blocking:
      description: Vulnerabilities that block the release.
      type: list
      elements: dict
      contains:
        id:
          description: Id of the vulnerability.
          type: str
          sample: CVE-2022-37434
        package:
          description: The affected package.
          type: str
          sample: zlib
        version:
          description: Version of the package in the image.
          type: str
          sample: 1:1.2.11.dfsg-2
        fix_version:
          description: Version that fixes it. Null if there is none.
          type: str
          sample: 1:1.2.11.dfsg-4.1
        severity:
          description: Severity.
          type: str
          sample: Critical
        reason:
          description: Why it blocks the release. Null if it does not.
          type: str
    warnings:
      description: Serious vulnerabilities that do not block the release.
      type: list
      elements: dict
      contains:
        id:
          description: Id of the vulnerability.
          type: str
          sample: CVE-2022-37434
        package:
          description: The affected package.
          type: str
          sample: zlib
        version:
          description: Version of the package in the image.
          type: str
          sample: 1:1.2.11.dfsg-2
        fix_version:
          description: Version that fixes it. Null if there is none.
          type: str
          sample: 1:1.2.11.dfsg-4.1
        severity:
          description: Severity.
          type: str
          sample: Critical
        reason:
          description: Why it blocks the release. Null if it does not.
          type: str
    warning_count:
      description: Number of warnings.
      type: int
    scanner:
      description: Name of the scanner.
      type: str
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
from ansible_collections.hosted.services.plugins.module_utils._resources.app_release import APP_RELEASE


def main() -> None:
    """Run the module."""
    run_module(APP_RELEASE)


if __name__ == "__main__":
    main()
