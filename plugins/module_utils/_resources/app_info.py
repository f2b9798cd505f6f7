# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads applications, their releases and logs, and the nodes and projects for new ones (Applications)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from .._api.models import App, plain
from .applications.lookup import (
    app_to_come,
    app_view,
    check_slug,
    digest_in_service,
)
from .applications.records import AppRecords
from .applications.releases import all_releases, previous_release, read_declared
from .shared.identify import existing
from .shared.limits import check_log_lines
from .shared.options import StateDirOptions, option
from .shared.parallel import run_parallel
from .shared.plan import Plan, Resource, Task

PARTS = ["releases", "logs", "nodes", "projects"]


@dataclass(frozen=True, kw_only=True)
class AppInfoOptions(StateDirOptions):
    """The options of module app_info."""

    slug: str | None = option(None, selects=True)
    include: list[Literal["releases", "logs", "nodes", "projects"]] = option([])
    log_lines: int = 100


class AppInfoResource(Resource[AppInfoOptions]):
    """One application or all of them."""

    result_key = "apps"

    def plan(self, task: Task[AppInfoOptions]) -> Plan:
        """Read; there is nothing to do."""
        check_log_lines(task.options.log_lines)
        apps = requested_apps(task)
        parts = task.options.include
        if "nodes" in parts:
            task.effects.facts["nodes"] = plain(task.account.app_nodes())
        if "projects" in parts:
            task.effects.facts["projects"] = plain(task.client.app_projects())
        return Plan(
            result=run_parallel(
                task.client, apps, lambda client, app: app_with_parts(replace(task, client=client), app)
            )
        )


APP_INFO = AppInfoResource()


def requested_apps(task: Task[AppInfoOptions]) -> list[App]:
    """Return the selected application, or all.

    :raises NoSuchItem: if there is none with this slug.
    """
    slug = task.options.slug
    if slug is None:
        return existing(task.account.apps())
    check_slug(slug)
    return [app_to_come(task, slug)]


def app_with_parts(task: Task[AppInfoOptions], app: App) -> dict[str, Any]:
    """Return an application with the requested parts, each under its own key."""
    view = app_view(app)
    parts = task.options.include
    if "releases" in parts:
        releases = all_releases(task, app.slug, read_declared(task.account, app.slug)) if app.id else []
        in_service = digest_in_service(app)
        view["releases"] = [
            {**release.as_dict(), "in_service": in_service is not None and release.digest == in_service}
            for release in releases
        ]
        before, note = previous_release(releases, AppRecords.of(task, app.id), in_service)
        view["previous_release"] = before.as_dict() if before else None
        view["previous_release_note"] = note
    if "logs" in parts:
        lines = task.client.app_logs(app.slug) if app.id else []
        view["logs"] = lines[-task.options.log_lines :]
    return view
