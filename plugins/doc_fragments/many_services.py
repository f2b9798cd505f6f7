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
    description:
      - The services to work on, each by id or by name. An id takes precedence over a name, and O(project) and
        O(family) must match it. A string is one name, even if it contains commas; use a list for several.
      - A service that does not offer the required capability is an error.
      - One of O(services), O(project) and O(family) is required, except on a host of the
        P(hosted.services.inventory#inventory) inventory. There, a task that sets none of them works on the
        service that the host represents.
    type: list
    elements: str
    aliases: [service]
  project:
    description:
      - Without O(services), selects all services of this project, given by id or name. Services that do not
        offer the required capability are skipped, which RV(services[].skipped) and RV(services[].msg) tell.
      - With O(services), looks up the names in this project.
    type: str
  family:
    description:
      - Without O(services), selects all services of this family. Services that do not offer the required
        capability are skipped, as with O(project).
      - With O(services), looks up the names in this family.
    type: str
    choices: [GAME, APP, COMPUTE, VIRTUAL_MACHINE, DEDICATED, BUCKET]
  max_parallel:
    description:
      - Maximum number of services to work on in parallel.
      - V(auto) is 32. A platform that answers with 429 is asked less often.
    type: str
    default: '8'
notes:
  - A service that fails does not stop the others. The task fails at the end, and RV(services) shows the
    outcome for each.
"""

    # Services that need each other.
    START_AFTER = r"""
options:
  start_after:
    description:
      - Services that start after others, and stop before them, by name or id. Each key is a selected service,
        and its value the list of those that it needs. References in environments are known without it.
    type: dict
    default: {}
"""

    # Going back to a copy.
    RESTORE = r"""
options:
  confirm:
    description:
      - Confirm that data may be overwritten. Without it, the task fails and says what would be lost.
    type: bool
    default: false
  quiet_time:
    description:
      - How many seconds must pass without a change, or a new service event, before what the platform shows no
        end of counts as done. If nothing of it was seen, the task warns, and RV(services[].start_seen) is
        V(false). Limited to half of O(wait_timeout).
    type: float
    default: 30.0
  allow_partial:
    description:
      - Whether to go on if some of the selected services cannot go back, for example because they have no
        copy of this name. Otherwise the task fails before it changes any service. It fails at the end anyway.
    type: bool
    default: false
"""

    # Copies of many services, and how old the newest is.
    FRESHNESS = r"""
options:
  pattern:
    description:
      - Shell pattern that the names must match, such as V(nightly-*).
    type: str
    default: "*"
  max_age:
    description:
      - Maximum age at which the newest good one counts as fresh, in years, months, days and hours, such as
        V(1d6h) or V(26h).
    type: str
"""
