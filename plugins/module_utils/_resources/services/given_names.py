# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Remembers services that the platform named otherwise than their order said.

The specification does not say that the platform keeps a name as it was sent. A task finds its service by the
name, so it would order one more in every run. The record is kept on the controller, by the name of the order
and its project, and counts as long as its service exists.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..._api.models import Project, Service, ServiceSummary
from ..shared.names import normalized
from ..shared.plan import Task
from ..shared.record_file import RecordFile
from ..shared.task_errors import Invalid
from .options import ServiceOptions

FOLDER = "given-names"


@dataclass(frozen=True)
class GivenNames:
    """The services that orders of a task's name and project became, or may have become, by another name."""

    task: Task[ServiceOptions]
    file: RecordFile

    @classmethod
    def of(cls, task: Task[ServiceOptions], project: Project | None) -> GivenNames:
        """Return the record of the orders of a task."""
        subject = f"{project.id if project else ''}\n{normalized(task.options.wanted_name)}"
        what = "how the platform named a service"
        return cls(task, RecordFile.of(FOLDER, what, None, task.options.base_url, subject))

    @classmethod
    def in_any(cls, task: Task[ServiceOptions], projects: Iterable[Project]) -> set[str]:
        """Return the ids of the services that orders of the task's name became, in one of these or none."""
        return {id for project in (None, *projects) for id in cls.of(task, project).read()}

    def read(self) -> dict[str, str]:
        """Return the names of the services by id. A damaged record holds none."""
        found = self.file.read()
        return {str(id): str(name) for id, name in found.items()} if isinstance(found, dict) else {}

    def remember(self, services: Iterable[Service | ServiceSummary]) -> None:
        """Add services. They are there, so a record that cannot be written is no reason to fail."""
        before = self.read()
        after = {**before, **{service.id: str(service.name) for service in services}}
        if after == before:
            return
        try:
            self.file.write(after)
        except Invalid as error:
            self.task.warn(f"{error.message}. Without that, the next run orders another service")
