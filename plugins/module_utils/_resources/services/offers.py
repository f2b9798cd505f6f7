# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a service offers while it is ACTIVE: in other statuses it may show less (Capabilities)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass

from ..._api.models import Service
from ..._api.values import ServiceStatus
from ..shared.plan import Task
from ..shared.store import Kind
from ..shared.task_errors import Invalid


@dataclass(frozen=True)
class Offers:
    """What a service offered when it was last ACTIVE, if that is known."""

    capabilities: Sequence[str] | None = None


OFFERS = Kind("offers", Offers, "what a service offers", hint=True)


def remember_offers(task: Task, service: Service) -> None:
    """Keep what an ACTIVE service offers. Without a record, only a deletion is refused more often."""
    with suppress(Invalid):
        OFFERS.of(task.options.base_url, service.id).write(Offers(service.capabilities))


def forget_offers(task: Task, id: str) -> None:
    """Remove the record of a service that is deleted."""
    with suppress(OSError):
        OFFERS.of(task.options.base_url, id).remove()


def offered_when_active(task: Task, service: Service) -> Collection[str] | None:
    """Return what a service offered when it was last ACTIVE, or what another one of its product offers.

    ``None`` if neither is known.
    """
    kept = OFFERS.of(task.options.base_url, service.id).read().capabilities
    if kept is not None:
        return kept
    slug = service.product.slug if service.product else None
    for other in task.account.services() if slug else ():
        if other.status == ServiceStatus.ACTIVE and other.product and other.product.slug == slug:
            active = task.account.service(other.id)
            return active.capabilities if active and active.status == ServiceStatus.ACTIVE else None
    return None
