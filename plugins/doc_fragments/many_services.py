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
      - The services to work on, each by id or by name. An id wins over a name, and O(project) and
        O(family) must agree with it. A text is one name, whatever commas are in it; write a list for several.
      - Each of them has to offer what the task is about; one that does not is an error.
      - One of O(services), O(project) and O(family) is required, but on a host of the
        P(hosted.services.inventory#inventory) inventory. There a task that sets none of them works on the
        service that the host is.
    type: list
    elements: str
    aliases: [service]
  project:
    description:
      - Without O(services), all services of this project, given by id or name. Those that do not offer what
        the task is about are skipped with a warning.
      - With O(services), where the names are looked for.
    type: str
  family:
    description:
      - Without O(services), all services of this family. Those that do not offer what the task is about are
        skipped with a warning.
      - With O(services), the family that the names are looked for in.
    type: str
    choices: [GAME, APP, COMPUTE, VIRTUAL_MACHINE, DEDICATED, BUCKET]
  max_parallel:
    description:
      - How many services to work on in parallel at most.
    type: int
    default: 8
    aliases: [at_once]
notes:
  - A service that fails does not stop the others. The task fails at the end, and RV(services) tells what
    became of each.
"""

    # Copies of many services, and how old the newest is.
    FRESHNESS = r"""
options:
  pattern:
    description:
      - Only those whose names match this shell pattern, such as V(nightly-*).
    type: str
    default: "*"
  max_age:
    description:
      - The age up to which the newest good one counts as fresh, in years, months, days and hours as in
        V(1d6h) or V(26h).
    type: str
"""
