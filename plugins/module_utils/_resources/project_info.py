# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading projects, what they cost and how their services hang together (Projects)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from .._api.models import Project, ProjectGraph, ProjectSpend, plain
from .shared.account import Account
from .shared.options import Options, option
from .shared.plan import Plan, Resource, Task


@dataclass(frozen=True, kw_only=True)
class ProjectInfoOptions(Options):
    project: str | None = option(None, selects=True)
    include: list[Literal["services", "spend", "graph"]] = option([])


class ProjectInfoResource(Resource[ProjectInfoOptions]):
    result_key = "projects"

    def plan(self, task: Task[ProjectInfoOptions]) -> Plan:
        wanted = task.options.project
        projects = [task.account.project_to_come(wanted)] if wanted else task.account.projects()
        parts = task.options.include
        if not parts:
            return Plan(result=plain(projects))

        def read(account: Account, project: Project) -> dict[str, Any]:
            """Return a project with its parts, blank ones if the play is still to create it."""
            found, id, name = project.as_dict(), project.id, project.name
            if "services" in parts:
                found["services"] = plain(account.members(project))
            if "spend" in parts:
                spend = account.spend(id) if id else ProjectSpend.model_construct(name=name, services=[])
                found["spend"] = spend.as_dict()
            if "graph" in parts:
                blank = ProjectGraph.model_construct(name=name, nodes=[], edges=[])
                found["graph"] = (account.graph(id) if id else blank).as_dict()
            return found

        return Plan(result=task.account.each(projects, read))


PROJECT_INFO = ProjectInfoResource()
