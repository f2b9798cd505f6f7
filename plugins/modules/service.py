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
  - Brings a service to the desired state, and orders a missing one. It may be a game server, an application, a
    database, an instance, a machine or a bucket.
  - Requests a quote before every order, and refuses one that the balance does not cover for a day. Never sends an order
    twice, even if the response is lost.
  - Changes only what differs. The rules of the platform are checked before anything is sent, in check mode too.
options:
  id:
    description: Id of the service. On a host of the P(hosted.services.inventory#inventory) inventory, neither this nor
      O(name) is needed, but to delete the service of the host, set this to C({{ hosted_service_id }}).
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
      - V(present) ensures that the service exists with its settings. Does not start or stop it.
      - V(started) starts it and waits until it runs. Resumes a suspended one, which is then billed in full.
      - V(stopped) requests a clean stop, V(killed) an immediate one. A suspended service counts as stopped.
      - V(restarted) restarts it every time, and starts a stopped one. Refused for a suspended one.
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
    description: Settings for the order of this product. Never shown. They have no effect on an existing service, and
      the task warns.
    type: dict
  options:
    description: Options for the order of this product. They have no effect on an existing service.
  public:
    description: Whether the service can be reached from the Internet. A change restarts a running service.
    type: bool
  command:
    description: Command line that the container is launched with. An empty string restores the original. A change takes
      effect at the next start from stop, such as with O(state=restarted).
    type: str
  max_monthly:
    description: Maximum price per month, in currency units, such as V(12.50). What costs more is not ordered, resumed
      or resized. A service that already costs more is not changed, and the task warns.
  resume:
    description: Whether O(state=started) may resume a suspended service. If false, such a service is not changed at
      all, and the task warns.
    type: bool
    default: true
  delete_backups:
    description: Whether O(state=absent) may destroy backups and snapshots. If false, a service that has or may have any
      is not deleted.
    type: bool
    default: false
  keep_copy:
    description:
      - Folder on the controller to copy the service to before O(state=absent) deletes it, as files over SFTP or a dump
        of its database. Each copy gets its own folder, which you alone can read, and is compared with the service. On
        any doubt, nothing is deleted. Stop what writes to the service first.
      - Not copied are backups, snapshots, images, environments, and further databases on the same server.
      - Refused for a service that is not V(ACTIVE), that has neither files nor a database, or whose database cannot be
        dumped from here. See the guide to backups.
    type: path
  allow_duplicate_name:
    description: Whether to order a service even if the one last ordered by this name for O(project) is now in the
      default project, where services of a deleted project go. To move it back instead, set O(id) and O(new_project).
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

- name: Delete it with all of its backups
  hosted.services.service:
    name: survival
    state: absent
    delete_backups: true

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
"""

RETURN = r"""
service:
  description: The service, or null if it is absent. In check mode, the expected result.
  returned: success
  type: dict
  contains:
    # generated: full_service
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
    product:
      description: The ordered product.
      type: dict
      contains:
        slug:
          description: Slug of the product.
          type: str
          sample: minecraft
        name:
          description: Name of the product.
          type: str
          sample: Minecraft server
        short_name:
          description: Short name of the product.
          type: str
          sample: Minecraft
    runtime:
      description: Edition of the product. May be null.
      type: dict
      contains:
        id:
          description: Id of the edition.
          type: str
          sample: runtime-paper
        slug:
          description: Slug of the edition.
          type: str
          sample: paper
        name:
          description: Name of the edition.
          type: str
          sample: Paper
    host:
      description: Node that runs the service.
      type: dict
      contains:
        id:
          description: Id of the node.
          type: str
          sample: node-paris-1
        label:
          description: Name of the node.
          type: str
          sample: Paris 1
        location_label:
          description: Location of the node.
          type: str
          sample: Paris, France
    dimensions:
      description: Size of the service.
      type: dict
      contains:
        cpu_cores:
          description: Number of vCPUs.
          type: int
          sample: 2
        ram_gb:
          description: Memory in GB.
          type: int
          sample: 4
        storage_gb:
          description: Disk in GB.
          type: int
          sample: 20
    project_id:
      description: Id of the project that the service belongs to.
      type: str
      sample: prj_4f2a
    capabilities:
      description: Features that the service offers now.
      type: list
      elements: str
      sample:
      - console
      - powerSignals
      - suspension
    failure_reason:
      description: Why the creation failed. Null if it did not.
      type: str
    pricing:
      description: Price of the service. In check mode, amounts that cannot be known are null.
      type: dict
      contains:
        monthly_millicents:
          description: Monthly rate in service, in millicents; 1000 millicents are one currency unit.
          type: int
          sample: 10740
        storage_monthly_millicents:
          description: Monthly rate while suspended, in millicents.
          type: int
          sample: 1700
        billed_monthly_millicents:
          description: Monthly rate that is billed now, in millicents.
          type: int
          sample: 10740
        monthly_cents:
          description: Monthly rate while in service, in cents.
          type: int
          sample: 1074
        min_balance_cents:
          description: Balance that is required, in cents.
          type: int
          sample: 36
        hourly_label:
          description: Hourly rate, as readable text.
          type: str
          sample: 0.0147 EUR
        is_free:
          description: Whether the service is free.
          type: bool
        free_expires_at:
          description: Until when the service is free, in UTC. Null if no date is shown. The platform does not show
            what happens then.
          type: str
    dates:
      description: When the service was created, suspended and deleted.
      type: dict
      contains:
        created_at:
          description: When the service was created, in UTC.
          type: str
          sample: '2026-11-20T08:15:30.000Z'
        suspended_at:
          description: When the service was suspended, in UTC. Null if it is not.
          type: str
        deleted_at:
          description: When the service was deleted, in UTC. Null if it is not.
          type: str
    maintenance:
      description: As the platform sends it.
      type: raw
    panel_url:
      description: As the platform sends it.
      type: raw
    # generated end
    state:
      description: State of the container. Null if it was not read, or if the node cannot be reached.
      type: str
    pending_restart:
      description: Changes that wait for the next start from stop, V(command) or V(network) (O(public)), as far as this
        controller knows. O(state=restarted) puts them into effect.
      type: list
      elements: str
cost:
  description: Effect on the monthly price, in currency units. If the task failed, the effect of what was done.
  returned: if the price changes
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
  description: Ids of services with the same name, ordered at the same time, or because of which the order was refused.
    All of them are billed.
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
