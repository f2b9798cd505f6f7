#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: billing_info
short_description: Read what the account has, spends and was billed
version_added: 1.0.0
author:
  - hosted.services contributors (@hosted-services)
description:
  - Returns the balance and the forecast of the account, and on request its transactions, the spend of each day, invoices
    and statements.
  - The platform's documentation does not show what transactions, lines of daily spend, invoices and statements look
    like. They are returned as they come.
options:
  include:
    description:
      - Parts to read. Each takes one call.
      - V(overview) is balance, spend and forecast, V(wallet) the balance and its currency, V(transactions) are the
        top-ups and adjustments, V(daily_spend) is the spend of each day of this month, V(invoices) are the accounting
        documents, V(statements) the months service by service.
    type: list
    elements: str
    choices: [overview, wallet, transactions, daily_spend, invoices, statements]
    default: [overview, wallet]
  period:
    description:
      - A month of the form V(YYYY-MM) whose statement to read as well.
    type: str
  transactions_query:
    description:
      - Query parameters for V(transactions). The platform's documentation does not say which there are, so they are
        passed on as they are.
    type: dict
    default: {}
extends_documentation_fragment:
  - hosted.services.common
  - hosted.services.common.info_attributes
seealso:
  - module: hosted.services.account_info
  - module: hosted.services.project_info
  - module: hosted.services.service_info
"""

EXAMPLES = r"""
- name: How long does the money last?
  hosted.services.billing_info:
  register: money

- name: Warn in time
  ansible.builtin.assert:
    that: money.billing.overview.days_left_estimate > 14
    fail_msg: "Only {{ money.billing.wallet.balance }} {{ money.billing.wallet.currency }} left"

- name: Last month, service by service
  hosted.services.billing_info:
    include: []
    period: "2026-10"
  register: october
"""

RETURN = r"""
billing:
  description: The requested parts only.
  returned: success
  type: dict
  sample:
    overview:
      balance_cents: 1250
      balance: "12.50"
      days_left_estimate: 31
    wallet:
      balance_cents: 1250
      balance: "12.50"
      currency: EUR
    notes: {}
  contains:
    overview:
      description:
        - Balance, spend and forecast. Each amount in cents is also returned in currency units, as a string and
          without C(_cents) in its name.
      returned: when O(include) has V(overview)
      type: dict
      contains:
        balance_cents:
          description: The balance.
          type: int
        balance:
          description: The balance in currency units.
          type: str
        month_to_date_cents:
          description: Spend of this month so far.
          type: int
        month_to_date:
          description: Spend of this month so far, in currency units.
          type: str
        projected_month_cents:
          description: Projected cost of this month.
          type: int
        projected_month:
          description: Projected spend of this month, in currency units.
          type: str
        daily_avg_cents:
          description: Average spend of a day.
          type: int
        daily_avg:
          description: Average spend of a day, in currency units.
          type: str
        days_left_estimate:
          description: How many days the balance lasts at the present rate.
          type: int
        current_hourly_burn_cents:
          description: The present rate an hour, as a string since it may be a fraction.
          type: str
        current_hourly_burn:
          description: Present rate an hour, in currency units.
          type: str
        current_daily_burn_cents:
          description: The present rate a day, as a string since it may be a fraction.
          type: str
        current_daily_burn:
          description: Present rate a day, in currency units.
          type: str
    wallet:
      description: The money on the account, as M(hosted.services.account_info) returns it.
      returned: when O(include) has V(wallet)
      type: dict
      contains:
        balance_cents:
          description: Balance in cents.
          type: int
        balance:
          description: Balance in currency units.
          type: str
        currency:
          description: Currency.
          type: str
        became_client_at:
          description: When the account became a client, in UTC.
          type: str
    transactions:
      description:
        - The transactions of all pages as a list, where the platform links its pages by C(nextCursor).
        - Otherwise as RV(billing.invoices).
      returned: when O(include) has V(transactions)
      type: raw
    daily_spend:
      description: As RV(billing.invoices).
      returned: when O(include) has V(daily_spend)
      type: raw
    invoices:
      description:
        - The platform's answer as it came. Where it says that there are more pages, the entries of all of them as a
          list.
        - RV(billing.notes) says where entries are missing, or where the answer does not show whether any are.
      returned: when O(include) has V(invoices)
      type: raw
    statements:
      description: As RV(billing.invoices).
      returned: when O(include) has V(statements)
      type: raw
    statement:
      description: The statement of O(period) as it came. Null when there is none.
      returned: when O(period) is set
      type: raw
    notes:
      description: Notes on parts, by the name of the part. Empty if there are none.
      type: dict
"""

from ansible_collections.hosted.services.plugins.module_utils._ansible.module import run_module
from ansible_collections.hosted.services.plugins.module_utils._resources.billing_info import BILLING_INFO


def main() -> None:
    """Run the module."""
    run_module(BILLING_INFO)


if __name__ == "__main__":
    main()
