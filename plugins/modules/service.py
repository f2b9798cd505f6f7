#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: service
short_description: Order, change, start, stop and delete services
version_added: 1.0.0
author:
  - hosted.services contributors (@hosted-services)
description:
  - Brings a service to the desired state, be it a game server, an application, a database, an instance, a machine
    or a bucket. Orders a missing service.
  - Requests a quote before every order. Does not order if the balance does not cover the first day, or if the price is
    higher than O(max_monthly).
  - Never sends an order twice. If the response is lost, reads the list of services to find out whether it was placed.
  - A service that is there already is not ordered again; see O(allow_duplicate_name). When the name may be a slip of
    another one, such as C(survivla) of C(survival), a warning says so before the order, in check mode too.
  - Settings are changed only where they differ, and checked against the rules of the platform before anything is
    sent, in check mode too.
options:
  id:
    description:
      - Id of the service. O(name), O(family) and O(project) may be given too, and must agree with it.
      - On a host of the P(hosted.services.inventory#inventory) inventory, a task that sets none of O(id), O(name),
        O(project), O(family), O(product) and O(host) works on the service that the host is. With O(state=absent)
        it does not; name the service as C({{ hosted_service_id }}) to delete it.
    type: str
  name:
    description:
      - Name of the service, at most 80 characters.
      - Names are not promised to be unique. When more than one service answers to it, the task fails and lists
        their ids; narrow it by O(project) or O(family).
      - One of O(id) and O(name) is required, but on a host of the inventory.
    type: str
  project:
    description:
      - Id or name of a project.
      - The project that the service is in, and in which it is ordered when it is missing.
      - To move a service, set O(new_project).
    type: str
  new_project:
    description:
      - Id or name of the project to move the service to. Its alias stays; its former neighbours can no longer reach it.
      - The service itself is named by O(id), or by O(name) and O(project). One that is in O(new_project) already is left
        there; one that does not exist is not ordered.
    type: str
    version_added: 0.2.0
  family:
    description:
      - Narrows O(name) to one family, and must agree with O(id). The family of a service cannot be changed.
    type: str
    choices: [GAME, APP, COMPUTE, VIRTUAL_MACHINE, DEDICATED, BUCKET]
  state:
    description:
      - V(present) makes sure that the service exists with its settings, and leaves its power alone.
      - V(started) starts the service unless it runs, and waits until it does. A suspended service is resumed first
        and billed in full again, unless O(resume) is false. A warning and RV(cost) say what that costs, with a new
        size in the same task, in check mode too.
      - V(started) is refused for a suspended service that tells no state of a container, such as a bucket or one whose
        node cannot be reached, as nobody could tell whether it runs. Use V(resumed) there. Where a service tells no
        state once it is ordered or resumed, the task fails after 60 seconds at most.
      - V(stopped) asks for a clean stop, V(killed) for one without delay. A suspended service counts as stopped.
      - V(restarted) restarts the service every time. A stopped one is started. It is stopped and started where
        RV(service.pending_restart) or this task has something that a restart does not bring into effect.
        A suspended one is refused, since that would wake it at the full rate.
      - A restart holds once the state or the uptime shows it. Where neither does within 10 seconds, the task ends with
        a warning.
      - V(suspended) stops the service and has its storage billed only.
      - V(resumed) takes a suspended service back into service, billed in full, and sends no start. The same warning
        says what it costs. The platform may start it by itself. A service that is not suspended is left as it is, running or stopped.
      - V(absent) permanently deletes the service with its disk, backups and snapshots. The task fails if there are, or
        may be, backups or snapshots; see O(delete_backups).
    type: str
    choices: [present, started, stopped, restarted, killed, suspended, resumed, absent]
    default: present
  product:
    description:
      - Slug of the product to order. Needed when the service is missing. It cannot be changed later.
    type: str
  runtime:
    description:
      - Id of the edition of the product. The platform takes the first when none is given. It cannot be changed.
    type: str
  host:
    description:
      - Id of the node to order on. Needed when the service is missing. It cannot be changed later.
    type: str
  dimensions:
    description:
      - Size of the service. To order one, all three parts are needed unless O(preset) is given; to change one,
        those that matter.
      - CPU and memory apply while the service runs. A disk can only grow. Free and suspended services keep their
        size.
    type: dict
    suboptions:
      cpu_cores:
        description: Number of vCPUs.
        type: int
      ram_gb:
        description: Memory in GB.
        type: int
      storage_gb:
        description: Disk in GB.
        type: int
  preset:
    description:
      - Id of a ready-made size to order instead of O(dimensions).
      - For a service that exists, a quote tells the size that the preset stands for. Where the service has another
        one it is changed, by the rules of O(dimensions); where no quote tells it, the task fails.
    type: str
  variables:
    description:
      - Settings that the order of this product takes, never shown. Used for the order alone. For a service that exists
        they have no effect, and a warning says so; the platform does not show what it was ordered with.
    type: dict
  options:
    description:
      - Options that the order of this product takes. Used for the order alone, as O(variables) are.
    type: list
    elements: dict
    suboptions:
      option:
        description: Id of the option.
        type: str
        required: true
      choice:
        description: Id of the choice.
        type: str
        required: true
  public:
    description:
      - Whether the service answers on the Internet. A change recreates its container, so a running service is
        restarted. Where its uptime shows that it runs on instead, the change waits for a start from stop, as
        O(command) does. The task fails when the service does not run again after it, unless O(wait=false).
    type: bool
  command:
    description:
      - Line that the container is launched with. It takes effect at the next start from stop, as a restart keeps the
        container; O(state=restarted) stops and starts the service for it.
      - O(state=started) does not restart what runs. RV(service.pending_restart) and a warning name what waits, in this
        run and in later ones, until a task of this collection has started the service.
      - An empty string restores the original.
    type: str
  max_monthly:
    description:
      - The most that the service may cost in a month, in currency units, such as V(12.50). An order, a new size or a
        resumption that costs more is refused.
      - A service that costs more already is left as it is, with a warning. What counts is the rate that runs now.
    type: str
  resume:
    description:
      - Whether O(state=started) may resume a suspended service, which is billed in full then. When it is false, a
        suspended service is left as it is, with all of its settings, and a warning says so.
      - It is decided by what the service is when the task looks at it. C(hosted_status) of the inventory is as old as
        the inventory, or as its cache.
      - The other states but V(resumed), which contradicts it, resume nothing in any case.
    type: bool
    default: true
    version_added: 0.2.0
  state_dir:
    description:
      - Folder of the record of what is written and not in effect yet, created when it is missing.
        C(hosted_services) in Ansible's home folder when it is not set.
      - Machines that share it know what the others wrote. It holds no values, only kinds and times.
    type: path
  delete_backups:
    description:
      - Whether O(state=absent) may destroy the backups and the snapshots of the service.
      - Without it, the deletion is refused while the service has a snapshot, or a backup of any status but C(FAILED).
        One that is being made or restored counts.
      - What cannot be known counts as there. While a service is, for example, V(PROVISIONING), V(AWAITING_ADMIN) or
        V(SUSPENDED), the platform may not list its copies. The deletion is refused then too.
      - A service whose creation failed is deleted without it, unless its lists show a copy.
    type: bool
    default: false
  allow_duplicate_name:
    description:
      - Whether to order a service even if one of the same name and product exists, which may be the one that you want.
      - A service whose project was deleted joins the default project, where O(project) does not find it. So an order
        is refused while a service of its name and product is in the default project. It is also refused if
        O(project) is newer than that service and is empty or less than a day old. Without this option, move the
        service with O(id) and O(new_project).
      - The platform does not show which project is the default one. It is taken to be the oldest.
      - A service of the name in any other project is named in a warning, and the order is placed.
      - Capitals do not tell names apart here, nor does what stands between their words, as the platform may change
        both. V(Web Shop), V(web-shop) and V(web_shop) are one name, and V(webshop) is another. While a service of the
        same product has a name that differs in nothing else, the order is refused and the error names its id; the task
        does not use that service. This looks at the services of O(project), or of all projects if O(project) is not
        set.
    type: bool
    default: false
  secrets_dest:
    description:
      - File that the secrets which the platform generates with an order are written to, readable for its owner
        alone. They cannot be read again later. A file that is there is put aside.
      - When it is not set and O(return_secrets) is false, they go to a file in C(hosted_services/secrets) of Ansible's
        home, which is C(~/.ansible) by default, and a warning says so.
      - Before the order is sent, a file of the size is written there and removed. Where that fails, nothing is ordered.
        That goes for a name of more than 228 bytes too, as the name of a file that is put aside gets 27 more.
      - A run that ends between the order and the file, such as one that is killed, leaves a note in
        C(hosted_services/secrets/unkept). The next task on the service warns of it.
    type: path
  return_secrets:
    description:
      - Whether the generated secrets are in the result.
      - Without O(secrets_dest) they are on disk only until the task ends. Of a run that is killed before, the file stays in
        C(hosted_services/secrets), and the next task on the service names it in a warning.
    type: bool
    default: false
extends_documentation_fragment:
  - hosted.services.common
  - hosted.services.common.wait
  - hosted.services.common.attributes
attributes:
  idempotent:
    support: partial
    details: Not with O(state=restarted).
seealso:
  - module: hosted.services.service_info
  - module: hosted.services.project
"""

EXAMPLES = r"""
- name: A game server that is up
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

- name: See what a bigger one would cost, without doing it
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

- name: Launch it with another command, now
  hosted.services.service:
    name: survival
    command: java -Xmx3G -jar server.jar
    state: restarted

- name: Pay for the storage only until the next season
  hosted.services.service:
    name: survival
    state: suspended

- name: Take it back into service, and leave it to the next task to start it
  hosted.services.service:
    name: survival
    state: resumed
    max_monthly: 15

- name: Delete it with all of its backups
  hosted.services.service:
    name: survival
    state: absent
    delete_backups: true
"""

RETURN = r"""
service:
  description: The service, or nothing when it is absent. In check mode, as it is expected to be.
  returned: success
  type: dict
  sample:
    id: svc_8c1d
    name: survival
    family: GAME
    status: ACTIVE
    project_id: prj_4f2a
    product: {slug: minecraft, name: Minecraft server, short_name: Minecraft}
    runtime: {id: runtime-paper, slug: paper, name: Paper}
    host: {id: node-paris-1, label: Paris 1, location_label: "Paris, France"}
    dimensions: {cpu_cores: 2, ram_gb: 4, storage_gb: 20}
    maintenance: null
    pricing:
      monthly_millicents: 10740
      storage_monthly_millicents: 1700
      billed_monthly_millicents: 10740
      monthly_cents: 1074
      min_balance_cents: 36
      hourly_label: 0.0147 EUR
      is_free: false
      free_expires_at: null
    dates: {created_at: "2026-11-20T08:15:30.000Z", suspended_at: null, deleted_at: null}
    failure_reason: null
    panel_url: null
    address: 203.0.113.10:25565
    capabilities: [console, powerSignals, suspension, files, logs, backups]
    state: running
    pending_restart: []
  contains:
    id:
      description: Id of the service. Null in check mode when it would be ordered.
      type: str
    name:
      description: Name of the service.
      type: str
    family:
      description: Family of the service.
      type: str
    status:
      description: Where the service is in its administrative life, such as V(ACTIVE) or V(SUSPENDED).
      type: str
    state:
      description:
        - Condition of the container at this second, such as V(running).
        - Null when the task had no need to look, or the node cannot be reached.
      type: str
    pending_restart:
      description:
        - What is written and takes effect at the next start from stop only, so far as this controller knows.
          V(command) is the launch command; V(network) is the network setting, where it was seen that the container
          was not recreated for it.
        - O(state=restarted) works it off. In check mode, as it is expected to be afterwards.
      type: list
      elements: str
    project_id:
      description: Id of the project that the service belongs to.
      type: str
    product:
      description: The ordered product.
      type: dict
      contains:
        slug:
          description: Slug of the product.
          type: str
        name:
          description: Name of the product.
          type: str
        short_name:
          description: Short name of the product.
          type: str
    runtime:
      description: Edition of the product. May be null.
      type: dict
      contains:
        id:
          description: Id of the edition.
          type: str
        slug:
          description: Slug of the edition.
          type: str
        name:
          description: Name of the edition.
          type: str
    host:
      description: Node that runs the service.
      type: dict
      contains:
        id:
          description: Id of the node.
          type: str
        label:
          description: Name of the node.
          type: str
        location_label:
          description: Location of the node.
          type: str
    dimensions:
      description: Size of the service.
      type: dict
      contains:
        cpu_cores:
          description: Number of vCPUs.
          type: int
        ram_gb:
          description: Memory in GB.
          type: int
        storage_gb:
          description: Disk in GB.
          type: int
    pricing:
      description:
        - What the service costs. Amounts are in the unit that the name ends in; 1000 millicents are one currency unit.
        - C(billed_monthly_millicents) is the rate that runs now.
        - In check mode, as it is expected to be; what cannot be known is null.
      type: dict
      contains:
        monthly_millicents:
          description: Rate of a month in service, in millicents.
          type: int
        storage_monthly_millicents:
          description: Rate of a month while suspended, in millicents.
          type: int
        billed_monthly_millicents:
          description: Rate that is billed now, in millicents a month.
          type: int
        monthly_cents:
          description: Rate of a month in service, in cents.
          type: int
        min_balance_cents:
          description: Balance that the service needs, in cents.
          type: int
        hourly_label:
          description: Rate of an hour, for people.
          type: str
        is_free:
          description: Whether the service is free.
          type: bool
        free_expires_at:
          description: When a free service ends, in UTC. Null if it does not.
          type: str
    dates:
      description: When the service was created, suspended and deleted, in UTC.
      type: dict
      contains:
        created_at:
          description: When the service was created.
          type: str
        suspended_at:
          description: When the service was suspended. Null if it is not.
          type: str
        deleted_at:
          description: When the service was deleted. Null if it is not.
          type: str
    failure_reason:
      description: Why the creation failed. Null when it did not.
      type: str
    address:
      description: Host and port that the service answers at. May be null.
      type: str
    capabilities:
      description: Features that the service offers now.
      type: list
      elements: str
    maintenance:
      description: As the platform sends it.
      type: raw
    panel_url:
      description: As the platform sends it.
      type: str
cost:
  description: >-
    What the change does to the monthly price, in currency units. There for orders, new sizes, suspensions,
    resumptions and deletions. After a task that failed, what was done to the price.
  returned: when money moves
  type: dict
  sample:
    monthly_before: "0.00"
    monthly_after: "10.74"
    monthly_change: "10.74"
    currency: EUR
    lines:
      - {label: Minecraft server, detail: "2 vCPU, 4 GB, 20 GB", monthly: "10.74"}
  contains:
    monthly_before:
      description: The rate that is billed before the change.
      type: str
    monthly_after:
      description:
        - The rate that is billed after the whole task, which is that of the storage where the service is suspended.
          Null when it cannot be known.
        - Where the platform bills another rate in the end than was announced, it is that one, and a warning has both.
      type: str
    monthly_change:
      description: The difference.
      type: str
    currency:
      description: Currency of the amounts. Null if the platform does not name it to this token.
      type: str
    moves:
      description:
        - What changes the price, in its order, V(order), V(create), V(resize), V(suspend), V(resume) or V(delete).
          After a task that failed, what was done and what may have been done.
      type: list
      elements: str
    service:
      description: Name of the service.
      type: str
    service_id:
      description: Id of the service. Null if it does not exist yet.
      type: str
    balance:
      description: The balance, if a quote tells it.
      type: str
    min_balance:
      description: The least balance that the order requires, if a quote tells it.
      type: str
    days_covered:
      description: How many days the balance covers, if a quote tells it.
      type: int
    lines:
      description: The lines of the quote.
      type: list
      elements: dict
      contains:
        label:
          description: Name of the part.
          type: str
        detail:
          description: Details, for people.
          type: str
        monthly:
          description: Its monthly price.
          type: str
actions:
  description: Changes that the task made, or would make in check mode, one sentence each.
  returned: success
  type: list
  elements: str
  sample: ["order minecraft as service 'survival' for 10.74 EUR a month"]
service_id:
  description: Id of a service that was ordered. Returned even if a later step failed.
  returned: when a service was ordered
  type: str
  sample: svc_8c1d
namesakes:
  description:
    - Ids of other services of the name that were ordered in the same moment, by another run, for example. The platform
      lets all of them through, and bills each.
    - When an order is refused because a service of the name is there, the id of that one.
  returned: when there are any
  type: list
  elements: str
  sample: [svc_2f60]
secrets:
  description: Secrets that the platform generated with the order and shows only once.
  returned: when a service was ordered and O(return_secrets) is true
  type: dict
  sample:
    service_id: svc_8c1d
    name: survival
    secrets:
      - {label: Console password, value: not-a-real-one}
secrets_file:
  description: File that the generated secrets were written to.
  returned: when a service was ordered and secrets were written
  type: str
  sample: /home/me/survival.json
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
  description: The last lines of the service's log when the wait ended.
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
