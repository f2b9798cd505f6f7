#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: backup
short_description: Make, restore and delete backups of services
version_added: 1.0.0
author:
  - hosted.services contributors (@hosted-services)
description:
  - Makes a backup of each selected service and waits until it is complete, restores one, or deletes it.
  - A backup is asked for once. When the answer to that is lost, the backup that appears on the list is adopted; nothing
    is sent again.
  - A backup lives with its service. Deleting the service destroys its backups.
options:
  name:
    description:
      - Name of the backup. With O(state=restored) and O(state=absent) its id does as well.
    type: str
    required: true
  state:
    description:
      - V(present) makes sure that there is a completed backup of this name. One that is being made is waited for, not
        doubled. A failed one of this name is deleted and made again. Where the platform writes names its own way, for
        example in lower case, the task warns, and names that differ in no more than case, blanks and punctuation are
        refused from then on. So are names that the platform may cut. If the longest name on the service has 32
        or more characters, a longer name that begins with it is refused, because it may be that backup.
      - V(restored) puts the files of the backup in the place of those of the service. A restore of it that is under way
        is waited for. A restore is done when it was seen to begin and to end, or after O(quiet_time). That the backup is
        C(COMPLETED) again says that the restore is over; whether it brought all files back the platform does not say.
        An event of the service that tells of a failed restore ends the task as failed; no new event at all is a warning.
      - V(absent) makes sure that there is no backup of this name. One that is being made or restored is deleted when
        that is over.
      - A service that is busy with another copy, or takes the next backup only after a pause, is asked again for up to
        O(wait_timeout). Where it does not say that it is busy and nothing shows it, for up to O(quiet_time).
    type: str
    choices: [present, restored, absent]
    default: present
  confirm:
    description:
      - Agree to what O(state=restored) overwrites. Without it the task fails and says what that is.
    type: bool
    default: false
  quiet_time:
    description:
      - For how many seconds nothing may change before a restore that was not seen to begin is taken for done. The task
        warns then, and RV(services[].start_seen) is V(false).
      - A restore that is seen to begin, because the platform shows the backup as C(RESTORING), is waited for to its end.
        But a platform may show that late, or not at all for a restore that is over quickly. A change of the container's
        state and a new event of the service begin the quiet time anew.
      - At most half of O(wait_timeout).
    type: float
    default: 30.0
    version_added: 0.2.0
  allow_partial:
    description:
      - With O(state=restored) all selected services are looked at first. Where one cannot be brought back, because it has no
        backup of this name for example, the task fails before it changes any, and lists those.
      - Set this to bring back the others all the same. The task still fails at the end.
    type: bool
    default: false
    version_added: 0.2.0
attributes:
  idempotent:
    description: Run twice in a row, the second run changes nothing.
    support: partial
    details: A restore is done each time it is asked for.
extends_documentation_fragment:
  - hosted.services.common
  - hosted.services.common.attributes
  - hosted.services.common.wait
  - hosted.services.many_services
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

- name: Take a service back to what it was before the upgrade
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
      actions: ["back up service 'survival' (svc_8c1d) as 'before-upgrade'"]
      backup:
        id: bkp_51aa
        name: before-upgrade
        status: COMPLETED
        size_bytes: 104857600
        created_at: "2026-11-20T02:00:03.000Z"
        completed_at: "2026-11-20T02:01:40.000Z"
      overwrites: null
      start_seen: null
      events: null
      vanished: []
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
    backup:
      description: The backup. Null when it is absent or could not be made.
      type: dict
      contains:
        id:
          description: Id of the backup. Null in check mode when it would be made.
          type: str
        name:
          description: Name of the backup.
          type: str
        status:
          description: C(PENDING), C(COMPLETED), C(FAILED) or C(RESTORING).
          type: str
        size_bytes:
          description: Size of the backup.
          type: int
        created_at:
          description: When it was started, in UTC.
          type: str
        completed_at:
          description: When it was completed, in UTC.
          type: str
    overwrites:
      description: Data that a restore overwrites. Null for other states.
      type: str
    start_seen:
      description: Whether the restore was seen to begin. Null when none was waited for.
      type: bool
    events:
      description:
        - Types of the events that the journal of the service gained with the restore, the newest first. It is the only place where
          a platform may tell that a restore failed. Null when none was waited for, or the journal could not be read.
      type: list
      elements: str
    vanished:
      description:
        - The backups that were on the list before and are not any more, though the task did not delete them. The platform
          may have made room for a new one, or another run may have removed them. The task warns of them.
      type: list
      elements: dict
actions:
  description: Changes that the task made, or would make in check mode, one sentence each, for all services.
  returned: success
  type: list
  elements: str
  sample: ["back up service 'survival' (svc_8c1d) as 'before-upgrade'"]
"""

from ansible_collections.hosted.services.plugins.module_utils._ansible.module import run_module
from ansible_collections.hosted.services.plugins.module_utils._resources.backup import BACKUP


def main() -> None:
    """Run the module."""
    run_module(BACKUP)


if __name__ == "__main__":
    main()
