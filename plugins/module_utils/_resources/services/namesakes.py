# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is on the account by the name of a service to order or delete.

A service of that name in another project is another service. But services of a deleted project join the
default project, where the playbook that ordered them no longer looks. So an order stops if the default
project has the very service that was ordered for the task's project, and warns of any other of its name and
product.

The specification does not show which project is the default one. It cannot be deleted and every account has
one, so the oldest is assumed. A project of unknown age may be it, too.

How a service was ordered is remembered by its id. If the platform gave it another name than was asked for,
the entry of the order stays in the journal: a task would not find it, and order one more in every run.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field

from ..._api.models import Project, Service, ServiceSummary
from ..._api.values import WITH_SETTINGS
from ..shared import journal
from ..shared.identify import existing, label, oldest_projects, with_name
from ..shared.names import likely_meant, look_alike, same_name
from ..shared.pending import Prints
from ..shared.plan import Task
from ..shared.run_memory import run_id
from ..shared.secrets_file import ORDERED as ONE_TIME
from ..shared.store import Kind
from ..shared.task_errors import Invalid
from .options import ServiceOptions

ORDERING = "order:"
"""The beginning of the subject of the lock for orders of a name, including applications with this slug."""

# --- What was ordered -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ordered:
    """How a service was ordered: for the project of this name, in this run, with what an order alone uses."""

    project: str | None = None
    run: str | None = None
    settings: Prints = field(default_factory=Prints)


ORDERED = Kind("orders", Ordered, "the record of what was ordered")


def named_otherwise(
    task: Task[ServiceOptions], services: Iterable[ServiceSummary]
) -> tuple[ServiceSummary, str] | None:
    """Return what an order of the task's name became under another name, and the file that remembers it."""
    name, known = task.options.wanted_name, {each.id: each for each in services}
    for record, entry in journal.opened(task.options.base_url, f"{ONE_TIME}:{name}").items():
        found = known.get(entry.id)
        if found is not None and not same_name(found.name, name):
            return found, record.path
    return None


# --- Before an order --------------------------------------------------------------------------------


def check_namesakes(
    task: Task[ServiceOptions], project: Project | None, services: Iterable[ServiceSummary]
) -> None:
    """Check that an order would not duplicate one of the account's ``services``.

    The family of a product is not shown before an order, but is the same for every order of it.

    :raises Invalid: naming the existing service and the alternatives.
    """
    services, family = existing(services), task.options.family
    for other in of_product(task, services):
        if family not in (None, other.family):
            raise Invalid(
                f"service {other.name!r} ({other.id}) of this product is of family {other.family}, not "
                f"{family}. Nothing was ordered. Correct the family, or leave it out",
                namesakes=[other.id],
            )
    known = named_otherwise(task, services)
    if known is not None and task.account.within([known[0]], project):
        found, path = known
        raise Invalid(
            f"{label(found)} is what an earlier order of {task.options.wanted_name!r} became, as the "
            f"platform gave it another name. Nothing was ordered. Use that name, or id: {found.id}; or "
            f"remove {path}, to order another one",
            namesakes=[found.id],
        )


def of_product(task: Task[ServiceOptions], services: Iterable[ServiceSummary]) -> list[ServiceSummary]:
    """Return the services of the name and product that the task orders."""
    named = with_name(services, task.options.wanted_name, None)
    return [each for each in named if each.product is None or each.product.slug == task.options.product]


def check_other_projects(task: Task[ServiceOptions], project: Project | None) -> None:
    """Check whether another project has what the task orders; warn if it may.

    That is the default project, or one whose only service of the name has the product and size: the task's
    project may have been edited.

    :raises Invalid: if that is the very service that was ordered for it, saying how to move it.
    """
    account = task.account
    services = existing(account.services())
    if task.check_mode:
        warn_of_slip(task, services, ", so one would be ordered")
    others = [] if project is None or task.options.allow_duplicate_name else of_product(task, services)
    if project is None or not others:
        return
    alone = len(with_name(services, task.options.wanted_name, None)) == 1
    projects = account.projects()
    defaults = [each for each in projects if each.id in oldest_projects(projects) and each.id != project.id]
    there = {service.id for each in defaults for service in account.members(each)}
    for other in others:
        move = f"hosted.services.service, id: {other.id} and new_project: {project.name!r}"
        if other.id not in there:
            if alone and not task.composition.copies:
                warn_of_one_left_behind(task, project, account.service(other.id), move)
        elif ORDERED.of(task.options.base_url, other.id).read().project == project.name:
            raise Invalid(
                f"{label(other)} was ordered for project {project.name!r} and is in the default project, as "
                "far as can be told: services of a project that was deleted join it. Nothing was ordered. "
                f"Move it with {move}; or set allow_duplicate_name: true, to order another one",
                namesakes=[other.id],
            )
        elif not task.composition.copies:  # as those of a copy are, which has a project of its own
            task.warn(
                f"{label(other)} of this product is in the default project, which services of a deleted "
                "project join, as far as can be told. Another one is ordered. If that one is meant, move it: "
                f"{move}"
            )


def warn_of_one_left_behind(
    task: Task[ServiceOptions], project: Project, service: Service | None, move: str
) -> None:
    """Warn of a service that stays in another project and is billed, if it has the size of the order.

    Not if this run has ordered both.
    """
    home = next((each for each in task.account.projects() if service and each.id == service.project_id), None)
    wanted = task.options.dimensions.as_dict() if task.options.dimensions else {}
    if service is None or home is None:
        return
    if any(getattr(service.dimensions, name, None) != value for name, value in wanted.items()):
        return
    if run_id() and ORDERED.of(task.options.base_url, service.id).read().run == run_id():
        return
    way = f". To move that one instead: {move}" if service.family in WITH_SETTINGS else ""
    names = f"name: {home.name!r} and new_name: {project.name!r}"
    rename = "" if project.resource_count else f". To rename the project: hosted.services.project, {names}"
    task.warn(
        f"{label(service)} of this product and size stays in project {home.name!r} and is billed; another "
        f"one is ordered{way}{rename}"
    )


def warn_of_slip(task: Task[ServiceOptions], services: list[ServiceSummary], then: str = "") -> None:
    """Warn in check mode of the service whose name is probably meant."""
    name = task.options.wanted_name
    if not task.composition.copies and not with_name(services, name, None):
        meant = likely_meant(name, (service.name for service in services))
        if meant is not None:
            alike = look_alike(name, meant)
            task.warn(f"there is no service named {name!r}{then}; did you mean {meant!r}{alike}?")


# --- Where there is nothing to delete ---------------------------------------------------------------


def warn_of_billed(task: Task[ServiceOptions]) -> None:
    """Warn of what the selection may stand for if it selects nothing to delete: that is still billed."""
    id, name = task.options.id, task.options.wanted_name
    services = existing(task.account.services())
    ordered = None
    with suppress(Invalid):  # it is only told of
        ordered = named_otherwise(task, services)
    for other in services:
        if other.name == id or other.id == name:
            what = f"{id!r} is its name, not its id" if id else f"{name!r} is its id, not its name"
            task.warn(f"nothing was deleted, but {label(other)} exists: {what}")
        elif ordered and other is ordered[0]:
            task.warn(
                f"there is no service named {name!r} here, but {label(other)}, which was ordered as that, "
                "exists and was left alone. To delete it, give its id alone"
            )
    if not id and task.check_mode:
        warn_of_slip(task, services)
