# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds services whose name, or nearly the name, is that of a service to order or delete.

Services of a deleted project join the default project. The playbook that ordered one would no longer find it
in its project and would order it again. So an order stops if the default project has a service of this name
and product, or if the project to order in is newer than such a service and still being filled.

The specification does not show which project is the default one. It cannot be deleted and every account has
one, so the oldest is assumed. A project of unknown age may be it, too.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Container, Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial

from ..._api.errors import AccessDenied, Refused
from ..._api.models import Project, Service, ServiceSummary
from ..._api.values import ServiceStatus
from ..shared.names import may_be_one, normalized, same_name
from ..shared.plan import Task
from ..shared.restore_points import parse_moment
from ..shared.secret_notes import ORDERED, age_of, notes_on, subject_of
from ..shared.task_errors import Invalid
from .all_services import cannot_be_completed, may_be_cut, missing_from, read_pages
from .given_names import GivenNames
from .lookup import came_up, in_project, is_listed, label, not_readable_yet, project_id_in, read_if_readable
from .options import ServiceOptions
from .settings import differing_fact

SIMILARITY = 0.75
"""How alike two names are, of 1 for the same, for one to be a slip of the other."""
NEW_PROJECT_AGE = timedelta(days=1)
"""How old a project is at most while it is being filled."""
MIN_ID_PREFIX = 4
"""How many characters the beginning of an id has at least, for it to be taken for the id cut short."""
MAX_SERIES_LETTERS = 2
"""Up to how many letters tell the members of a series apart, such as ``eu`` and ``us``. Digits always may."""


def order_lock(name: str) -> str:
    """Return the subject of the lock for orders of a name, including applications with this slug."""
    return f"order:{normalized(name)}"


def similar_name(wanted: str, names: Iterable[str]) -> str | None:
    """Return the name that ``wanted`` is probably a misspelling of; ``None`` for members of a series."""
    key = normalized(wanted)
    others = {normalized(name): name for name in names if not is_series(key, normalized(name))}
    close = difflib.get_close_matches(key, sorted(others), cutoff=SIMILARITY)
    return others[close[0]] if close else None


def is_series(one: str, other: str) -> bool:
    """Tell whether two names differ only in numbers or short words, like members of a series."""
    pairs = list(zip(words_in_name(one), words_in_name(other), strict=False))
    if len(words_in_name(one)) != len(words_in_name(other)):
        return False
    return all(
        a == b or (a.isdigit() and b.isdigit()) or max(len(a), len(b)) <= MAX_SERIES_LETTERS for a, b in pairs
    )


def words_in_name(name: str) -> list[str]:
    """Return the words and numbers in a name."""
    return re.findall(r"\d+|[^\W\d_]+", name)


def existing_services(services: Iterable[ServiceSummary]) -> list[ServiceSummary]:
    """Return the services that are not being deleted."""
    return [service for service in services if service.status not in ServiceStatus.DELETING_OR_DELETED]


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

    Also warns of other services with the name, and of a probable misspelling. ``placing`` says that the order
    follows at once, so that nothing may be left open.

    :raises Invalid: naming the existing service and the alternatives.
    """
    name = task.options.wanted_name
    services = list(services)
    given = GivenNames.of(task, project)
    unlisted = unlisted_namesakes(task, services, known, given.read())
    check_list_complete(task, services, in_the_way(task, project, unlisted, given), looks_again=not placing)
    services = existing_services(services)
    check_families(task, services)
    check_given_names(task, project, services, given)
    check_unfinished_orders(task, project, services)
    others = [service for service in services if may_be_one(service.name, name)]
    for other in others:
        check_namesake(task, project, other, known, placing)
    slip = None if task.names_made else similar_name(name, (service.name for service in services))
    if slip is not None and not others:
        ids = ", ".join(service.id for service in services if service.name == slip)
        task.warn(
            f"there is no service named {name!r}, so one will be ordered; did you mean {slip!r} ({ids})? If "
            "so, correct the name"
        )


def check_families(task: Task[ServiceOptions], services: Sequence[ServiceSummary]) -> None:
    """Check that the family agrees with that of existing services of this name and product.

    The family of a product is not shown before an order, but is the same for every order of it.

    :raises Invalid: naming both families.
    """
    name, family = task.options.wanted_name, task.options.family
    for other in services:
        if (
            family not in (None, other.family)
            and same_name(other.name, name)
            and not is_other_product(task, other)
        ):
            raise Invalid(
                f"service {other.name!r} ({other.id}) of this product is of family {other.family}, not "
                f"{family}. Nothing was ordered. Correct the family, or leave it out",
                namesakes=[other.id],
            )


def check_given_names(
    task: Task[ServiceOptions],
    project: Project | None,
    services: Sequence[ServiceSummary],
    names: GivenNames,
) -> None:
    """Check that no earlier order of this name became a service that the platform named otherwise.

    A task that allows duplicates orders another one beside those of other projects, and once beside those
    that were ordered without that option.

    :raises Invalid: naming it.
    """
    given, allowed = names.read(), task.options.allow_duplicate_name
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
    """Check that a task that allows duplicates does not order again what is its own.

    A run that is killed before it sees the response to its order cannot remember how the platform named the
    service. So no service may have come up by nearly the name with an order whose end no run has seen. Tasks
    that allow no duplicates stop at such a name anyway.

    :raises Invalid: naming it.
    """
    if not task.options.allow_duplicate_name:
        return
    for other in services:
        note = unfinished_order(task, other)
        if note is None or other.name == task.options.wanted_name or not may_be_in(task, project, other):
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
    service = read_if_readable(task.client, other.id)
    if service is None:
        return is_listed(task.client, other.id, though_cut=True)
    home = project_id_in(service)
    return home is not None and (project is None or home == project.id)


def check_namesake(
    task: Task[ServiceOptions],
    project: Project | None,
    other: ServiceSummary,
    known: KnownProjects,
    placing: bool,
) -> None:
    """Check whether a service is probably the one to order; warn if it is another.

    :raises Invalid: if it probably is.
    """
    service = read_if_readable(task.client, other.id)
    if service is None:
        check_unreadable(task, other, placing)
        return
    home = project_id_in(service)
    if home is None:  # gone by now
        return
    destination = None if project is None or home == project.id else project
    is_own = destination is None and other.name == task.options.wanted_name
    if is_own and not is_other_product(task, other):
        check_newcomer(other, placing)
        return
    reason = None if is_separate_service(task, other) else reason_to_stop(task, project, other, home, known)
    if reason is None:
        move = ". To move that one instead, set its id and new_project" if destination else ""
        task.warn(
            f"a service named {other.name!r} exists in {'another' if destination else 'this'} project (id "
            f"{other.id}); another one is ordered{move}"
        )
        return
    to = f" and new_project: {destination.name}, to move it" if destination else ", to use it"
    raise Invalid(
        f"service {other.name!r} ({other.id}) already exists: {reason}. Nothing was ordered. Either set id: "
        f"{other.id} in place of name{to}; or set allow_duplicate_name: true, to order another one",
        namesakes=[other.id],
    )


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
    is_namesake = other.name == task.options.wanted_name
    separate = is_other_product(task, other) if is_namesake else is_separate_service(task, other)
    if task.apart or separate or not is_listed(task.client, other.id):
        return
    told = not_readable_yet(other)
    if not placing:
        task.warn(f"{told}. Whether it is the one to order is found out before the order is sent")
        return
    another = "" if is_namesake else "; or set allow_duplicate_name: true, to order another one"
    raise Invalid(
        f"{told}, so whether it is the one to order is unknown. Nothing was ordered. Run this again in a few "
        f"seconds{another}",
        namesakes=[other.id],
    )


def is_separate_service(task: Task[ServiceOptions], other: ServiceSummary) -> bool:
    """Tell whether a service is certainly another one, or the task allows duplicates."""
    return bool(task.options.allow_duplicate_name) or is_other_product(task, other)


def is_other_product(task: Task[ServiceOptions], other: ServiceSummary) -> bool:
    """Tell whether a service is certainly of another product than the task orders."""
    product = other.product.slug if other.product else None
    return product not in (None, task.options.product)


def reason_to_stop(
    task: Task[ServiceOptions],
    project: Project | None,
    other: ServiceSummary,
    home: str,
    known: KnownProjects,
) -> str | None:
    """Return why a service of this name and product is probably the one to order; ``None`` if it is not."""
    if project is None or home == project.id:
        return f"its name differs from {task.options.name!r} only in characters that a platform may change"
    if task.apart:
        return None
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
    """Return the ids of the projects that may be the oldest, including all of unknown age."""
    ages = {project.id: parse_moment(project.created_at) for project in projects}
    first = min((age for age in ages.values() if age is not None), default=None)
    return {id for id, age in ages.items() if age in (None, first)}


def is_newer_project(project: Project, other: ServiceSummary) -> bool:
    """Tell whether a project is newer than a service, and is empty or less than a day old.

    A play that fills a new project orders one service after the other: the first must not allow duplicates of
    all others, as when their project was renamed.
    """
    if not project.id:  # still to be created, by an earlier task of a play that is being checked
        return True
    born, made = parse_moment(project.created_at), parse_moment(other.created_at)
    if born is None or made is None:
        return not project.resource_count
    return born > made and (not project.resource_count or datetime.now(UTC) - born < NEW_PROJECT_AGE)


def in_the_way(
    task: Task[ServiceOptions],
    project: Project | None,
    others: Sequence[ServiceSummary],
    given: GivenNames,
) -> Sequence[ServiceSummary]:
    """Return those services that stop an order, of those of its name that the list lacks.

    A task that allows duplicates stops at those alone that it would use if the list showed them, and at what
    its own orders became, or may have become.
    """
    allowed = task.options.allow_duplicate_name
    if allowed:
        own = given.read()
        others = [
            other
            for other in others
            if other.id in own or would_be_used(task, other) or unfinished_order(task, other)
        ]
    return in_project(task.client, others, project, certain=True) if allowed or task.apart else others


def would_be_used(task: Task[ServiceOptions], other: ServiceSummary) -> bool:
    """Tell whether a service of the project has the task's name, and its family unless that is wrong."""
    fits = task.options.family in (None, other.family) or not is_other_product(task, other)
    return other.name == task.options.wanted_name and fits


def check_list_complete(
    task: Task[ServiceOptions],
    services: Sequence[ServiceSummary],
    others: Sequence[ServiceSummary],
    looks_again: bool = False,
) -> None:
    """Check that the list of services, which may be truncated silently, lacks none of ``others``.

    Another run may order one between the list and the pages of projects. A plan leaves that to the look right
    before its order: ``looks_again``.

    :raises Invalid: naming the missing service.
    """
    if not others:
        return
    listed = {service.id for service in task.client.services()}
    appeared = all(other.id in listed for other in others)
    if appeared and looks_again:
        return
    why = (
        "appeared while this task looked for it. Nothing was done. Run this again"
        if appeared
        else f"is not among the {len(services)} services that the platform lists, but on the page of its "
        "project: the list is incomplete. Nothing was done. Name the service by its id"
    )
    raise Invalid(f"{label(others[0])} {why}", namesakes=[other.id for other in others])


def unlisted_namesakes(
    task: Task[ServiceOptions],
    services: Sequence[ServiceSummary],
    known: KnownProjects,
    given: Container[str] = (),
) -> list[ServiceSummary]:
    """Return the services with the task's name that pages of projects show and the list does not.

    So are those of the ids that were ``given`` other names.

    The pages are read only if the projects count more services than the list has, or if it may be cut. Then a
    page that cannot be read is an error, unless the token may never read it: nothing else shows the services.
    """
    name, cut = task.options.wanted_name, may_be_cut(len(services))
    try:
        projects = known.all(again=cut)
        counted = sum(project.resource_count or 0 for project in projects)
        if counted <= len(services) and not cut:
            return []
        hidden = partial(warn_of_hidden_project, task) if cut else None
        pages = read_pages(task.client, projects, cut, on_denied=hidden)
        return missing_from(
            task.client, services, pages, lambda other: other.id in given or may_be_one(other.name, name)
        )
    except AccessDenied as error:  # which scope projects need is not shown
        if cut:
            told = cannot_be_completed(error, len(services)).message
            task.warn(f"{told}. Whether the list lacks a service named {name!r} is unknown")
    except Refused as error:
        if cut:
            raise cannot_be_completed(error, len(services)) from None
    return []


def warn_of_hidden_project(task: Task[ServiceOptions], project: Project, error: AccessDenied) -> None:
    """Warn that a project is not shown. The token may never read it, so that is no reason to stop."""
    task.warn(
        f"project {project.name!r} cannot be read: {error.message}. Whether it has a service named "
        f"{task.options.wanted_name!r} is unknown, as the list of services may end early"
    )


def warn_of_normalized_name(task: Task[ServiceOptions], project: Project | None, service: Service) -> None:
    """Warn that the platform gave a new service another name than the task did.

    :raises Invalid: if the next run would not find the service by it. It is remembered, so none is ordered.
    """
    wanted, names = task.options.wanted_name, GivenNames.of(task, project)
    if service.name == wanted:
        names.forget(service.id)
    if service.name in (None, wanted):
        return
    told = (
        f"the platform named the new service {service.name!r}, not {wanted!r}. Use that name or its id, "
        f"{service.id}, from now on: tasks that use the other name will not find it"
    )
    if names.needs(service.name):
        names.remember([service])
        raise Invalid(f"{told}. This controller does not order it again, but another controller would")
    task.warn(told)


# --- Where there is nothing to delete ---------------------------------------------------------------


def warn_of_near_matches(task: Task[ServiceOptions]) -> None:
    """Warn of services that the name may stand for if there is none to delete: they are still billed.

    :raises Invalid: if the list is truncated and lacks one with the name.
    """
    name, project, family = task.options.wanted_name, task.options.project, task.options.family
    listed = task.client.services()
    services = existing_services(listed)
    if task.options.id is not None:
        warn_of_similar_ids(task, services, task.options.id)
        return
    known = KnownProjects(task)
    ordered = ordered_as(task, known)
    unlisted = unlisted_namesakes(task, listed, known, ordered)
    check_list_complete(task, listed, to_delete(task, unlisted, known))
    services += unlisted
    for other in services:
        if other.id == name:
            task.warn(
                f"there is no service named {name!r}, but {name!r} is the id of service {other.name!r}, "
                "which was left alone. To delete that one, give it as id"
            )
    told = [f"in project {project!r}" if project else "", f"of family {family}" if family else ""]
    narrowed = " ".join(["", *filter(None, told)])
    same = [each for each in services if may_be_one(each.name, name) or each.id in ordered]
    for other in same:
        task.warn(
            f"there is no service named {name!r}{narrowed}, but {other.family} service {other.name!r} exists "
            f"(id {other.id}) and was left alone. To delete that one, give its id alone"
        )
    slip = None if same else similar_name(name, (service.name for service in services))
    if slip is not None:
        task.warn(f"there is no service named {name!r}{narrowed}; did you mean {slip!r}? Nothing was deleted")


def to_delete(
    task: Task[ServiceOptions], others: Sequence[ServiceSummary], known: KnownProjects
) -> Sequence[ServiceSummary]:
    """Return those that may be what the task deletes, of those of its name that the list lacks."""
    wanted, family = task.options.project, task.options.family
    fitting = [other for other in others if family in (None, other.family)]
    if not wanted or not fitting:
        return fitting
    homes = [project for project in known.all() if wanted in (project.id, project.name)]
    return [other for home in homes for other in in_project(task.client, fitting, home, certain=True)]


def ordered_as(task: Task[ServiceOptions], known: KnownProjects) -> set[str]:
    """Return the ids of the services that this controller ordered by the task's name."""
    try:
        return GivenNames.in_any(task, known.all())
    except Refused:  # which scope projects need is not shown
        return GivenNames.in_any(task, ())


def warn_of_similar_ids(task: Task[ServiceOptions], services: Sequence[ServiceSummary], id: str) -> None:
    """Warn of services that a wrong id may stand for: by name, in another case, or by a prefix."""
    slip, name = id.casefold().rstrip("/"), task.options.name
    for other in services:
        is_slip = len(slip) >= MIN_ID_PREFIX and other.id.casefold().startswith(slip)
        if other.name == id or is_slip or (name and same_name(other.name, name)):
            task.warn(
                f"there is no service of id {id!r}, but service {other.name!r} ({other.id}) exists and was "
                "left alone. Nothing was deleted"
            )
