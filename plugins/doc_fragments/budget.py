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
      - The most that may be spent in a month, in currency units, by all services together. What would raise
        the running rate above it is refused, in check mode too. The guide to costs says what counts.
      - An amount, such as V(200), is the limit of the account. A mapping has C(account), C(projects) (the
        limit of each project, by its id or name), and C(run) (the most that one run may add).
      - The variables C(hosted_budget) and C(hosted_held_budget), the option
        O(hosted.services.inventory#inventory:budget) of an inventory file, and the environment variable
        E(HOSTED_SERVICES_BUDGET) set one as well. All limits hold, and of each kind the lowest counts.
    type: raw
"""

    # The limit on a single service.
    MAX_MONTHLY = r"""
options:
  max_monthly:
    description:
      - Maximum price per month, in currency units, such as V(12.50). A service that costs more is neither
        ordered nor resumed, and no size is set that costs more.
    type: str
"""
