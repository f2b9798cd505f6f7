# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The currency of an account, read once a run and only where a price is shown to people (Wallet)."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from .money import format_amount
from .plan import Task
from .run_memory import first_said

CURRENCY = "currency"
"""The key in the memory of a task, and in that of the run."""
CALL_SECONDS = 5.0
"""Seconds for the call. A price without its currency is no reason to wait for longer, or to fail."""
MAX_LENGTH = 8


def format_price(task: Task[Any], amount: Decimal | None) -> str | None:
    """Write an amount for people: with its currency, where the platform names it to this token."""
    text = format_amount(amount)
    if text is None:
        return None
    currency = currency_of(task)
    return f"{text} {currency}" if currency else text


def currency_of(task: Task[Any]) -> str | None:
    """Return the currency of the account; ``None`` where the platform does not name it to this token.

    Which scope the wallet requires is not shown.
    """
    client = task.client
    if CURRENCY not in task.memory and client:
        task.memory[CURRENCY] = first_said(
            f"{CURRENCY}.{client.account_key}",
            lambda: checked_currency(client.wallet(seconds=CALL_SECONDS).currency),
        )
    return task.memory.get(CURRENCY)


def checked_currency(said: Any) -> str | None:
    """Return a currency that can stand behind an amount; ``None`` for any other text."""
    if not isinstance(said, str):
        return None
    text = said.strip()
    fits = 0 < len(text) <= MAX_LENGTH and text.isprintable() and " " not in text
    return text if fits and not any(char.isdigit() for char in text) else None
