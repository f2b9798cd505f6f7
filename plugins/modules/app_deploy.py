#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: app_deploy
short_description: Deploy a release of an application
version_added: 1.0.0
description:
  - Deploys a release if the image in service differs from the one that its tag names, by digest. To roll back, deploy
    the tag of an earlier release.
  - Deploys the image in service again if a change of its environment is pending, or if its last deploy was not seen to
    succeed. RV(actions) and the diff give the reason.
  - Waits for the verdict of the scan. If the platform refuses a C(BLOCKED) release, nothing is changed, and the task
    fails with the vulnerabilities. Check mode warns.
options:
  tag:
    description: Tag of the release, which must be declared. See M(hosted.services.app_release).
    type: str
    required: true
  digest:
    description: Digest that the tag must name. If it names another one, nothing is deployed.
    type: str
  rollback:
    description: Deploy the previous version again if the new one does not start or is not healthy. The task still
      fails. If another version was put in service meanwhile, nothing is rolled back.
    type: bool
    default: false
  health_check:
    description: URL that must respond after the deploy, or the task fails. A release that is in service already is
      checked in each run too, but never rolled back. Check mode sends no request.
    type: dict
    suboptions:
      url:
        description: URL to request from the controller, without the token and without redirects. C({address}) stands
          for the address and port of the application, which must be open to the Internet then.
        type: str
        required: true
      status:
        description: HTTP statuses of a healthy response.
        type: list
        elements: int
        default: [200]
      timeout:
        description: How long to repeat the request until the response is healthy, in seconds.
        type: float
        default: 60.0
      interval:
        description: Longest pause between two requests, in seconds.
        type: float
        default: 2.0
      validate_certs:
        description: Whether to verify the certificate of the URL, with O(ca_path) if that is set.
        type: bool
        default: true
  state_dir:
    description: Folder for the records of pending changes and previous releases, in addition to C(hosted_services) in
      Ansible's home. Set the same one as for M(hosted.services.environment), and share it between machines that deploy.
    type: path
  force:
    description: Deploy even if the image is already in service. This restarts it with its current environment.
    type: bool
    default: false
  log_lines:
    description: Number of log lines in the result if the version does not start, from 1 to 100.
    type: int
    default: 20
extends_documentation_fragment:
  - hosted.services.on_app
  - hosted.services.common
  - hosted.services.common.wait
attributes:
  idempotent:
    support: partial
    details: With O(force=true) every run deploys.
notes:
  - If the response is lost and nothing shows what became of it, the deploy is sent once more, which restarts the
    application.
  - Whether a deploy in doubt started the container is read from the metrics, which need a token with scope C(FULL).
    With other tokens, the next run deploys again.
  - If a failed deploy may have restarted the container, the previous version is deployed again even if it is shown as
    in service, by O(rollback) or by the next run.
seealso:
  - module: hosted.services.app_release
  - module: hosted.services.app_info
  - module: hosted.services.environment
"""

EXAMPLES = r"""
- name: Deploy a version, and roll back if it does not start
  hosted.services.app_deploy:
    slug: acme-shop
    tag: "1.4.0"
    rollback: true

- name: Deploy a version, and roll back if the shop does not respond within two minutes
  hosted.services.app_deploy:
    slug: acme-shop
    tag: "1.4.0"
    rollback: true
    health_check:
      url: https://shop.example.com/health
      timeout: 120

- name: Deploy exactly the image that was just declared
  hosted.services.app_deploy:
    slug: acme-shop
    tag: "{{ declared.release.tag }}"
    digest: "{{ declared.release.digest }}"

- name: Roll back to an earlier version
  hosted.services.app_deploy:
    slug: acme-shop
    tag: "1.3.2"

- name: See in check mode what runs now, and what would be deployed
  hosted.services.app_deploy:
    slug: acme-shop
    tag: "1.4.0"
  check_mode: true
  diff: true

- name: Restart it with its current environment
  hosted.services.app_deploy:
    slug: acme-shop
    tag: "1.4.0"
    force: true

- name: Wait ten minutes for a large image, and return a hundred lines of its log if it does not start
  hosted.services.app_deploy:
    slug: acme-shop
    tag: "1.4.0"
    wait_timeout: 600
    log_lines: 100
"""

RETURN = r"""
deployment:
  description: The release in service, with the previous image and the scan. In check mode, the expected result.
  returned: success
  type: dict
  contains:
    # generated: app slug
    slug:
      description: Slug of the application.
      type: str
      sample: acme-shop
    # generated end
    # generated: release tag digest
    tag:
      description: Tag of the release.
      type: str
      sample: 1.4.0
    digest:
      description: Digest of the image.
      type: str
      sample: sha256:4a5c…
    # generated end
    previous_digest:
      description: Digest that was in service before the deploy. Null before the first deploy.
      type: str
    last_good_digest:
      description: Digest that O(rollback) goes back to. That is the previous one, or the one before it if that was not
        seen to run. Null if there is none.
      type: str
    # generated: pending_deploy
    pending_deploy:
      description: Changes that are pending until the next deploy, as far as this controller knows. V(environment)
        if an environment was written since, V(deploy) if the last deploy was not seen to succeed.
      type: list
      elements: str
    # generated end
    scan:
      description: The scan of the release.
      type: dict
      contains:
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
    app:
      description: The application.
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
blocking:
  description: Vulnerabilities that block it.
  returned: if the release is blocked
  type: list
  elements: dict
  contains:
    # generated: vulnerability
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
    # generated end
reason:
  description: Why the version did not start or was refused, in the platform's words.
  returned: if the version did not start or was refused
  type: str
cost:
  description: The monthly price of the application, which a deploy does not change. C(moves) is always empty.
  returned: in check mode, if the release would be deployed and the token has scope C(FULL)
  type: dict
  contains:
    # generated: quoted
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
    # generated end
    lines:
      description: Always empty.
      type: list
      elements: dict
rolled_back:
  description: Whether the previous version is back in service.
  returned: with O(rollback=true), if the version did not start or is not healthy
  type: bool
rollback:
  description: Result of the rollback, as a sentence.
  returned: with O(rollback=true), if the version did not start or is not healthy
  type: str
health_url:
  description: The URL that did not respond as O(health_check) expects.
  returned: if the version is not healthy
  type: str
logs:
  description: The last lines of the application's log, oldest first.
  returned: if the version did not start
  type: list
  elements: str
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
from ansible_collections.hosted.services.plugins.module_utils._resources.app_deploy import APP_DEPLOY


def main() -> None:
    """Run the module."""
    run_module(APP_DEPLOY)


if __name__ == "__main__":
    main()
