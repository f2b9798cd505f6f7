#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: snapshot
short_description: Take, roll back to and delete snapshots of services
version_added: 1.0.0
description:
  - Takes a snapshot of each selected service, rolls services back to one, or deletes it.
  - Deleting a service destroys its snapshots.
options:
  name:
    description: Name of the snapshot, exactly as it is on the platform.
    type: str
    required: true
  state:
    description:
      - V(present) takes the snapshot if there is none of this name. It counts as complete once it is listed.
      - V(rolled_back) rolls the service back. All changes since the snapshot are lost. The platform does not show a
        rollback, so it counts as done after O(quiet_time), and fails only if a service event says so. Check the files.
      - V(absent) deletes the snapshot, if it is there.
    type: str
    choices: [present, rolled_back, absent]
    default: present
  discard_newer:
    description: Whether to roll back even if there are newer snapshots, which the platform may delete. Otherwise, the
      task fails and names them.
    type: bool
    default: false
attributes:
  idempotent:
    support: partial
    details: Every run with O(state=rolled_back) rolls back.
extends_documentation_fragment:
  - hosted.services.common
  - hosted.services.common.wait
  - hosted.services.many_services
  - hosted.services.many_services.restore
notes:
  - While a service is busy, the task retries for up to O(wait_timeout). Any other refusal fails at once.
seealso:
  - module: hosted.services.snapshot_info
  - module: hosted.services.backup_retention
  - module: hosted.services.backup
"""

EXAMPLES = r"""
- name: Take a snapshot
  hosted.services.snapshot:
    service: worker
    name: before-upgrade

- name: Roll back to it
  hosted.services.snapshot:
    service: worker
    name: before-upgrade
    state: rolled_back
    confirm: true

- name: Take one of every machine in a project
  hosted.services.snapshot:
    project: compute
    name: before-upgrade

- name: Roll back although newer snapshots exist, which may be deleted
  hosted.services.snapshot:
    service: worker
    name: before-upgrade
    state: rolled_back
    discard_newer: true
    confirm: true

- name: Delete it
  hosted.services.snapshot:
    service: worker
    name: before-upgrade
    state: absent
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
    snapshot:
      description: The snapshot. Null if it is absent or could not be taken.
      type: dict
      contains:
        # generated: snapshot
        id:
          description: Id of the snapshot. Null in check mode if it would be taken.
          type: str
          sample: snp_90f3
        name:
          description: Name of the snapshot.
          type: str
          sample: before-upgrade
        description:
          description: The platform's description of it.
          type: str
        parent:
          description: Name of the snapshot before it. Null for the first one.
          type: str
        size_bytes:
          description: Size of the snapshot.
          type: int
          sample: 104857600
        created_at:
          description: When it was taken, in UTC.
          type: str
          sample: '2026-11-20T02:00:03.000Z'
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
from ansible_collections.hosted.services.plugins.module_utils._resources.snapshot import SNAPSHOT


def main() -> None:
    """Run the module."""
    run_module(SNAPSHOT)


if __name__ == "__main__":
    main()
