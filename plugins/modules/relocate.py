#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: relocate
short_description: Move a service to another node or to another product, with a short stop
version_added: 1.0.0
description:
  - Puts a new service in the place of an old one, on another node, as another product or edition, or with a smaller
    disk. Orders it in the same project and copies while the old one runs. Stops that, copies what has changed since,
    and starts the new one. Once it is healthy, deploys the environments that refer to the service, and suspends the old
    one.
  - Never deletes the old service before O(state=finished), and never writes to it without O(copy_back).
  - The next run continues one that was interrupted, and orders nothing twice. If something fails before the new service
    is healthy, the old one is started again.
  - In check mode, shows the steps and the price. Both services are billed until the old one is suspended.
options:
  service:
    description: Id or name of the service to relocate. O(state=returned) and O(state=finished) take the new service,
      too.
    type: str
    required: true
  new_project:
    description: Always refused. Use O(hosted.services.service#module:new_project), which needs no copy.
    type: str
  state:
    description:
      - V(relocated) puts a new service in the place of the old one.
      - V(returned) goes back to the old service from any step, and suspends the new one. What was written to that
        meanwhile stays there only, unless O(copy_back) is set.
      - V(finished) deletes the service that is not in service, after its date. It fails if the other one is not in
        service.
    type: str
    choices: [relocated, returned, finished]
    default: relocated
  host:
    description: Id of the node. If not set, that of the old service.
    type: str
  product:
    description: Slug of the product. If not set, that of the old service.
    type: str
  runtime:
    description: Id of the edition. If not set, that of the old service, or the first one of another O(product).
    type: str
  dimensions:
    description: Size of the new service. Parts that are not set are those of the old one. A smaller disk must hold the
      files.
  variables:
    description: All settings for the order of the new service. The platform does not show those of the old one.
      Required if some are known to refer to another service.
    type: dict
  options:
    description: Options for the order of the new service. The platform does not show those of the old one.
  name:
    description: Name of the new service, which cannot be changed later. If not set, the old name with the next free
      number, such as V(survival-2).
    type: str
  public:
    description: Whether the new service is open to the Internet. If not set, as the old one. A database can only be
      copied if the controller reaches both.
    type: bool
  without_dependents:
    description: Applications and services that refer to the service and are left alone, by id or slug. A service whose
      order refers to it must be listed, because that cannot be changed. With O(state=finished), the task fails if
      anything else still refers to the deleted one.
    type: list
    elements: str
    default: []
  without_data:
    description: Whether to copy nothing, as from a service without files over SFTP or a database to dump.
    type: bool
    default: false
  existing:
    description: What to do if the project has a service of this O(name) that no relocation made. V(adopt) takes it for
      the new one and B(overwrites what it holds).
    type: str
    choices: [refuse, adopt]
    default: refuse
  overwrite:
    description: Whether to B(overwrite) what was written to a service while it was in use and is nowhere else. Needed
      to relocate again after O(state=returned), and for O(copy_back) if the old service was used since.
    type: bool
    default: false
  copy_back:
    description: With O(state=returned), whether to copy what has changed back to the old service. Neither is in use
      meanwhile.
    type: bool
    default: false
  keep_days:
    description: For how many days to keep the service that is not in service. If not set, 7. With O(state=finished), it
      replaces the earlier number; V(0) deletes the service now.
    type: int
  delete_backups:
    description: With O(state=finished), whether to delete the service with its backups and snapshots. Otherwise, one
      that has any is kept, and so is one of which the platform does not show it.
    type: bool
    default: false
  discard_newer:
    description: With O(state=finished), whether to delete a service although what was written to it is lost, as after
      O(state=returned) without O(copy_back). With O(state=relocated), whether to go on without what was written to the
      old service after the new one took its place. Otherwise, the task fails.
    type: bool
    default: false
extends_documentation_fragment:
  - hosted.services.common
  - hosted.services.common.wait
  - hosted.services.budget
  - hosted.services.budget.max_monthly
  - hosted.services.common.dimensions
  - hosted.services.common.order
  - hosted.services.common.secrets
  - hosted.services.common.sftp_login
  - hosted.services.common.state_dir
  - hosted.services.on_service
  - hosted.services.project_copy.environments
  - hosted.services.health
notes:
  - A database has to run to be dumped, so the applications that refer to it are stopped instead. Stop whatever else
    writes to it; if it has changed by the end of the copy, the task fails and goes back. Other databases on its server
    are not copied.
seealso:
  - module: hosted.services.service
  - module: hosted.services.clone
  - module: hosted.services.environment
  - module: hosted.services.fleet
"""

EXAMPLES = r"""
- name: Show what the move to another node would do, and cost
  hosted.services.relocate:
    service: survival
    host: node-frankfurt-1
    environments:
      acme-web: {GAME: "${survival.HOST}", LOG_LEVEL: info}
  check_mode: true

- name: Move a game server to another node
  hosted.services.relocate:
    service: survival
    host: node-frankfurt-1
    private_key_file: ~/.ssh/deploy
    environments:
      acme-web: {GAME: "${survival.HOST}", LOG_LEVEL: info}
    health_checks:
      - tcp: true
    keep_days: 14

- name: Go back
  hosted.services.relocate:
    service: survival
    state: returned
    copy_back: true
    private_key_file: ~/.ssh/deploy
    environments:
      acme-web: {GAME: "${survival.HOST}", LOG_LEVEL: info}

- name: Delete the one that is not in service, once its date is over
  hosted.services.relocate:
    service: survival
    state: finished
"""

RETURN = r"""
relocation:
  description: The relocation, as it is, or would be in check mode.
  returned: always, if the service is found
  type: dict
  contains:
    phase:
      description: How far it is. V(none), V(ordered) while the old service runs and is copied, V(stopped) while it is
        stopped, V(switched) once the new one is in service, V(relocated), V(returning), V(returned) or V(finished).
      type: str
    name:
      description: Name of the service that is relocated.
      type: str
    id:
      description: Its id.
      type: str
    new_name:
      description: Name of the service in its place. Null if there is none.
      type: str
    new_id:
      description: Its id. Null if it does not exist yet.
      type: str
    project_id:
      description: Id of the project of both. Null if there is no relocation.
      type: str
    dependents:
      description: Slugs of the applications whose environments are rewritten.
      type: list
      elements: str
    newer:
      description: Whether the new service was in service, so that it may hold what the old one does not.
      type: bool
    switched_at:
      description: When the new service took the place of the old one. Null if it did not.
      type: str
    delete_after:
      description: From when on O(state=finished) deletes what is not in service. Null before it is suspended.
      type: str
    deleted:
      description: Whether that is deleted.
      type: bool
cost:
  description: Effect on the monthly price of both services together. C(lines) has what both cost in between and
    afterwards. If the task failed, the effect of what was done.
  returned: if the price changes, or would
  type: dict
  contains:
    # generated: cost
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
      description: The changes that affect the price, in order, V(order), V(create), V(resize), V(suspend), V(resume)
        or V(delete). If the task failed, those that were made or may have been made.
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
    # generated end
delete_after:
  description: Date before which nothing is deleted, if the task fails because of it.
  returned: if O(state=finished) is refused because of the date
  type: str
  sample: "2026-12-01T15:11:14Z"
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
from ansible_collections.hosted.services.plugins.module_utils._resources.relocate import RELOCATE


def main() -> None:
    """Run the module."""
    run_module(RELOCATE)


if __name__ == "__main__":
    main()
