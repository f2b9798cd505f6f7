#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: snapshot
short_description: Take, roll back to and delete snapshots of services
version_added: 1.0.0
author:
  - hosted.services contributors (@hosted-services)
description:
  - Takes a snapshot of each selected service, takes services back to one, or deletes it.
  - A snapshot lives with its service. Deleting the service destroys it.
options:
  name:
    description:
      - Name of the snapshot.
    type: str
    required: true
  state:
    description:
      - V(present) makes sure that there is a snapshot of this name. Where the platform writes names its own way, for
        example in lower case, the task warns, and names that differ in no more than case, blanks and punctuation are
        refused from then on. So are names that the platform may cut. If the longest name on the service has 32
        or more characters, a longer name that begins with it is refused, because it may be that snapshot.
      - V(rolled_back) takes the service back to it. What changed since is lost. It is done after O(quiet_time). An event
        of the service that tells of a failed rollback ends the task as failed.
      - V(absent) makes sure that there is none of this name.
      - A service that is busy with another copy is asked again for up to O(wait_timeout). Where it does not say that it
        is busy and nothing shows it, for up to O(quiet_time).
    type: str
    choices: [present, rolled_back, absent]
    default: present
  confirm:
    description:
      - Agree to what O(state=rolled_back) loses. Without it the task fails and says what that is.
    type: bool
    default: false
  discard_newer:
    description:
      - Agree to O(state=rolled_back) although there are snapshots that were taken after the one to go back to. What
        becomes of them the platform does not say; it may delete them. Without it the task fails and names them.
    type: bool
    default: false
    version_added: 0.2.0
  quiet_time:
    description:
      - For how many seconds nothing may change before a rollback is taken for done, as the platform does not show whether
        one goes on after it was asked for. A change of the container's state and a new event of the service begin the
        quiet time anew.
      - When there was no such sign at all the task warns, and RV(services[].start_seen) is V(false).
      - At most half of O(wait_timeout).
    type: float
    default: 30.0
    version_added: 0.2.0
  allow_partial:
    description:
      - With O(state=rolled_back) all selected services are looked at first. Where one cannot be brought back, because it has no
        snapshot of this name for example, the task fails before it changes any, and lists those.
      - Set this to bring back the others all the same. The task still fails at the end.
    type: bool
    default: false
    version_added: 0.2.0
attributes:
  idempotent:
    description: Run twice in a row, the second run changes nothing.
    support: partial
    details: A rollback is done each time it is asked for.
extends_documentation_fragment:
  - hosted.services.common
  - hosted.services.common.attributes
  - hosted.services.common.wait
  - hosted.services.many_services
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

- name: Go back to it
  hosted.services.snapshot:
    service: worker
    name: before-upgrade
    state: rolled_back
    confirm: true
"""

RETURN = r"""
services:
  description: Result for each service. A task that fails returns it too, unless no service could be selected.
  returned: always
  type: list
  elements: dict
  sample:
    - service: worker
      service_id: svc_02be
      changed: true
      failed: false
      skipped: false
      msg: null
      actions: ["take snapshot 'before-upgrade' of service 'worker' (svc_02be)"]
      snapshot:
        id: snp_90f3
        name: before-upgrade
        description: ""
        parent: null
        created_at: "2026-11-20T02:00:03.000Z"
        size_bytes: 104857600
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
    snapshot:
      description: The snapshot. Null when it is absent or could not be taken.
      type: dict
      contains:
        id:
          description: Id of the snapshot. Null in check mode when it would be taken.
          type: str
        name:
          description: Name of the snapshot.
          type: str
        description:
          description: What the platform says about it.
          type: str
        parent:
          description: Name of the snapshot before it. Null for the first one.
          type: str
        size_bytes:
          description: Size of the snapshot.
          type: int
        created_at:
          description: When it was taken, in UTC.
          type: str
    overwrites:
      description: What a rollback loses. Null otherwise.
      type: str
    start_seen:
      description: Whether the rollback was seen to begin. Null when none was waited for.
      type: bool
    events:
      description:
        - Types of the events that the journal of the service gained with the rollback, the newest first. It is the only place where
          a platform may tell that a rollback failed. Null when none was waited for, or the journal could not be read.
      type: list
      elements: str
    vanished:
      description:
        - The snapshots that were on the list before and are not any more, though the task did not delete them. The platform
          may have deleted them with the rollback, or another run has. The task warns of them.
      type: list
      elements: dict
actions:
  description: Changes that the task made, or would make in check mode, one sentence each, for all services.
  returned: success
  type: list
  elements: str
  sample: ["take snapshot 'before-upgrade' of service 'worker' (svc_02be)"]
"""

from ansible_collections.hosted.services.plugins.module_utils._ansible.module import run_module
from ansible_collections.hosted.services.plugins.module_utils._resources.snapshot import SNAPSHOT


def main() -> None:
    """Run the module."""
    run_module(SNAPSHOT)


if __name__ == "__main__":
    main()
