# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Formats plans as diffs in YAML."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from .._api.libraries import yaml
from .._api.text import printable, shortened
from .._resources.shared.money import format_amount
from .._resources.shared.plan import Plan

UNFOLDED = float("inf")
"""A value stays in one line: folded, a secret in it would not be found, and so not redacted."""
NAMING_OPTIONS = ("slug", "services", "service", "name", "id")
"""The options that name what a task works on, the most telling first."""


def as_diff(
    plan: Plan, subject: str = "", price: Callable[[Decimal], str | None] = format_amount
) -> dict[str, str]:
    """Return the diff of a plan in Ansible's form. Ansible writes "before: " and "after: " into its header.

    ``price`` writes an amount; it is called only if there is a difference to show.
    """
    if plan.before == plan.after:
        text = as_yaml(plan.before, format_amount)
        return {"before": text, "after": text}
    diff = {"before": as_yaml(plan.before, price), "after": as_yaml(plan.after, price)}
    return {**diff, "before_header": subject, "after_header": subject} if subject else diff


def as_yaml(state: Mapping[str, Any] | str, price: Callable[[Decimal], str | None] = format_amount) -> str:
    """Return ``state`` as YAML, with its keys in order; an empty string if it is empty. Text is kept.

    A ``Decimal`` in it is an amount of money, which ``price`` writes.
    """
    if not state:
        return ""
    if isinstance(state, str):
        return printable(state)
    shown = with_prices(state, price)
    text: str = yaml.safe_dump(
        shown, sort_keys=False, default_flow_style=False, allow_unicode=True, width=UNFOLDED
    )
    return printable(text)


def with_prices(value: Any, price: Callable[[Decimal], str | None]) -> Any:
    """Return nested data with each amount as ``price`` writes it."""
    if isinstance(value, Mapping):
        return {key: with_prices(item, price) for key, item in value.items()}
    return price(value) if isinstance(value, Decimal) else value


def describe_subject(name: str, options: Mapping[str, Any], plan: Plan) -> str:
    """Return what a diff is about: the module, and what it works on, such as ``service web``."""
    given = plan.subject or next(filter(None, map(options.get, NAMING_OPTIONS)), "")
    names = ", ".join(map(str, given)) if isinstance(given, list) else str(given)
    return shortened(printable(f"{name.replace('_', ' ')} {names}".rstrip()))
