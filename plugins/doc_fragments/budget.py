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
    description: The most that all services may cost in a month, in currency units, or a mapping of
      C(account), C(projects) (limits by id or name) and C(run) (the most that one run may add). What would
      exceed it is refused, in check mode too. Limits set elsewhere hold as well. See the guide to budgets.
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
