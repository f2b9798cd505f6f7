#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: project
short_description: Manage projects
version_added: 1.0.0
description:
  - Creates, renames and deletes projects.
  - A project groups services and gives them a private network, in which they reach each other by alias.
options:
  name:
    description: Name of the project, at most 60 characters, unique on the account. Required unless O(id) is set.
    type: str
  id:
    description: Id of the project. O(name) is then the desired name, or with O(new_name) or O(state=absent) the current
      one.
    type: str
  new_name:
    description: New name of the project. If only a project of this name exists, nothing is done. If both exist, that of
      this name B(is deleted) first, if it is empty. If there is neither, the task fails.
    type: str
  state:
    description: V(present) creates the project, or renames it. V(absent) deletes it, except for the default project,
      which is the oldest one; check mode warns of that.
    type: str
    choices: [present, absent]
    default: present
  force:
    description: Delete a project even if it may still have services. They are not deleted; they join the default
      project. If their alias is taken there, the task warns.
    type: bool
    default: false
extends_documentation_fragment:
  - hosted.services.common
seealso:
  - module: hosted.services.project_info
  - module: hosted.services.service
"""

EXAMPLES = r"""
- name: Create a project for the game servers
  hosted.services.project:
    name: games

- name: Rename it
  hosted.services.project:
    name: games
    new_name: game-servers

- name: Delete it; its services join the default project
  hosted.services.project:
    name: game-servers
    state: absent
    force: true

- name: Rename one, also if somebody has renamed it meanwhile
  hosted.services.project:
    id: prj_4f2a
    name: game-servers

- name: Delete it only if it has no services
  hosted.services.project:
    name: game-servers
    state: absent
"""

RETURN = r"""
project:
  description: The project, or null if it is absent. In check mode, the expected result.
  returned: success
  type: dict
  contains:
    # generated: project
    id:
      description: Id of the project. Null in check mode if it would be created.
      type: str
      sample: prj_4f2a
    name:
      description: Name of the project.
      type: str
      sample: games
    created_at:
      description: When the project was created, in UTC.
      type: str
      sample: '2026-11-20T08:15:30.000Z'
    resource_count:
      description: Number of services in the project.
      type: int
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
from ansible_collections.hosted.services.plugins.module_utils._resources.project import PROJECT


def main() -> None:
    """Run the module."""
    run_module(PROJECT)


if __name__ == "__main__":
    main()
