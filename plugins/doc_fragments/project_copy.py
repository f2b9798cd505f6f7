# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of what may differ in a copy of a project or a service from what it is a copy of."""

from __future__ import annotations


class ModuleDocFragment:
    """The fragments of modules that copy what a project or a service holds."""

    DOCUMENTATION = r"""
options:
  host:
    description: Id or label of the node for everything. If not set, that of the source or the blueprint.
    type: str
  overrides:
    description: What single services and applications have instead, by key, name, slug or id. Each is a
      dictionary as in M(hosted.services.blueprint), with keys such as C(host) or C(dimensions). They
      take precedence over all other options.
    type: dict
  without_data:
    description: Keys, names, slugs or ids of services to make without content, such as buckets, and databases
      that cannot be dumped or restored from here.
    type: list
    elements: str
    default: []
  delete:
    description: Whether to delete files that the source or the copy does not have. The content of a database
      is always replaced as a whole.
    type: bool
    default: true
  max_monthly:
    description: Maximum price per month of everything in the project, in currency units. If it would be
      exceeded, nothing is ordered.
    type: str
"""

    # What the platform does not show, and how a copy is compared.
    ENVIRONMENTS = r"""
options:
  environments:
    description: Whole environments of applications, by slug or id. References in them may name services of
      the source. If a variable that is known from a reference or from this controller is missing, nothing is
      ordered.
    type: dict
  secret_environments:
    description: As O(environments), with values that are never shown.
    type: dict
  checksum:
    description: Whether files of the same size and time are compared by their content.
    type: bool
    default: false
"""
