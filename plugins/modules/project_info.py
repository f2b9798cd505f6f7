#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: project_info
short_description: Read projects, their spend and their graph
version_added: 1.0.0
author:
  - hosted.services contributors (@hosted-services)
description:
  - Returns one project or all projects of the account. On request, also returns their services, their spend, and the
    references between their services.
options:
  project:
    description:
      - Id or name of a project. If not set, all projects are returned.
    type: str
  include:
    description:
      - Parts to read in addition to the project. Each takes one call per project.
      - V(services) are the services in the project. V(spend) is what they cost. V(graph) shows which services refer
        to which others in their environments.
    type: list
    elements: str
    choices: [services, spend, graph]
    default: []
extends_documentation_fragment:
  - hosted.services.common
  - hosted.services.common.info_attributes
seealso:
  - module: hosted.services.project
"""

EXAMPLES = r"""
- name: Read all projects
  hosted.services.project_info:
  register: all

- name: Read the spend of one project
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
      description:
        - The services in the project, with the keys of RV(hosted.services.service_info#module:services) without what
          its O(include) adds.
      returned: if O(include) contains V(services)
      type: list
      elements: dict
    spend:
      description: Cost of the project in the last C(range) days, by day and by service, in cents.
      returned: if O(include) contains V(spend)
      type: dict
      contains:
        id:
          description: Id of the project.
          type: str
        name:
          description: Name of the project.
          type: str
        range:
          description: Number of days.
          type: int
        total_cents:
          description: Cost in cents.
          type: int
        days:
          description: Cost by day, with the keys of RV(hosted.services.service_info#module:services[].usage.days).
          type: list
          elements: dict
        services:
          description: Cost by service.
          type: list
          elements: dict
          contains:
            id:
              description: Id of the service.
              type: str
            name:
              description: Name of the service.
              type: str
            family:
              description: Family of the service.
              type: str
            product_name:
              description: Name of the product.
              type: str
            detail:
              description: Size, as readable text.
              type: str
            total_cents:
              description: Cost in cents.
              type: int
            parts:
              description: Parts of the cost.
              type: list
              elements: dict
    graph:
      description: The services of the project under C(nodes), and the references between them under C(edges).
      returned: if O(include) contains V(graph)
      type: dict
      contains:
        id:
          description: Id of the project.
          type: str
        name:
          description: Name of the project.
          type: str
        nodes:
          description: Services of the project.
          type: list
          elements: dict
          contains:
            id:
              description: Id of the service.
              type: str
            name:
              description: Name of the service.
              type: str
            family:
              description: Family of the service.
              type: str
            alias:
              description: Name by which its neighbors reach it.
              type: str
            subtitle:
              description: Kind of service, as readable text.
              type: str
            status:
              description: Administrative status.
              type: str
            state:
              description: Condition of the container.
              type: str
            capabilities:
              description: Features that the service offers now.
              type: list
              elements: str
            disk_bytes:
              description: Used disk.
              type: int
            position:
              description: As the platform sends it.
              type: raw
        edges:
          description: References between them.
          type: list
          elements: dict
"""

from ansible_collections.hosted.services.plugins.module_utils._ansible.module import run_module
from ansible_collections.hosted.services.plugins.module_utils._resources.project_info import PROJECT_INFO


def main() -> None:
    """Run the module."""
    run_module(PROJECT_INFO)


if __name__ == "__main__":
    main()
