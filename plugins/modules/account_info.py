#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: account_info
short_description: Read the account that a token belongs to
version_added: 1.0.0
description:
  - Returns the e-mail address of the account that the token belongs to, and its balance if the token has access to it.
  - A token with scope C(REGISTRY) is sufficient. Parts that it cannot read are null, and a note says why.
options: {}
extends_documentation_fragment:
  - hosted.services.common.info_attributes
  - hosted.services.common
seealso:
  - module: hosted.services.billing_info
"""

EXAMPLES = r"""
- name: Read the account that the token belongs to
  hosted.services.account_info:
  register: me

- name: Stop if it is not the expected account
  ansible.builtin.assert:
    that: me.account.email == "ops@example.com"
"""

RETURN = r"""
account:
  description: The account, with all that the platform tells of it.
  returned: success
  type: dict
  contains:
    email:
      description: The e-mail address of the account.
      type: str
    wallet:
      description: The balance of the account. Null if the token cannot read it.
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
