#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: backup_info
short_description: Read backups of services and how fresh they are
version_added: 1.0.0
description: Returns the backups of each selected service, with the newest good one and its age.
extends_documentation_fragment:
  - hosted.services.common.info_attributes
  - hosted.services.common
  - hosted.services.many_services
  - hosted.services.many_services.freshness
seealso:
  - module: hosted.services.backup
  - module: hosted.services.backup_retention
"""

EXAMPLES = r"""
- name: Check that every game server has a recent backup
  hosted.services.backup_info:
    family: GAME
    pattern: nightly-*
    max_age: 26h
  register: found

- name: List services without a fresh backup
  ansible.builtin.debug:
    msg: "{{ found.services | rejectattr('freshness', 'eq', 'fresh') | map(attribute='service') }}"
"""

RETURN = r"""
# generated: at
at:
  description: The time of the platform by which ages are told, in UTC.
  type: str
  sample: '2026-11-20T08:14:33Z'
  returned: success
# generated end
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
    backups:
      description: The backups that match.
      type: list
      elements: dict
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
    newest:
      description: The newest good one. Null if there is none.
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
    # generated: freshness
    age_hours:
      description: Age of the newest one in whole hours. Null if there is none. For a suspended service, its age
        at the suspension, because nothing has changed since.
      type: int
      sample: 6
    freshness:
      description: V(fresh) if it is not older than O(max_age), V(stale) if it is older, V(missing) if there is
        none. Null without O(max_age), and for a service that failed or was skipped.
      type: str
      sample: fresh
    # generated end
"""

from ansible_collections.hosted.services.plugins.module_utils._ansible.module import run_module
from ansible_collections.hosted.services.plugins.module_utils._resources.backup_info import BACKUP_INFO


def main() -> None:
    """Run the module."""
    run_module(BACKUP_INFO)


if __name__ == "__main__":
    main()
