#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: service_info
short_description: Read services and their details
version_added: 1.0.0
description: Returns the services that match all options, or all services if none is set.
options:
  id:
    description: Only the service with this id. If there is none that fits the other options, the task fails.
    type: str
  name:
    description: Only services with this name. If there are none, the list is empty.
    type: str
  project:
    description: Only services of this project, given by id or name. If there is no such project, the list is empty.
    type: str
  family:
    description: Only services of this family.
    type: str
    choices: [GAME, APP, COMPUTE, VIRTUAL_MACHINE, DEDICATED, BUCKET]
  status:
    description: Only services with this status, such as V(ACTIVE) or V(SUSPENDED). Services that are being deleted
      are returned only if this option selects them.
    type: str
  include:
    description:
      - Parts to read in addition, each returned under its name. A part is null if the service does not offer it, or
        if it cannot be read, which a warning says.
      - V(metrics) takes one call per 50 services; the others take one call per service.
    type: list
    elements: str
    choices: [details, settings, metrics, events, logs, usage, billed_totals, sftp, backups, snapshots]
    default: []
  log_lines:
    description: Maximum number of log lines for O(include=logs), from 1 to 100.
    type: int
    default: 100
  max_events:
    description: Maximum number of events for O(include=events), the newest ones.
    type: int
    default: 100
  usage_days:
    description: Window in days for O(include=usage).
    type: int
    default: 30
  time_zone:
    description: Time zone for O(include=billed_totals), such as V(Europe/Paris). If not set, that of the machine that
      runs the task.
    type: str
extends_documentation_fragment:
  - hosted.services.common.info_attributes
  - hosted.services.common
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
    details:
      description: The service in full.
      returned: if O(include) contains V(details)
      type: dict
      contains:
        # generated: full_service
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
        project_id:
          description: Id of the project that the service belongs to.
          type: str
          sample: prj_4f2a
        capabilities:
          description: Features that the service offers now.
          type: list
          elements: str
          sample:
          - console
          - powerSignals
          - suspension
        failure_reason:
          description: Why the creation failed. Null if it did not.
          type: str
        pricing:
          description: Price of the service. In check mode, amounts that cannot be known are null.
          type: dict
          contains:
            monthly_millicents:
              description: Monthly rate in service, in millicents; 1000 millicents are one currency unit.
              type: int
              sample: 10740
            storage_monthly_millicents:
              description: Monthly rate while suspended, in millicents.
              type: int
              sample: 1700
            billed_monthly_millicents:
              description: Monthly rate that is billed now, in millicents.
              type: int
              sample: 10740
            monthly_cents:
              description: Monthly rate while in service, in cents.
              type: int
              sample: 1074
            min_balance_cents:
              description: Balance that is required, in cents.
              type: int
              sample: 36
            hourly_label:
              description: Hourly rate, as readable text.
              type: str
              sample: 0.0147 EUR
            is_free:
              description: Whether the service is free.
              type: bool
            free_expires_at:
              description: Until when the service is free, in UTC. Null if no date is shown. The platform does not
                show what happens then.
              type: str
        dates:
          description: When the service was created, suspended and deleted.
          type: dict
          contains:
            created_at:
              description: When the service was created, in UTC.
              type: str
              sample: '2026-11-20T08:15:30.000Z'
            suspended_at:
              description: When the service was suspended, in UTC. Null if it is not.
              type: str
            deleted_at:
              description: When the service was deleted, in UTC. Null if it is not.
              type: str
        maintenance:
          description: As the platform sends it.
          type: raw
        panel_url:
          description: As the platform sends it.
          type: raw
        # generated end
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
          description: CPU usage in percent of the allocation.
          type: float
        ram_bytes:
          description: Used memory, in bytes.
          type: int
        storage_bytes:
          description: Used disk, in bytes.
          type: int
        uptime_seconds:
          description: Seconds since the container started.
          type: int
        net_rx_bytes:
          description: Bytes received.
          type: int
        net_tx_bytes:
          description: Bytes sent.
          type: int
    events:
      description: The activity journal, newest event first.
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
    billed_totals:
      description: Cost of the service this hour, day, week (from Monday) and month, in cents.
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
        # generated: sftp
        host:
          description: The server.
          type: str
          sample: node-1.example.com
        port:
          description: Its port.
          type: int
          sample: 2022
        username:
          description: User name to log in with.
          type: str
          sample: svc-7f3a
        password_set_at:
          description: When the password was set, in UTC. Null if there is none.
          type: str
        # generated end
    backups:
      description: The backups.
      returned: if O(include) contains V(backups)
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
    snapshots:
      description: The snapshots.
      returned: if O(include) contains V(snapshots)
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
"""

from ansible_collections.hosted.services.plugins.module_utils._ansible.module import run_module
from ansible_collections.hosted.services.plugins.module_utils._resources.service_info import SERVICE_INFO


def main() -> None:
    """Run the module."""
    run_module(SERVICE_INFO)


if __name__ == "__main__":
    main()
