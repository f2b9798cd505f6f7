# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Remembers what orders became: services that the platform named otherwise, and the last one of each name.

A task finds its service by the name, so it would order one more in every run if the platform names it
otherwise. The records are kept on the controller, by the name of the order and its project, and count as long
as the service exists.

What was ordered with ``allow_duplicate_name`` is recorded in a second file as well. Tasks with that option
read that file alone: they order another service beside those without it, but only one.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..._api.models import Project, Service
from ..shared.plan import Task
from ..shared.record_file import RecordFile
from ..shared.task_errors import Invalid
from .options import ServiceOptions

FOLDER = "given-names"


@dataclass(frozen=True)
class GivenNames:
    """The services that orders of a task's name and project became by another name."""

    task: Task[ServiceOptions]
    files: tuple[RecordFile, ...]
    """Those that an order adds to. The last one holds what counts for the task."""

    @classmethod
    def of(cls, task: Task[ServiceOptions], project: Project | None) -> GivenNames:
        """Return the record of the orders of a task."""
        subject = f"{project.id if project else ''}\n{task.options.wanted_name}"
        subjects = [subject]
        if task.options.allow_duplicate_name:
            subjects.append(f"{subject}\nallow_duplicate_name")
        return cls(task, tuple(record_of(task, each) for each in subjects))

    @property
    def path(self) -> str:
        """The file of what counts for the task."""
        return self.files[-1].path

    def read(self) -> dict[str, str]:
        """Return the names of the services by id."""
        return names_in(self.files[-1])

    def remember(self, service: Service) -> None:
        """Add a service. It is there, so a record that cannot be written is no reason to fail."""
        for file in self.files:
            write(self.task, file, {**names_in(file), service.id: str(service.name)})


def remember_order(task: Task[ServiceOptions], project: Project | None, id: str) -> None:
    """Remember what was ordered for a project, by its name: it may be deleted, and made anew."""
    if project is not None:
        write(task, order_record(task, project.name), {id: task.options.wanted_name})


def order_record(task: Task[ServiceOptions], project: str) -> RecordFile:
    """Return the record of what was last ordered by the task's name for a project of this name."""
    return record_of(task, f"{project}\n{task.options.wanted_name}\nordered")


def record_of(task: Task[ServiceOptions], subject: str) -> RecordFile:
    """Return the record of a subject."""
    return RecordFile.of(FOLDER, "what an order became", None, task.options.base_url, subject)


def write(task: Task[ServiceOptions], file: RecordFile, names: dict[str, str]) -> None:
    """Write a record. The service is there, so one that cannot be written is no reason to fail."""
    try:
        file.write(names)
    except Invalid as error:
        task.warn(f"{error.message}. Without that, a later run may order another service")


def names_in(file: RecordFile) -> dict[str, str]:
    """Return the names of services by id. A damaged record holds none."""
    found = file.read()
    return {str(id): str(name) for id, name in found.items()} if isinstance(found, dict) else {}
