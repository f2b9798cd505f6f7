#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: backup_retention
short_description: Delete the backups or snapshots that a policy does not keep
version_added: 1.0.0
author:
  - hosted.services contributors (@hosted-services)
description:
  - Decides on every backup or snapshot of each selected service by a policy in the language of restic, and deletes what
    no rule keeps. Each comes back with every reason for its fate, in check mode as well.
  - Only those whose names match O(pattern) are managed. Only those that are C(COMPLETED) count for the rules. One that is
    being made or restored, in a status that is not known, or without a date is never touched.
  - The newest good one is never deleted.
  - The list is read again before each deletion. What the policy keeps by then stays.
options:
  kind:
    description:
      - Kind of restore points that the policy applies to. All snapshots count as good.
    type: str
    choices: [backups, snapshots]
    default: backups
  pattern:
    description:
      - Shell pattern of the names that the policy owns, such as V(nightly-*). The rest is reported as unmanaged and left
        alone.
      - A pattern without any character of its own, such as V(*), is refused.
    type: str
    required: true
  keep_last:
    description:
      - Keep so many of the newest.
    type: int
  keep_hourly:
    description:
      - Keep the newest of each of the last so many hours that have one. When there are fewer such hours, the oldest one
        of all is kept too; this holds for all rules that count.
    type: int
  keep_daily:
    description:
      - The same with days.
    type: int
  keep_weekly:
    description:
      - The same with weeks, which begin on Monday and are numbered as ISO 8601 has them.
    type: int
  keep_monthly:
    description:
      - The same with months.
    type: int
  keep_yearly:
    description:
      - The same with years.
    type: int
  keep_within:
    description:
      - Keep what is younger than this, in years, months, days and hours as in V(2y5m7d3h). It counts back from the newest
        good one that is not in the future, so that a schedule that stopped does not lose its last backups.
    type: str
  keep_failed:
    description:
      - Keep so many of the newest failed backups. They hold nothing, but tell of a problem.
    type: int
    default: 1
  time_zone:
    description:
      - Time zone in which hours, days, weeks, months and years begin, such as V(Europe/Paris).
    type: str
    default: UTC
  max_delete:
    description:
      - Delete nothing on a service when the policy would delete more than this there.
    type: int
    default: 10
extends_documentation_fragment:
  - hosted.services.common
  - hosted.services.common.attributes
  - hosted.services.many_services
notes:
  - A policy that would keep nothing, and a negative count, are refused.
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

- name: See what another policy would delete, and why
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
  sample:
    - service: survival
      service_id: svc_8c1d
      changed: true
      failed: false
      skipped: false
      msg: null
      actions: ["delete backup 'nightly-2026-11-19' of service 'survival' (svc_8c1d), made 2026-11-19T02:00:03.000Z"]
      plan:
        - id: bkp_51aa
          name: nightly-2026-11-20
          status: COMPLETED
          created_at: "2026-11-20T02:00:03.000Z"
          managed: true
          keep: true
          reasons: [newest good one, last 1, daily 2026-11-20]
        - id: bkp_2f40
          name: nightly-2026-11-19
          status: COMPLETED
          created_at: "2026-11-19T02:00:03.000Z"
          managed: true
          keep: false
          reasons: [no rule keeps it]
      kept: 1
      deleted: 1
      unmanaged: 0
  contains:
    service:
      description: Name of the service.
      type: str
    service_id:
      description: Id of the service. Null when it was not found.
      type: str
    changed:
      description: Whether something was changed for it, or would be in check mode.
      type: bool
    actions:
      description: Changes that the task made to the service, or would make in check mode, one sentence each.
      type: list
      elements: str
    failed:
      description: Whether something went wrong with it.
      type: bool
    skipped:
      description: Whether it was left out, because it does not offer what the task is about.
      type: bool
    msg:
      description: The error, or the reason for skipping the service. Null if there is neither.
      type: str
    plan:
      description: Every backup or snapshot with its fate, the newest first.
      type: list
      elements: dict
      contains:
        id:
          description: Id of the backup; of a snapshot its name.
          type: str
        name:
          description: Its name.
          type: str
        status:
          description: Its status before the task.
          type: str
        created_at:
          description: When it was made, in UTC.
          type: str
        managed:
          description: Whether the pattern owns it.
          type: bool
        keep:
          description: Whether it stays.
          type: bool
        reasons:
          description: Every rule that keeps it, or why it goes.
          type: list
          elements: str
    kept:
      description: How many of the managed ones stay.
      type: int
    deleted:
      description: How many go.
      type: int
    unmanaged:
      description: How many the pattern does not own.
      type: int
actions:
  description: Changes that the task made, or would make in check mode, one sentence each, for all services.
  returned: success
  type: list
  elements: str
  sample: ["delete backup 'nightly-2026-11-19' of service 'survival' (svc_8c1d), made 2026-11-19T02:00:03.000Z"]
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
