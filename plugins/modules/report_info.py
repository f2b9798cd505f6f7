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
  - Returns, as data, what the account runs and costs, how well it is backed up, which releases are blocked, and what to
    do next. The playbook C(hosted.services.report) writes all this to files.
  - Parts that cannot be read are null, and RV(report.unread) says why. The task fails only if neither services nor
    applications can be read.
options:
  project:
    description: Report on this project only, by name or id. The balance remains that of the account.
    type: str
  as_of:
    description: Moment from which to compute ages, the calendar of backups and the rest of the month, such as
      V(2026-11-02T09:30:00Z). If not set, now. The platform still shows only what is there now.
    type: str
  max_age:
    description: Warn if the newest backup of a service is older than this, such as V(26h) or V(7d).
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
    description: Warn if a disk is this full or more, in percent.
    type: int
    default: 80
  known_keys:
    description: Fingerprints of the SSH keys that belong on the account, as M(hosted.services.ssh_key_info) returns
      them. Any other key is reported. Keys that are a week old and were never used are reported in any case.
    type: list
    elements: str
  drift:
    description: Comparisons that the role C(hosted.services.drift_schedule) collects. Each has C(file), C(error) and
      C(differences).
    type: list
    elements: dict
    default: []
  backup_reports:
    description: Contents of the reports of the role C(hosted.services.backups), one for each plan.
    type: list
    elements: dict
    default: []
  sleep_reports:
    description: Contents of the reports of the role C(hosted.services.sleep_schedule), one for each plan.
    type: list
    elements: dict
    default: []
  drill_report:
    description: Content of the report of the playbook C(hosted.services.restore_drill) or
      C(hosted.services.recovery_drill).
    type: dict
  unread:
    description: What else could not be read, such as files. Each entry has C(part), C(name) and C(reason).
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
  - module: hosted.services.blueprint_info
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
  description: The figures. Amounts are strings in currency units. Null stands for what is unknown, never for zero.
  returned: success
  type: dict
  contains:
    # generated: report
    as_of:
      description: The moment of the report, in UTC.
      type: str
      sample: '2026-11-02T09:30:00Z'
    project:
      description: The project of the report. Null for the whole account.
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
        state:
          description: State of the container. Null if it is not known.
          type: str
          sample: running
        alias:
          description: Name by which its neighbors reach it.
          type: str
        is_free:
          description: Whether the service is free.
          type: bool
        free_expires_at:
          description: Until when the service is free, in UTC. Null if no date is shown. The platform does not show
            what happens then.
          type: str
        created_at:
          description: When the service was created, in UTC.
          type: str
          sample: '2026-11-20T08:15:30.000Z'
        suspended_at:
          description: When the service was suspended, in UTC. Null if it is not.
          type: str
        product:
          description: Name of its product.
          type: str
        monthly:
          description: Monthly rate that is billed now.
          type: str
        monthly_full:
          description: Monthly rate while it is in service.
          type: str
        disk:
          description: How full its disk is. Null if that is unknown.
          type: dict
          contains:
            used_bytes:
              description: Used space, in bytes.
              type: int
            size_gb:
              description: Its size, in GB.
              type: int
            percent:
              description: Used space in percent of the size, rounded down.
              type: int
    projects:
      description: The projects. Null if they cannot be read.
      type: list
      elements: dict
      contains:
        id:
          description: Id of the project. Null in check mode if it would be created.
          type: str
          sample: prj_4f2a
        name:
          description: Name of the project.
          type: str
          sample: games
        service_ids:
          description: Ids of its services.
          type: list
          elements: str
        references:
          description: References between services. Null if they cannot be read.
          type: list
          elements: dict
          contains:
            from_id:
              description: Id of the service that refers to another.
              type: str
            to_id:
              description: Id of the other service.
              type: str
            through:
              description: Names of the variables with the reference.
              type: list
              elements: str
        monthly:
          description: Sum of the monthly rates that are billed now and known.
          type: str
        unpriced:
          description: Number of services with an unknown rate.
          type: int
        spend:
          description: What it has cost. Null if that cannot be read.
          type: dict
          contains:
            days:
              description: Length of the window, in days.
              type: int
            amount:
              description: Cost over the window.
              type: str
            services:
              description: Cost of each service over the window.
              type: list
              elements: dict
              contains:
                id:
                  description: Id of the service. Null in check mode if it would be ordered.
                  type: str
                  sample: svc_8c1d
                name:
                  description: Name of the service.
                  type: str
                  sample: survival
                amount:
                  description: Its cost.
                  type: str
                parts:
                  description: Parts of the cost.
                  type: list
                  elements: dict
                  contains:
                    label:
                      description: What was paid for, in the platform's words.
                      type: str
                    amount:
                      description: Cost of the part.
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
          description: Cost of the month so far.
          type: str
        forecast:
          description: Cost of the month if all services stay as they are. Null if the services cannot be read.
          type: dict
          contains:
            amount:
              description: Cost of the whole month. Null if RV(report.money.month_to_date) is unknown.
              type: str
            rest:
              description: Cost of the rest of the month, at the rate that is billed now.
              type: str
            hours_left:
              description: Whole hours that are left of the month.
              type: int
            complete:
              description: Whether all rates are known. Services with an unknown rate are left out.
              type: bool
        platform_forecast:
          description: Forecast of the platform. Null with O(project).
          type: str
        balance:
          description: The balance of the account.
          type: str
        days_left:
          description: Days that the balance lasts, as the platform estimates.
          type: int
        runs_out_on:
          description: Day on which the balance runs out by that estimate.
          type: str
        monthly:
          description: Sum of the monthly rates that are billed now and known.
          type: str
        unpriced:
          description: Names of the services with an unknown rate.
          type: list
          elements: str
        days:
          description: Cost by day, oldest first.
          type: list
          elements: dict
          contains:
            date:
              description: The day.
              type: str
            amount:
              description: Cost of all projects that day.
              type: str
            projects:
              description: Cost of each project that day.
              type: list
              elements: dict
              contains:
                id:
                  description: Id of the project. Null in check mode if it would be created.
                  type: str
                  sample: prj_4f2a
                amount:
                  description: Its cost.
                  type: str
        complete:
          description: Whether the spend of all projects could be read.
          type: bool
        total:
          description: Cost of the projects over the window.
          type: str
        top:
          description: The five services that have cost most over the window.
          type: list
          elements: dict
          contains:
            id:
              description: Id of the service. Null in check mode if it would be ordered.
              type: str
              sample: svc_8c1d
            name:
              description: Name of the service.
              type: str
              sample: survival
            project:
              description: Name of its project.
              type: str
            amount:
              description: Its cost.
              type: str
            monthly:
              description: Its monthly rate now. Null if the service is gone.
              type: str
        saved:
          description: What sleep has saved. Null if O(sleep_reports) is empty.
          type: dict
          contains:
            saved:
              description: What all plans have saved, as far as that is known.
              type: str
            complete:
              description: Whether that is known of all plans.
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
                  description: Whether that run went well.
                  type: bool
    backups:
      description: How well the services are backed up.
      type: dict
      contains:
        max_age:
          description: Maximum age of the newest backup.
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
            id:
              description: Id of the service. Null in check mode if it would be ordered.
              type: str
              sample: svc_8c1d
            name:
              description: Name of the service.
              type: str
              sample: survival
            freshness:
              description: V(fresh), V(stale), or V(none) if it has no good backup.
              type: str
            newest:
              description: When its newest good backup was made.
              type: str
            age_hours:
              description: Age of that backup in hours. For a suspended service, its age at the suspension.
              type: int
            longest_gap_hours:
              description: Most hours without a new good backup in the 30 days. Deleted backups do not count.
              type: int
            last_failed:
              description: Whether its last backup failed.
              type: bool
            count:
              description: Number of good backups.
              type: int
            cells:
              description: Freshness at the end of each day, by the backups that still exist. V(failed) if backups
                only failed that day, V(before) if the service did not exist yet.
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
          description: Last run of each plan in O(backup_reports).
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
          description: Last restore drill. Null if O(drill_report) is not set.
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
              description: Whole days since it finished.
              type: int
    applications:
      description: The applications. Null if they cannot be read.
      type: list
      elements: dict
      contains:
        project_id:
          description: Id of the project that the service belongs to.
          type: str
          sample: prj_4f2a
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
        tag:
          description: Tag of the release in service.
          type: str
        age_days:
          description: Whole days since it was deployed.
          type: int
        releases:
          description: Newest releases, newest first. Null if they cannot be read.
          type: list
          elements: dict
          contains:
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
            age_days:
              description: Whole days since it was declared.
              type: int
            counts:
              description: Number of vulnerabilities by severity, in lower case.
              type: dict
              sample:
                critical: 1
                high: 0
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
        note:
          description: Why releases may be missing.
          type: str
    advice:
      description: What to do next, most urgent first.
      type: list
      elements: dict
      contains:
        kind:
          description: V(balance), V(failed), V(awaiting_admin), V(blocked_in_service), V(blocked_release), V(no_backup),
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
              description: Its name, or the file of a blueprint.
              type: str
            id:
              description: Its id. Null if it has none.
              type: str
            detail:
              description: What is wrong with it.
              type: str
    answers:
      description: Short answers to what people ask first.
      type: dict
      contains:
        costs_most:
          description: First service of RV(report.money.top). If that is empty, the one with the highest rate, or
            null.
          type: dict
          contains:
            id:
              description: Id of the service. Null in check mode if it would be ordered.
              type: str
              sample: svc_8c1d
            name:
              description: Name of the service.
              type: str
              sample: survival
            project:
              description: Name of its project. Absent if RV(report.money.top) is empty.
              type: str
            amount:
              description: Its cost. Null if that is unknown.
              type: str
            monthly:
              description: Its monthly rate now. Null if the service is gone.
              type: str
            tied_names:
              description: Names of the other services that cost as much.
              type: list
              elements: str
        backed_up:
          description: How many services are backed up.
          type: dict
          contains:
            fresh:
              description: Services with a fresh backup.
              type: int
            none:
              description: Services that offer backups and have no good one.
              type: int
            of:
              description: Services that offer backups, and whose backups could be read.
              type: int
            unknown:
              description: Services whose backups could not be read. Null if the services cannot be read.
              type: int
            not_offered:
              description: Services that offer no backups.
              type: int
            not_created:
              description: Services that are being created, wait for the platform's team or failed.
              type: int
        broken_ids:
          description: Ids of the services that failed or wait for the platform's team.
          type: list
          elements: str
        referred_to:
          description: The service with the most references to it. Null if none are known.
          type: dict
          contains:
            id:
              description: Id of the service. Null in check mode if it would be ordered.
              type: str
              sample: svc_8c1d
            by_ids:
              description: Ids of the services that refer to it.
              type: list
              elements: str
            others:
              description: Number of other services that are referred to.
              type: int
        month:
          description: Forecast cost of the month.
          type: str
    history:
      description: What tasks of this controller, and no other, changed on the account in the seven days before
        RV(report.as_of), oldest first. Null for a project.
      type: list
      elements: dict
      contains:
        at:
          description: When, by the clock of this machine, in UTC.
          type: str
          sample: '2026-11-02T09:12:41Z'
        who:
          description: User and machine that ran Ansible.
          type: str
          sample: deploy@ci-7
        module:
          description: The module.
          type: str
          sample: service
        change:
          description: The change, as C(actions) of the task named it, with the project of what is new.
          type: str
          sample: order minecraft as service 'survival' for 9.60 a month
        outcome:
          description: V(done), V(begun) if the task did not see its end, V(unknown) if it may not have been made.
          type: str
          sample: done
        monthly_before:
          description: Monthly rate before, if it is known and the change affected it.
          type: str
        monthly_after:
          description: Monthly rate afterwards.
          type: str
          sample: '9.60'
    unread:
      description: What could not be read.
      type: list
      elements: dict
      contains:
        part:
          description: Part of the report.
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
    # generated end
"""

from ansible_collections.hosted.services.plugins.module_utils._ansible.module import run_module
from ansible_collections.hosted.services.plugins.module_utils._resources.report_info import REPORT_INFO


def main() -> None:
    """Run the module."""
    run_module(REPORT_INFO)


if __name__ == "__main__":
    main()
