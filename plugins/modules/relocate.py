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
  - Puts another service in the place of one, on another node, as another product or edition, or with a smaller disk.
    The module orders another service in the same project, copies what the old one holds while that runs, stops it,
    copies what has changed since, and starts the new one. Once that is healthy, the environments that refer to the old
    one are rewritten and deployed, and the old one is suspended.
  - Never deletes the old service by itself, and never writes to it, unless O(copy_back) says so. O(state=returned)
    leads back at every step. O(state=finished) deletes the one that is not in service, after a date.
  - The next run continues one that was interrupted, and nothing is ordered twice. If something fails before the new
    service is healthy, the old one is started again in the same run.
  - In check mode, the task shows the steps and the price, which is that of both services until the old one is
    suspended. The guide to relocating lists what cannot be moved, and why.
options:
  service:
    description:
      - Id or name of the service to relocate, which stays the same for all states. For O(state=returned) and
        O(state=finished), the new service may be named as well.
    type: str
    required: true
  new_project:
    description: Always refused. Use O(hosted.services.service#module:new_project), which needs no copy.
    type: str
  state:
    description:
      - V(relocated) orders the new service and puts it in the place of the old one.
      - V(returned) puts the old service back in service, whichever step was reached, and suspends the new one. What
        was written to the new one since it was in service is kept there, unless O(copy_back) is set.
      - V(finished) deletes the service that is not in service. It fails before its date, see O(keep_days); if the
        other one is not in service; or if it may hold what is nowhere else, see O(discard_newer).
    type: str
    choices: [relocated, returned, finished]
    default: relocated
  host:
    description: Id of the node for the new service. If not set, that of the old one.
    type: str
  product:
    description: Slug of the product for the new service. If not set, that of the old one.
    type: str
  runtime:
    description:
      - Id of the edition for the new service. If not set, that of the old one, or the first one of another O(product).
    type: str
  dimensions:
    description:
      - Size of the new service. Parts that are not set are those of the old one. A smaller disk must hold the files.
  variables:
    description:
      - Settings for the order of the new service. The platform does not show those of the old one, so give all of
        them. If some are known, because they refer to another service, the task fails without them.
    type: dict
  options:
    description: Options for the order of the new service. The platform does not show those of the old one.
  name:
    description:
      - Name of the new service, which the platform cannot change later, and which must differ from that of the old
        one. If not set, the name of the old one with the next free number, such as V(survival-2).
    type: str
  public:
    description:
      - Whether the new service is open to the Internet. If not set, as the old one. A database can only be copied if
        the controller reaches the old and the new one.
    type: bool
  without_dependents:
    description:
      - Slugs and ids of applications, and ids of services, that refer to the service and are left alone. The variables
        of an order cannot be changed, so a service with such references has to be listed here.
      - With O(state=finished), what still refers to the service that is deleted. The task fails if anything else does.
    type: list
    elements: str
    default: []
  without_data:
    description:
      - Whether to copy nothing. Needed for a service that has neither files over SFTP nor a database that can be
        dumped from here.
    type: bool
    default: false
  existing:
    description:
      - What to do if a service of the project has the O(name) of the new one and is not known to be made by a
        relocation. V(adopt) takes it for the new one and B(overwrites what it holds).
    type: str
    choices: [refuse, adopt]
    default: refuse
  overwrite:
    description:
      - Whether to B(overwrite) what was written to a service while it was in use and is nowhere else. Needed to
        relocate again after O(state=returned) without O(copy_back), or if the service that is written to was used
        since.
    type: bool
    default: false
  copy_back:
    description:
      - With O(state=returned), whether to copy what has changed in the new service back to the old one. Neither is in
        use meanwhile.
    type: bool
    default: false
  keep_days:
    description:
      - For how many days the service that is not in service is kept. If not set, 7. With O(state=finished), it
        replaces what was said when the service was suspended; V(0) deletes it now.
    type: int
  delete_backups:
    description:
      - With O(state=finished), whether to delete the service with its backups and snapshots. Of a suspended service,
        the platform may not show whether there are any; it is not deleted then unless this is set.
    type: bool
    default: false
  discard_newer:
    description:
      - With O(state=finished), whether to delete a service although what was written to it is lost, as after
        O(state=returned) without O(copy_back).
      - With O(state=relocated), whether to go on although the old service was started since the new one took its
        place. What was written to it since is not copied.
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
  - Files are compared by size and time. O(checksum) makes the stop longer.
  - A database has to run to be dumped. So the applications that refer to it are stopped instead, as long as it takes
    to dump and restore all of it. Whatever else writes to it is yours to stop; if the old database has changed by the
    end of the copy, the task fails and goes back. Other databases on its server stay on the old service.
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
      description:
        - How far it is. V(none) if there is none, V(ordered) while the old service runs and is copied, V(stopped) while it
          is stopped, V(switched) once the new one is in service, V(relocated), V(returning), V(returned) or V(finished).
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
      description: From when on O(state=finished) deletes the one that is not in service. Null before it is suspended.
      type: str
    deleted:
      description: Whether that is deleted.
      type: bool
cost:
  description:
    - Effect on the monthly price of both services together. C(lines) has what both cost in between and afterwards. If
      the task failed, the effect of what was done.
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
      description: Name of the project that the service is ordered in or deleted from. Null if the task names none.
      type: str
    balance:
      description: The balance, if a quote shows it.
      type: str
    min_balance:
      description: The minimum balance that the order requires, if a quote shows it.
      type: str
    days_covered:
      description: How many days the balance covers, if a quote shows it.
      type: int
    lines:
      description: The lines of the quote.
      type: list
      elements: dict
      contains:
        label:
          description: Name of the part.
          type: str
          sample: Memory
        detail:
          description: Details, as readable text.
          type: str
          sample: 4 GB
        monthly:
          description: Its monthly price, in currency units.
          type: str
          sample: '4.24'
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
