#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: service_info
short_description: Read services and their details
version_added: 1.0.0
author:
  - hosted.services contributors (@hosted-services)
description:
  - Returns services by id, name, project, family and status. By default, returns all services.
  - Reads the parts in O(include) for many services in parallel.
options:
  id:
    description:
      - Only the service with this id. If there is none, the task fails.
    type: str
  name:
    description:
      - Only services with this name. If there is none, the list is empty, with a warning if a similar name exists.
    type: str
  project:
    description:
      - Only services of this project, given by id or name. If there is no such project, there are none.
    type: str
  family:
    description:
      - Only services of this family.
    type: str
    choices: [GAME, APP, COMPUTE, VIRTUAL_MACHINE, DEDICATED, BUCKET]
  status:
    description:
      - Only services with this status, such as V(ACTIVE) or V(SUSPENDED). Services that are being deleted are omitted
        unless you select them here.
      - A status that is not documented is accepted with a warning, because the platform may have others.
    type: str
  include:
    description:
      - Parts to read in addition to the list. Each is returned under a key with its name. If a service does not offer
        a part, the value is null.
      - If a part cannot be read for some services, it is null there, and one warning names them. A failure that
        affects the whole account, such as a rejected token, makes the task fail.
      - V(metrics) takes one call per 50 services; each of the others takes one call per service.
    type: list
    elements: str
    choices: [details, settings, metrics, events, logs, usage, billed_totals, sftp, backups, snapshots]
    default: []
  log_lines:
    description:
      - Number of log lines for O(include=logs), from 1 to 100.
    type: int
    default: 100
  max_events:
    description:
      - Maximum number of events for O(include=events). The newest ones are returned.
    type: int
    default: 100
  usage_days:
    description:
      - Window in days for O(include=usage).
    type: int
    default: 30
  time_zone:
    description:
      - Time zone in which the hour, the day, the week and the month of O(include=billed_totals) begin, such as
        V(Europe/Paris). The default is the time zone of the machine that runs the task. Weeks begin on Monday.
    type: str
extends_documentation_fragment:
  - hosted.services.common
  - hosted.services.common.info_attributes
seealso:
  - module: hosted.services.service
  - plugin: hosted.services.inventory
    plugin_type: inventory
"""

EXAMPLES = r"""
- name: Read all game servers and their live metrics
  hosted.services.service_info:
    family: GAME
    include: [metrics]
  register: games

- name: List game servers that are in service but not running
  ansible.builtin.debug:
    msg: "{{ item.name }}"
  loop: "{{ games.services | selectattr('status', 'eq', 'ACTIVE') | rejectattr('metrics.state', 'eq', 'running') }}"
  loop_control:
    label: "{{ item.name }}"

- name: Find out why a service does not start
  hosted.services.service_info:
    name: survival
    include: [details, logs, events]
    log_lines: 20
"""

RETURN = r"""
services:
  description: The services.
  returned: success
  type: list
  elements: dict
  sample:
    - id: svc_8c1d
      name: survival
      family: GAME
      status: ACTIVE
      can_power: true
      address: 203.0.113.10:25565
      product: {slug: minecraft, name: Minecraft server, short_name: Minecraft}
      runtime: {id: runtime-paper, slug: paper, name: Paper}
      host: {id: node-paris-1, label: Paris 1, location_label: "Paris, France"}
      dimensions: {cpu_cores: 2, ram_gb: 4, storage_gb: 20}
      monthly_millicents: 10740
      hourly_label: 0.0147 EUR
      is_free: false
      created_at: "2026-11-20T08:15:30.000Z"
      metrics:
        state: running
        cpu_allocation_percent: 12.5
        ram_bytes: 1073741824
        storage_bytes: 2147483648
        uptime_seconds: 3600
        net_rx_bytes: 1024
        net_tx_bytes: 2048
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
    status:
      description: Administrative status of the service.
      type: str
    can_power:
      description: Whether the service accepts power signals.
      type: bool
    address:
      description: Host and port of the service. May be null.
      type: str
    product:
      description: The ordered product, with the keys of RV(hosted.services.service#module:service.product).
      type: dict
    runtime:
      description:
        - Edition of the product, with the keys of RV(hosted.services.service#module:service.runtime). May be null.
      type: dict
    host:
      description: Node that runs the service, with the keys of RV(hosted.services.service#module:service.host).
      type: dict
    dimensions:
      description: Size of the service, with the keys of RV(hosted.services.service#module:service.dimensions).
      type: dict
    monthly_millicents:
      description: Price per month, in millicents; 1000 millicents are one currency unit.
      type: int
    hourly_label:
      description: Price per hour, as readable text.
      type: str
    is_free:
      description: Whether the service is free.
      type: bool
    created_at:
      description: When the service was created, in UTC.
      type: str
    details:
      description: The service in full, as M(hosted.services.service) returns it.
      returned: if O(include) contains V(details)
      type: dict
    settings:
      description: Settings of the service, with the bounds and the rates of its node.
      returned: if O(include) contains V(settings)
      type: dict
    metrics:
      description: Live metrics of the container. Null if its node cannot be reached.
      returned: if O(include) contains V(metrics)
      type: dict
      contains:
        state:
          description: State of the container.
          type: str
        cpu_allocation_percent:
          description: CPU usage, as a percentage of the allocation.
          type: float
        ram_bytes:
          description: Used memory.
          type: int
        storage_bytes:
          description: Used disk.
          type: int
        uptime_seconds:
          description: Seconds since the container started.
          type: int
        net_rx_bytes:
          description: Received bytes.
          type: int
        net_tx_bytes:
          description: Sent bytes.
          type: int
    events:
      description:
        - The activity journal, always with the newest event first.
        - Events with the same time are in the platform's order, reversed if the platform lists the oldest event
          first.
      returned: if O(include) contains V(events)
      type: list
      elements: dict
      contains:
        id:
          description: Id of the event.
          type: str
        type:
          description: Type of the event.
          type: str
        at:
          description: When it happened, in UTC.
          type: str
    logs:
      description: The last lines of the log, oldest first.
      returned: if O(include) contains V(logs)
      type: list
      elements: str
    usage:
      description: Cost of the service by day, in cents.
      returned: if O(include) contains V(usage)
      type: dict
      contains:
        range:
          description: Number of days.
          type: int
        total_cents:
          description: Cost in cents.
          type: int
        days:
          description: Cost by day.
          type: list
          elements: dict
          contains:
            date:
              description: Day.
              type: str
            total_cents:
              description: Cost of the day in cents.
              type: int
    billed_totals:
      description: Cost of the service this hour, day, week and month, in cents.
      returned: if O(include) contains V(billed_totals)
      type: dict
      contains:
        hour_cents:
          description: Cost of this hour.
          type: int
        day_cents:
          description: Cost of this day.
          type: int
        week_cents:
          description: Cost of this week.
          type: int
        month_cents:
          description: Cost of this month.
          type: int
    sftp:
      description: Host, port and user for SFTP access to the files.
      returned: if O(include) contains V(sftp)
      type: dict
      contains:
        host:
          description: Host.
          type: str
        port:
          description: Port.
          type: int
        username:
          description: User.
          type: str
        password_set_at:
          description: When the password was set, in UTC. Null if there is none.
          type: str
    backups:
      description: The backups.
      returned: if O(include) contains V(backups)
      type: list
      elements: dict
    snapshots:
      description: The snapshots.
      returned: if O(include) contains V(snapshots)
      type: list
      elements: dict
"""

from ansible_collections.hosted.services.plugins.module_utils._ansible.module import run_module
from ansible_collections.hosted.services.plugins.module_utils._resources.service_info import SERVICE_INFO


def main() -> None:
    """Run the module."""
    run_module(SERVICE_INFO)


if __name__ == "__main__":
    main()
