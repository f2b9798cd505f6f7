#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: backup_info
short_description: Read backups of services and how fresh they are
version_added: 1.0.0
author:
  - hosted.services contributors (@hosted-services)
description:
  - Returns the backups of each selected service, with the newest good one and its age.
  - With O(max_age), also shows whether it is fresh enough.
extends_documentation_fragment:
  - hosted.services.common
  - hosted.services.common.info_attributes
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
at:
  description: The time of the platform by which ages are told, in UTC.
  returned: success
  type: str
  sample: "2026-11-20T08:14:33Z"
services:
  description: Result for each service. A task that fails returns it too, unless no service could be selected.
  returned: always
  type: list
  elements: dict
  sample:
    - service: survival
      service_id: svc_8c1d
      changed: false
      failed: false
      skipped: false
      msg: null
      actions: []
      backups:
        - id: bkp_51aa
          name: nightly-2026-11-20
          status: COMPLETED
          size_bytes: 104857600
          created_at: "2026-11-20T02:00:03.000Z"
          completed_at: "2026-11-20T02:01:40.000Z"
      newest:
        id: bkp_51aa
        name: nightly-2026-11-20
        status: COMPLETED
        size_bytes: 104857600
        created_at: "2026-11-20T02:00:03.000Z"
        completed_at: "2026-11-20T02:01:40.000Z"
      age_hours: 6
      freshness: fresh
  contains:
    service:
      description: Name of the service.
      type: str
    service_id:
      description: Id of the service. Null if it was not found.
      type: str
    changed:
      description: Whether the service was changed, or would be in check mode.
      type: bool
    actions:
      description: Changes that the task made to the service, or would make in check mode, one sentence each.
      type: list
      elements: str
    failed:
      description: Whether the task failed for this service.
      type: bool
    skipped:
      description:
        - Whether it was skipped because it does not offer the required capability, or is gone and there is no O(max_age).
      type: bool
    msg:
      description: The error, or the reason for skipping the service. Null if there is neither.
      type: str
    backups:
      description: The backups that match, with the keys of RV(hosted.services.backup#module:services[].backup).
      type: list
      elements: dict
    newest:
      description:
        - The newest good one, with the keys of RV(hosted.services.backup#module:services[].backup). Null if there is
          none.
      type: dict
    age_hours:
      description:
        - Its age in whole hours. Null if there is none.
        - For a suspended service, its age at the suspension, because nothing has changed since.
      type: int
    freshness:
      description:
        - V(fresh) if it is not older than O(max_age), V(stale) if it is older, V(missing) if there is none.
        - Null without O(max_age), and for a service that failed or was skipped.
      type: str
"""

from ansible_collections.hosted.services.plugins.module_utils._ansible.module import run_module
from ansible_collections.hosted.services.plugins.module_utils._resources.backup_info import BACKUP_INFO


def main() -> None:
    """Run the module."""
    run_module(BACKUP_INFO)


if __name__ == "__main__":
    main()
