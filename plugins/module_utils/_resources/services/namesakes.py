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
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import timedelta

from ..._api.models import Project, Service, ServiceSummary
from ..shared.names import likely_meant, look_alike, may_be_one, same_name
from ..shared.plan import Task
from ..shared.secret_notes import ORDERED, age_of, notes_on, subject_of
from ..shared.task_errors import Invalid
from .given_names import GivenNames, names_in, order_record
from .lookup import (
    came_up,
    existing_services,
    is_listed,
    label,
    not_readable_yet,
    oldest_projects,
    project_id_in,
)
from .options import ServiceOptions
from .settings import differing_fact


def order_lock(name: str) -> str:
    """Return the subject of the lock for orders of a name, including applications with this slug."""
    return f"order:{name}"


# --- Before an order --------------------------------------------------------------------------------


class KnownProjects:
    """The projects of the account, read once for all checks of one order.

    The services are listed again for each check. A project that is missing here is newer.
    """

    def __init__(self, task: Task) -> None:
        self._task = task
        self._projects: list[Project] | None = None

    def all(self, again: bool = False) -> list[Project]:
        """Return the projects as first read, or as they are now: one may be gone since."""
        if again or self._projects is None:
            self._projects = self._task.client.projects()
        return self._projects

    def with_project(self, id: str) -> dict[str, Project]:
        """Return the projects by id; read them again if ``id`` is not among them."""
        missing = all(project.id != id for project in self.all())
        return {project.id: project for project in self.all(again=missing)}


def check_namesakes(
    task: Task[ServiceOptions],
    project: Project | None,
    services: Iterable[ServiceSummary],
    known: KnownProjects,
    placing: bool = False,
) -> None:
    """Check that an order would not duplicate one of the account's ``services``.

    ``placing`` says that the order follows at once, so that nothing may be left open.

    :raises Invalid: naming the existing service and the alternatives.
    """
    name = task.options.wanted_name
    services = existing_services(services)
    others = [service for service in services if same_name(service.name, name)]
    check_families(task, others)
    check_given_names(task, project, services)
    check_unfinished_orders(task, project, services)
    alike = [other for other in others if not is_other_product(task, other)]
    for other in alike:
        check_namesake(task, project, other, known, placing=placing, alone=len(alike) == 1)
    if task.check_mode and not task.names_made and not others:
        meant = likely_meant(name, (service.name for service in services))
        if meant is not None:
            task.warn(
                f"there is no service named {name!r}, so one would be ordered; did you mean {meant!r}"
                f"{look_alike(name, meant)}?"
            )


def check_families(task: Task[ServiceOptions], namesakes: Sequence[ServiceSummary]) -> None:
    """Check that the family agrees with that of existing services of this name and product.

    The family of a product is not shown before an order, but is the same for every order of it.

    :raises Invalid: naming both families.
    """
    family = task.options.family
    for other in namesakes:
        if family not in (None, other.family) and not is_other_product(task, other):
            raise Invalid(
                f"service {other.name!r} ({other.id}) of this product is of family {other.family}, not "
                f"{family}. Nothing was ordered. Correct the family, or leave it out",
                namesakes=[other.id],
            )


def check_given_names(
    task: Task[ServiceOptions], project: Project | None, services: Sequence[ServiceSummary]
) -> None:
    """Check that no earlier order of this name became a service that the platform named otherwise.

    A task that allows duplicates orders another one beside those of other projects, and once beside those
    that were ordered without that option.

    :raises Invalid: naming it.
    """
    names, allowed = GivenNames.of(task, project), task.options.allow_duplicate_name
    given = names.read()
    for other in services:
        if other.id not in given or is_other_product(task, other):
            continue
        if allowed and not may_be_in(task, project, other):
            continue
        another = "set allow_duplicate_name: true" if not allowed else f"remove {names.path}"
        raise Invalid(
            f"{label(other)} is, or may be, what an earlier order of {task.options.wanted_name!r} became, as "
            "the platform names services in its own way. Nothing was ordered. Use that name, or id: "
            f"{other.id}; or {another}, to order another one",
            namesakes=[other.id],
        )


def check_unfinished_orders(
    task: Task[ServiceOptions], project: Project | None, services: Sequence[ServiceSummary]
) -> None:
    """Check that no service came up by nearly the name with an order whose end no run has seen.

    A run that is killed before it sees the response to its order cannot remember how the platform named the
    service.

    :raises Invalid: naming it.
    """
    for other in services:
        note = unfinished_order(task, other)
        if (
            note is None
            or same_name(other.name, task.options.wanted_name)
            or not may_be_in(task, project, other)
        ):
            continue
        raise Invalid(
            f"{label(other)} is, or may be, what an earlier order of {task.options.wanted_name!r} became, as "
            "the platform names services in its own way: its run ended before it saw the response. Nothing "
            f"was ordered. Use that name, or id: {other.id}; or remove {note}, to order another one",
            namesakes=[other.id],
        )


def unfinished_order(task: Task[ServiceOptions], other: ServiceSummary) -> str | None:
    """Return the note of an unfinished order that a service may be of; ``None`` if there is none."""
    name = task.options.wanted_name
    if not may_be_one(other.name, name) or differing_fact(task.options, other) is not None:
        return None
    for path in notes_on(task, subject_of(ORDERED, name)):
        with suppress(OSError):  # finished since
            sent = task.client.clock.now() - timedelta(seconds=age_of(path))
            if came_up(other.created_at, sent.isoformat()):
                return path
    return None


def may_be_in(task: Task[ServiceOptions], project: Project | None, other: ServiceSummary) -> bool:
    """Tell whether a service is where the task looks for its own, or may be, as it cannot be read yet."""
    service = task.client.service(other.id)
    if service is None:
        return is_listed(task.client, other.id)
    home = project_id_in(service)
    return home is not None and (project is None or home == project.id)


def check_namesake(
    task: Task[ServiceOptions],
    project: Project | None,
    other: ServiceSummary,
    known: KnownProjects,
    *,
    placing: bool,
    alone: bool,
) -> None:
    """Check whether a service of the name and product is the one to order; warn if another one may be meant.

    :param alone: whether no other service has the name. Where several have, it is usual on this account.
    :raises Invalid: if it is, or if it appeared right before the order.
    """
    service = task.client.service(other.id)
    if service is None:
        check_unreadable(task, other, placing)
        return
    home = project_id_in(service)
    if home is None:  # gone by now
        return
    if project is None or home == project.id:
        check_newcomer(other, placing)
    elif not task.options.allow_duplicate_name:
        check_elsewhere(task, project, service, known.with_project(home), alone)


def check_elsewhere(
    task: Task[ServiceOptions], project: Project, other: Service, projects: dict[str, Project], alone: bool
) -> None:
    """Check that a service of the name and product in another project is another service.

    :raises Invalid: if it was ordered for the task's project, and is in the default project by now.
    """
    home = projects.get(str(other.project_id))
    where = f"in project {home.name!r}" if home else "in another project"
    is_default = other.project_id in oldest_projects(list(projects.values()))
    move = f"hosted.services.service, id: {other.id} and new_project: {project.name!r}"
    if is_default and other.id in names_in(order_record(task, project.name)):
        raise Invalid(
            f"{label(other)} was ordered for project {project.name!r} and is {where}, which is the default "
            "project as far as can be told: services of a project that was deleted join it. Nothing was "
            f"ordered. Move it with {move}; or set allow_duplicate_name: true, to order another one",
            namesakes=[other.id],
        )
    if task.names_made:  # as for a copy, which has a project of its own
        return
    if is_default:
        task.warn(
            f"{label(other)} of this product is {where}, which services of a deleted project join, as far as "
            f"can be told. Another one is ordered. If that one is meant, move it: {move}"
        )
    elif home and alone and has_size(task, other):
        names = f"name: {home.name!r} and new_name: {project.name!r}"
        rename = f". To rename the project: hosted.services.project, {names}"
        task.warn(
            f"{label(other)} of this product and size stays {where} and is billed; another one is ordered. "
            f"To move that one instead: {move}{'' if project.resource_count else rename}"
        )


def has_size(task: Task[ServiceOptions], other: Service) -> bool:
    """Tell whether a service has the size that the task orders, or may have that of its preset."""
    wanted = task.options.dimensions.as_dict() if task.options.dimensions else {}
    return all(getattr(other.dimensions, name, None) == value for name, value in wanted.items())


def check_newcomer(other: ServiceSummary, placing: bool) -> None:
    """Check a service that has appeared since the task looked for it, which it does again before the order.

    :raises Invalid: if the order would follow at once.
    """
    if placing:
        raise Invalid(
            f"{label(other)} has just appeared, perhaps ordered by another run. Nothing was ordered. Run "
            "this again, to use it",
            namesakes=[other.id],
        )


def check_unreadable(task: Task[ServiceOptions], other: ServiceSummary, placing: bool) -> None:
    """Check whether a service that cannot be read is new, as the list shows, and may be the one to order.

    One of exactly the name is used if it is in the project, also by a task that allows duplicates.

    :raises Invalid: if it may be, and the order would follow at once.
    """
    if not is_listed(task.client, other.id):
        return
    told = not_readable_yet(other)
    if placing:
        raise Invalid(
            f"{told}, so whether it is the one to order is unknown. Nothing was ordered. Run this again in a "
            "few seconds",
            namesakes=[other.id],
        )
    task.warn(f"{told}. Whether it is the one to order is found out before the order is sent")


def is_other_product(task: Task[ServiceOptions], other: ServiceSummary) -> bool:
    """Tell whether a service is certainly of another product than the task orders."""
    product = other.product.slug if other.product else None
    return product not in (None, task.options.product)


def check_name_kept(task: Task[ServiceOptions], project: Project | None, service: Service) -> None:
    """Check that the platform gave a new service the name that the task did.

    :raises Invalid: if the next run would not find the service by it. It is remembered, so none is ordered.
    """
    wanted = task.options.wanted_name
    if same_name(service.name, wanted):
        return
    GivenNames.of(task, project).remember(service)
    raise Invalid(
        f"the platform named the new service {service.name!r}, not {wanted!r}. Use that name or its id, "
        f"{service.id}, from now on: tasks that use the other name will not find it. This controller does "
        "not order it again, but another controller would"
    )


# --- Where there is nothing to delete ---------------------------------------------------------------


def warn_of_billed(task: Task[ServiceOptions], project: Project | None) -> None:
    """Warn of what the selection may stand for if it selects nothing to delete: that is still billed."""
    id, name = task.options.id, task.options.wanted_name
    services = existing_services(task.client.services())
    records = (GivenNames.of(task, project).files[0], order_record(task, task.options.project or ""))
    ordered = {known for record in records for known in names_in(record)}
    for other in services:
        if other.name == id or other.id == name:
            what = f"{id!r} is its name, not its id" if id else f"{name!r} is its id, not its name"
            task.warn(f"nothing was deleted, but {label(other)} exists: {what}")
        elif other.id in ordered:
            task.warn(
                f"there is no service named {name!r} here, but {label(other)}, which was ordered as that, "
                "exists and was left alone. To delete it, give its id alone"
            )
    meant = likely_meant(name, (service.name for service in services)) if task.check_mode and not id else None
    if meant is not None and not any(same_name(service.name, name) for service in services):
        task.warn(f"there is no service named {name!r}; did you mean {meant!r}{look_alike(name, meant)}?")
