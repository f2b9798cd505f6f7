# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Services that are free until a date: what the platform does to them then is not shown."""

from __future__ import annotations

from ..._api.models import Service
from ..shared.plan import Task
from .lookup import label
from .options import ServiceOptions


def warn_of_free_end(task: Task[ServiceOptions], service: Service) -> None:
    """Warn of a service that was just ordered and is free until a date; the date is told as it is shown."""
    pricing = service.pricing
    if pricing is None or pricing.is_free is False or not pricing.free_expires_at:
        return
    task.warn(
        f"{label(service)} is shown as free until {pricing.free_expires_at}, and what happens then is not "
        "shown: it may be billed, suspended, or deleted with its backups. Before that date, copy what you "
        "need off the platform, and delete the service if it must not cost anything"
    )
