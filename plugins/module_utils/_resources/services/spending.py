# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The running rate of an account, service by service, as the platform shows it.

The list of services is promised to show a new one at once, but only its full rate. The full form shows what
is billed now. The billing overview has one figure for all, whose month and rounding are not shown, so it does
not tell whether a budget is kept.
"""

from __future__ import annotations

from decimal import Decimal

from ..._api.client import Client
from ..._api.models import Pricing, Service, ServiceSummary
from ..._api.values import ServiceStatus
from ..shared.budget import Holding
from ..shared.money import rate_from
from ..shared.parallel import run_parallel
from .lookup import existing_services, find_staying

SETTLED = (ServiceStatus.ACTIVE, ServiceStatus.SUSPENDED, ServiceStatus.FAILED)
"""The statuses in which the rate that is billed now stays. The others lead to the full rate."""
CREATED_LATER = (ServiceStatus.PROVISIONING, ServiceStatus.AWAITING_ADMIN)


def read_holdings(client: Client, each: bool) -> dict[str, Holding]:
    """Return the services of the account with their rates, by id.

    ``each`` reads every service by itself, which shows its project and what is billed now. Otherwise only
    those are read whose rate the list does not show.
    """
    listed = existing_services(client.services())
    asked = [service for service in listed if each or not shows_rate(service)]
    details = run_parallel(client, asked, lambda clone, service: find_staying(clone, service.id))
    found = dict(zip((service.id for service in asked), details, strict=True))
    return {
        service.id: holding_of(service, found.get(service.id))
        for service in listed
        if found.get(service.id, service) is not None  # gone since
    }


def shows_rate(service: ServiceSummary) -> bool:
    """Tell whether the list shows what a service costs, or is going to cost."""
    if service.monthly_millicents is None:
        return False
    if service.is_free:
        return service.monthly_millicents == 0
    return service.status in (ServiceStatus.ACTIVE, *CREATED_LATER)


def holding_of(service: ServiceSummary, detail: Service | None) -> Holding:
    """Return what a service counts as."""
    home = detail.project_id if detail else None
    return Holding(
        service.id,
        service.name,
        rate_of(service, detail),
        frozenset([home]) if home else None,
    )


def rate_of(service: ServiceSummary, detail: Service | None) -> Decimal | None:
    """Return the monthly rate that counts against a budget; ``None`` if it is unknown."""
    pricing = (detail.pricing if detail else None) or Pricing.model_construct()
    status = detail.status if detail else service.status
    billed, storage = (
        rate_from(pricing.billed_monthly_millicents),
        rate_from(pricing.storage_monthly_millicents),
    )
    full = rate_from(service.monthly_millicents)
    full = rate_from(pricing.monthly_millicents) if full is None else full
    if billed is not None and status in SETTLED:
        return billed
    if status == ServiceStatus.SUSPENDED and storage is not None:
        return storage
    if billed is not None and full is not None:
        return max(billed, full)
    return Decimal(0) if service.is_free and full is None else full
