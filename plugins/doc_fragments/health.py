# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of when a service that was started counts as healthy."""

from __future__ import annotations


class ModuleDocFragment:
    """The fragments of modules that look at the health of services."""

    DOCUMENTATION = r"""
options:
  healthy_for:
    description: For how many seconds a service must have run to count as healthy.
    type: float
    default: 10
  health_checks:
    description: What else a service must do to count as healthy, within O(wait_timeout).
    type: list
    elements: dict
    default: []
    suboptions:
      url:
        description: URL that must respond, requested from where the task runs, without the token and without
          redirects. C({address}) stands for the address of the service, with its port.
        type: str
      status:
        description: Status codes that count as healthy.
        type: list
        elements: int
        default: [200]
      tcp:
        description: Whether the address must accept a TCP connection. Use this or O(health_checks[].url).
        type: bool
        default: false
      timeout:
        description: For how many seconds to wait for one response.
        type: float
        default: 5
"""

    # The same where a check may be of some services only.
    OF_MANY = (
        DOCUMENTATION
        + r"""
      services:
        description: The services to check, by id or name. If it is left out, all selected ones.
        type: list
        elements: str
"""
    )
