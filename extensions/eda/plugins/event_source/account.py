# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An event source of ansible-rulebook for an account of the hosting platform."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio

DOCUMENTATION = r"""
---
short_description: Send an event when something happens on an account
version_added: 1.0.0
author:
  - hosted.services contributors (@hosted-services)
description:
  - Polls the platform, and sends an event when a service fails, stops by itself, is
    back, is ordered or deleted, when a deploy is done or fails, a verdict blocks a
    release or is lifted, a backup fails or backups are too old, the balance runs low,
    the spend is too high, or a project differs from its blueprint.
  - It takes three calls a poll (services, billing overview, applications), and one
    for each fifty containers. It reads the activity journal only of services that
    changed, and backups and blueprints at a slower pace.
  - What the platform does not tell is unknown, and causes no event. A node that
    cannot be reached is one example.
  - What the source has seen, and the events that are not delivered yet, are in a
    state file. So it misses nothing that lasts for a poll, and sends nothing twice,
    even if it is killed. See the guide for what holds exactly.
  - It ends only if an argument is wrong or the token is not accepted at the start.
    Later it waits, longer after each failure or as long as the platform asks, and
    reads O(token_file) again if the token is no longer accepted.
options:
  base_url:
    description:
      - Address of the platform's API. If not set, the environment variable
        E(HOSTED_SERVICES_URL) is used.
    type: str
  token:
    description:
      - API token. With scope C(REGISTRY), the events of applications alone are sent.
      - If not set, the environment variable E(HOSTED_SERVICES_TOKEN) is used.
    type: str
  token_file:
    description:
      - File with the API token on a single line. Read again when the token in it is
        no longer accepted.
      - If not set, the environment variable E(HOSTED_SERVICES_TOKEN_FILE) is used.
    type: path
  auth_header:
    description:
      - Name of the HTTP header that carries the token.
    type: str
    default: Authorization
  auth_scheme:
    description:
      - Word before the token in the header.
    type: str
    default: Bearer
  validate_certs:
    description:
      - Whether to verify the server's certificate.
    type: bool
    default: true
  ca_path:
    description:
      - File or directory with the certificate authorities to trust instead of the
        system's.
    type: path
  timeout:
    description:
      - Deadline for one call, including its retries, in seconds.
    type: float
    default: 60.0
  retries:
    description:
      - How many times to retry a failed call within its deadline.
    type: int
    default: 5
  allow_http_hosts:
    description:
      - Hosts to which the token may be sent over plain C(http).
    type: list
    elements: str
    default: []
  state_file:
    description:
      - File for what the source remembers, with mode 0600. Two sources cannot share
        one.
      - By default it is in the collection's folder,
        C(~/.ansible/hosted_services/events), named after O(base_url) and
        O(state_name).
    type: path
  state_name:
    description:
      - Name that tells the default state file of this source from those of others for
        the same platform, such as that of the rulebook. What one of them was told
        is news to the others.
      - Not together with O(state_file).
    type: str
  min_interval:
    description:
      - Seconds to the next poll after something changed.
    type: float
    default: 15.0
  max_interval:
    description:
      - Seconds to the next poll when nothing has changed for a while. The pause grows
        up to this.
    type: float
    default: 120.0
  report_existing:
    description:
      - Whether the first start of a state file sends events about what is in trouble
        already.
    type: bool
    default: true
  stop_window:
    description:
      - Over how many seconds C(stops) of C(service_stopped) counts.
    type: float
    default: 3600.0
  balance_days:
    description:
      - Numbers of days for which the balance lasts. Each one that is reached sends
        C(balance_low).
    type: list
    elements: int
    default: [14, 7, 3, 1]
  max_daily_spend:
    description:
      - Spend a day, in currency units, above which C(spend_high) is sent.
    type: str
  max_monthly_spend:
    description:
      - Projected spend of the month, in currency units, above which C(spend_high) is
        sent.
    type: str
  backup_interval:
    description:
      - Seconds between two looks at the backups of a service, which take a call each.
        With 0, there are none.
    type: float
    default: 3600.0
  backup_max_age:
    description:
      - Hours after which the newest completed backup of a service is too old, and
        C(backups_stale) is sent.
    type: float
  backup_services:
    description:
      - Patterns, such as C(db-*), for the names of the services whose age of backups
        is watched. A service that matches must have a backup, and a pattern without a
        match is logged. By default, all that have one are watched.
    type: list
    elements: str
  blueprints:
    description:
      - Files to compare with the platform, as C(hosted.services.blueprint_info) does.
        Templates in them are not rendered.
    type: list
    elements: path
    default: []
  drift_interval:
    description:
      - Seconds between two comparisons of a blueprint.
    type: float
    default: 3600.0
  feedback:
    description:
      - Note an event as delivered only when the rule engine has taken it in.
        ansible-rulebook does this together with its option C(--persistence-id).
    type: bool
    default: false
notes:
  - An unknown argument is an error that lists the known ones.
  - The libraries of the collection must be installed in the Python of
    ansible-rulebook.
"""

EXAMPLES = r"""
- name: Restart what stopped by itself
  hosts: localhost
  sources:
    - hosted.services.account:
        base_url: https://api.example.com
        token_file: ~/.config/hosted/token
        backup_max_age: 26
        balance_days: [14, 3]
  rules:
    - name: Restart it, unless that was tried twice within the hour
      condition: event.type == "service_stopped" and event.stops <= 2
      action:
        run_playbook:
          name: restart.yml
          extra_vars:
            service: "{{ event.service.id }}"
"""


def find_collection() -> None:
    """Let Python find this collection: ansible-rulebook loads the file by its path."""
    root = Path(__file__).absolute().parents[6]
    if root.name != "ansible_collections":
        return
    sys.path.append(str(root.parent))
    # If another installation of Ansible has a package of this name, add a folder to it.
    import ansible_collections  # noqa: PLC0415 # pylint: disable=import-outside-toplevel

    if str(root) not in ansible_collections.__path__:
        ansible_collections.__path__.append(str(root))


async def main(queue: asyncio.Queue[Any], args: dict[str, Any]) -> None:
    """Put the events of the account on the queue until ansible-rulebook ends.

    Parameters
    ----------
    queue
        Where ansible-rulebook takes events from.
    args
        The arguments in the rulebook.

    """
    find_collection()
    # pylint: disable-next=import-outside-toplevel
    from ansible_collections.hosted.services.plugins.plugin_utils._events import (  # noqa: PLC0415
        source,
    )

    await source.watch(queue, args)
