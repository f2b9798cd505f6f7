# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Deleting a service, unless copies of its data that nobody gave up would go with it."""

from __future__ import annotations

from ..api.errors import Refused
from .plan import Plan, Step, Task
from .problems import Invalid
from .service_view import DELETED, DELETING, SUSPENDED, View, managed, read_settings
from .waiting import wait_until


def plan_removal(task: Task, id: str | None) -> Plan:
    """Plan the deletion of a service, unless it would take backups along that nobody gave up."""
    service = task.client.service(id) if id else None
    if service is None or service.status == DELETED:
        return Plan(result=None)
    view = View(service)
    if service.status == DELETING:
        if task.options["wait"] and not task.check_mode:
            wait_until_gone(task, service.id)
        return Plan(result=None)
    check_deletable(task, view)

    def delete() -> None:
        task.client.delete_service(service.id)
        if task.options["wait"]:
            wait_until_gone(task, service.id)

    return Plan(
        result=None,
        steps=[Step(f"delete {view.label} with its disk and its backups", delete)],
        before=managed(view, task.options, None),
    )


def check_deletable(task: Task, view: View) -> None:
    """Refuse to destroy what is locked, and completed backups unless ``delete_backups`` says so."""
    settings = read_settings(task, view.service)
    if settings is not None and settings.deletable is False:
        raise Invalid(f"{view.label} is locked against deletion by the platform")
    if task.options["delete_backups"]:
        return
    completed = completed_backups(task, view)
    if completed is None:
        raise Invalid(
            f"{view.label} may have backups, but they cannot be listed while its status is "
            f"{view.service.status}; "
            "deleting it would destroy them. Set delete_backups: true to delete it all the same"
        )
    if completed:
        raise Invalid(
            f"{view.label} has {len(completed)} completed backups, which would go with it: "
            f"{', '.join(completed[:5])}{' …' if len(completed) > 5 else ''}. Agree by delete_backups: true",
            backups=completed,
        )


def completed_backups(task: Task, view: View) -> list[str] | None:
    """Return the names of the completed backups; ``None`` when that cannot be known now (Capabilities)."""
    service = view.service
    if service.capabilities is not None and "backups" not in service.capabilities:
        return None if service.status == SUSPENDED else []
    try:
        backups = task.client.backups(service.id)
    except Refused:
        return None
    return [backup.name for backup in backups if backup.status == "COMPLETED"]


def wait_until_gone(task: Task, id: str) -> None:
    """Wait until the service is deleted."""
    wait_until(
        task,
        lambda: task.client.service(id),
        lambda service: service is None or service.status == DELETED,
        lambda service: f"its status is {service.status if service else DELETED}",
        "its deletion",
    )
