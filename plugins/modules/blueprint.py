#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: blueprint
short_description: Describe a whole project in one file
version_added: 1.0.0
description:
  - Makes a project as one file describes it, with its services, applications, images and environments, and the SSH keys
    of the account. There is no state file. Each run compares the file with the platform.
  - Checks the whole file first, and reports all problems at once, with line and column.
  - Plans everything, with one diff and one price, then makes the changes in the order in which they need each other. A
    change that fails stops only what needs it, and the next run goes on from there.
  - Leaves alone what the file does not mention, unless O(prune) is set.
  - In an environment, C(${key.FIELD}) refers to another service or application by its key in the file, and
    C(${alias.FIELD}) to any neighbor in the project.
options:
  blueprint:
    description:
      - The blueprint itself, for example from a variable. It may hold templates and values from Ansible Vault.
      - The keys are C(project), its name; C(defaults); C(services), C(applications) and C(ssh_keys), dictionaries by
        key; C(backups) and C(sleep), plans by name; and C(budget), as in O(budget). See the guide to blueprints.
    type: dict
  state:
    description:
      - V(present) makes the project as the blueprint describes it.
      - V(absent) permanently deletes the described services and applications of this project, and then the project,
        if it is empty and not the default one. SSH keys stay. If the project is not there, nothing is deleted, and the
        task fails if what it held may be elsewhere.
    type: str
    choices: [present, absent]
    default: present
  prune:
    description:
      - Whether to permanently delete services and applications of the project that are not in the blueprint, after all
        else has succeeded. Each is copied first, see O(keep_copy). SSH keys stay.
      - Refused before anything is done if nothing of the blueprint is in the project yet, if that may be the default
        one, or if anything that stays refers to what would be deleted.
    type: bool
    default: false
  max_delete:
    description: Maximum number of services and applications that O(prune) may delete in one run. More are refused.
    type: int
    default: 3
  keep_copy:
    description: Folder on the controller to copy services to before they are deleted, see
      O(hosted.services.service#module:keep_copy). If not set, O(prune) copies to C(last_copies) in O(state_dir), and
      O(state=absent) copies nothing.
    type: path
  delete_without_copy:
    description: Whether O(prune) deletes without copies. Needed for what cannot be copied, such as buckets and
      machines. To keep copies of the others, first delete it with M(hosted.services.service).
    type: bool
    default: false
  delete_backups:
    description: Whether to destroy backups and snapshots with the services. If false, a service that has any is not
      deleted.
    type: bool
    default: false
extends_documentation_fragment:
  - hosted.services.common
  - hosted.services.common.wait
  - hosted.services.budget
  - hosted.services.common.sftp_login
  - hosted.services.common.state_dir
  - hosted.services.project
  - hosted.services.project.src
notes:
  - If not everything fits into a budget, nothing is begun.
  - An entry with the name of what a relocation left over stands for the service in its place, with a warning.
seealso:
  - module: hosted.services.project
  - module: hosted.services.service
  - module: hosted.services.app
  - module: hosted.services.environment
  - module: hosted.services.app_image
  - module: hosted.services.app_release
  - module: hosted.services.app_deploy
  - module: hosted.services.ssh_key
"""

EXAMPLES = r"""
- name: Show what the file would change, and what that costs
  hosted.services.blueprint:
    src: shop.yml
  check_mode: true
  diff: true

- name: Make the project as the file describes it
  hosted.services.blueprint:
    src: shop.yml

- name: Delete what is in the project and not in the file, and keep a copy of it
  hosted.services.blueprint:
    src: shop.yml
    prune: true

- name: Delete all that the file describes, and the project
  hosted.services.blueprint:
    src: shop.yml
    state: absent
    keep_copy: /srv/last-copies

- name: Describe it in the playbook, with a secret from a vault
  hosted.services.blueprint:
    blueprint:
      project: shop
      services:
        db:
          product: postgresql
          host: node-paris-1
          dimensions: {cpu_cores: 1, ram_gb: 2, storage_gb: 10}
      applications:
        acme-shop:
          image:
            tag: v2
            archive: "{{ playbook_dir }}/build/shop.tar"
          environment:
            DATABASE_URL: ${db.URL}
          secret_environment:
            SESSION_KEY: "{{ session_key }}"
      ssh_keys:
        deploy: "{{ lookup('ansible.builtin.file', 'deploy.pub') }}"
      budget: 50
"""

RETURN = r"""
parts:
  description: What became of each part, or would in check mode, in order. If some cannot be planned, only these.
  returned: if the blueprint is right, also if the task fails
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
      description: What the module of the part returns. Null if it failed or was not begun.
      type: dict
    copy:
      description: The last copy of a service that was deleted.
      type: dict
      contains:
        # generated: last_copy
        path:
          description: Folder of the copy.
          type: str
          sample: /srv/last-copies/survival-svc_8c1d/20261123T021500Z
        kind:
          description: V(files) for the files of the service, V(dump) for the dump of a database.
          type: str
        files:
          description: How many files it has, not counting the list and the description.
          type: int
          sample: 312
        bytes:
          description: How many bytes they have. Null in check mode for a database.
          type: int
          sample: 48210944
        verified:
          description: Whether it was compared with the service. False in check mode only.
          type: bool
        # generated end
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
backups_plans:
  description: The plans in section C(backups), for the role P(hosted.services.backups#role).
  returned: if the blueprint has the section
  type: list
  elements: dict
  sample: [{name: nightly, project: shop, services: [db], at: "02:00", keep: {daily: 7}}]
sleep_schedule_plans:
  description: The plans in section C(sleep), for the role P(hosted.services.sleep_schedule#role).
  returned: if the blueprint has the section
  type: list
  elements: dict
  sample: [{name: nights, project: shop, awake: [{days: [mon], from: "08:00", to: "20:00"}]}]
plans_of:
  description: Name of the project that the plans are of, and its former name, if any.
  returned: if the blueprint has plans
  type: list
  elements: str
  sample: [shop]
# generated: actions
actions:
  description: Changes that the task made, or would make in check mode, one sentence each.
  type: list
  elements: str
  sample:
  - stop service 'survival' (svc_8c1d)
  returned: success
# generated end
would_delete:
  description: What O(prune) would have deleted.
  returned: if that is more than O(max_delete)
  type: list
  elements: str
  sample: ["service 'cache' (svc_41d0)"]
problems:
  description: What is wrong with the blueprint, each with its place.
  returned: if the blueprint is wrong
  type: list
  elements: str
  sample: ["shop.yml:4:5: services.db.prodct: there is no such key; did you mean 'product'?"]
"""

from ansible_collections.hosted.services.plugins.module_utils._ansible.module import run_module
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprint import BLUEPRINT


def main() -> None:
    """Run the module."""
    run_module(BLUEPRINT)


if __name__ == "__main__":
    main()
