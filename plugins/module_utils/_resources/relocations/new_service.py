# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which service is the new one of a relocation: by the id that is remembered, or by its name."""

from __future__ import annotations

from ..._api.models import Service
from ..._api.values import ServiceStatus
from ..services.lookup import find_project, in_project, only_service
from ..services.namesakes import existing_services
from ..services.view import read_service
from ..shared.names import same_name
from ..shared.plan import Task
from ..shared.task_errors import Invalid
from .options import RelocateOptions
from .record import BEFORE_SWITCH, Relocation
from .work import Work


def read_new(work: Work) -> Service | None:
    """Return the new service, if it is there.

    :raises Invalid: if it is gone although it was in service.
    """
    content = work.record.content
    if content.new_id is None:
        return None
    service = work.task.client.service(content.new_id)
    if service is not None and service.status not in ServiceStatus.DELETING_OR_DELETED:
        return service
    if work.record.phase not in BEFORE_SWITCH:
        raise Invalid(
            f"{work.new_name} ({content.new_id}), which took the place of {work.origin.label}, was deleted. "
            "Nothing was done. state: returned brings the old one back into service"
        )
    gone, content.new_id = content.new_id, id_by_name(work.task, work.record)
    if content.new_id not in (None, gone):
        check_adopts(work.task, work.record, f"not the one that was ordered before, {gone}, which is gone")
    return read_service(work.task, content.new_id) if content.new_id else None


def find_made(task: Task[RelocateOptions], record: Relocation) -> None:
    """Find the new service by its name, if a run was killed before its id was known.

    :raises Ambiguous: if several in the project have the name.
    """
    content = record.content
    if content.new_id is None and content.new_name and content.project_id:
        content.new_id = id_by_name(task, record)


def id_by_name(task: Task[RelocateOptions], record: Relocation) -> str | None:
    """Return the id of the service in the project that has the new name.

    :raises Ambiguous: if several have it.
    """
    name = record.content.new_name
    project = find_project(task.client, str(record.content.project_id))
    same = [each for each in existing_services(task.client.services()) if same_name(each.name, name)]
    found = only_service(in_project(task.client, same, project), name)
    return found.id if found else None


def check_adopts(task: Task[RelocateOptions], record: Relocation, doubt: str) -> None:
    """Refuse a service of the new name that no relocation is known to have made, unless it is to be adopted.

    :raises Invalid: saying so. ``doubt`` is what speaks against it.
    """
    if task.options.existing != "adopt":
        raise Invalid(
            f"service {record.content.new_name!r} ({record.content.new_id}) has the name of the new service, "
            f"and is {doubt}. Nothing was done. Set another name; existing: adopt takes it for the new one, "
            "and overwrites what it holds"
        )
