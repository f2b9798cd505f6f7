# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a service shows the settings that were written (Settings).

The answers of these writes are not shown, nor how soon a read tells of them. A task that ends before would
let the next one write again, and a network change that is written twice may restart the service twice.
"""

from __future__ import annotations

from typing import Any

from ..shared.plan import Task
from ..shared.task_errors import Invalid
from ..shared.waiting import QUIET_SECONDS, poll_for
from .options import ServiceOptions
from .rates import note_billed
from .settings import ServiceChanges
from .view import View, observe


def await_changes_shown(task: Task[ServiceOptions], view: View, changes: ServiceChanges) -> View:
    """Return the service once it shows what was written; warn of what it does not show.

    Without ``wait`` it is read once, and nothing is said of what may come later.

    :raises Invalid: if it does not show the size, which is billed.
    """
    now = observe(task, view.service.id)
    missing = unconfirmed_settings(now, changes)

    def shown() -> bool:
        nonlocal now, missing
        now = observe(task, view.service.id)
        missing = unconfirmed_settings(now, changes)
        return not missing

    if task.options.wait and missing and not poll_for(shown):
        told = ", ".join(f"{name} ({value})" for name, value in missing.items())
        said = (
            f"the platform accepted {told} of {view.label}, but shows something else after "
            f"{QUIET_SECONDS:g} seconds. Check the service before you run this again"
        )
        if "dimensions" not in missing:
            task.warn(said)
        else:
            if changes.cost is not None:
                note_billed(
                    task, now.service, changes.cost, changes.result.get("status", view.service.status)
                )
            raise Invalid(said)
    return now


def unconfirmed_settings(now: View, changes: ServiceChanges) -> dict[str, Any]:
    """Return what was written and is shown otherwise. What is not shown at all says nothing."""
    wanted = {**changes.after, "project": changes.result.get("project_id")}
    return {
        name: wanted[name]
        for name, value in shown_settings(now).items()
        if wanted.get(name) is not None and value is not None and value != wanted[name]
    }


def shown_settings(view: View) -> dict[str, Any]:
    """Return the settings that can be written, as they are shown; ``None`` for what is not shown."""
    service, settings = view.service, view.settings
    parts = {"cpu_cores", "ram_gb", "storage_gb"}
    size = service.dimensions.model_dump(include=parts) if service.dimensions else {None: None}
    return {
        "public": settings.network.is_public if settings and settings.network else None,
        "command": settings.deploy.command if settings and settings.deploy else None,
        "dimensions": None if None in size.values() else size,
        "project": service.project_id,
    }
