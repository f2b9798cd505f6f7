#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: quote
short_description: Request a quote for a service or an application
version_added: 1.0.0
author:
  - hosted.services contributors (@hosted-services)
description:
  - Returns the price of an order, and whether the balance covers its first day. Orders nothing.
  - The options are those of M(hosted.services.service), or of M(hosted.services.app) with O(kind=application).
options:
  kind:
    description:
      - Whether to quote a service or an application. V(application) accepts only O(host) and O(dimensions), and a
        token with scope C(REGISTRY) is sufficient.
    type: str
    choices: [service, application]
    default: service
  product:
    description:
      - Slug of the product. Required for a service.
    type: str
  runtime:
    description:
      - Id of the edition of the product. By default, the first one.
    type: str
  host:
    description:
      - Id of the node. Required for a service. For an application, you can also use its label; if not set, the
        platform chooses a node.
    type: str
  dimensions:
    description:
      - Size, with all three values.
      - Required for a service unless O(preset) is set. The default for an application is the entry-level size.
  preset:
    description:
      - Id of a ready-made size, instead of O(dimensions).
    type: str
  project:
    description:
      - Name or id of the project that the service would join. It must exist, but does not affect the price.
    type: str
  variables:
    description:
      - Settings for the order of this product. Never shown.
    type: dict
  options:
    description:
      - Options for the order of this product.
  max_monthly:
    description:
      - Maximum price per month, in currency units, such as V(12.50). If the price is higher, the task fails.
    type: str
extends_documentation_fragment:
  - hosted.services.common
  - hosted.services.common.info_attributes
  - hosted.services.common.dimensions
  - hosted.services.common.order_options
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
  description:
    - The quote. Each amount in cents or millicents is also returned in currency units, as a string under its name
      without the unit.
    - Fields that the platform adds in the future are returned as well.
  returned: success
  type: dict
  sample:
    product_slug: minecraft
    dimensions: {cpu_cores: 2, ram_gb: 4, storage_gb: 20}
    lines:
      - label: Memory
        detail: 4 GB
        monthly_cents: 424
        monthly: "4.24"
    monthly_millicents: 10740
    monthly_cents: 1074
    monthly: "10.74"
    hourly_label: 0.0147 EUR / h
    min_balance_cents: 36
    min_balance: "0.36"
    balance_cents: 10000
    balance: "100.00"
    days_covered: 279
    covers_first_day: true
  contains:
    product_slug:
      description: Slug of the product. Not for an application.
      type: str
    host_id:
      description: The node. For an application only.
      type: str
    host_label:
      description: Name of the node. For an application only.
      type: str
    dimensions:
      description: The size, with the keys of RV(hosted.services.service#module:service.dimensions).
      type: dict
    lines:
      description: The parts of the price. Not for an application.
      type: list
      elements: dict
      contains:
        label:
          description: Name of the part.
          type: str
        detail:
          description: Details, as readable text.
          type: str
        monthly_cents:
          description: Monthly price of the part, in cents.
          type: int
        monthly:
          description: Monthly price of the part, in currency units.
          type: str
    monthly_millicents:
      description: The price per month, in thousandths of a currency unit.
      type: int
    monthly_cents:
      description: The price per month, in cents. Not for an application.
      type: int
    monthly:
      description: The price per month, in currency units.
      type: str
    hourly_label:
      description: The price per hour, as readable text. Not for an application.
      type: str
    min_balance_cents:
      description: The balance that an order requires, in cents. Not for an application.
      type: int
    min_balance:
      description: The balance that an order requires, in currency units. Not for an application.
      type: str
    balance_cents:
      description: The balance of the account in cents. Not for an application.
      type: int
    balance:
      description: The balance of the account in currency units. Not for an application.
      type: str
    days_covered:
      description: How many days the balance would cover. Not for an application.
      type: int
    covers_first_day:
      description: Whether the balance covers the first day. If not, the order is refused. Not for an application.
      type: bool
cost:
  description:
    - Effect of the order on the monthly price, with the keys of RV(hosted.services.service#module:cost). As nothing is
      ordered, C(moves) is always empty.
  returned: success
  type: dict
  sample:
    monthly_before: "0.00"
    monthly_after: "10.74"
    monthly_change: "10.74"
    currency: EUR
    lines:
      - {label: Memory, detail: 4 GB, monthly: "4.24"}
"""

from ansible_collections.hosted.services.plugins.module_utils._ansible.module import run_module
from ansible_collections.hosted.services.plugins.module_utils._resources.quote import QUOTE


def main() -> None:
    """Run the module."""
    run_module(QUOTE)


if __name__ == "__main__":
    main()
