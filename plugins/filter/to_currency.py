# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: to_currency
short_description: Convert an amount to currency units
version_added: 1.0.0
author:
  - hosted.services contributors (@hosted-services)
description:
  - Converts an amount in cents or millicents, as the end of a field's name says, such as C(monthly_millicents), to
    currency units. The conversion is exact. The result has two decimals, or more if the amount needs them.
positional: unit
options:
  _input:
    description: The amount, as a number or as a string. It can be negative.
    type: raw
    required: true
  unit:
    description: The unit of the amount. 1000 millicents, or 100 cents, are one currency unit.
    type: str
    required: true
    choices: [millicents, cents]
seealso:
  - module: hosted.services.service_info
  - module: hosted.services.account_info
notes:
  - Results of M(hosted.services.account_info) and of the inventory already hold amounts in currency units.
  - The result is a string, so that no digit is lost. Do calculations in millicents or cents, and convert the result.
"""

EXAMPLES = r"""
- name: Read the game servers
  hosted.services.service_info:
    family: GAME
  register: games

- name: Show their monthly prices and the sum
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

from functools import partial

from ..module_utils._resources.shared.money import in_currency
from ..plugin_utils._templating.filters import as_filter


class FilterModule:
    """Registers the filter."""

    filters = staticmethod(partial(as_filter, "to_currency", in_currency))
