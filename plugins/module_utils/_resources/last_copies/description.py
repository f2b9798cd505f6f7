# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What orders a service again: a task of the collection, with everything that the platform tells of it.

It holds no secrets. What it cannot hold is named in it, as the platform does not show it.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from ..._api.libraries import yaml
from ..._api.models import App, Service, Settings
from ..._api.text import in_one_line
from ..._api.values import ContainerState
from ..services.view import View
from ..shared.plan import Task

DESCRIPTION = "service.yml"
TEMPLATE = ("{{", "{%", "{#")
"""What Ansible would take for a template."""


class Unsafe(str):
    """A text that Ansible is to leave as it is, whatever it looks like."""


@cache
def dumper() -> Any:
    """Return what writes texts that look like templates so that nobody runs them."""

    class Dumper(yaml.SafeDumper):  # type: ignore[misc, name-defined, unused-ignore]
        """The library's own, with one type more."""

    def write(own: Any, text: Unsafe) -> Any:
        return own.represent_scalar("!unsafe", str(text), style='"')

    Dumper.add_representer(Unsafe, write)
    return Dumper


def describe_service(
    task: Task[Any], view: View, settings: Settings | None, app: App | None, made_at: str
) -> str:
    """Return a file of tasks that orders a service again, and leaves it stopped if it was stopped."""
    service = view.service
    if app is not None:
        module, options = "app", app_options(task, service, app)
    else:
        module, options = "service", service_options(task, view, settings)
    known = {name: value for name, value in options.items() if value is not None}
    tasks = [
        {
            "name": protected(f"Order service {service.name} again"),
            f"hosted.services.{module}": protected(known),
        }
    ]
    text = yaml.dump(tasks, Dumper=dumper(), sort_keys=False, allow_unicode=False, width=100)
    head = "".join(f"# {in_one_line(line)}\n" for line in heading(view, app, options, made_at))
    return f"{head}---\n{text}"


def heading(view: View, app: App | None, options: dict[str, Any], made_at: str) -> list[str]:
    """Return what is said above the task."""
    lines = [
        f"The last copy of {view.label} was made at {made_at}, before it was deleted.",
        "This file of tasks orders it again; include it in a play with ansible.builtin.include_tasks.",
        "The platform does not show these, so they are not in it: the variables and options of the order,",
        "the values of the environment, and the secrets that were generated with the order.",
        "The backups and snapshots on the platform were destroyed with the service.",
    ]
    if app is not None:
        lines.append(
            f"It ran the image {app.image_ref or 'that the platform does not name'}; see app_deploy."
        )
    if options.get("state") == "stopped":
        lines.append("It was stopped, and so is the new one; with state: present, it would run.")
    missing = [name for name in ("product", "host", "dimensions") if name in options and not options[name]]
    if missing:
        lines.append(f"The platform did not tell {' and '.join(missing)} either; add what is missing.")
    return lines


def service_options(task: Task[Any], view: View, settings: Settings | None) -> dict[str, Any]:
    """Return what orders a service, in the options of the module."""
    service = view.service
    network, deploy = settings and settings.network, settings and settings.deploy
    return {
        "name": service.name,
        "project": project_name(task, service),
        "family": service.family,
        "product": service.product.slug if service.product else None,
        "runtime": service.runtime.id if service.runtime else None,
        "host": service.host.id if service.host else None,
        "dimensions": size_of(service),
        "public": network.is_public if network else None,
        "command": (deploy.command or None) if deploy else None,
        "state": "stopped" if view.state == ContainerState.STOPPED else "present",
    }


def app_options(task: Task[Any], service: Service, app: App) -> dict[str, Any]:
    """Return what creates an application, in the options of the module."""
    return {
        "slug": app.slug,
        "project": project_name(task, service),
        "host": service.host.id if service.host else None,
        "dimensions": size_of(service),
    }


def size_of(service: Service) -> dict[str, Any] | None:
    """Return the size of a service; nothing where the platform does not tell all of it."""
    if service.dimensions is None:
        return None
    size = service.dimensions.model_dump(include={"cpu_cores", "ram_gb", "storage_gb"})
    return None if None in size.values() else size


def project_name(task: Task[Any], service: Service) -> str | None:
    """Return the name of the project of a service, which outlives its id where it is made anew."""
    if service.project_id is None:
        return None
    names = {project.id: project.name for project in task.client.projects()}
    return names.get(service.project_id) or service.project_id


def protected(value: Any) -> Any:
    """Return data in which texts that look like templates are marked as none."""
    if isinstance(value, dict):
        return {key: protected(item) for key, item in value.items()}
    if isinstance(value, str):
        return Unsafe(value) if any(mark in value for mark in TEMPLATE) else str(value)
    return value
