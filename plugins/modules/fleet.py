#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: fleet
short_description: Stop, start, restart or update many services in batches
version_added: 1.0.0
description:
  - Works on the selected services in batches. A batch begins when all services of the one before it are healthy or have
    failed. A service starts after those that its environment refers to, and stops before them.
  - Remembers which services ran before it stopped them, so that a maintenance window brings back only these.
  - If a run was killed or had too many failures, the next one goes on where it was.
  - In check mode, shows the batches in their order, and how the price changes.
options:
  name:
    description: Name of the fleet, such as that of a maintenance window. What is remembered belongs to it.
    type: str
    required: true
  state:
    description:
      - V(stopped) stops what runs, and remembers what did. V(started) starts what ran before, see O(only_what_ran).
      - V(restarted) restarts what runs. What does not run is left alone.
      - V(updated) deploys O(tag), or sets O(command) and O(dimensions). What does not run is not started.
    type: str
    required: true
    choices: [started, stopped, restarted, updated]
  batch_size:
    description: Number of services in a batch, or their percentage of the selected ones, such as V(25%), rounded down,
      but at least 1. A list has the size of each batch in turn, and its last size is that of all further ones. Services
      come in the order of O(services), or by their names.
    type: list
    elements: str
    default: ["25%"]
  canary:
    description: Whether the first batch is one service.
    type: bool
    default: false
  pause:
    description: For how many seconds to pause between two batches.
    type: float
    default: 0
  max_failures:
    description: How many services may fail, as a number or as a percentage, rounded down. Once more have failed, no
      other service is begun, and the task fails. A service whose node cannot be reached counts from the start, and is
      not touched.
    type: str
    default: "0"
  only_what_ran:
    description: With O(state=started), whether to start only what ran before O(state=stopped) under this O(name). If
      nothing is remembered, the task fails.
    type: bool
    default: true
  resume:
    description: With O(state=started), whether to resume suspended services, which are then billed at the full rate
      again.
    type: bool
    default: false
  tag:
    description: With O(state=updated), the declared release to deploy to each of the applications.
    type: str
  command:
    description: With O(state=updated), the launch command. An empty string restores the original one. A service that
      runs is stopped and started for it.
    type: str
  dimensions:
    description: With O(state=updated), the size. A part that is left out stays as it is, and a disk cannot shrink.
  start_over:
    description: Whether to work on all services again, even if an interrupted run was done with some.
    type: bool
    default: false
extends_documentation_fragment:
  - hosted.services.common
  - hosted.services.common.wait
  - hosted.services.budget
  - hosted.services.budget.max_monthly
  - hosted.services.many_services
  - hosted.services.common.dimensions
  - hosted.services.common.state_dir
  - hosted.services.many_services.start_after
  - hosted.services.health.of_many
notes:
  - O(wait_timeout) is the time for each service. O(wait) must stay V(true), because batches wait for each other.
  - Two runs on a fleet of the same name do not overlap on one controller, if its tasks run inside it. A run that has
    stopped a fleet holds it until it has started what ran before, or ends.
seealso:
  - module: hosted.services.service
  - module: hosted.services.sleep_plan
"""

EXAMPLES = r"""
- name: Stop a project for maintenance
  hosted.services.fleet:
    name: maintenance
    project: shop
    state: stopped
    batch_size: 50%

- name: Bring back what ran before, one service first, and check its health
  hosted.services.fleet:
    name: maintenance
    project: shop
    state: started
    canary: true
    health_checks:
      - services: [web]
        url: https://shop.example.com/health

- name: Restart all game servers, at most five at once, a minute apart
  hosted.services.fleet:
    name: weekly-restart
    family: GAME
    state: restarted
    batch_size: 5
    pause: 60
    max_failures: 10%

- name: See in which order a release would reach the applications
  hosted.services.fleet:
    name: release
    services: [shop, api, worker]
    state: updated
    tag: "2.4.0"
    batch_size: ["1", "100%"]
  check_mode: true
"""

RETURN = r"""
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
    status:
      description: Its status after the task. Null if it failed or was not begun.
      type: str
    state:
      description: The state of its container after the task. Null if it failed or was not begun.
      type: str
    ran:
      description: Whether it ran before the fleet was stopped. Null if it was not stopped, or runs again since.
      type: bool
    batch:
      description: Number of its batch, from 1. Null if nothing is to be done with it.
      type: int
    outcome:
      description: >-
        What became of it: V(changed), V(unchanged), V(failed), V(not begun), V(left alone) or V(skipped).
      type: str
    cost:
      description: How its monthly price changes. Null if it does not.
      type: dict
      contains:
        # generated: change
        monthly_before:
          description: The rate that is billed before the change. Null if it is not known.
          type: str
          sample: '0.00'
        monthly_after:
          description: The rate that is billed after the whole task. Null if it cannot be known.
          type: str
          sample: '10.74'
        monthly_change:
          description: The difference.
          type: str
          sample: '10.74'
        currency:
          description: Currency of the amounts. Null if this token cannot read it.
          type: str
          sample: EUR
        moves:
          description: The changes that affect the price, in order, V(order), V(create), V(resize), V(suspend),
            V(resume) or V(delete). If the task failed, those that were made or may have been made.
          type: list
          elements: str
          sample:
          - order
        service:
          description: Name of the service.
          type: str
          sample: survival
        service_id:
          description: Id of the service. Null if it does not exist yet.
          type: str
        # generated end
fleet:
  description: The run as a whole.
  returned: when services were selected
  type: dict
  contains:
    name:
      description: Name of the fleet.
      type: str
    state:
      description: The state that the task asks for.
      type: str
    batches:
      description: The names of the services in each batch, in their order.
      type: list
      elements: list
    goes_on_since:
      description: When the run was begun that this one goes on with, in UTC. Null if it begins anew.
      type: str
    done_before:
      description: The services that this earlier run was done with.
      type: list
      elements: str
    failures:
      description: How many services failed.
      type: int
    max_failures:
      description: How many may fail.
      type: int
    failed:
      description: The services that failed.
      type: list
      elements: str
    not_begun:
      description: The services that were not begun, because too many failed, or one that comes before them did.
      type: list
      elements: str
    left_alone:
      description: The services that nothing was done with although they are not as O(state) says. RV(services) says why.
      type: list
      elements: str
    cost:
      description: How the monthly price of all services changes. Null if it does not.
      type: dict
      contains:
        # generated: sum
        monthly_before:
          description: The sum of the rates that are billed before the change, of what changes.
          type: str
          sample: '0.00'
        monthly_after:
          description: The sum of the rates after it.
          type: str
          sample: '3.53'
        monthly_change:
          description: The difference.
          type: str
          sample: '3.53'
        currency:
          description: Currency of the amounts. Null if this token cannot read it.
          type: str
          sample: EUR
        unpriced:
          description: What has an unknown price. It is in none of the sums.
          type: list
          elements: str
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
from ansible_collections.hosted.services.plugins.module_utils._resources.fleet import FLEET


def main() -> None:
    """Run the module."""
    run_module(FLEET)


if __name__ == "__main__":
    main()
