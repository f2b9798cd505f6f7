# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading existing projects as blueprints, and comparing a project with the blueprint that it has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from .._api.errors import Refused
from .._api.models import Edge, Project
from .blueprints.applied import last_applied
from .blueprints.comparison import DRIFT, Comparison, not_in_file, plan_without_size
from .blueprints.document import SourceOptions
from .blueprints.export import Export, Found, as_key, export_project, export_text, free_key
from .blueprints.hiding import OnBlueprint
from .blueprints.members import find_home
from .services.listing import ServiceQuery, read_listing, read_project
from .shared.account import Account
from .shared.options import option
from .shared.plan import Plan, Task
from .shared.relocation_record import left_over


@dataclass(frozen=True, kw_only=True)
class BlueprintInfoOptions(SourceOptions):
    """Which project to read, all if it is ``None``; or which blueprint to compare with its project."""

    project: str | None = option(None, selects=True)
    allow_lookups: bool = False
    """Read by the action, which renders the file."""


class BlueprintInfoResource(OnBlueprint[BlueprintInfoOptions]):
    """One project or all of them, as blueprints; or a project beside its blueprint."""

    result_key = "blueprints"
    rules: ClassVar[dict[str, Any]] = {"mutually_exclusive": [("project", "src", "blueprint")]}

    def plan(self, task: Task[BlueprintInfoOptions]) -> Plan:
        if task.options.src is None and task.options.blueprint is None:
            return Plan(result=exported(task))
        task.effects.facts["drift"] = compared(task)
        return Plan(result=[])


BLUEPRINT_INFO = BlueprintInfoResource()


# --- Projects as blueprints ---------------------------------------------------------------------------


def exported(task: Task[BlueprintInfoOptions]) -> list[dict[str, Any]]:
    """Return projects as data and as text, sorted by name."""
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
    return blueprints


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


# --- A project beside its blueprint -------------------------------------------------------------------


def compared(task: Task[BlueprintInfoOptions]) -> dict[str, Any]:
    """Return in what a blueprint and its project differ."""
    # It takes a third of a second to import what makes a project, which an export does without.
    from .blueprint import Assembly, planned, read_checked  # noqa: PLC0415

    # What an apply would warn of is none of this.
    task = replace(task, check_mode=True, warnings=[])
    contents = read_checked(task)
    parts = planned(task, Assembly(task, contents).add_all())
    refused = plan_without_size(parts)
    comparison = Comparison(contents, parts.found, last_applied(task.options, contents.project), refused)
    found = [*comparison.differences()]
    home = find_home(task.account.projects(), contents)
    if home is not None:
        found += not_in_file(task, read_export(task, home), comparison)
    return {
        "project": contents.project,
        "drifted": any(each.kind in DRIFT for each in found),
        "differences": [each.as_dict() for each in found],
    }


def read_export(task: Task[Any], project: Project) -> Export:
    """Return one project as a blueprint, without what would only be remarks."""
    listing = read_project(task.account, project, ServiceQuery())
    return export_project(Found(project.name, listing.services, task.account.apps_by_id()))
