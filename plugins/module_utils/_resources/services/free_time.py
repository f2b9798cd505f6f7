# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Services that are free until a date: what the platform does to them then is not shown."""

from __future__ import annotations

from ..._api.errors import HostedError
from ..._api.models import Service
from ..shared.currency import format_price
from ..shared.money import from_millicents
from ..shared.plan import Task
from .lookup import label
from .options import ServiceOptions
from .rates import millicents_of, rates_of
from .view import read_settings


def warn_of_free_end(task: Task[ServiceOptions], service: Service) -> None:
    """Warn of a service that was just ordered and is free until a date; the date is told as it is shown."""
    pricing = service.pricing
    if pricing is None or pricing.is_free is False or not pricing.free_expires_at:
        return
    task.warn(
        f"{label(service)} is shown as free until {pricing.free_expires_at}, and what happens then is not "
        f"shown: it may be billed{price_afterwards(task, service)}, suspended, or deleted with its backups. "
        "Before that date, copy what you need off the platform, and delete the service if it must not cost "
        "anything"
    )


def price_afterwards(task: Task[ServiceOptions], service: Service) -> str:
    """Return what a service may cost once it is no longer free, in brackets; empty if nothing shows it."""
    full = rates_of(service).full
    if full:
        return f" ({format_price(task, full)} a month)"
    try:
        settings = read_settings(task, service)
    except HostedError:  # the order is placed, so this is no reason to fail
        return ""
    scale = settings.scale if settings else None
    if scale is None:
        return ""
    size = {"cpu_cores": scale.cpu_cores, "ram_gb": scale.ram_gb, "storage_gb": scale.storage_gb}
    amount = millicents_of(scale, size)
    if not amount:
        return ""
    return f" ({format_price(task, from_millicents(amount))} a month by the rates of its node)"
