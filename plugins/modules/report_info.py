#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: report_info
short_description: Read the figures of a report on the account
version_added: 1.0.0
description:
  - Returns, as data, what the account runs, what it costs, how well it is backed up, which releases are blocked, and
    what to do next. The filter P(hosted.services.report_html#filter) makes a page of it, and the playbook
    C(hosted.services.report) does both and writes the files.
  - Amounts are strings in currency units, and equal those of the platform to the cent. Null stands for what is
    unknown, never for zero.
  - Parts that cannot be read, such as services with a token of scope C(REGISTRY), are null, and RV(report.unread) says
    why. The task fails only if neither services nor applications can be read.
options:
  project:
    description:
      - Report on this project only, by name or id. The balance is that of the account, and the forecast of the
        platform is left out.
    type: str
  as_of:
    description:
      - The moment by which ages, the calendar of backups and the end of the month are computed, such as
        V(2026-11-02T09:30:00Z). If not set, now. It does not make the platform show what was there at another time.
    type: str
  max_age:
    description: How old the newest backup of a service may be, such as V(26h) or V(7d); the recovery point objective.
    type: str
    default: 26h
  balance_days:
    description: Warn if the balance lasts for fewer days.
    type: int
    default: 30
  free_days:
    description: Warn if the free time of a service ends in fewer days, or has ended while it is still shown as free.
    type: int
    default: 14
  disk_percent:
    description: Warn if a disk is this full or more.
    type: int
    default: 80
  known_keys:
    description:
      - Fingerprints of the SSH keys that belong on the account, as M(hosted.services.ssh_key_info) returns them. Any
        other key is reported. If not set, only keys that were never used are.
    type: list
    elements: str
  drift:
    description:
      - What was compared with blueprints, as the role C(hosted.services.drift_schedule) collects it. Each entry has
        C(file), C(error) and C(differences), as M(hosted.services.drift_info) returns them.
    type: list
    elements: dict
    default: []
  backup_reports:
    description: The content of the reports that the role C(hosted.services.backups) writes, one for each plan.
    type: list
    elements: dict
    default: []
  sleep_reports:
    description: The content of the reports that the role C(hosted.services.sleep_schedule) writes, one for each plan.
    type: list
    elements: dict
    default: []
  drill_report:
    description:
      - The content of the report of the playbook C(hosted.services.restore_drill) or
        C(hosted.services.recovery_drill).
    type: dict
  unread:
    description:
      - What else could not be read, to be named in the report, such as files of the controller. Each entry has
        C(part), C(name) and C(reason).
    type: list
    elements: dict
    default: []
extends_documentation_fragment:
  - hosted.services.common.info_attributes
  - hosted.services.common
seealso:
  - plugin: hosted.services.report_html
    plugin_type: filter
  - module: hosted.services.account_info
  - module: hosted.services.backup_info
  - module: hosted.services.drift_info
"""

EXAMPLES = r"""
- name: Read the figures
  hosted.services.report_info:
    max_age: 26h
  register: account

- name: Write the page
  ansible.builtin.copy:
    content: "{{ account.report | hosted.services.report_html }}"
    dest: report.html
    mode: "0644"

- name: Stop a pipeline if something urgent is to be done
  ansible.builtin.assert:
    that: urgent | length == 0
    fail_msg: "{{ urgent | map(attribute='do') | join('; ') }}"
  vars:
    urgent: "{{ account.report.advice | selectattr('level', 'eq', 'critical') }}"
"""

RETURN = r"""
report:
  description: The figures. Amounts are strings in currency units, and null stands for what is unknown.
  returned: success
  type: dict
  contains:
    as_of:
      description: The moment that the report speaks of, in UTC.
      type: str
      sample: "2026-11-02T09:30:00Z"
    project:
      description: The project that the report is about. Null for the whole account.
      type: str
    currency:
      description: The currency of all amounts.
      type: str
      sample: EUR
    services:
      description: The services, by name. Null if they cannot be read.
      type: list
      elements: dict
      contains:
        # generated: full_service id name family status address project_id failure_reason
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
        project_id:
          description: Id of the project that the service belongs to.
          type: str
          sample: prj_4f2a
        failure_reason:
          description: Why the creation failed. Null if it did not.
          type: str
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
        # generated: pricing is_free free_expires_at
        is_free:
          description: Whether the service is free.
          type: bool
        free_expires_at:
          description: Until when the service is free, in UTC. Null if no date is shown. The platform does not show
            what happens then.
          type: str
        # generated end
        # generated: dates created_at suspended_at
        created_at:
          description: When the service was created, in UTC.
          type: str
          sample: '2026-11-20T08:15:30.000Z'
        suspended_at:
          description: When the service was suspended, in UTC. Null if it is not.
          type: str
        # generated end
        product:
          description: Name of its product.
          type: str
        monthly:
          description: The monthly rate that is billed now.
          type: str
        monthly_full:
          description: The monthly rate while it is in service.
          type: str
        disk:
          description: How full its disk is. Null if that is unknown.
          type: dict
          contains:
            used_bytes:
              description: The space in use, in bytes.
              type: int
            size_gb:
              description: Its size, in GB.
              type: int
            percent:
              description: The space in use as a percentage of the size, rounded down.
              type: int
    projects:
      description: The projects. Null if they cannot be read.
      type: list
      elements: dict
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
        service_ids:
          description: Ids of its services.
          type: list
          elements: str
        references:
          description: What refers to what. Null if the graph of the project cannot be read.
          type: list
          elements: dict
          contains:
            from_id:
              description: Id of the service that refers to the other.
              type: str
            to_id:
              description: Id of the service that it refers to.
              type: str
            through:
              description: The names of the variables that do so.
              type: list
              elements: str
        monthly:
          description: The sum of the monthly rates that are billed now, without those that are unknown.
          type: str
        unpriced:
          description: How many services have an unknown rate.
          type: int
        spend:
          description: What it has cost. Null if that cannot be read.
          type: dict
          contains:
            days:
              description: How many days the window has.
              type: int
            amount:
              description: What it has cost over the window.
              type: str
            services:
              description: What each of its services has cost over the window.
              type: list
              elements: dict
              contains:
                # generated: service id name
                id:
                  description: Id of the service. Null in check mode if it would be ordered.
                  type: str
                  sample: svc_8c1d
                name:
                  description: Name of the service.
                  type: str
                  sample: survival
                # generated end
                amount:
                  description: What it has cost.
                  type: str
                parts:
                  description: What that is made of.
                  type: list
                  elements: dict
                  contains:
                    label:
                      description: What was paid for, as the platform names it.
                      type: str
                    amount:
                      description: What that has cost.
                      type: str
    money:
      description: What the account spends.
      type: dict
      contains:
        month:
          description: The month of the forecast.
          type: str
          sample: 2026-11
        month_to_date:
          description: What the month has cost so far.
          type: str
        forecast:
          description:
            - What the month will have cost if all services stay as they are.
            - Null if the services cannot be read.
          type: dict
          contains:
            amount:
              description: The sum of RV(report.money.month_to_date) and C(rest). Null if the former is unknown.
              type: str
            rest:
              description: The rate that is billed now, for the rest of the month.
              type: str
            hours_left:
              description: How many whole hours of the month are left.
              type: int
            complete:
              description: Whether the rates of all services are known. The others are left out.
              type: bool
        platform_forecast:
          description: The forecast of the platform.
          type: str
        balance:
          description: The balance of the account.
          type: str
        days_left:
          description: For how many days the balance lasts, as the platform estimates it.
          type: int
        runs_out_on:
          description: The day on which the balance runs out by that estimate.
          type: str
        monthly:
          description: The sum of the monthly rates that are billed now, without those that are unknown.
          type: str
        unpriced:
          description: Names of the services whose rate is unknown.
          type: list
          elements: str
        days:
          description: The days that any project shows, the oldest first.
          type: list
          elements: dict
          contains:
            date:
              description: The day.
              type: str
            amount:
              description: What the projects have cost that day.
              type: str
            projects:
              description: What each project has cost that day.
              type: list
              elements: dict
              contains:
                # generated: project id
                id:
                  description: Id of the project. Null in check mode if it would be created.
                  type: str
                  sample: prj_4f2a
                # generated end
                amount:
                  description: What it has cost.
                  type: str
        complete:
          description: Whether the spend of all projects could be read.
          type: bool
        total:
          description: What the projects have cost over the window.
          type: str
        top:
          description: The five services that have cost most over the window.
          type: list
          elements: dict
          contains:
            # generated: service id name
            id:
              description: Id of the service. Null in check mode if it would be ordered.
              type: str
              sample: svc_8c1d
            name:
              description: Name of the service.
              type: str
              sample: survival
            # generated end
            project:
              description: Name of its project.
              type: str
            amount:
              description: What it has cost.
              type: str
            monthly:
              description: Its monthly rate now. Null if it is gone.
              type: str
        saved:
          description: What sleep has saved. Null if O(sleep_reports) is empty.
          type: dict
          contains:
            saved:
              description: What all plans have saved, without those of which it is unknown.
              type: str
            complete:
              description: Whether it is known of all plans.
              type: bool
            plans:
              description: The last run of each plan, by name.
              type: list
              elements: dict
              contains:
                plan:
                  description: Name of the plan.
                  type: str
                saved:
                  description: What it has saved so far.
                  type: str
                saves_monthly:
                  description: What it saves in a month.
                  type: str
                finished:
                  description: When its last run finished.
                  type: str
                ok:
                  description: Whether that went well.
                  type: bool
    backups:
      description: How well the services are backed up.
      type: dict
      contains:
        max_age:
          description: How old the newest backup may be.
          type: str
        days:
          description: The last 30 days, in UTC.
          type: list
          elements: str
        services:
          description: The services that offer backups.
          type: list
          elements: dict
          contains:
            # generated: service id name
            id:
              description: Id of the service. Null in check mode if it would be ordered.
              type: str
              sample: svc_8c1d
            name:
              description: Name of the service.
              type: str
              sample: survival
            # generated end
            freshness:
              description: V(fresh), V(stale) or V(none), by its newest backup.
              type: str
            newest:
              description: When its newest good backup was made.
              type: str
            age_hours:
              description: The age of that in hours. Of a suspended service it is that on its suspension.
              type: int
            longest_gap_hours:
              description: The most hours between two good backups in a row. Backups that were deleted leave gaps.
              type: int
            last_failed:
              description: Whether its last backup failed.
              type: bool
            count:
              description: How many good backups it has.
              type: int
            cells:
              description:
                - How it was at the end of each day, by the backups that are still there, V(fresh), V(stale), V(none), or
                  V(failed) if a backup failed that day and none was made. V(before) stands for the days before it was
                  created.
              type: list
              elements: str
        not_offered_ids:
          description: Ids of the services that offer no backups.
          type: list
          elements: str
        unknown_ids:
          description: Ids of the services whose backups could not be read.
          type: list
          elements: str
        plans:
          description: The last run of each plan in O(backup_reports).
          type: list
          elements: dict
          contains:
            plan:
              description: Name of the plan.
              type: str
            finished:
              description: When it finished.
              type: str
            ok:
              description: Whether it went well.
              type: bool
            problems:
              description: What went wrong.
              type: list
              elements: str
        drill:
          description: The last restore drill. Null if O(drill_report) is not set.
          type: dict
          contains:
            service:
              description: Name of the service that was restored.
              type: str
            finished:
              description: When it finished.
              type: str
            restored:
              description: Whether it brought the old content back.
              type: bool
            age_days:
              description: How many days ago that was.
              type: int
    applications:
      description: The applications. Null if they cannot be read.
      type: list
      elements: dict
      contains:
        # generated: full_service project_id
        project_id:
          description: Id of the project that the service belongs to.
          type: str
          sample: prj_4f2a
        # generated end
        # generated: app id slug status platform digest released_at scan_status
        id:
          description: Id of the application. Null in check mode if it would be created.
          type: str
          sample: svc_31c0
        slug:
          description: Slug of the application.
          type: str
          sample: acme-shop
        status:
          description: Administrative status of the application, such as V(ACTIVE).
          type: str
          sample: ACTIVE
        platform:
          description: The architecture of what runs. Null before the first deploy.
          type: str
          sample: linux/amd64
        digest:
          description: The digest of the image in service. Null before the first deploy.
          type: str
          sample: sha256:4a5c…
        released_at:
          description: When the release in service was deployed, in UTC.
          type: str
          sample: '2026-11-20T08:15:30.000Z'
        scan_status:
          description: Scan verdict on the release in service.
          type: str
          sample: PASSED
        # generated end
        tag:
          description: The release in service.
          type: str
        age_days:
          description: How many days ago that was.
          type: int
        releases:
          description: The newest releases, the newest first. Null if they cannot be read.
          type: list
          elements: dict
          contains:
            # generated: declared
            tag:
              description: Tag of the release.
              type: str
              sample: 1.4.0
            digest:
              description: Digest of the image.
              type: str
              sample: sha256:4a5c…
            scan_status:
              description: V(PENDING), V(PASSED), V(WARNED), V(BLOCKED) or V(FAILED).
              type: str
              sample: PASSED
            scanned_at:
              description: When the image was scanned, in UTC.
              type: str
              sample: '2026-11-20T08:15:30.000Z'
            created_at:
              description: When the release was declared, in UTC.
              type: str
              sample: '2026-11-20T08:15:30.000Z'
            in_service:
              description: Whether its image is in service.
              type: bool
            # generated end
            age_days:
              description: How many days ago that was.
              type: int
            # generated: scan counts blocking
            counts:
              description: Number of vulnerabilities by severity.
              type: dict
              sample:
                Critical: 1
                High: 0
            blocking:
              description: Vulnerabilities that block the release.
              type: list
              elements: dict
              contains:
                id:
                  description: Id of the vulnerability.
                  type: str
                  sample: CVE-2022-37434
                package:
                  description: The affected package.
                  type: str
                  sample: zlib
                version:
                  description: Version of the package in the image.
                  type: str
                  sample: 1:1.2.11.dfsg-2
                fix_version:
                  description: Version that fixes it. Null if there is none.
                  type: str
                  sample: 1:1.2.11.dfsg-4.1
                severity:
                  description: Severity.
                  type: str
                  sample: Critical
                reason:
                  description: Why it blocks the release. Null if it does not.
                  type: str
            # generated end
        note:
          description: Why releases may be missing.
          type: str
    advice:
      description: What to do next, the most urgent first.
      type: list
      elements: dict
      contains:
        kind:
          description:
            - V(balance), V(failed), V(awaiting_admin), V(blocked_in_service), V(blocked_release), V(no_backup),
              V(stale_backup), V(failed_backup), V(free_ends), V(disk), V(stopped_billed), V(drift), V(not_compared),
              V(unknown_key), V(unused_key) or V(drill).
          type: str
        level:
          description: V(critical), V(warning) or V(notice).
          type: str
        do:
          description: The sentence that says what to do.
          type: str
        subjects:
          description: What it concerns.
          type: list
          elements: dict
          contains:
            name:
              description: Its name, such as that of a service, or the file of a blueprint.
              type: str
            id:
              description: Its id. Null if it has none.
              type: str
            detail:
              description: What is to be said of it.
              type: str
    answers:
      description: Short answers to what people ask first.
      type: dict
      contains:
        costs_most:
          description:
            - The service that has cost most, the first of RV(report.money.top). If that is empty, the one with the highest
              rate, and null if there is none.
          type: dict
          contains:
            # generated: service id name
            id:
              description: Id of the service. Null in check mode if it would be ordered.
              type: str
              sample: svc_8c1d
            name:
              description: Name of the service.
              type: str
              sample: survival
            # generated end
            project:
              description: Name of its project.
              returned: if RV(report.money.top) is not empty
              type: str
            amount:
              description: What it has cost. Null if that is unknown.
              type: str
            monthly:
              description: Its monthly rate now. Null if it is gone.
              type: str
            tied_names:
              description: Names of the others in RV(report.money.top) that have cost as much, or that have the same rate.
              type: list
              elements: str
        backed_up:
          description: How many services are backed up.
          type: dict
          contains:
            fresh:
              description: How many have a fresh backup.
              type: int
            none:
              description: How many offer backups and have no good one.
              type: int
            of:
              description: How many offer backups, as far as these could be read.
              type: int
            unknown:
              description: Of how many the backups could not be read. Null if the services cannot be read.
              type: int
            not_offered:
              description: How many offer no backups.
              type: int
            not_created:
              description: How many do not exist yet, because they are being created, wait for the platform's team or failed.
              type: int
        broken_ids:
          description: Ids of the services that failed or wait for the platform's team.
          type: list
          elements: str
        referred_to:
          description: The service that most others refer to. Null if none is known to be.
          type: dict
          contains:
            # generated: service id
            id:
              description: Id of the service. Null in check mode if it would be ordered.
              type: str
              sample: svc_8c1d
            # generated end
            by_ids:
              description: Ids of the services that refer to it.
              type: list
              elements: str
            others:
              description: How many other services are referred to, by as many or by fewer.
              type: int
        month:
          description: What the month will have cost.
          type: str
    history:
      description:
        - What tasks of this controller changed on the account in the seven days before RV(report.as_of), the
          oldest first. Null for a project.
        - What other controllers did is not known here.
      type: list
      elements: dict
      contains:
        at:
          description: When, by the clock of this machine, in UTC.
          type: str
          sample: "2026-11-02T09:12:41Z"
        who:
          description: The user and the machine that ran Ansible.
          type: str
          sample: deploy@ci-7
        module:
          description: The module.
          type: str
          sample: service
        change:
          description: The change, as C(actions) of the task named it.
          type: str
          sample: order minecraft as service 'survival' for 9.60 a month
        outcome:
          description:
            - V(done); V(begun) if the task did not see its end; V(unknown) if it may not have been made.
          type: str
          sample: done
        monthly_before:
          description: The monthly rate before, where the change moved it and the rate was known.
          type: str
        monthly_after:
          description: The monthly rate afterwards.
          type: str
          sample: "9.60"
    unread:
      description: What could not be read.
      type: list
      elements: dict
      contains:
        part:
          description: The part of the report.
          type: str
        name:
          description: Name of the service, project, application or file. Null for a part of the account.
          type: str
        id:
          description: Its id. Null for a part of the account, and for a file.
          type: str
        reason:
          description: Why it could not be read.
          type: str
"""

from ansible_collections.hosted.services.plugins.module_utils._ansible.module import run_module
from ansible_collections.hosted.services.plugins.module_utils._resources.report_info import REPORT_INFO


def main() -> None:
    """Run the module."""
    run_module(REPORT_INFO)


if __name__ == "__main__":
    main()
