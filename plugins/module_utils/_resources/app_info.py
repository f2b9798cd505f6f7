# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads applications, their releases and logs, and the nodes and projects for new ones (Applications)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from .._api.models import App, Release, plain
from .applications.lookup import check_slug
from .applications.releases import AppRecords
from .shared.account import Account
from .shared.identify import existing
from .shared.options import StateDirOptions, check_log_lines, option
from .shared.plan import Plan, Resource, Task


@dataclass(frozen=True, kw_only=True)
class AppInfoOptions(StateDirOptions):
    slug: str | None = option(None, selects=True)
    include: list[Literal["releases", "logs", "nodes", "projects"]] = option([])
    log_lines: int = 100


class AppInfoResource(Resource[AppInfoOptions]):
    result_key = "apps"

    def plan(self, task: Task[AppInfoOptions]) -> Plan:
        options, account = task.options, task.account
        check_log_lines(options.log_lines)
        if options.slug is not None:
            check_slug(options.slug)
        apps = existing(account.apps()) if options.slug is None else [account.app_to_come(options.slug)]
        if "nodes" in options.include:
            task.effects.facts["nodes"] = plain(account.app_nodes())
        if "projects" in options.include:
            task.effects.facts["projects"] = plain(task.client.app_projects())
        return Plan(result=account.each(apps, lambda account, app: app_with_parts(task, account, app)))


APP_INFO = AppInfoResource()


def app_with_parts(task: Task[AppInfoOptions], account: Account, app: App) -> dict[str, Any]:
    view = app.as_dict()
    if "releases" in task.options.include:
        releases, running = releases_of(account, app) if app.id else [], app.digest
        view["releases"] = [
            {**each, "in_service": running is not None and each["digest"] == running} for each in releases
        ]
        before, note = previous_release(releases, AppRecords.of(task, app.id), running)
        view["previous_release"], view["previous_release_note"] = before, note
    if "logs" in task.options.include:
        lines = account.client.app_logs(app.slug) if app.id else []
        view["logs"] = lines[-task.options.log_lines :]
    return view


def releases_of(account: Account, app: App) -> list[dict[str, Any]]:
    """Return the declared releases with their scans, oldest first, as far as the list shows when that was."""

    def read(account: Account, release: Release) -> dict[str, Any]:
        report = account.scan(release, app.slug)
        scan = {"scan_status": report.scan_status, "scanned_at": report.scanned_at}
        return {"tag": release.tag, "digest": release.digest, **scan, "created_at": release.created_at}

    found = account.each(account.releases(app.slug).values(), read)
    return sorted(found, key=lambda release: release["created_at"] or "")


def previous_release(
    releases: Sequence[dict[str, Any]], records: AppRecords, in_service: str | None
) -> tuple[dict[str, Any] | None, str | None]:
    """Return the release to roll back to, or ``None`` and a note on why it is unknown.

    The list also has releases that were never deployed or did not start, so it cannot tell by itself. Nor do
    the records tell of a deploy from another controller: then their last digest is not the one in service.
    """
    history, before = records.history, records.last_good(in_service)
    last = history.images[-1:] == [in_service]
    if before == in_service and last and history.failed not in (None, in_service):
        return None, (
            f"the deploy of {history.failed} failed, and what was in service before it is in service. To go "
            "further back, give the tag"
        )
    if before == in_service:
        before = history.images[-2] if last and len(history.images) > 1 else None
    if before is None and last:
        tag = next((each["tag"] for each in releases if each["digest"] == history.left), history.left)
        done = f"rolled back from {tag} to" if tag else "deployed"
        return None, f"this controller {done} what is in service, and knows of nothing before it"
    if before is None:
        return None, (
            "which image was in service before is not known on this controller: it has not deployed the one "
            "in service with hosted.services.app_deploy and the same state_dir"
        )
    for release in reversed(releases):
        if release["digest"] == before:
            return release, None
    return None, f"{before} was in service before, but no release names it any more; declare it again"
