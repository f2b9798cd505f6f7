# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Diffs are YAML in the order given, and nothing for nothing."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._ansible.diff import as_diff, describe_subject
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Plan


def test_a_diff_names_its_subject_and_writes_amounts_with_their_currency() -> None:
    plan = Plan(
        result=None, before={"monthly": Decimal("1.5")}, after={"monthly": Decimal(2), "unknown": None}
    )
    assert as_diff(plan, "service web", lambda amount: f"{amount} EUR") == {
        "before": "monthly: 1.5 EUR\n",
        "after": "monthly: 2 EUR\nunknown: null\n",
        "before_header": "service web",
        "after_header": "service web",
    }


def test_the_currency_is_not_asked_for_where_nothing_differs() -> None:
    def price(amount: Decimal) -> str:
        raise AssertionError("asked for")

    same = {"monthly": Decimal("1.5")}
    assert (
        as_diff(Plan(result=None, before=same, after=dict(same)), "x", price)["after"] == "monthly: '1.50'\n"
    )


@pytest.mark.parametrize(
    ("options", "subject", "said"),
    [
        ({"name": "web"}, "", "app deploy web"),
        ({"slug": "shop", "name": "other"}, "", "app deploy shop"),
        ({"services": ["a", "b"]}, "", "app deploy a, b"),
        ({"services": ["a"]}, "of a and 3 more", "app deploy of a and 3 more"),
        ({"name": None, "project": "x"}, "", "app deploy"),
        ({"name": "\x1b[31mred"}, "", "app deploy \\x1b[31mred"),
    ],
)
def test_what_a_diff_is_about(options: dict[str, Any], subject: str, said: str) -> None:
    assert describe_subject("app_deploy", options, Plan(result=None, subject=subject)) == said
