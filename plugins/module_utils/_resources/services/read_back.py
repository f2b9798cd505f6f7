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
from ..shared.waiting import QUIET_SECONDS, poll_for
from .options import ServiceOptions
from .settings import ServiceChanges, is_same_command
from .view import View, observe


def await_changes_shown(task: Task[ServiceOptions], view: View, changes: ServiceChanges) -> View:
    """Return the service once it shows what was written; warn of what it does not show.

    Without ``wait`` it is read once, and nothing is said of what may come later.
    """
    now = observe(task, view.service.id)
    if not task.options.wait or not unconfirmed_settings(now, changes):
        return now

    def shown() -> bool:
        nonlocal now
        now = observe(task, view.service.id)
        return not unconfirmed_settings(now, changes)

    if not poll_for(shown):
        told = ", ".join(f"{name} ({value})" for name, value in unconfirmed_settings(now, changes).items())
        task.warn(
            f"the platform accepted {told} of {view.label}, but shows something else after "
            f"{QUIET_SECONDS:g} seconds. Look at the service before running this again"
        )
    return now


def unconfirmed_settings(now: View, changes: ServiceChanges) -> dict[str, Any]:
    """Return what was written and is shown otherwise. What is not shown at all says nothing."""
    service, settings = now.service, now.settings
    size = service.dimensions.as_dict() if service.dimensions else {}
    wanted_size = changes.after.get("dimensions", {})
    shown = {
        "public": settings.network.is_public if settings and settings.network else None,
        "command": settings.deploy.command if settings and settings.deploy else None,
        "dimensions": {name: size.get(name) for name in wanted_size} or None,
        "project": service.project_id,
    }
    wanted = {**changes.after, "project": changes.result.get("project_id")}
    return {
        name: wanted[name]
        for name, value in shown.items()
        if wanted.get(name) is not None
        and value is not None
        and not is_setting_equal(name, value, wanted[name])
    }


def is_setting_equal(name: str, value: Any, wanted: Any) -> bool:
    """Tell whether a setting is shown as it was written."""
    return is_same_command(value, wanted) if name == "command" else bool(value == wanted)
