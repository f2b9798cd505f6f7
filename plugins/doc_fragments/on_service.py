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
    description: Id or name of the service. An id takes precedence over a name. Required, except on a host of
      the P(hosted.services.inventory#inventory) inventory, where the service of the host is meant if neither
      this nor O(project) and O(family) is set.
    type: str
  project:
    description: Name or id of the service's project, if several services have the name.
    type: str
  family:
    description: Family of the service, if several services have the name.
    type: str
    choices: [GAME, APP, COMPUTE, VIRTUAL_MACHINE, DEDICATED, BUCKET]
"""
