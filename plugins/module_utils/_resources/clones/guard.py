# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What keeps a clone or a recovery from being written anywhere but where it is: each write asks this."""

from __future__ import annotations

from ..._api.client import Client
from ..._api.models import Service
from ..services.lookup import label
from ..services.view import read_service
from ..shared.plan import Task
from ..shared.task_errors import Invalid
from .target import MadeRecord


def check_own(
    task: Task, id: str, source_id: str | None, project_id: str | None, whole: str = "clone"
) -> Service:
    """Return the service that is about to be written, read again.

    :param source_id: the service that is copied from, if that is on the platform.
    :param whole: what the service belongs to, for messages.
    :raises Invalid: if it is the source, or not in the project of the whole.
    """
    if id == source_id:
        raise Invalid(f"service {id} is the source of the {whole}; nothing was written to it")
    service = read_service(task, id)
    if project_id is None or service.project_id != project_id:
        raise Invalid(f"{label(service)} is not in the project of the {whole}; nothing was written to it")
    return service


def check_made(record: MadeRecord, original: str, id: str, client: Client, what: str) -> None:
    """Check that what is there was made for the whole, before it is taken for that.

    :param what: names it, for messages.
    :raises Invalid: if somebody else made it since the whole was looked at.
    """
    if not record.takes(original, id, client):
        raise Invalid(
            f"{what} ({id}) appeared meanwhile, and this {record.subject} did not make it, so nothing was "
            "written to it. Run this again, which decides by existing what becomes of it"
        )
