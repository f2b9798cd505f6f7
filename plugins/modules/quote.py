#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: quote
short_description: Request a quote for a service or an application
version_added: 1.0.0
description: Returns the price of an order, and whether the balance covers its first day. Orders nothing. If the price
  exceeds O(max_monthly), the task fails.
options:
  kind:
    description: What to quote. V(application) accepts only O(host), O(dimensions) and O(max_monthly), and a token with
      scope C(REGISTRY) is sufficient.
    type: str
    choices: [service, application]
    default: service
  product:
    description: Slug of the product. Required for a service.
    type: str
  host:
    description: Id of the node, or for an application also its label. Required for a service. For an application, the
      platform chooses a node if this is not set.
    type: str
  dimensions:
    description: Size, with all three values. Required for a service without O(preset). If not set, an application has
      the entry-level size.
  project:
    description: Name or id of the project of the service. It must exist, but does not affect the price.
    type: str
extends_documentation_fragment:
  - hosted.services.common.info_attributes
  - hosted.services.common
  - hosted.services.common.dimensions
  - hosted.services.common.order
  - hosted.services.budget.max_monthly
seealso:
  - module: hosted.services.service
  - module: hosted.services.app
"""

EXAMPLES = r"""
- name: Request a quote for a game server
  hosted.services.quote:
    product: minecraft
    host: node-paris-1
    dimensions: {cpu_cores: 2, ram_gb: 4, storage_gb: 20}
  register: price

- name: Show it
  ansible.builtin.debug:
    msg: "{{ price.quote.monthly }} a month; the first day is covered: {{ price.quote.covers_first_day }}"

- name: Fail if an application of the smallest size costs more than 10 a month
  hosted.services.quote:
    kind: application
    max_monthly: "10"
"""

RETURN = r"""
quote:
  description: The quote. For an application, only the node, the size and the price per month are returned.
  returned: success
  type: dict
  contains:
    product_slug:
      description: Slug of the product.
      type: str
    host_id:
      description: Id of the node, for an application only.
      type: str
    host_label:
      description: Name of the node, for an application only.
      type: str
    dimensions:
      description: The size.
      type: dict
      contains:
        # generated: dimensions
        cpu_cores:
          description: Number of vCPUs.
          type: int
          sample: 2
        ram_gb:
          description: Memory in GB.
          type: int
          sample: 4
        storage_gb:
          description: Disk in GB.
          type: int
          sample: 20
        # generated end
    lines:
      description: The parts of the price.
      type: list
      elements: dict
      contains:
        label:
          description: Name of the part.
          type: str
          sample: Memory
        detail:
          description: Details, as readable text.
          type: str
          sample: 4 GB
        monthly:
          description: Its monthly price, in currency units.
          type: str
          sample: '4.24'
        monthly_cents:
          description: Monthly price of the part, in cents.
          type: int
    # generated: pricing monthly_millicents monthly_cents hourly_label min_balance_cents
    monthly_millicents:
      description: Monthly rate in service, in millicents; 1000 millicents are one currency unit.
      type: int
      sample: 10740
    monthly_cents:
      description: Monthly rate while in service, in cents.
      type: int
      sample: 1074
    hourly_label:
      description: Hourly rate, as readable text.
      type: str
      sample: 0.0147 EUR
    min_balance_cents:
      description: Balance that is required, in cents.
      type: int
      sample: 36
    # generated end
    monthly:
      description: The price per month, in currency units.
      type: str
    min_balance:
      description: The balance that an order requires, in currency units.
      type: str
    # generated: wallet balance_cents balance
    balance_cents:
      description: The balance in cents.
      type: int
      sample: 1250
    balance:
      description: The balance in currency units.
      type: str
      sample: '12.50'
    # generated end
    days_covered:
      description: Days that the balance would cover.
      type: int
    covers_first_day:
      description: Whether the balance covers the first day. If not, the order is refused.
      type: bool
cost:
  description: Effect of the order on the monthly price. C(moves) is always empty.
  returned: success
  type: dict
  contains:
    # generated: cost
    monthly_before:
      description: The rate that is billed before the change. Null if it is not known.
      type: str
      sample: '0.00'
    monthly_after:
      description: The rate that is billed after the whole task. Null if it cannot be known.
      type: str
      sample: '10.74'
    monthly_change:
      description: The difference.
      type: str
      sample: '10.74'
    currency:
      description: Currency of the amounts. Null if this token cannot read it.
      type: str
      sample: EUR
    moves:
      description: The changes that affect the price, in order, V(order), V(create), V(resize), V(suspend), V(resume)
        or V(delete). If the task failed, those that were made or may have been made.
      type: list
      elements: str
      sample:
      - order
    service:
      description: Name of the service.
      type: str
      sample: survival
    service_id:
      description: Id of the service. Null if it does not exist yet.
      type: str
    project:
      description: Name of the project that the service is ordered in or deleted from, if the task names one.
      type: str
      sample: games
    balance:
      description: The balance, if a quote shows it.
      type: str
      sample: '12.50'
    min_balance:
      description: The minimum balance that the order requires, if a quote shows it.
      type: str
      sample: '0.36'
    days_covered:
      description: How many days the balance covers, if a quote shows it.
      type: int
      sample: 34
    lines:
      description: The lines of the quote, with the monthly price of each in currency units.
      type: list
      elements: dict
      sample:
      - label: Memory
        detail: 4 GB
        monthly: '4.24'
    # generated end
"""

from ansible_collections.hosted.services.plugins.module_utils._ansible.module import run_module
from ansible_collections.hosted.services.plugins.module_utils._resources.quote import QUOTE


def main() -> None:
    """Run the module."""
    run_module(QUOTE)


if __name__ == "__main__":
    main()
