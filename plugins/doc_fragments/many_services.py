# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the options that select services, and of what a task over many of them returns."""

from __future__ import annotations


class ModuleDocFragment:
    """The fragment of modules that work on many services at once."""

    DOCUMENTATION = r"""
options:
  services:
    description: The services, each by id or name. An id takes precedence over a name, and a string with
      commas is one name. A service without the required capability is an error. One of O(services),
      O(project) and O(family) is required, except on a host of the P(hosted.services.inventory#inventory)
      inventory, where the service of the host is meant if none is set.
    type: list
    elements: str
    aliases: [service]
  project:
    description: Id or name of the project in which to look up O(services). Without these, selects all of its
      services that offer the required capability; the others are skipped, see RV(services[].skipped).
    type: str
  family:
    description: Family of the services, used like O(project).
    type: str
    choices: [GAME, APP, COMPUTE, VIRTUAL_MACHINE, DEDICATED, BUCKET]
  max_parallel:
    description: Maximum number of services to work on in parallel. V(auto) is 32.
    type: str
    default: '8'
notes:
  - A service that fails does not stop the others. The task fails at the end, and RV(services) shows the rest.
"""

    # Services that need each other.
    START_AFTER = r"""
options:
  start_after:
    description: Services that start after others, and stop before them. Each key is a selected service, by
      name or id, and its value the list of those that it needs. References in environments need not be
      named.
    type: dict
    default: {}
"""

    # Going back to a copy.
    RESTORE = r"""
options:
  confirm:
    description: Confirm that data may be overwritten. Without it, the task fails and says what would be lost.
    type: bool
    default: false
  quiet_time:
    description: How many seconds without a change or a new event count as the end, where the platform shows
      none. If no start was seen either, the task warns. Limited to half of O(wait_timeout).
    type: float
    default: 30.0
  allow_partial:
    description: Whether to go on with the others if some selected services cannot go back. If false, the task
      fails before it changes any. It fails at the end anyway.
    type: bool
    default: false
"""

    # Copies of many services, and how old the newest is.
    FRESHNESS = r"""
options:
  pattern:
    description: Shell pattern that the names must match, such as V(nightly-*).
    type: str
    default: "*"
  max_age:
    description: Maximum age of the newest good one, in years, months, days and hours, such as V(1d6h) or
      V(26h).
    type: str
"""
