#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: sleep_plan
short_description: Suspend services outside of their hours, and resume them in time
version_added: 1.0.0
description:
  - Suspends or resumes each selected service as the plan says for this moment, by the clock of the controller. Run it
    every few minutes, from cron or a timer of systemd. Missed and doubled runs make no difference.
  - A suspended service is billed for its storage only, a resumed one in full. A service that does not offer
    C(suspension) is left out.
  - A change by hand is respected until the next boundary of the plan. For longer, use O(keep_awake). The first run also
    resumes what was suspended by hand before.
  - A service that another one refers to in its environment is resumed before it and suspended after it. A service stays
    awake while it is needed, or while a backup of it is made or restored, which counts for a day at most.
  - A service that M(hosted.services.relocate) left over is never resumed. See the guide to sleep.
  - Says what the plan will save, in check mode too, and what it has saved.
options:
  name:
    description: Name of the plan. A service should be in one plan only.
    type: str
    required: true
  awake:
    description: When services are awake, by weekday. They sleep at all other times. If not set, they are awake except
      in O(exceptions) and events of O(calendar), or asleep except in these with O(events=awake).
    type: list
    elements: dict
    suboptions:
      days:
        description: Weekdays on which the window begins.
        type: list
        elements: str
        choices: [mon, tue, wed, thu, fri, sat, sun]
        default: [mon, tue, wed, thu, fri, sat, sun]
      begins:
        description: When the window begins, such as V(08:00). Write it in quotes.
        type: str
        default: "00:00"
        aliases: [from]
      ends:
        description: When it ends. A time that is not later than the beginning is on the next day.
        type: str
        default: "24:00"
        aliases: [to]
  exceptions:
    description: Days with windows of their own, which replace those of O(awake) and O(calendar).
    type: list
    elements: dict
    default: []
    suboptions:
      date:
        description: The day, such as V(2026-12-24).
        type: str
        required: true
      until:
        description: The last day, if there are several.
        type: str
      awake:
        description: When services are awake on these days. An empty list means that they sleep.
        type: list
        elements: dict
        required: true
        suboptions:
          begins:
            description: When the window begins.
            type: str
            default: "00:00"
            aliases: [from]
          ends:
            description: When it ends.
            type: str
            default: "24:00"
            aliases: [to]
  calendar:
    description: iCalendar file with events at which the plan differs, such as holidays. Needs the Python libraries
      C(icalendar) and C(recurring-ical-events).
    type: path
  events:
    description: How services are during the events of O(calendar).
    type: str
    choices: [asleep, awake]
    default: asleep
  time_zone:
    description: Time zone of the plan, such as V(Europe/Paris).
    type: str
    default: UTC
  resume:
    description: Whether services are resumed when their hours begin. If false, the plan only suspends.
    type: bool
    default: true
  not_while_busy:
    description: Do not suspend a service that is busy, or of which that is not known.
    type: dict
    suboptions:
      cpu_percent:
        description: A service is busy above this share of its processors.
        type: float
      traffic_kib_per_second:
        description: A service is busy above this traffic, in both directions together. Run the plan more often than
          O(not_while_busy.minutes), because this is measured between two runs.
        type: float
      minutes:
        description: How many minutes of measurements count.
        type: int
        default: 15
      at_most:
        description: For how many minutes at most being busy delays a suspension.
        type: int
        default: 240
  keep_awake:
    description: Keep services of the plan awake until a moment, with what they need. Resumes them if they sleep.
    type: dict
    suboptions:
      services:
        description: The services, by name or id.
        type: list
        elements: str
        required: true
      until:
        description: Time or length, such as V(22:00), V(2026-12-24T22:00), V(3h) or V(2d). At most a year.
        type: str
        required: true
  release:
    description: Services that the plan decides on again at once, by name or id, whatever was done to them by hand.
    type: list
    elements: str
  forecast_days:
    description: Over how many of the next days to forecast what the plan saves.
    type: int
    default: 30
extends_documentation_fragment:
  - hosted.services.common
  - hosted.services.common.wait
  - hosted.services.budget
  - hosted.services.budget.max_monthly
  - hosted.services.many_services
  - hosted.services.common.state_dir
  - hosted.services.many_services.start_after
seealso:
  - module: hosted.services.relocate
  - module: hosted.services.service
  - module: hosted.services.backup_info
"""

EXAMPLES = r"""
- name: Let the test servers sleep at night and on weekends
  hosted.services.sleep_plan:
    name: office-hours
    project: test
    time_zone: Europe/Paris
    awake:
      - days: [mon, tue, wed, thu, fri]
        from: "07:30"
        to: "20:00"
    exceptions:
      - date: "2026-12-24"
        until: "2027-01-03"
        awake: []

- name: See what that would save
  hosted.services.sleep_plan:
    name: office-hours
    project: test
    awake:
      - days: [mon, tue, wed, thu, fri]
        from: "07:30"
        to: "20:00"
  check_mode: true
  register: forecast

- name: Run game servers on weekends only, and never suspend one that is played on
  hosted.services.sleep_plan:
    name: weekend
    family: GAME
    awake: &weekend
      - days: [fri]
        from: "18:00"
      - days: [sat, sun]
    not_while_busy: &busy
      traffic_kib_per_second: 20
      at_most: 180

- name: Keep one awake for tonight
  hosted.services.sleep_plan:
    name: weekend
    family: GAME
    awake: *weekend
    not_while_busy: *busy
    keep_awake:
      services: [survival]
      until: "23:30"
"""

RETURN = r"""
services:
  description: Result for each service.
  returned: always, unless no service could be selected
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
      description: Its status after the task.
      type: str
    awake:
      description: Whether it is awake after the task.
      type: bool
    why:
      description: What decided that.
      type: str
    delayed:
      description: Whether its suspension waits, because it is or may be busy, needed or backed up.
      type: bool
    kept_until:
      description: Until when it is kept awake by hand, in UTC. Null if it is not.
      type: str
    forecast:
      description: What the plan saves with it in the next days, by the rates of today.
      type: dict
      contains:
        days:
          description: Length of the forecast.
          type: int
        asleep_hours:
          description: Hours of sleep in these days.
          type: float
        monthly_awake:
          description: Price of a month in service. Null if unknown.
          type: str
        monthly_asleep:
          description: Price of a month of suspension. Null if unknown.
          type: str
        saves:
          description: What these days save.
          type: str
        saves_monthly:
          description: What an average month of 730 hours saves.
          type: str
    saved:
      description: What the plan has saved with it in whole days (UTC), as the full price less the usage.
      type: dict
      contains:
        since:
          description: First day that counts.
          type: str
        days:
          description: How many days are counted.
          type: int
        amount:
          description: What they have saved.
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
plan:
  description: The plan as a whole, at the moment of the task.
  returned: when services were selected
  type: dict
  contains:
    name:
      description: Name of the plan.
      type: str
    at:
      description: The moment, in UTC.
      type: str
    awake:
      description: Whether services are to be awake by the clock.
      type: bool
    since:
      description: Since when. Null if that is more than a year ago.
      type: str
    until:
      description: Until when. Null if that is more than a year away.
      type: str
    saves:
      description: What the next O(forecast_days) days save with all services.
      type: str
    saves_monthly:
      description: What an average month saves with all services.
      type: str
    saved:
      description: What the plan has saved so far.
      type: str
    unpriced:
      description: Services with an unknown price. They are in none of the sums.
      type: list
      elements: str
    currency:
      description: Currency of the account. Null if unknown.
      type: str
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
from ansible_collections.hosted.services.plugins.module_utils._resources.sleep_plan import SLEEP_PLAN


def main() -> None:
    """Run the module."""
    run_module(SLEEP_PLAN)


if __name__ == "__main__":
    main()
