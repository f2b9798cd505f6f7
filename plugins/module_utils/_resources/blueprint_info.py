# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading existing projects as blueprints: the files that bring them under module blueprint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .._api.errors import Refused
from .._api.models import Edge, Project
from .blueprints.export import Export, Found, as_key, export_project, export_text, free_key
from .services.listing import ServiceQuery, read_listing, read_project
from .shared.account import Account
from .shared.options import Options, option
from .shared.plan import Plan, Resource, Task
from .shared.relocation_record import left_over


@dataclass(frozen=True, kw_only=True)
class BlueprintInfoOptions(Options):
    """Which project to read; all of them if it is ``None``."""

    project: str | None = option(None, selects=True)


class BlueprintInfoResource(Resource[BlueprintInfoOptions]):
    """One project or all of them, as blueprints."""

    result_key = "blueprints"

    def plan(self, task: Task[BlueprintInfoOptions]) -> Plan:
        account = task.account
        wanted = task.options.project
        projects = [account.project_to_come(wanted)] if wanted else account.projects()
        known = [project for project in projects if project.id]
        services = services_by_project(task, known)
        apps = account.apps_by_id()
        keys = account.ssh_keys()
        edges = dict(zip([p.id for p in known], account.each(known, read_edges), strict=True))
        left = left_over(task.options, task.warn).surely
        blueprints, files = [], dict[str, int]()
        for project in sorted(projects, key=lambda each: each.name):
            id, file = project.id, free_key(as_key(project.name), files)
            own = Found(project.name, services.get(id, []), apps, edges.get(id, []), keys, left)
            export = export_project(own)
            blueprint = {"project": project.name, "blueprint": export.data, "text": export_text(export)}
            place = {"project_id": id, "file_name": f"{file}.yml"}
            blueprints.append({**blueprint, "left_out": list(export.remarks), **place})
        return Plan(result=blueprints)


BLUEPRINT_INFO = BlueprintInfoResource()


def services_by_project(
    task: Task[BlueprintInfoOptions], projects: Sequence[Project]
) -> dict[str, list[dict[str, Any]]]:
    """Return the services of projects, with their settings and states, by the id of the project."""
    found: dict[str, list[dict[str, Any]]] = {project.id: [] for project in projects}
    if not found:
        return found
    query = ServiceQuery(settings=True, commands=True, metrics=True)
    of_one = task.options.project is not None
    listing = read_project(task.account, projects[0], query) if of_one else read_listing(task.account, query)
    for warning in listing.warnings:
        task.warn(f"{warning}. The blueprint may lack something that was set")
    for service in listing.services:
        found.setdefault(service["project_id"], []).append(service)
    return found


def read_edges(account: Account, project: Project) -> list[Edge]:
    """Return the references between the services of a project. Without them, only remarks are missing."""
    try:
        return account.graph(project.id).edges or []
    except Refused:
        return []


def read_export(task: Task[Any], project: Project) -> Export:
    """Return one project as a blueprint, without what would only be remarks."""
    listing = read_project(task.account, project, ServiceQuery())
    return export_project(Found(project.name, listing.services, task.account.apps_by_id()))
