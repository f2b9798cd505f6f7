#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: backup_retention
short_description: Delete the backups or snapshots that a policy does not keep
version_added: 1.0.0
description:
  - Applies a retention policy, with rules like those of restic, to the backups or snapshots of each selected service,
    and deletes those that no rule keeps. Returns each one with every reason why it is kept or deleted, in check mode
    too.
  - Manages only those whose names match O(pattern). Only those that are C(COMPLETED) count for the rules. One that is
    being made or restored, has an unknown status, has no date or one in the future is never touched, nor is the newest
    good one. The time is that of the platform; if its responses have no C(Date), nothing is deleted.
  - Reads the list again before each deletion, and keeps whatever the policy keeps by then.
  - The platform deletes snapshots by name. If several snapshots of a service have one name and the policy would delete
    one of them, all of them stay, with a warning.
options:
  kind:
    description: Whether the policy applies to backups or snapshots. All snapshots count as good.
    type: str
    choices: [backups, snapshots]
    default: backups
  pattern:
    description:
      - Shell pattern for the names that the policy manages, such as V(nightly-*). The others are reported as unmanaged
        and not touched. A pattern that matches every name, such as V(*), is refused.
    type: str
    required: true
  keep_last:
    description: Number of the newest to keep.
    type: int
  keep_hourly:
    description:
      - For this number of the most recent hours that have one, keep the newest. If there are fewer such hours, the
        oldest one of all is kept, too; this applies to all rules with a number.
    type: int
  keep_daily:
    description: The same for days.
    type: int
  keep_weekly:
    description: The same for weeks, which begin on Monday and are numbered according to ISO 8601.
    type: int
  keep_monthly:
    description: The same for months.
    type: int
  keep_yearly:
    description: The same for years.
    type: int
  keep_within:
    description:
      - Keep those that are newer than this, in years, months, days and hours, such as V(2y5m7d3h), counted back from
        the newest good one that is not in the future, so that a schedule that stopped does not lose its last backups.
    type: str
  keep_failed:
    description:
      - Number of the newest failed backups to keep. One whose restore failed may still contain its data, and is also
        kept as long as the rules would keep it if it had not failed.
    type: int
    default: 1
  time_zone:
    description: Time zone in which hours, days, weeks, months and years begin, such as V(Europe/Paris).
    type: str
    default: UTC
  max_delete:
    description:
      - If the policy would delete more than this on a service, or more than this of its O(off_site_copies), delete
        nothing there.
    type: int
    default: 10
  off_site_copies:
    description:
      - Names of the off-site copies of the service's backups, which end with their moment in UTC, such as
        V(nightly-20261120T040311Z). Needs exactly one service, and O(kind=backups).
      - RV(services[].off_site_copies) says which of them stay, because the policy keeps the copy or its backup, or
        because the backup has failed since. The newest stays. The task deletes none of them.
    type: list
    elements: str
extends_documentation_fragment:
  - hosted.services.common
  - hosted.services.many_services
notes:
  - A policy that would keep nothing, or that has a negative number, is refused.
seealso:
  - module: hosted.services.backup
  - module: hosted.services.snapshot
"""

EXAMPLES = r"""
- name: Keep a week of days, a month of weeks, and half a year of months
  hosted.services.backup_retention:
    project: web
    pattern: nightly-*
    keep_daily: 7
    keep_weekly: 4
    keep_monthly: 6

- name: Show what another policy would delete, and why
  hosted.services.backup_retention:
    service: survival
    pattern: nightly-*
    keep_within: 14d
    max_delete: 100
  check_mode: true
  register: what_if

- name: Keep the last three snapshots
  hosted.services.backup_retention:
    service: worker
    kind: snapshots
    pattern: auto-*
    keep_last: 3
"""

RETURN = r"""
services:
  description: Result for each service. A task that fails returns it too, unless no service could be selected.
  returned: always
  type: list
  elements: dict
  contains:
    # generated: outcome
    service:
      description: Name of the service.
      type: str
      sample: survival
    service_id:
      description: Id of the service. Null if it was not found.
      type: str
      sample: svc_8c1d
    changed:
      description: Whether the service was changed, or would be in check mode.
      type: bool
    failed:
      description: Whether the task failed for this service.
      type: bool
    skipped:
      description: Whether the service was left out. RV(services[].msg) says why.
      type: bool
    msg:
      description: The error, or why the service was left out. Null if there is neither.
      type: str
    actions:
      description: Changes that the task made to the service, or would make in check mode.
      type: list
      elements: str
    # generated end
    plan:
      description: Every backup or snapshot with the decision on it, newest first.
      type: list
      elements: dict
      contains:
        # generated: decision
        id:
          description: Id of the backup, or name of the snapshot or copy.
          type: str
          sample: bkp_51aa
        name:
          description: Its name.
          type: str
          sample: nightly-2026-11-20
        status:
          description: Its status before the task.
          type: str
          sample: COMPLETED
        created_at:
          description: When it was made, in UTC. Null if that is not known.
          type: str
          sample: '2026-11-20T02:00:03.000Z'
        managed:
          description: Whether its name matches the pattern.
          type: bool
        keep:
          description: Whether it is kept.
          type: bool
        reasons:
          description: Every rule that keeps it, or why it is deleted.
          type: list
          elements: str
          sample:
          - newest good one
          - daily 2026-11-20
        # generated end
    kept:
      description: Number of managed ones that are kept.
      type: int
    deleted:
      description: Number of those that are deleted.
      type: int
    unmanaged:
      description: Number of those whose names do not match the pattern.
      type: int
    off_site_copies:
      description: The decision on each of O(off_site_copies), newest first. The C(id) of a copy is its name.
      type: list
      elements: dict
      contains:
        # generated: decision
        id:
          description: Id of the backup, or name of the snapshot or copy.
          type: str
          sample: bkp_51aa
        name:
          description: Its name.
          type: str
          sample: nightly-2026-11-20
        status:
          description: Its status before the task.
          type: str
          sample: COMPLETED
        created_at:
          description: When it was made, in UTC. Null if that is not known.
          type: str
          sample: '2026-11-20T02:00:03.000Z'
        managed:
          description: Whether its name matches the pattern.
          type: bool
        keep:
          description: Whether it is kept.
          type: bool
        reasons:
          description: Every rule that keeps it, or why it is deleted.
          type: list
          elements: str
          sample:
          - newest good one
          - daily 2026-11-20
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
from ansible_collections.hosted.services.plugins.module_utils._resources.backup_retention import (
    BACKUP_RETENTION,
)


def main() -> None:
    """Run the module."""
    run_module(BACKUP_RETENTION)


if __name__ == "__main__":
    main()
