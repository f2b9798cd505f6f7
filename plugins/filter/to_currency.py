# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: to_currency
short_description: An amount of the platform in currency units
version_added: 0.1.0
author:
  - hosted.services contributors (@hosted-services)
description:
  - The platform counts in cents and in millicents, and says which at the end of a field's name, such as
    C(monthly_millicents) and C(total_cents). This filter writes such an amount in currency units.
  - It is exact. Nothing is rounded, and no digit goes through a floating-point number. There are two decimals, and more
    only where the amount has more.
  - The unit has to be named, because an amount that is taken for the other one is wrong by a factor of ten.
positional: unit
options:
  _input:
    description:
      - The amount, as a number or as a string of one. Amounts below zero are fine.
    type: raw
    required: true
  unit:
    description:
      - What the amount is counted in. 1000 millicents, or 100 cents, are one currency unit.
    type: str
    required: true
    choices: [millicents, cents]
seealso:
  - module: hosted.services.service_info
  - module: hosted.services.billing_info
notes:
  - Results of M(hosted.services.billing_info) and of the inventory hold amounts in currency units already.
  - The result is a string, so that no digit is lost. To calculate, do it in millicents or cents first and convert at the end.
"""

EXAMPLES = r"""
- name: What the game servers cost a month
  hosted.services.service_info:
    family: GAME
  register: games

- name: Show each, and the sum
  ansible.builtin.debug:
    msg: >-
      {{ prices | map('hosted.services.to_currency', 'millicents') | list }},
      together {{ prices | sum | hosted.services.to_currency('millicents') }}
  vars:
    prices: "{{ games.services | map(attribute='monthly_millicents') }}"
  # ['10.74', '1.06'], together 11.80
"""

RETURN = r"""
_value:
  description: The amount in currency units.
  type: str
  sample: "1.06"
"""

from collections.abc import Callable
from typing import Any

from ansible_collections.hosted.services.plugins.module_utils._resources.shared.money import in_currency
from ansible_collections.hosted.services.plugins.plugin_utils._templating.filters import as_filter


class FilterModule:
    """Holds the filter."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return the filter by its name."""
        return as_filter("to_currency", in_currency)
