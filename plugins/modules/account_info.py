#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: account_info
short_description: Read the account that a token belongs to, and its balance, spend and bills
version_added: 1.0.0
description: Returns the e-mail address of the account that the token belongs to, its balance, and on request other
  figures of its money. For the address alone, a token with scope C(REGISTRY) is sufficient.
options:
  include:
    description:
      - Parts to read. V(wallet) is the balance and its currency, V(overview) is the balance, spend and forecast.
      - V(transactions) are top-ups and adjustments, V(daily_spend) is the spend of each day of this month, V(invoices)
        are the accounting documents, V(statements) show each month service by service. The platform does not document
        the fields of these four, so they are returned unchanged.
    type: list
    elements: str
    choices: [overview, wallet, transactions, daily_spend, invoices, statements]
    default: [wallet]
  period:
    description: Also read the statement of this month, in the form V(YYYY-MM).
    type: str
extends_documentation_fragment:
  - hosted.services.common.info_attributes
  - hosted.services.common
seealso:
  - module: hosted.services.project_info
  - module: hosted.services.service_info
"""

EXAMPLES = r"""
- name: Read the account that the token belongs to
  hosted.services.account_info:
  register: me

- name: Stop if it is not the expected account
  ansible.builtin.assert:
    that: me.account.email == "ops@example.com"

- name: Read the balance and the forecast
  hosted.services.account_info:
    include: [overview, wallet]
  register: money

- name: Fail if the balance covers less than two weeks
  ansible.builtin.assert:
    that: money.account.overview.days_left_estimate > 14
    fail_msg: "Only {{ money.account.wallet.balance }} {{ money.account.wallet.currency }} left"

- name: Read the statement of one month
  hosted.services.account_info:
    include: []
    period: "2026-10"
  register: october
"""

RETURN = r"""
account:
  description: The account, with everything that the platform shows of it.
  returned: success
  type: dict
  contains:
    email:
      description: The e-mail address of the account.
      type: str
    overview:
      description: Balance, spend and forecast, each amount in cents and in currency units.
      returned: if O(include) contains V(overview)
      type: dict
      contains:
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
        month_to_date_cents:
          description: Spend of this month so far, in cents.
          type: int
        month_to_date:
          description: Spend of this month so far, in currency units.
          type: str
        projected_month_cents:
          description: Projected spend of this month, in cents.
          type: int
        projected_month:
          description: Projected spend of this month, in currency units.
          type: str
        daily_avg_cents:
          description: Average spend per day, in cents.
          type: int
        daily_avg:
          description: Average spend per day, in currency units.
          type: str
        days_left_estimate:
          description: Days that the balance covers at the current rate.
          type: int
        current_hourly_burn_cents:
          description: Current rate per hour, in cents. A string, because it may be a fraction.
          type: str
        current_hourly_burn:
          description: Current rate per hour, in currency units.
          type: str
        current_daily_burn_cents:
          description: Current rate per day, in cents. A string, because it may be a fraction.
          type: str
        current_daily_burn:
          description: Current rate per day, in currency units.
          type: str
    wallet:
      description: The balance of the account. Null if the token cannot read it.
      returned: if O(include) contains V(wallet)
      type: dict
      contains:
        # generated: wallet
        balance_cents:
          description: The balance in cents.
          type: int
          sample: 1250
        balance:
          description: The balance in currency units.
          type: str
          sample: '12.50'
        currency:
          description: The currency.
          type: str
          sample: EUR
        became_client_at:
          description: When the account became a client, in UTC.
          type: str
        # generated end
    transactions:
      description: All transactions, unchanged.
      returned: if O(include) contains V(transactions)
      type: list
      elements: dict
    daily_spend:
      description: Days of this month, unchanged.
      returned: if O(include) contains V(daily_spend)
      type: list
      elements: dict
    invoices:
      description: The invoices, unchanged.
      returned: if O(include) contains V(invoices)
      type: list
      elements: dict
    statements:
      description: The statements, unchanged.
      returned: if O(include) contains V(statements)
      type: list
      elements: dict
    statement:
      description: The statement of O(period), unchanged. Null if there is none.
      returned: when O(period) is set
      type: raw
    notes:
      description: Why a part is null, by the name of the part. Empty if everything could be read.
      type: dict
"""

from ansible_collections.hosted.services.plugins.module_utils._ansible.module import run_module
from ansible_collections.hosted.services.plugins.module_utils._resources.account_info import ACCOUNT_INFO


def main() -> None:
    """Run the module."""
    run_module(ACCOUNT_INFO)


if __name__ == "__main__":
    main()
