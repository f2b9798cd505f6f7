#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: snapshot_info
short_description: Read snapshots of services and how fresh they are
version_added: 1.0.0
description: Returns the snapshots of each selected service, with the newest one and its age.
extends_documentation_fragment:
  - hosted.services.common.info_attributes
  - hosted.services.common
  - hosted.services.many_services
  - hosted.services.many_services.freshness
seealso:
  - module: hosted.services.snapshot
  - module: hosted.services.backup_retention
"""

EXAMPLES = r"""
- name: Check that every instance has a recent snapshot
  hosted.services.snapshot_info:
    family: COMPUTE
    pattern: nightly-*
    max_age: 26h
  register: found

- name: List services without a fresh snapshot
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
    snapshots:
      description: The snapshots that match.
      type: list
      elements: dict
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
    newest:
      description: The newest one. Null if there is none.
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
from ansible_collections.hosted.services.plugins.module_utils._resources.snapshot_info import SNAPSHOT_INFO


def main() -> None:
    """Run the module."""
    run_module(SNAPSHOT_INFO)


if __name__ == "__main__":
    main()
