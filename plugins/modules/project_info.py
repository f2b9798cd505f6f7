#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: project_info
short_description: Read projects, their spend and their graph
version_added: 0.1.0
author:
  - hosted.services contributors (@hosted-services)
description:
  - Returns one project or all projects of the account, on request with their services, what they cost, and how
    their services refer to each other.
options:
  project:
    description:
      - Id or name of a project. All of them when it is not set.
    type: str
  include:
    description:
      - What to read beside the project, each with a call of its own for every project.
      - V(services) are the services in the project, V(spend) is what they cost, V(graph) shows which service refers
        to which through its environment.
    type: list
    elements: str
    choices: [services, spend, graph]
    default: []
  spend_query:
    description:
      - Query parameters for V(spend). The platform's documentation does not say which there are, so they are passed
        on as they are.
    type: dict
    default: {}
extends_documentation_fragment:
  - hosted.services.common
  - hosted.services.common.info_attributes
seealso:
  - module: hosted.services.project
"""

EXAMPLES = r"""
- name: All projects
  hosted.services.project_info:
  register: all

- name: What the services of one cost
  hosted.services.project_info:
    project: games
    include: [spend]
  register: games

- name: Show it
  ansible.builtin.debug:
    msg: "{{ games.projects[0].spend.total_cents / 100 }}"
"""

RETURN = r"""
projects:
  description: The projects.
  returned: success
  type: list
  elements: dict
  sample:
    - id: prj_4f2a
      name: games
      created_at: "2026-11-20T08:15:30.000Z"
      resource_count: 2
  contains:
    id:
      description: Id of the project.
      type: str
    name:
      description: Name of the project.
      type: str
    created_at:
      description: When the project was created, in UTC.
      type: str
    resource_count:
      description: Number of services in the project.
      type: int
    services:
      description: The services in the project, as M(hosted.services.service_info) returns them.
      returned: when O(include) has V(services)
      type: list
      elements: dict
    spend:
      description: What the project cost over a window of C(range) days, by day and by service, in cents.
      returned: when O(include) has V(spend)
      type: dict
    graph:
      description: The services of the project under C(nodes), and what refers to what under C(edges).
      returned: when O(include) has V(graph)
      type: dict
"""

from ansible_collections.hosted.services.plugins.module_utils._ansible.module import run_module
from ansible_collections.hosted.services.plugins.module_utils._resources.project_info import PROJECT_INFO


def main() -> None:
    """Run the module."""
    run_module(PROJECT_INFO)


if __name__ == "__main__":
    main()
