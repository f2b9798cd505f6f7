# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is there already under the name of a service to order or to delete, or under nearly that name.

A service whose project is deleted joins the default project. The playbook that ordered it would not find it
in its project any more, and order it again. So an order stops where a service of the name and the product is
in the default project, or where the project to order in came after that service and is still being filled.

Which project is the default one, the specification does not show. It cannot be deleted, and every account has
one: it is taken to be the oldest. A project whose age is not told may be it.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta

from ..._api.errors import Refused
from ..._api.models import Project, Service, ServiceSummary
from ..._api.values import ServiceStatus
from ..shared.names import normalized, same_name
from ..shared.plan import Task
from ..shared.restore_points import parse_moment
from ..shared.task_errors import Invalid
from .all_services import may_be_cut, missing_from
from .lookup import label, project_id_of
from .options import ServiceOptions

SIMILARITY = 0.75
"""How alike two names are, of 1 for the same, for one to be a slip of the other."""
NEW_PROJECT_AGE = timedelta(days=1)
"""How old a project is at most while it is being filled."""
MIN_ID_PREFIX = 4
"""How many characters the beginning of an id has at least, for it to be taken for the id cut short."""
MAX_SERIES_LETTERS = 2
"""Up to how many letters tell the members of a series apart, such as ``eu`` and ``us``. Digits always may."""


def order_lock(name: str) -> str:
    """Return what the orders of a name take turns by, those of an application by its slug among them."""
    return f"order:{normalized(name)}"


def similar_name(wanted: str, names: Iterable[str]) -> str | None:
    """Return the name that ``wanted`` may be a slip of. Names of a series, as web-1 and web-2, are none."""
    key = normalized(wanted)
    others = {normalized(name): name for name in names if not is_series(key, normalized(name))}
    close = difflib.get_close_matches(key, sorted(others), cutoff=SIMILARITY)
    return others[close[0]] if close else None


def is_series(one: str, other: str) -> bool:
    """Tell whether two names differ in nothing but numbers or short words, as the members of a series do."""
    pairs = list(zip(words_in_name(one), words_in_name(other), strict=False))
    if len(words_in_name(one)) != len(words_in_name(other)):
        return False
    return all(
        a == b or (a.isdigit() and b.isdigit()) or max(len(a), len(b)) <= MAX_SERIES_LETTERS for a, b in pairs
    )


def words_in_name(name: str) -> list[str]:
    """Return the words and numbers that a name is made of."""
    return re.findall(r"\d+|[^\W\d_]+", name)


def existing_services(services: Iterable[ServiceSummary]) -> list[ServiceSummary]:
    """Return the services without those that are being deleted."""
    return [service for service in services if service.status not in ServiceStatus.DELETING_OR_DELETED]


# --- Before an order --------------------------------------------------------------------------------


class KnownProjects:
    """The projects of the account, read once for all looks that one order takes at its namesakes.

    Services come and go between two looks, and their list is read for each. A project that is missing here
    came later.
    """

    def __init__(self, task: Task) -> None:
        self._task = task
        self._projects: list[Project] | None = None

    def all(self) -> list[Project]:
        """Return the projects as they were when they were first asked for."""
        if self._projects is None:
            self._projects = self._task.client.projects()
        return self._projects

    def with_project(self, id: str) -> dict[str, Project]:
        """Return the projects by id, read again unless this one is among them."""
        if all(project.id != id for project in self.all()):
            self._projects = None
        return {project.id: project for project in self.all()}


def check_namesakes(
    task: Task[ServiceOptions],
    project: Project | None,
    services: Iterable[ServiceSummary],
    known: KnownProjects,
) -> None:
    """Stop an order that would double one of ``services``, which are those of the account.

    Warn of others of its name, and of a slip in the name.

    :raises Invalid: naming the service that is there and the ways out.
    """
    name = task.options.wanted_name
    services = list(services)
    check_list_complete(task, services, known)
    services = existing_services(services)
    check_families(task, services)
    others = [service for service in services if same_name(service.name, name)]
    for other in others:
        check_namesake(task, project, other, known)
    slip = similar_name(name, (service.name for service in services))
    if slip is not None and not others:
        ids = ", ".join(service.id for service in services if service.name == slip)
        task.warn(
            f"there is no service named {name!r}, so one will be ordered; did you mean {slip!r} ({ids})? If "
            "so, correct the name"
        )


def check_families(task: Task[ServiceOptions], services: Sequence[ServiceSummary]) -> None:
    """Stop an order that says another family than a service of its name and product has.

    Which family a product has is not shown before it is ordered, but it is the same for each order of it.

    :raises Invalid: naming both families.
    """
    name, family = task.options.wanted_name, task.options.family
    for other in services:
        if (
            family not in (None, other.family)
            and same_name(other.name, name)
            and not is_separate_service(task, other)
        ):
            raise Invalid(
                f"service {other.name!r} ({other.id}) of this product is of family {other.family}, not "
                f"{family}. Nothing was ordered. Correct the family, or leave it out",
                namesakes=[other.id],
            )


def check_namesake(
    task: Task[ServiceOptions], project: Project | None, other: ServiceSummary, known: KnownProjects
) -> None:
    """Stop where a service is, as far as can be told, the one to order; warn where it is another."""
    home = project_id_of(task.client, other.id)
    if home is None:  # gone by now
        return
    elsewhere = project is not None and home != project.id
    reason = None if is_separate_service(task, other) else reason_to_stop(task, project, other, home, known)
    if reason is None:
        move = ". To move that one instead, set its id and new_project" if elsewhere else ""
        task.warn(
            f"a service named {other.name!r} exists in {'another' if elsewhere else 'this'} project (id "
            f"{other.id}); another one is ordered{move}"
        )
        return
    to = f" and new_project: {project.name}, to move it" if project and elsewhere else ", to use it"
    raise Invalid(
        f"service {other.name!r} ({other.id}) already exists: {reason}. Nothing was ordered. Either set id: "
        f"{other.id}{to}; or set allow_duplicate_name: true, to order another one",
        namesakes=[other.id],
    )


def is_separate_service(task: Task[ServiceOptions], other: ServiceSummary) -> bool:
    """Tell whether a service is surely another one, or the task says that there may be more than one."""
    product = other.product.slug if other.product else None
    return bool(task.options.allow_duplicate_name) or product not in (None, task.options.product)


def reason_to_stop(
    task: Task[ServiceOptions],
    project: Project | None,
    other: ServiceSummary,
    home: str,
    known: KnownProjects,
) -> str | None:
    """Say why a service of the same name and product is taken for the one to order; ``None`` if it is not."""
    if project is None or home == project.id:
        return f"its name differs from {task.options.name!r} only in characters that a platform may change"
    projects = known.with_project(home)
    if home not in projects:
        return f"its project {home} is not on the list of projects"
    where = f"it is in project {projects[home].name!r}"
    if home in oldest_projects(list(projects.values())):
        return (
            f"{where}, which is the default project as far as can be told. Services of a project that was "
            "deleted join it"
        )
    if is_newer_project(project, other):
        return f"{where}, while project {project.name!r} is newer and is empty or less than a day old"
    return None


def oldest_projects(projects: Sequence[Project]) -> set[str]:
    """Return the ids of the projects that may be the first: all whose age is not told count."""
    ages = {project.id: parse_moment(project.created_at) for project in projects}
    first = min((age for age in ages.values() if age is not None), default=None)
    return {id for id, age in ages.items() if age in (None, first)}


def is_newer_project(project: Project, other: ServiceSummary) -> bool:
    """Tell whether a project came after a service, and holds nothing yet or is less than a day old.

    A play that fills a new project orders one service after the other: the first must not open the way for
    doubles of all others, as where the project that they are in was renamed.
    """
    if not project.id:  # still to be created, by an earlier task of a play that is being checked
        return True
    born, made = parse_moment(project.created_at), parse_moment(other.created_at)
    if born is None or made is None:
        return not project.resource_count
    return born > made and (not project.resource_count or datetime.now(UTC) - born < NEW_PROJECT_AGE)


def check_list_complete(
    task: Task[ServiceOptions], services: Sequence[ServiceSummary], known: KnownProjects
) -> None:
    """Stop where the list of services, which may be cut without a sign, lacks one of the name of the task.

    :raises Invalid: naming the service.
    """
    others = unlisted_namesakes(task, services, known)
    if others and not task.options.allow_duplicate_name:
        raise Invalid(
            f"{label(others[0])} is not among the {len(services)} services that the platform lists, but on "
            "the page of its project: the list is incomplete. Nothing was done. Name the service by its id",
            namesakes=[other.id for other in others],
        )


def unlisted_namesakes(
    task: Task[ServiceOptions], services: Sequence[ServiceSummary], known: KnownProjects
) -> list[ServiceSummary]:
    """Return the services of the name of the task that pages of projects show and the list does not.

    The pages are read only where the projects count more services than are listed, or where the list has the
    length of a page: the count may leave services out.
    """
    name = task.options.wanted_name
    try:
        projects = known.all()
        counted = sum(project.resource_count or 0 for project in projects)
        if counted <= len(services) and not may_be_cut(len(services)):
            return []
        return missing_from(task.client, services, projects, lambda other: same_name(other.name, name))
    except Refused:  # which scope projects need is not shown
        return []


def warn_of_normalized_name(task: Task[ServiceOptions], service: Service) -> None:
    """Tell that the platform gave a service that was just ordered another name than the task did.

    :raises Invalid: for a name so different that the next run would not find the service, and order again.
    """
    wanted = task.options.wanted_name
    if service.name in (None, wanted):
        return
    told = (
        f"the platform named the new service {service.name!r}, not {wanted!r}. Use that name or its id, "
        f"{service.id}, from now on: tasks that use the other name will not find it"
    )
    if not same_name(service.name, wanted):
        raise Invalid(f"{told}, and another one would be ordered")
    task.warn(told)


# --- Where there is nothing to delete ---------------------------------------------------------------


def warn_of_near_matches(task: Task[ServiceOptions]) -> None:
    """Tell of services that the name may stand for when there is none to delete: they are still billed.

    :raises Invalid: where the list is cut and lacks one of the name.
    """
    name, project, family = task.options.wanted_name, task.options.project, task.options.family
    listed = task.client.services()
    services = existing_services(listed)
    if task.options.id is not None:
        warn_of_similar_ids(task, services, task.options.id)
        return
    check_list_complete(task, listed, KnownProjects(task))
    for other in services:
        if other.id == name:
            task.warn(
                f"there is no service named {name!r}, but {name!r} is the id of service {other.name!r}, "
                "which was left alone. To delete that one, give it as id"
            )
    told = [f"in project {project!r}" if project else "", f"of family {family}" if family else ""]
    narrowed = " ".join(["", *filter(None, told)])
    same = [service for service in services if same_name(service.name, name)]
    for other in same:
        task.warn(
            f"there is no service named {name!r}{narrowed}, but {other.family} service {other.name!r} exists "
            f"(id {other.id}) and was left alone. To delete that one, give its id alone"
        )
    slip = None if same else similar_name(name, (service.name for service in services))
    if slip is not None:
        task.warn(f"there is no service named {name!r}{narrowed}; did you mean {slip!r}? Nothing was deleted")


def warn_of_similar_ids(task: Task, services: Sequence[ServiceSummary], id: str) -> None:
    """Tell of services that a wrong id may stand for: by its name, in another case, or cut short."""
    slip = id.casefold().rstrip("/")
    for other in services:
        if other.name == id or (len(slip) >= MIN_ID_PREFIX and other.id.casefold().startswith(slip)):
            task.warn(
                f"there is no service of id {id!r}, but service {other.name!r} ({other.id}) exists and was "
                "left alone. Nothing was deleted"
            )
