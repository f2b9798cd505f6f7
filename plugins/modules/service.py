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
  - Brings a service to the desired state, whether it is a game server, an application, a database, an instance, a
    machine or a bucket. Orders a missing service.
  - Requests a quote before every order, and refuses one that the balance does not cover for a day. Never sends an
    order twice; if the response is lost, the list of services tells whether it was placed.
  - Changes only settings that differ, and checks them against the rules of the platform before anything is sent, in
    check mode too. A missing service whose name is similar to another one, such as C(survivla), is named with that.
options:
  id:
    description:
      - Id of the service. If O(name), O(family) or O(project) is also set, it must match.
      - On a host of the P(hosted.services.inventory#inventory) inventory, a task that names no service works on the
        one that the host represents. To delete that, set this to C({{ hosted_service_id }}).
    type: str
  name:
    description:
      - Name of the service, at most 80 characters. One of O(id) and O(name) is required, except on a host of the
        inventory.
      - If several services have this name, the task fails and lists their ids; narrow it with O(project) or O(family).
        Without O(project), a task that may order takes the one in the default project.
    type: str
  project:
    description: Id or name of the project that the service is in, and in which a missing one is ordered.
    type: str
  new_project:
    description:
      - Id or name of the project to move the service to; needs O(id), or O(name) and O(project). Its alias stays, and
        its former neighbors can no longer reach it. A service that does not exist is not ordered.
    type: str
  family:
    description: Narrows O(name) to one family, and must match O(id). The family of a service cannot be changed.
    type: str
    choices: [GAME, APP, COMPUTE, VIRTUAL_MACHINE, DEDICATED, BUCKET]
  state:
    description:
      - V(present) ensures that the service exists with its settings, and does not start or stop it.
      - V(started) starts the service unless it runs, and waits until it does. A suspended service is resumed first and
        billed in full again, with a warning, unless O(resume) is false.
      - V(stopped) requests a clean stop, V(killed) an immediate one. A suspended service counts as stopped.
      - V(restarted) restarts the service every time, and starts a stopped one. It is stopped and started for a change
        that a restart does not bring into effect, see RV(service.pending_restart). A suspended service is refused.
      - V(suspended) stops the service. Only its storage is billed.
      - V(resumed) puts a suspended service back into service, billed in full, and sends no start; the platform may
        start it by itself. Any other service does not change.
      - V(absent) permanently deletes the service with its disk. See O(delete_backups) and O(keep_copy).
    type: str
    choices: [present, started, stopped, restarted, killed, suspended, resumed, absent]
    default: present
  product:
    description:
      - Slug of the product. Required to order a service. Neither it nor O(runtime) and O(host) can be changed later,
        see M(hosted.services.relocate).
    type: str
  host:
    description: Id of the node. Required to order a service.
    type: str
  dimensions:
    description:
      - Size of the service. An order requires all three values, unless O(preset) is set; later, set only what changes.
      - CPU and memory change while the service runs. A disk can only grow. Free and suspended services cannot be
        resized.
  preset:
    description:
      - Id of a ready-made size, instead of O(dimensions). For an existing service, a quote shows what size that is.
    type: str
  variables:
    description:
      - Settings for the order of this product. Never shown. The platform does not show those of an earlier order, so
        for an existing service they have no effect, and the task warns.
    type: dict
  options:
    description: Options for the order of this product. Used only for the order, like O(variables).
  public:
    description:
      - Whether the service can be reached from the Internet. A change recreates its container, so a running service is
        restarted. If its uptime shows no restart, the change is pending, like one of O(command).
    type: bool
  command:
    description:
      - Command line that the container is launched with. An empty string restores the original.
      - It takes effect at the next start from stop, such as with O(state=restarted). Until then,
        RV(service.pending_restart) and a warning name it.
    type: str
  max_monthly:
    description:
      - Maximum price per month, in currency units, such as V(12.50). An order, a new size or a resumption that costs
        more is refused. A service that already costs more is not changed, with a warning.
    type: str
  resume:
    description:
      - Whether O(state=started) may resume a suspended service. If false, it and all of its settings stay unchanged,
        and the task warns. What the platform shows when the task reads it decides, not the variables of the inventory.
    type: bool
    default: true
  delete_backups:
    description:
      - Whether O(state=absent) may destroy the backups and the snapshots of the service. Without it, the deletion is
        refused while there are any, or if that is not known, as of a service that is not V(ACTIVE) may be the case.
    type: bool
    default: false
  keep_copy:
    description:
      - Folder of the controller that O(state=absent) copies the service to first, as its files over SFTP or as a dump
        of its database. Each copy goes to a folder of its own, which you alone can read, and is compared with the
        service. On any doubt nothing is deleted.
      - Stop what writes to the service first. Backups, snapshots, the image of an application, environments and
        further databases on the same server are not copied.
      - Refused for a service that is not V(ACTIVE), that has neither files nor a database, or whose database cannot be
        dumped from here. The guide to backups says what to do then, and how to bring the service back.
    type: path
  allow_duplicate_name:
    description:
      - Whether to order a service even if the default project has the one that this controller last ordered by this
        name for O(project). That is where the services of a deleted project go; move it back with O(id) and
        O(new_project).
      - A service of this name in another project is another service, and no reason to refuse an order.
    type: bool
    default: false
extends_documentation_fragment:
  - hosted.services.common
  - hosted.services.common.wait
  - hosted.services.budget
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
      description:
        - Changes that are pending until the next start from stop, as far as this controller knows. V(command) is the
          launch command; V(network) is the network setting, if the container was not seen to be recreated for
          it.
        - O(state=restarted) puts them into effect. In check mode, the expected result.
      type: list
      elements: str
cost:
  description: >-
    Effect of the change on the monthly price, in currency units. Returned for orders, new sizes, suspensions,
    resumptions and deletions. If the task failed, the effect of what was done.
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
  description: The last copy of a service that was deleted. In check mode, as it is expected to be.
  returned: when O(keep_copy) is set and there was a service to delete, also if its deletion failed after the copy
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
  description: Id of a service that was ordered. Returned even if a later step failed.
  returned: when a service was ordered
  type: str
  sample: svc_8c1d
namesakes:
  description:
    - Ids of other services with the same name that were ordered at the same time, for example by another run. The
      platform accepts and bills all of them.
    - If an order is refused because a service with the name exists, the id of that service.
  returned: if there are any
  type: list
  elements: str
  sample: [svc_2f60]
secrets:
  description: Secrets that the platform generated with the order. It shows them only once.
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
