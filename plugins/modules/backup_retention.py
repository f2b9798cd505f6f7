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
  - Deletes the backups or snapshots of each selected service that no rule of the policy keeps. The rules are like those
    of restic. Returns every reason why one is kept or deleted, in check mode too.
  - Only C(COMPLETED) ones count. Never deletes the newest good one, one that is being made or restored, or one with an
    unknown status, no date, or a date in the future. If the platform does not send its time, deletes nothing.
  - If several snapshots of a service have one name, keeps them all, with a warning, because only names tell them apart.
options:
  kind:
    description: Whether the policy applies to backups or snapshots. All snapshots count as good.
    type: str
    choices: [backups, snapshots]
    default: backups
  pattern:
    description: Shell pattern for the names that the policy manages. The others are not touched. V(*) is refused.
    type: str
    required: true
  keep_last:
    description: Number of the newest to keep.
    type: int
  keep_hourly:
    description: Keep the newest of an hour, for this number of the most recent hours that have one. If there are fewer,
      the oldest of all is kept, too. This applies to all rules with a number.
    type: int
  keep_daily:
    description: The same for days.
    type: int
  keep_weekly:
    description: The same for weeks according to ISO 8601, which begin on Monday.
    type: int
  keep_monthly:
    description: The same for months.
    type: int
  keep_yearly:
    description: The same for years.
    type: int
  keep_within:
    description: Keep those that are newer than this, in years, months, days and hours, such as V(2y5m7d3h), counted
      back from the newest good one.
    type: str
  keep_failed:
    description: Number of the newest failed backups to keep. One whose restore failed is kept like a good one, too.
    type: int
    default: 1
  time_zone:
    description: Time zone in which hours, days, weeks, months and years begin, such as V(Europe/Paris).
    type: str
    default: UTC
  max_delete:
    description: Delete nothing on a service if more than this of its backups, or of O(off_site_copies), would go.
    type: int
    default: 10
  off_site_copies:
    description: Names of off-site copies of the backups of one service, such as V(nightly-20261120T040311Z), with their
      moment in UTC. RV(services[].off_site_copies) says which of them to keep. The task deletes none of them.
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
