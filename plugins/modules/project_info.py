#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: project_info
short_description: Read projects, their spend and their graph
version_added: 1.0.0
description: Returns one project, or all projects of the account.
options:
  project:
    description: Id or name of a project. If not set, all projects are returned.
    type: str
  include:
    description: Parts to read in addition, with one call per project each. V(services) lists the services, V(spend)
      shows what they cost, V(graph) shows which of them refer to others in their environments.
    type: list
    elements: str
    choices: [services, spend, graph]
    default: []
extends_documentation_fragment:
  - hosted.services.common.info_attributes
  - hosted.services.common
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
    services:
      description: The services in the project.
      returned: if O(include) contains V(services)
      type: list
      elements: dict
      contains:
        # generated: listed_service
        id:
          description: Id of the service. Null in check mode if it would be ordered.
          type: str
          sample: svc_8c1d
        name:
          description: Name of the service.
          type: str
          sample: survival
        family:
          description: Family of the service.
          type: str
          sample: GAME
        status:
          description: Administrative status of the service, such as V(ACTIVE) or V(SUSPENDED).
          type: str
          sample: ACTIVE
        address:
          description: Host and port of the service. May be null.
          type: str
          sample: 203.0.113.10:25565
        product:
          description: The ordered product.
          type: dict
          contains:
            slug:
              description: Slug of the product.
              type: str
              sample: minecraft
            name:
              description: Name of the product.
              type: str
              sample: Minecraft server
            short_name:
              description: Short name of the product.
              type: str
              sample: Minecraft
        runtime:
          description: Edition of the product. May be null.
          type: dict
          contains:
            id:
              description: Id of the edition.
              type: str
              sample: runtime-paper
            slug:
              description: Slug of the edition.
              type: str
              sample: paper
            name:
              description: Name of the edition.
              type: str
              sample: Paper
        host:
          description: Node that runs the service.
          type: dict
          contains:
            id:
              description: Id of the node.
              type: str
              sample: node-paris-1
            label:
              description: Name of the node.
              type: str
              sample: Paris 1
            location_label:
              description: Location of the node.
              type: str
              sample: Paris, France
        dimensions:
          description: Size of the service.
          type: dict
          contains:
            cpu_cores:
              description: Number of vCPUs.
              type: int
              sample: 2
            ram_gb:
              description: Memory in GB.
              type: int
              sample: 4
            storage_gb:
              description: Disk in GB.
              type: int
              sample: 20
        can_power:
          description: Whether the service accepts power signals.
          type: bool
        monthly_millicents:
          description: Price per month, in millicents; 1000 millicents are one currency unit.
          type: int
          sample: 10740
        hourly_label:
          description: Price per hour, as readable text.
          type: str
          sample: 0.0147 EUR
        is_free:
          description: Whether the service is free.
          type: bool
        created_at:
          description: When the service was created, in UTC.
          type: str
          sample: '2026-11-20T08:15:30.000Z'
        # generated end
    spend:
      description: Cost of the project in the last C(range) days, by day and by service.
      returned: if O(include) contains V(spend)
      type: dict
      contains:
        # generated: project id name
        id:
          description: Id of the project. Null in check mode if it would be created.
          type: str
          sample: prj_4f2a
        name:
          description: Name of the project.
          type: str
          sample: games
        # generated end
        # generated: usage
        range:
          description: Number of days.
          type: int
          sample: 30
        total_cents:
          description: Cost in cents.
          type: int
          sample: 1074
        days:
          description: Cost by day.
          type: list
          elements: dict
          contains:
            date:
              description: The day.
              type: str
              sample: '2026-11-20'
            total_cents:
              description: Cost of the day in cents.
              type: int
        # generated end
        services:
          description: Cost by service.
          type: list
          elements: dict
          contains:
            # generated: service id name family
            id:
              description: Id of the service. Null in check mode if it would be ordered.
              type: str
              sample: svc_8c1d
            name:
              description: Name of the service.
              type: str
              sample: survival
            family:
              description: Family of the service.
              type: str
              sample: GAME
            # generated end
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
      description: The services of the project, and the references between them.
      returned: if O(include) contains V(graph)
      type: dict
      contains:
        # generated: project id name
        id:
          description: Id of the project. Null in check mode if it would be created.
          type: str
          sample: prj_4f2a
        name:
          description: Name of the project.
          type: str
          sample: games
        # generated end
        nodes:
          description: Services of the project.
          type: list
          elements: dict
          contains:
            # generated: service id name family status
            id:
              description: Id of the service. Null in check mode if it would be ordered.
              type: str
              sample: svc_8c1d
            name:
              description: Name of the service.
              type: str
              sample: survival
            family:
              description: Family of the service.
              type: str
              sample: GAME
            status:
              description: Administrative status of the service, such as V(ACTIVE) or V(SUSPENDED).
              type: str
              sample: ACTIVE
            # generated end
            # generated: full_service capabilities
            capabilities:
              description: Features that the service offers now.
              type: list
              elements: str
              sample:
              - console
              - powerSignals
              - suspension
            # generated end
            # generated: neighbor
            state:
              description: State of the container. Null if it is not known.
              type: str
              sample: running
            alias:
              description: Name by which its neighbors reach it.
              type: str
            # generated end
            subtitle:
              description: Kind of service, as readable text.
              type: str
            disk_bytes:
              description: Used disk, in bytes.
              type: int
            position:
              description: As the platform sends it.
              type: raw
        edges:
          description: References between the services.
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
