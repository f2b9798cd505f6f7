#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: recover
short_description: Rebuild a project from its blueprint and its off-site copies
version_added: 1.0.0
description:
  - Makes a project again after it, or the whole account, is gone. Orders the services of its blueprint, and gives each
    the content of its newest off-site copy, which role P(hosted.services.backups#role) made, before anything uses it.
  - Verifies files by their content, databases by a new dump, and applications by the C(health_check) of the blueprint.
  - Gives each service its content once. The next run continues one that was interrupted, and orders nothing twice.
  - Finds everything that is missing before it orders anything. In check mode, shows what the project would cost.
options:
  src:
    description: Blueprint of the project, read as O(hosted.services.blueprint#module:src) is.
    type: path
  blueprint:
    description: The same as O(src), as data. One of both is required unless O(state=absent).
    type: dict
  copies:
    description: Folder of the off-site copies, which C(offsite.dest) of a backup plan names. Required unless
      O(state=absent).
    type: path
  project:
    description: Name of the project to make. If not set, that of the blueprint. Required with O(state=absent).
    type: str
  state:
    description: V(present) makes the project. V(absent) deletes the project of a O(drill), with what the drill made. If
      it holds anything else, that and the project stay. What the drill made and is in another project by now stays, and
      fails the task.
    type: str
    choices: [present, absent]
    default: present
  drill:
    description: Whether this is a drill, in a project that does not exist yet. It registers no SSH keys of the
      blueprint.
    type: bool
    default: false
  before:
    description: Moment in ISO 8601, such as V(2026-11-24T03:00:00Z). Each service gets the newest copy that was not
      made after it. If not set, the newest of all. Copies from before an earlier recovery count only if O(copies_of)
      names them.
    type: str
  copies_of:
    description: Copy of each service, by its key, name or slug in the blueprint, as the name of a folder in O(copies),
      or V(FOLDER/COPY). If not set, C(service.json) next to a copy tells which service it is of.
    type: dict
  existing:
    description: What to do with services of the blueprint that are in the project and that the recovery did not make.
      V(refuse) fails, V(keep) leaves them as they are.
    type: str
    choices: [refuse, keep]
    default: refuse
  overwrite:
    description: Keys, names or slugs of services whose content B(each run replaces), even if the recovery did not make
      them. Without it, nothing that the recovery did not make is overwritten.
    type: list
    elements: str
    default: []
extends_documentation_fragment:
  - hosted.services.common
  - hosted.services.common.wait
  - hosted.services.budget
  - hosted.services.common.sftp_login
  - hosted.services.common.state_dir
  - hosted.services.project
  - hosted.services.project.rename
  - hosted.services.project_copy
notes:
  - Services are stopped while they get their files, and started if the blueprint says that they run.
  - Files that the backup plan excluded are never deleted. If that is not known, nothing is deleted, with a warning.
  - Databases are restored with the programs of their engine on the controller, such as C(pg_restore). A database with
    tables that this recovery did not write is refused, and so is one whose address may lead to another.
  - What neither the blueprint nor a copy holds is lost, such as backups and snapshots on the platform, addresses, and
    generated secrets. The guide to recovering has the whole list.
seealso:
  - module: hosted.services.blueprint
  - module: hosted.services.clone
  - module: hosted.services.ssh_key
"""

EXAMPLES = r"""
- name: Show what is missing, and what it would cost
  hosted.services.recover:
    src: shop.yml
    copies: /srv/offsite
    private_key_file: ~/.ssh/deploy
  check_mode: true

- name: Rebuild the project
  hosted.services.recover:
    src: shop.yml
    copies: /srv/offsite
    private_key_file: ~/.ssh/deploy
    max_monthly: 60

- name: Rebuild it as it was before somebody deleted the wrong rows
  hosted.services.recover:
    src: shop.yml
    copies: /srv/offsite
    project: shop-before
    before: "2026-11-20T00:00:00Z"
    rename: {suffix: -before}

- name: Rebuild it as a drill
  hosted.services.recover:
    src: shop.yml
    copies: /srv/offsite
    project: shop-drill
    drill: true
    rename: {suffix: -drill}
  register: drill

- name: Delete the drill
  hosted.services.recover:
    project: shop-drill
    state: absent
"""

RETURN = r"""
parts:
  description: What became of each part, or would in check mode. A task that fails returns it too; if some parts cannot
    be planned, only these.
  returned: if the recovery can be planned
  type: list
  elements: dict
  contains:
    # generated: part
    section:
      description: Section of the blueprint.
      type: str
      sample: services
    key:
      description: Key in that section, or the id of a service that is deleted because it is not in the blueprint.
      type: str
      sample: db
    module:
      description: Module that does the same for this part, or C(files), C(database) or C(image) if copied.
      type: str
      sample: service
    name:
      description: Name on the platform, or slug.
      type: str
      sample: db
    changed:
      description: Whether something was changed, or would be in check mode.
      type: bool
    failed:
      description: Whether it failed.
      type: bool
    skipped:
      description: Whether it was not begun, because something that it needs failed.
      type: bool
    msg:
      description: The error, or why it was not begun. Null if there is neither.
      type: str
    actions:
      description: Changes that were made, or would be in check mode, one sentence each.
      type: list
      elements: str
    unfinished:
      description: Those of the changes that the platform had not finished when the task gave up waiting.
      type: list
      elements: str
    unconfirmed:
      description: Changes of which nobody knows whether they were made.
      type: list
      elements: str
    cost:
      description: Effect on the monthly price. Null if there is none.
      type: dict
      contains:
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
        project:
          description: Name of the project that the service is ordered in or deleted from, if the task names one.
          type: str
          sample: games
        balance:
          description: The balance, if a quote shows it.
          type: str
          sample: '12.50'
        min_balance:
          description: The minimum balance that the order requires, if a quote shows it.
          type: str
          sample: '0.36'
        days_covered:
          description: How many days the balance covers, if a quote shows it.
          type: int
          sample: 34
        lines:
          description: The lines of the quote, with the monthly price of each in currency units.
          type: list
          elements: dict
          sample:
          - label: Memory
            detail: 4 GB
            monthly: '4.24'
    secrets_file:
      description: File with the secrets that the platform shows only once.
      type: str
    # generated end
    result:
      description: What the module of the part returns. Null if it failed or was not begun. Of files and databases, the
        C(copy), whether it was C(restored), what was C(verified), and how many C(seconds) that took.
      type: dict
cost:
  description: Effect of all changes together on the monthly price.
  returned: if a price changes, or would
  type: dict
  contains:
    # generated: total
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
    lines:
      description: Each part whose price changes.
      type: list
      elements: dict
      contains:
        label:
          description: Module and name of the part.
          type: str
          sample: service 'db'
        monthly_before:
          description: Its monthly rate before the change. Null if the platform does not show it.
          type: str
          sample: '0.00'
        monthly_after:
          description: Its monthly rate after the change. Null if the platform does not show it.
          type: str
          sample: '3.53'
    # generated end
recovery:
  description: Which copies were used, or would be in check mode, how old they are, and how long it took.
  returned: if the recovery can be planned, and O(state=present)
  type: dict
  contains:
    project:
      description: Name of the project.
      type: str
    project_id:
      description: Id of the project. Null if it does not exist yet.
      type: str
    services:
      description: Each service that gets its content from a copy in this run.
      type: list
      elements: dict
      contains:
        key:
          description: Key in the blueprint.
          type: str
        name:
          description: Name on the platform, or slug.
          type: str
        service_id:
          description: Id of the service. Null if it does not exist yet.
          type: str
        copy:
          description: Folder of the copy.
          type: str
        content:
          description: What the copy holds, V(files) or V(dump).
          type: str
        copied_at:
          description: When the copy was begun.
          type: str
        rpo_seconds:
          description: Age of the copy in seconds. What was written since is lost.
          type: int
        seconds:
          description: How long it took to restore and to verify the content. Null if that was not done.
          type: float
        verified:
          description: How many C(files) and C(bytes), or C(tables) and C(rows), were verified, and whether a new dump
            is the C(same_dump). Null if it was not done.
          type: dict
    rpo_seconds:
      description: Age of the oldest copy that is used. Null if none is.
      type: int
    rto_seconds:
      description: How long the whole run took. Null in check mode.
      type: float
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
from ansible_collections.hosted.services.plugins.module_utils._resources.recover import RECOVER


def main() -> None:
    """Run the module."""
    run_module(RECOVER)


if __name__ == "__main__":
    main()
