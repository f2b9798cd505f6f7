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
  - Looks at the clock of the controller, and suspends or resumes each selected service as the plan says for this
    moment. Run it every few minutes, from cron or a timer of systemd. Runs that are missed or doubled make no
    difference.
  - A change by hand is respected until the next boundary of the plan, whether a service was resumed while it should
    sleep or suspended in its hours. For longer, use O(keep_awake).
  - A service that refers to another one in its environment is resumed after it and suspended before it, and keeps it
    awake while it is awake itself. A service of which a backup is being made or restored stays awake until that is
    complete, for a day at most.
  - Only suspension saves money, so nothing is merely stopped. A service that does not offer C(suspension) is left out.
  - A service that M(hosted.services.relocate) left over is never resumed. The guide to sleep says more on that.
  - Says what the plan will save, in check mode too, and what it has saved by the platform's own usage.
options:
  name:
    description: Name of the plan. What is remembered of a service belongs to it. A service should be in one plan only.
    type: str
    required: true
  awake:
    description:
      - When services are awake, by weekday. They sleep at all other times.
      - If it is left out, services are awake except in O(exceptions) and events of O(calendar). With O(events=awake)
        they sleep except in these.
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
        description: When it ends. It ends on the next day if that is not later than its beginning.
        type: str
        default: "24:00"
        aliases: [to]
  exceptions:
    description: Days with windows of their own. They replace those that O(awake) and O(calendar) say for these days.
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
    description:
      - Path of an iCalendar file with events at which the plan differs, such as holidays. Needs the Python libraries
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
    description: Whether services are resumed when their hours begin. If false, whoever needs a service resumes it.
    type: bool
    default: true
  not_while_busy:
    description: Do not suspend a service that is busy. If it cannot be known, nothing is done.
    type: dict
    suboptions:
      cpu_percent:
        description: A service is busy above this share of its processors.
        type: float
      traffic_kib_per_second:
        description:
          - A service is busy above this traffic, in both directions together, between two runs of the plan, which have
            to come more often than O(not_while_busy.minutes).
        type: float
      minutes:
        description: For how many minutes back each run looks at what it and the runs before it have measured.
        type: int
        default: 15
      at_most:
        description: For how many minutes at most being busy delays a suspension.
        type: int
        default: 240
  keep_awake:
    description:
      - Keep services of the plan awake until a moment, and whatever they need. This resumes them if they sleep.
    type: dict
    suboptions:
      services:
        description: The services, by name or id.
        type: list
        elements: str
        required: true
      until:
        description:
          - Until when, such as V(22:00), V(2026-12-24T22:00), or a length such as V(3h) or V(2d). At most a year.
        type: str
        required: true
  release:
    description: Services that are left to the plan again at once, by name or id, whatever was done to them by hand.
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
    awake:
      - days: [fri]
        from: "18:00"
      - days: [sat, sun]
    not_while_busy:
      traffic_kib_per_second: 20
      at_most: 180

- name: Keep one awake for tonight
  hosted.services.sleep_plan:
    name: weekend
    family: GAME
    awake:
      - days: [sat, sun]
    keep_awake:
      services: [survival]
      until: "23:30"
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
      description: Its status after the task.
      type: str
    awake:
      description: Whether it is awake after the task.
      type: bool
    why:
      description: What decided that.
      type: str
    delayed:
      description: Whether its suspension is due and waits, because it is busy, needed or backed up, or that is unknown.
      type: bool
    kept_until:
      description: Until when it is kept awake by hand, in UTC. Null if it is not.
      type: str
    forecast:
      description: What the plan saves with it in the next days, by the rates of today and as if nothing is done by hand.
      type: dict
      contains:
        days:
          description: Length of the forecast.
          type: int
        asleep_hours:
          description: For how many hours the service sleeps in these days.
          type: float
        monthly_awake:
          description: Price of a month in service. Null if the platform does not tell it.
          type: str
        monthly_asleep:
          description: Price of a month of suspension. Null if the platform does not tell it.
          type: str
        saves:
          description: What these days save.
          type: str
        saves_monthly:
          description: What an average month of 730 hours saves.
          type: str
    saved:
      description:
        - What the plan has saved with it, as the full price less the usage that the platform tells, for whole days (UTC).
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
      description: Services whose price the platform does not tell. They are in none of the sums.
      type: list
      elements: str
    currency:
      description: Currency of the account. Null if the platform does not tell it.
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
