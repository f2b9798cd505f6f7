#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: service
short_description: Order, change, start, stop and delete services
version_added: 1.0.0
description:
  - Brings a game server, application, database, instance, machine or bucket to the desired state, and orders a missing
    one.
  - Requests a quote before every order, and refuses one that the balance does not cover for a day. Never sends an order
    twice, even if the response is lost.
  - Changes only what differs. Checks the platform's rules before it sends anything, in check mode too.
options:
  id:
    description: Id of the service. On a host of the P(hosted.services.inventory#inventory) inventory, the default is
      the service of the host, except for O(state=absent), which needs C({{ hosted_service_id }}).
    type: str
  name:
    description: Name of the service, at most 80 characters. If several services have it, the task fails and lists their
      ids. A task that may order takes the one in the default project.
    type: str
  project:
    description: Id or name of the project that the service is in, or is ordered in.
    type: str
  new_project:
    description: Id or name of the project to move the service to. Needs O(id), or O(name) and O(project). Former
      neighbors can no longer reach the service. A missing one is not ordered.
    type: str
  family:
    description: Family of the service, which narrows O(name). It cannot be changed.
    type: str
    choices: [GAME, APP, COMPUTE, VIRTUAL_MACHINE, DEDICATED, BUCKET]
  state:
    description:
      - V(present) ensures that the service exists with its settings, and neither starts nor stops it.
      - V(started) starts it, waits until it runs, and resumes a suspended one, which is then billed in full.
      - V(stopped) requests a clean stop, V(killed) an immediate one. A suspended service counts as stopped.
      - V(restarted) restarts it every time, starts a stopped one, and refuses a suspended one.
      - V(suspended) stops it. Only its storage is billed.
      - V(resumed) puts a suspended service back into service, billed in full. The platform decides whether it starts.
      - V(absent) permanently deletes it with its disk. See O(delete_backups) and O(keep_copy).
    type: str
    choices: [present, started, stopped, restarted, killed, suspended, resumed, absent]
    default: present
  product:
    description: Slug of the product. Required for an order. Cannot be changed later, nor can O(runtime).
    type: str
  host:
    description: Id of the node. Required for an order. To change it later, use M(hosted.services.relocate).
    type: str
  dimensions:
    description: Size of the service. An order needs all three values, or O(preset); later, set only what changes. CPU
      and memory change while the service runs. A disk can only grow. Free and suspended services cannot be resized.
  variables:
    description: Settings for the order of this product. Never shown. They do not change an existing service.
    type: dict
  options:
    description: Options for the order of this product. They do not change an existing service.
  public:
    description: Whether the service can be reached from the Internet. A change restarts a running service.
    type: bool
  command:
    description: Command line that launches the container. An empty string restores the original. A change takes effect
      at the next start from stop, such as with O(state=restarted).
    type: str
  max_monthly:
    description: Maximum price per month, in currency units, such as V(12.50). What costs more is not ordered, resumed
      or resized. The task warns of a service that costs more already.
  resume:
    description: Whether O(state=started) may resume a suspended service. If not, the task warns and changes nothing.
    type: bool
    default: true
  delete_backups:
    description: Whether O(state=absent) may destroy backups and snapshots. If false, a service that has or may have any
      is not deleted.
    type: bool
    default: false
  keep_copy:
    description: Folder on the controller to copy the service to before O(state=absent) deletes it, as files over SFTP
      or a dump of its database. Each copy gets a folder of its own, and is compared with the service. On any doubt,
      nothing is deleted. Stop what writes to the service first.
    type: path
  allow_duplicate_name:
    description: Whether to order a service even if the one last ordered by this name for O(project) is in the default
      project now, where services of a deleted project go. To move that back, set O(id) and O(new_project).
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
notes:
  - O(keep_copy) copies no backups, snapshots, images, environments or further databases on the same server. It refuses
    a service that is not V(ACTIVE), that has neither files nor a database, or whose database cannot be dumped from
    here.
attributes:
  idempotent:
    support: partial
    details: Not with O(state=restarted).
seealso:
  - module: hosted.services.service_info
  - module: hosted.services.project
  - module: hosted.services.sftp_sync
"""

EXAMPLES = r"""
- name: Order and start a game server
  hosted.services.service:
    name: survival
    project: games
    product: minecraft
    host: node-paris-1
    dimensions:
      cpu_cores: 2
      ram_gb: 4
      storage_gb: 20
    max_monthly: 15
    public: true
    state: started

- name: Show what a larger size would cost, without changing it
  hosted.services.service:
    name: survival
    dimensions:
      ram_gb: 8
  check_mode: true
  register: bigger

- name: Start every game server that is in service, from a play over the hosts of the inventory
  hosted.services.service:
    id: "{{ hosted_id }}"
    state: started
    resume: false  # a suspended one stays so, also one that was suspended since the inventory was read
  when: hosted_status == 'ACTIVE'  # as it was when the inventory was read; leaves out what is not in service

- name: Change the launch command and apply it now
  hosted.services.service:
    name: survival
    command: java -Xmx3G -jar server.jar
    state: restarted

- name: Pay only for the storage until the next season
  hosted.services.service:
    name: survival
    state: suspended

- name: Resume it without starting it
  hosted.services.service:
    name: survival
    state: resumed
    max_monthly: 15

- name: Order a database, and keep its generated password in a file that only you can read
  hosted.services.service:
    name: accounts
    project: games
    product: postgresql
    host: node-paris-1
    preset: small
    secrets_dest: "{{ playbook_dir }}/secrets/accounts.json"
  register: database

- name: Move it to another project
  hosted.services.service:
    id: "{{ database.service.id }}"
    new_project: shared

- name: Delete a server that has no backups; refuse if it may have any
  hosted.services.service:
    name: survival
    state: absent

- name: Delete it, and keep its files on a disk of your own
  hosted.services.service:
    name: survival
    state: absent
    keep_copy: /srv/last-copies
    private_key_file: ~/.ssh/id_ed25519
  register: deleted

- name: Say where they are
  ansible.builtin.debug:
    msg: "{{ deleted.copy.files }} files are in {{ deleted.copy.path }}"
  when: deleted.copy is defined  # it was there

- name: Delete it with all of its backups
  hosted.services.service:
    name: survival
    state: absent
    delete_backups: true
"""

RETURN = r"""
service:
  description: The service, or null if it is absent. In check mode, the expected result. As
    M(hosted.services.service_info) returns it, and C(pending_restart), the changes that wait for its next start from
    stop, V(command) or V(network), as far as this controller knows.
  returned: success
  type: dict
  # generated: kept_up_service sample
  sample:
    id: svc_8c1d
    name: survival
    family: GAME
    status: ACTIVE
    address: 203.0.113.10:25565
    product: {slug: minecraft, name: Minecraft server, short_name: Minecraft}
    runtime: {id: runtime-paper, slug: paper, name: Paper}
    host: {id: node-paris-1, label: Paris 1, location_label: 'Paris, France'}
    dimensions: {cpu_cores: 2, ram_gb: 4, storage_gb: 20}
    project_id: prj_4f2a
    capabilities: [console, powerSignals, suspension]
    failure_reason: null
    pricing: {monthly_millicents: 10740, storage_monthly_millicents: 1700, billed_monthly_millicents: 10740,
      monthly_cents: 1074, min_balance_cents: 36, hourly_label: 0.0147 EUR, is_free: null, free_expires_at: null}
    dates: {created_at: '2026-11-20T08:15:30.000Z', suspended_at: null, deleted_at: null}
    maintenance: null
    panel_url: null
    state: running
    pending_restart: []
  # generated end
cost:
  description: Effect on the monthly price, in currency units, before and after the whole task. Amounts are null if they
    are not known. If the task failed, the effect of what was done. The moves are V(order), V(resize), V(suspend),
    V(resume) or V(delete). An order has what its quote shows as well.
  returned: if the price changes
  type: dict
  # generated: cost sample
  sample:
    monthly_before: '0.00'
    monthly_after: '10.74'
    monthly_change: '10.74'
    currency: EUR
    moves: [order]
    service: survival
    service_id: null
    project: games
    balance: '12.50'
    min_balance: '0.36'
    days_covered: 34
    lines:
    - {label: Memory, detail: 4 GB, monthly: '4.24'}
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
copy:
  description: The last copy of the service. In check mode, the expected result.
  returned: when O(keep_copy) is set and there was a service to delete, also if the deletion failed
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
service_id:
  description: Id of a service that was ordered.
  returned: when a service was ordered, also if a later step failed
  type: str
  sample: svc_8c1d
namesakes:
  description: Ids of other services of this name that came up with the order, or kept it from being sent. All are
    billed.
  returned: if there are any
  type: list
  elements: str
  sample: [svc_2f60]
secrets:
  description: Secrets generated with the order. The platform shows them only once.
  returned: when a service was ordered and O(return_secrets) is true
  type: dict
  sample:
    service_id: svc_8c1d
    name: survival
    secrets:
      - {label: Console password, value: not-a-real-one}
# generated: secrets_file
secrets_file:
  description: File that the generated secrets were written to, if there are any.
  type: str
  sample: /home/me/survival.json
  returned: success
# generated end
last_status:
  description: Status of the service when the wait ended.
  returned: when a wait ended without success
  type: str
  sample: PROVISIONING
last_state:
  description: State of the container when the wait ended.
  returned: when a wait ended without success
  type: str
  sample: installing
last_log_lines:
  description: The last lines of the service's log when the wait ended, oldest first.
  returned: when a wait ended without success
  type: list
  elements: str
  sample: ["Loading world"]
"""

from ansible_collections.hosted.services.plugins.module_utils._ansible.module import run_module
from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE


def main() -> None:
    """Run the module."""
    run_module(SERVICE)


if __name__ == "__main__":
    main()
