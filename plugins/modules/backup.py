#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: backup
short_description: Make, restore and delete backups of services
version_added: 1.0.0
description:
  - Makes a backup of each selected service and waits until it is complete, restores one, or deletes it. Requests each
    backup once, even if the response is lost.
  - Deleting a service destroys its backups.
options:
  name:
    description: Name of the backup, exactly as on the platform, or its id, except with O(state=present).
    type: str
    required: true
  state:
    description:
      - V(present) makes the backup if there is no completed one of this name, and waits for one that is being made. One
        whose making failed is deleted and made again; one that failed in a restore stays beside the new one.
      - V(restored) replaces the files of the service with those of the backup. It counts as done once it was seen to
        begin and end, or after O(quiet_time). The task fails if a service event reports a failure, but check the files.
      - V(absent) deletes the backup, if it is there. If it is being made or restored, the task waits for the end first.
    type: str
    choices: [present, restored, absent]
    default: present
attributes:
  idempotent:
    support: partial
    details: Every run with O(state=restored) restores.
extends_documentation_fragment:
  - hosted.services.common
  - hosted.services.common.wait
  - hosted.services.many_services
  - hosted.services.many_services.restore
notes:
  - While a service is busy, the task retries for up to O(wait_timeout). Any other refusal fails at once.
seealso:
  - module: hosted.services.backup_info
  - module: hosted.services.backup_retention
  - module: hosted.services.snapshot
"""

EXAMPLES = r"""
- name: Back up a service before an upgrade
  hosted.services.backup:
    service: survival
    name: before-upgrade

- name: Back up all services of a project, four at a time
  hosted.services.backup:
    project: web
    name: release-41
    max_parallel: 4

- name: Restore the service to its state before the upgrade
  hosted.services.backup:
    service: survival
    name: before-upgrade
    state: restored
    confirm: true

- name: Delete the backup
  hosted.services.backup:
    service: survival
    name: before-upgrade
    state: absent

- name: Back up every game server, and wait for each for up to an hour
  hosted.services.backup:
    family: GAME
    name: "nightly-{{ now(utc=true, fmt='%Y-%m-%d') }}"
    wait_timeout: 3600

- name: Begin a backup, and do not wait for it
  hosted.services.backup:
    service: survival
    name: before-event
    wait: false

- name: See in check mode what a restore would overwrite
  hosted.services.backup:
    service: survival
    name: before-upgrade
    state: restored
    confirm: true
  check_mode: true
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
    backup:
      description: The backup. Null if it is absent or could not be made.
      type: dict
      contains:
        # generated: backup
        id:
          description: Id of the backup. Null in check mode if it would be made.
          type: str
          sample: bkp_51aa
        name:
          description: Name of the backup.
          type: str
          sample: nightly-2026-11-20
        status:
          description: V(PENDING), V(COMPLETED), V(FAILED) or V(RESTORING).
          type: str
          sample: COMPLETED
        size_bytes:
          description: Size of the backup.
          type: int
          sample: 104857600
        created_at:
          description: When it was started, in UTC.
          type: str
          sample: '2026-11-20T02:00:03.000Z'
        completed_at:
          description: When it was completed, in UTC.
          type: str
          sample: '2026-11-20T02:01:40.000Z'
        # generated end
    # generated: restore
    overwrites:
      description: Data that is overwritten. Null for other states.
      type: str
    start_seen:
      description: Whether it was seen to begin. Null if the task did not wait for it.
      type: bool
    events:
      description: Types of the events that it added to the service's activity journal, newest first. The journal
        is the only place where the platform may report that it failed. Null if the task did not wait for it, or
        could not read the journal.
      type: list
      elements: str
    vanished:
      description: Those that are no longer on the list although the task did not delete them. The platform or another
        run may have. The task warns about them.
      type: list
      elements: dict
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
from ansible_collections.hosted.services.plugins.module_utils._resources.backup import BACKUP


def main() -> None:
    """Run the module."""
    run_module(BACKUP)


if __name__ == "__main__":
    main()
