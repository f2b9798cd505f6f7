# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which service is the new one of a relocation: by the id that is remembered, or by its name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._api.models import Service, ServiceSummary
from ..._api.values import ServiceStatus
from ..services.rates import rates_of
from ..services.settings import check_max_monthly
from ..shared.identify import (
    came_up,
    label,
    only_service,
    with_name,
)
from ..shared.plan import Task
from ..shared.relocation_record import BEFORE_SWITCH, Phase, Relocation
from ..shared.task_errors import Invalid
from .options import RelocateOptions
from .origin import asked_by_task, asked_of, differing, wanted_order
from .work import Work


def read_new(work: Work) -> Service | None:
    """Return the new service, if it is there."""
    content = work.record.content
    if content.new_id is None:
        return None
    service = work.task.account.service(content.new_id)
    if service is not None and service.status not in ServiceStatus.DELETING_OR_DELETED:
        return service
    if work.record.phase not in BEFORE_SWITCH:
        raise Invalid(
            f"{work.new_name} ({content.new_id}), which took the place of {work.origin.label}, was deleted. "
            "Nothing was done. state: returned brings the old one back into service"
        )
    content.new_id = content.sent = None  # so that nothing of its name is taken for it, unless that is said
    find_made(work.task, work.record)
    return work.task.account.existing_service(content.new_id) if content.new_id else None


def check_as_asked(work: Work, there: Service) -> None:
    """Check that the new service is what the task asks for: an earlier task may have ordered another one."""
    order = wanted_order(work.task, work.origin)
    found = differing(asked_of(order), there, work.record.content.asked)
    if found:
        raise Invalid(
            f"{label(there)}, which an earlier task ordered for this, has {told(found)}. Nothing was done. "
            "Repeat the task that ordered it; or go back with state: returned, and delete it with state: "
            "finished before you order another one"
        )
    rate = rates_of(there).full
    if rate is not None:
        check_max_monthly(work.task, rate, label(there))


def check_ordered(work: Work, id: str) -> None:
    """Check that what has the name of the new service is that: it had not when the name was chosen."""
    if work.task.options.existing == "adopt":
        return
    if not any(each.id == id for each in of_order(work.task, work.record)):
        raise Invalid(
            f"{work.new_name} ({id}) appeared meanwhile, and this relocation did not order it. Nothing was "
            "ordered, and nothing written to it. Run this again, which takes the next number, or give "
            "another name; existing: adopt takes it for the new one, and overwrites what it holds"
        )


def check_kept(task: Task[RelocateOptions], record: Relocation) -> None:
    """Check that a service that was relocated is what the task asks for."""
    content = record.content
    service = task.account.service(content.new_id) if content.new_id else None
    if service is None:
        return
    found = differing(asked_by_task(task.options), service, content.asked)
    if found:
        raise Invalid(
            f"service {content.old_name!r} was relocated, and {label(service)}, which took its place, has "
            f"{told(found)}. Nothing was done. To relocate that one, name it; state: returned brings the old "
            "one back"
        )


def told(found: Mapping[str, tuple[Any, Any]]) -> str:
    return ", ".join(f"{name} {is_!r}, not {wanted!r}" for name, (is_, wanted) in found.items())


def find_made(task: Task[RelocateOptions], record: Relocation) -> None:
    """Find the new service by its name, if a run was killed before its id was known.

    Anybody can make another one of that name. So the new one is the only one that came up with the order.

    :raises Invalid: if several did, or none, and the task is to bring the new one into service.
    """
    content = record.content
    if content.new_id is not None or not content.new_name or not content.project_id:
        return
    if record.phase is Phase.NONE:
        found = only_service(services_by_name(task, record), content.new_name)
        content.new_id = found.id if found else None
        return
    own = of_order(task, record)
    if len(own) > 1:
        raise Invalid(
            f"{', '.join(map(label, own))} were created when the new service was ordered, and the response "
            "was lost, so which one it is is not known. Nothing was done. Delete the one that nobody needs"
        )
    if own:
        content.new_id = own[0].id
    elif same := services_by_name(task, record):
        told = ", ".join(f"{label(each)}, created at {each.created_at}," for each in same)
        if task.options.state != "relocated":  # on the way back, it stays as it is
            task.warn(f"{told} is not known to be the one that was ordered for this, and stays as it is")
            return
        check_adopts(task, told, "not known to be the one that was ordered for this")
        only = only_service(same, content.new_name)
        content.new_id = only.id if only else None


def of_order(task: Task[RelocateOptions], record: Relocation) -> list[ServiceSummary]:
    """Return the services of the new name that came up with the order."""
    found = services_by_name(task, record)
    return [each for each in found if came_up(each.created_at, record.content.sent)]


def services_by_name(task: Task[RelocateOptions], record: Relocation) -> list[ServiceSummary]:
    project = task.account.project(str(record.content.project_id))
    return with_name(task.account.members(project), str(record.content.new_name), None)


def check_adopts(task: Task[RelocateOptions], named: str, doubt: str) -> None:
    """Refuse a service of the new name that no relocation is known to have made, unless it is to be adopted.

    :param doubt: what speaks against it.
    """
    if task.options.existing != "adopt":
        raise Invalid(
            f"{named} has the name of the new service, and is {doubt}. Nothing was done. Set another name; "
            "existing: adopt takes it for the new one, and overwrites what it holds"
        )
