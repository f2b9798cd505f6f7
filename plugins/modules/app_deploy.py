#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: app_deploy
short_description: Bring a release of an application into service
version_added: 1.0.0
author:
  - hosted.services contributors (@hosted-services)
description:
  - Deploys a release, when another image is in service than the one that its tag names. Images are compared by
    digest.
  - The image in service is deployed again when its environment was written and is not in effect yet, and when its
    last deploy was not seen to succeed. The controller keeps a record of both, and the reason is in RV(actions) and in
    the diff.
  - The verdict of its scan is looked at first. One that is still pending is waited for. Whether one that is C(BLOCKED)
    is deployed is for the platform to say, as its team may have lifted the verdict, which the report need not show.
    When the platform refuses, nothing is touched, and the task fails with the flaw, its package and its fix version.
    Check mode warns.
  - Afterwards, compares the digest in service with the desired one. If a response is lost, reads what is in service
    before it does anything else.
  - To roll back, deploy the tag of an earlier release. Releases are kept.
options:
  tag:
    description:
      - Tag of the release to deploy. It has to be declared, see M(hosted.services.app_release).
    type: str
    required: true
  digest:
    description:
      - Digest that the tag has to name. When it names another one by now, the task fails and nothing is deployed.
      - Needed in check mode for a release that an earlier task would have declared.
    type: str
  declared:
    description:
      - Whether the release was declared before the play. If so, check mode too fails when the tag is not declared or
        names another image than O(digest).
      - Otherwise check mode takes it that an earlier task of the play declares it, and warns.
    type: bool
    default: false
  rollback:
    description:
      - When the version does not come up, bring the one back that was in service before. The task fails all the
        same, with both outcomes and the last lines of the log.
    type: bool
    default: false
  state_dir:
    description:
      - Folder of the records of what is not in effect and of what was in service. They are in C(pending) inside of it,
        and in C(hosted_services/pending) in Ansible's home as well, where they are looked for when it is not set.
      - Give it what M(hosted.services.environment) was given, and share it between the machines that deploy.
    type: path
  force:
    description:
      - Deploy even when the image is in service already. That restarts it, with its present environment.
    type: bool
    default: false
  log_lines:
    description:
      - Number of log lines in the result when the version does not come up, from 1 to 100.
    type: int
    default: 20
extends_documentation_fragment:
  - hosted.services.on_app
  - hosted.services.common
  - hosted.services.common.wait
  - hosted.services.common.attributes
attributes:
  idempotent:
    description: Run twice in a row, the second run changes nothing.
    support: partial
    details: With O(force=true) every run deploys.
notes:
  - The API for applications does not show whether the process runs, only which image is in service. So a deploy that
    was begun and not seen to succeed is remembered on the controller, and made again by the next run.
  - An application that is C(PROVISIONING) takes its first deploy. Where the platform refuses that, its creation is
    waited for.
seealso:
  - module: hosted.services.app_release
  - module: hosted.services.app_info
  - module: hosted.services.environment
"""

EXAMPLES = r"""
- name: Deploy a version, and go back if it does not start
  hosted.services.app_deploy:
    slug: acme-shop
    tag: "1.4.0"
    rollback: true

- name: Deploy what was just declared, and nothing else
  hosted.services.app_deploy:
    slug: acme-shop
    tag: "{{ declared.release.tag }}"
    digest: "{{ declared.release.digest }}"

- name: Go back to a version from before
  hosted.services.app_deploy:
    slug: acme-shop
    tag: "1.3.2"
"""

RETURN = r"""
deployment:
  description: The release in service, with the image before it and the scan. In check mode, as it is expected to be.
  returned: success
  type: dict
  sample:
    slug: acme-shop
    tag: "1.4.0"
    digest: sha256:4a5c…
    previous_digest: sha256:0b1d…
    pending_deploy: []
    scan: {scan_status: PASSED}
    app: {slug: acme-shop, digest: "sha256:4a5c…"}
  contains:
    slug:
      description: Slug of the application.
      type: str
    tag:
      description: Tag of the release.
      type: str
    digest:
      description: Digest of its image.
      type: str
    previous_digest:
      description: Digest that was in service before the task. Null before the first deploy.
      type: str
    pending_deploy:
      description:
        - What is left to the next deploy, so far as this controller knows. V(deploy) when the answer was lost and nobody
          saw the version come up, V(environment) when one was written during the deploy.
      type: list
      elements: str
    scan:
      description: The scan of the release, as M(hosted.services.app_release) returns it.
      type: dict
      contains:
        tag:
          description: Tag of the release.
          type: str
        digest:
          description: Digest of the image.
          type: str
        scan_status:
          description: Verdict.
          type: str
        scanned_at:
          description: When the image was analysed, in UTC.
          type: str
        counts:
          description: Number of vulnerabilities by severity.
          type: dict
        blocking:
          description: Vulnerabilities that block the release.
          type: list
          elements: dict
          contains:
            id:
              description: Id of the vulnerability.
              type: str
            package:
              description: Package that has it.
              type: str
            version:
              description: Version of the package in the image.
              type: str
            fix_version:
              description: Version that fixes it. Null if there is none.
              type: str
            severity:
              description: Severity.
              type: str
            reason:
              description: Why it blocks the release. Null if it does not.
              type: str
        warnings:
          description: Vulnerabilities that do not block it.
          type: list
          elements: dict
          contains:
            id:
              description: Id of the vulnerability.
              type: str
            package:
              description: Package that has it.
              type: str
            version:
              description: Version of the package in the image.
              type: str
            fix_version:
              description: Version that fixes it. Null if there is none.
              type: str
            severity:
              description: Severity.
              type: str
            reason:
              description: Why it blocks the release. Null if it does not.
              type: str
        warning_count:
          description: Number of all warnings.
          type: int
        scanner:
          description: Program that analysed the image.
          type: str
    app:
      description: The application, as M(hosted.services.app) returns it.
      type: dict
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
          description: Administrative status.
          type: str
        image_ref:
          description: Reference of the image in service, with its digest.
          type: str
        address:
          description: Host and port that the application answers at.
          type: str
        platform:
          description: Architecture of the running image.
          type: str
        released_at:
          description: When the release in service was deployed, in UTC.
          type: str
        scan_status:
          description: Verdict of the analysis of the release in service.
          type: str
        digest:
          description: Digest of the image in service.
          type: str
blocking:
  description: The flaws that keep the release from being deployed.
  returned: when the release is blocked
  type: list
  elements: dict
  contains:
    id:
      description: Id of the vulnerability.
      type: str
    package:
      description: Package that has it.
      type: str
    version:
      description: Version of the package in the image.
      type: str
    fix_version:
      description: Version that fixes it. Null if there is none.
      type: str
    severity:
      description: Severity.
      type: str
    reason:
      description: Why it blocks the release. Null if it does not.
      type: str
reason:
  description: Why the version did not come up, or was not taken, in the platform's words.
  returned: when it did not, or was refused for its verdict
  type: str
cost:
  description: The monthly price of the application, in currency units as strings. A deploy does not change it.
  returned: in check mode, when the release would be deployed and the token may read the price (scope C(FULL))
  type: dict
  sample:
    monthly_before: "3.885"
    monthly_after: "3.885"
    monthly_change: "0.00"
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
      description: Always empty, because a deploy keeps the price.
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
rolled_back:
  description: Whether the version from before is in service again.
  returned: with O(rollback=true), when the version did not come up
  type: bool
rollback:
  description: Result of the rollback, as a sentence.
  returned: with O(rollback=true), when the version did not come up
  type: str
logs:
  description: The last lines of the application's log.
  returned: when the version did not come up
  type: list
  elements: str
actions:
  description: Changes that the task made, or would make in check mode, one sentence each.
  returned: success
  type: list
  elements: str
"""

from ansible_collections.hosted.services.plugins.module_utils._ansible.module import run_module
from ansible_collections.hosted.services.plugins.module_utils._resources.app_deploy import APP_DEPLOY


def main() -> None:
    """Run the module."""
    run_module(APP_DEPLOY)


if __name__ == "__main__":
    main()
