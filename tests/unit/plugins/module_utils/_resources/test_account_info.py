# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading the account's money: what is shown becomes currency units, what is not comes as it is."""

from __future__ import annotations

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.account_info import ACCOUNT_INFO
from hosted_sandbox.gaps import POINTS
from hosted_sandbox.testing import Sandbox
from unit.plugins.module_utils._resources.platform import run


@pytest.mark.parametrize("shape", POINTS["list.shape"].values)
def test_lists_are_read_whole(sandbox_process: Sandbox, shape: str) -> None:
    """No page has more than five entries; the account has a year and 22 days."""
    sandbox_process.reset(profile="plain", values={"list.shape": shape}, clock="2025-01-01T12:00:00.000Z")
    sandbox_process.seed({"services": [{"name": "mc", "product": "minecraft"}], "balance_cents": 1_000_000})
    for number in range(25):
        sandbox_process.operator("accounts/account-main", balance_cents=1_000_100 + 100 * number)
    sandbox_process.clock(freeze=True, advance=(365 + 21) * 86400)
    lengths = {"transactions": 27, "daily_spend": 22, "invoices": 12, "statements": 13}
    account = run(sandbox_process, ACCOUNT_INFO, include=[*lengths])["account"]
    for part, length in lengths.items():
        entries = account[part]
        assert len(entries) == length and all(entries.count(entry) == 1 for entry in entries), part
