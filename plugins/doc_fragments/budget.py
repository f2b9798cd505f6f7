# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the limits on what is spent, which modules that commit money have."""

from __future__ import annotations


class ModuleDocFragment:
    """The fragment hosted.services.budget."""

    DOCUMENTATION = r"""
options:
  budget:
    description:
      - The most that all services may cost in a month, in currency units. What would raise the running rate
        above it is refused, in check mode too. An amount is the limit of the account. A mapping has
        C(account), C(projects) (limits by id or name) and C(run) (the most that one run may add).
      - C(hosted_budget), C(hosted_held_budget), E(HOSTED_SERVICES_BUDGET) and the inventory file set limits
        as well. All of them hold. See the guide to costs.
    type: raw
"""

    # The limit on a single service.
    MAX_MONTHLY = r"""
options:
  max_monthly:
    description: Maximum price per month, in currency units, such as V(12.50). What costs more is not ordered,
      resumed or resized.
    type: str
"""
