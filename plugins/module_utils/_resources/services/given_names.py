# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Remembers services that the platform named otherwise than their order said.

The specification does not say that the platform keeps a name as it was sent. A task finds its service by the
name, so it would order one more in every run. The record is kept on the controller, by the name of the order
and its project, and counts as long as its service exists.

What was ordered with ``allow_duplicate_name`` is recorded in a second file as well, by the very name. Tasks
with that option read that file alone: they order another service beside those without it, but only one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ..._api.models import Project, Service, ServiceSummary
from ..shared.names import may_be_one, normalized
from ..shared.plan import Task
from ..shared.record_file import RecordFile
from ..shared.task_errors import Invalid
from .options import ServiceOptions

FOLDER = "given-names"


@dataclass(frozen=True)
class GivenNames:
    """The services that orders of a task's name and project became, or may have become, by another name."""

    task: Task[ServiceOptions]
    files: tuple[RecordFile, ...]
    """Those that an order adds to. The last one holds what counts for the task."""

    @classmethod
    def of(cls, task: Task[ServiceOptions], project: Project | None) -> GivenNames:
        """Return the record of the orders of a task."""
        home, name = project.id if project else "", task.options.wanted_name
        subjects = [f"{home}\n{normalized(name)}"]
        if task.options.allow_duplicate_name:  # then names that differ only in their spelling are two
            subjects.append(f"{home}\n{name}\nallow_duplicate_name")
        what, base_url = "how the platform named a service", task.options.base_url
        return cls(task, tuple(RecordFile.of(FOLDER, what, None, base_url, each) for each in subjects))

    @classmethod
    def in_any(cls, task: Task[ServiceOptions], projects: Iterable[Project]) -> set[str]:
        """Return the ids of the services that orders of the task's name became, in one of these or none."""
        return {id for project in (None, *projects) for id in names_in(cls.of(task, project).files[0])}

    @property
    def path(self) -> str:
        """The file of what counts for the task."""
        return self.files[-1].path

    def read(self) -> dict[str, str]:
        """Return the names of the services by id."""
        return names_in(self.files[-1])

    def needs(self, name: str | None) -> bool:
        """Tell whether the next run would order again, as it does not recognize a service of this name.

        A name that differs only in what a platform may change stops an order, unless duplicates are allowed.
        """
        wanted, allowed = self.task.options.wanted_name, self.task.options.allow_duplicate_name
        return name not in (None, wanted) and (allowed or not may_be_one(str(name), wanted))

    def remember(self, services: Iterable[Service | ServiceSummary]) -> None:
        """Add services. They are there, so a record that cannot be written is no reason to fail."""
        new = {service.id: str(service.name) for service in services}
        self._change(lambda names: {**names, **new})

    def forget(self, id: str) -> None:
        """Remove a service that turned out to have the name of its order."""
        self._change(lambda names: {other: name for other, name in names.items() if other != id})

    def _change(self, change: Callable[[dict[str, str]], dict[str, str]]) -> None:
        for file in self.files:
            before = names_in(file)
            after = change(before)
            if after == before:
                continue
            try:
                file.write(after)
            except Invalid as error:
                self.task.warn(f"{error.message}. Without that, the next run orders another service")


def names_in(file: RecordFile) -> dict[str, str]:
    """Return the names of services by id. A damaged record holds none."""
    found = file.read()
    return {str(id): str(name) for id, name in found.items()} if isinstance(found, dict) else {}
