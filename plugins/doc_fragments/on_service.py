# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the options that name the service a module works on."""

from __future__ import annotations


class ModuleDocFragment:
    """The fragment of modules that work on one service."""

    DOCUMENTATION = r"""
options:
  service:
    description:
      - Id of the service, or its name. An id wins over a name, and O(project) and O(family)
        must agree with it.
      - Required, but on a host of the P(hosted.services.inventory#inventory) inventory. There a task that
        sets none of O(service), O(project) and O(family) works on the service that is the host.
    type: str
  project:
    description:
      - Name or id of the project of the service, when several services have its name.
    type: str
  family:
    description:
      - Family of the service, when several services have its name.
    type: str
    choices: [GAME, APP, COMPUTE, VIRTUAL_MACHINE, DEDICATED, BUCKET]
"""
