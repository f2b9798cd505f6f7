# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs one task on many services: plans and applies in parallel; an error affects one service only.

Where that matters, in their order: a service that refers to another starts after it, and stops before it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import Any, TypeVar

from ..._api.client import Client
from ..._api.errors import HostedError
from ..._api.models import Project, Service, ServiceSummary
from ..._api.text import first_of, line_for_each
from ..._api.values import FAMILIES
from ..shared.identify import (
    check_id_matches,
    check_service_offers,
    existing,
    find_service,
    label,
)
from ..shared.names import same_name
from ..shared.options import MaxParallel, Options, check_max_parallel, option
from ..shared.plan import SERVICE_ID, Branch, Plan, Step, Task, union
from ..shared.task_errors import Invalid, NoSuchItem
from ..shared.waiting import MAX_PARALLEL, run_parallel
from .on_service import in_place_of, service_to_come

T = TypeVar("T")
NAMED_SERVICES = 5
"""How many services the header of a diff names."""


@dataclass(frozen=True, kw_only=True)
class ManyServicesOptions(Options):
    """The options that select services: ids or names, or all in a project and a family."""

    services: list[str] | None = option(
        None, aliases=["service"], selects=True, names_target=True, host_variables=[SERVICE_ID]
    )
    project: str | None = option(None, selects=True, names_target=True)
    family: str | None = option(None, choices=FAMILIES, selects=True, names_target=True)
    max_parallel: MaxParallel | None = option(MaxParallel(MAX_PARALLEL))


PlanOne = Callable[[Task[Any], Service], Plan]
"""Plans for one service. Each resource has one that asks for a task with its own options."""


@dataclass(frozen=True)
class Operation:
    """The operation of a task on each service.

    ``capability`` is what a service must offer, ``what`` its name in messages. ``plan`` plans for one
    service; ``blank`` has the keys of its result and replaces it on an error. With ``all_or_none`` nothing is
    changed unless it can be done for every service. ``though_gone`` is for what is done where a service or a
    project is not there, ``destroys`` for what the name of a service that a relocation left over must not do.
    """

    capability: str
    what: str
    plan: PlanOne
    blank: Mapping[str, Any]
    all_or_none: bool = False
    though_gone: bool = False
    destroys: bool = False


@dataclass(eq=False)
class ServiceJob(Branch):
    """One service's part of a task: its plan, effects and error."""

    wanted: str
    by_name: bool
    project: Project | None = None
    """The project of the task, if it brought the service along or the service was named by its id."""
    service: ServiceSummary | Service | None = None
    plan: Plan | None = None
    result: Mapping[str, Any] = field(default_factory=dict)
    blank: Mapping[str, Any] = field(default_factory=dict)
    skipped: str | None = None

    @property
    def id(self) -> str | None:
        """The id of its service; ``None`` if there is none, or it is to be made."""
        return None if self.service is None else self.service.id

    @property
    def name(self) -> str:
        return self.wanted if self.service is None else self.service.name

    @property
    def label(self) -> str:
        return f"service {self.wanted!r}" if self.service is None else label(self.service)

    def entry(self, actions: Sequence[str]) -> dict[str, Any]:
        """Return the entry of this service in the task's result."""
        return {
            "service": self.name,
            "service_id": self.id,
            "changed": bool(actions) or self.task.effects.changed_before(self.error),
            "failed": self.error is not None,
            "skipped": self.skipped is not None,
            "msg": self.error.message if self.error else self.skipped,
            "actions": list(actions),
            **(self.blank if self.error else self.result),  # what was planned did not come about
        }

    def offers(self, service: Service, capability: str, what: str) -> bool:
        """Tell whether the service has the capability; skip it if not. One that was named has to have it."""
        try:
            check_service_offers(service, capability, f"has no {what}")
        except Invalid as error:
            if self.by_name:
                raise
            self.skipped = f"skipped: {error.message}"
        return not self.skipped

    def planned(self) -> list[str]:
        return self.plan.actions if self.plan else []

    def done(self) -> list[str]:
        return self.task.effects.actions

    def steps(self) -> Sequence[Step]:
        """Return the steps of the plan, followed by one that takes the result from the service."""
        plan = self.plan
        if not plan or not plan.steps:
            return ()

        def reread() -> None:
            self.result = plan.reread() if plan.reread and self.done() else plan.result

        return [*plan.steps, Step(f"read {self.label} again", reread, changes=False)]


# --- Selecting --------------------------------------------------------------------------------------


def select_jobs(task: Task[ManyServicesOptions], though_gone: bool = False) -> list[ServiceJob]:
    """Return a job for each selected service, in the order of the task."""
    options, account = task.options, task.account
    check_max_parallel(options.max_parallel)
    if options.services is None and options.project is None and options.family is None:
        raise Invalid(
            "no service is selected; set services, project or family, or run the task on a host of the "
            "inventory, which is a service of its own"
        )
    find = account.project if though_gone else account.project_to_come
    project = find(options.project) if options.project else None
    everything = account.services()
    fitting: Sequence[Service | ServiceSummary] = [
        service for service in existing(everything) if options.family in (None, service.family)
    ]
    if options.services is None:
        ids = {each.id for each in account.members(project)} if project else None
        return [
            ServiceJob(own_task(task), str(found.name), by_name=False, project=project, service=found)
            for found in fitting
            if ids is None or found.id in ids
        ]
    if project is not None:
        given = options.services
        named = [each for each in fitting if any(same_name(each.name, name) for name in given)]
        fitting = account.within(named, project)
    jobs = [ServiceJob(own_task(task), wanted, by_name=True) for wanted in options.services]
    for job in jobs:
        resolve(job, everything, fitting, project, though_gone)
    return list({job.id or job.wanted: job for job in jobs}.values())


def own_task(task: Task[ManyServicesOptions]) -> Task[ManyServicesOptions]:
    return replace(task, effects=task.effects.branch())


def resolve(
    job: ServiceJob,
    everything: list[ServiceSummary],
    fitting: Sequence[Service | ServiceSummary],
    project: Project | None,
    though_gone: bool,
) -> None:
    """Find the service of a job by its id, or by a name that the other options narrow."""
    try:
        job.service = next((service for service in everything if service.id == job.wanted), None)
        if job.service is None:
            job.service = find_service(everything, fitting, job.wanted, job.task.account.location)
        else:
            job.project = project
    except NoSuchItem as error:
        if though_gone:
            job.skipped = f"skipped: {error.message}"
        elif job.task.check_mode:
            job.service = service_to_come(job.task, job.wanted, job.task.options.family, error)
        else:
            job.error = error
    except HostedError as error:
        job.error = error


def warn_of_nothing(task: Task[ManyServicesOptions], offers: str = "") -> None:
    """Warn of a selection that holds nothing, unless an earlier task of the run is to make its project."""
    if task.options.project not in task.foreseen:
        task.warn(f"no service matches the selection{offers}")


# --- Planning and working ---------------------------------------------------------------------------


def plan_many(task: Task[ManyServicesOptions], operation: Operation) -> Plan:
    """Plan for every selected service, and return the union of the plans."""
    try:
        jobs = select_jobs(task, operation.though_gone)
    except NoSuchItem:  # in a project that is not there, none may be enough
        if not operation.though_gone:
            raise
        jobs = []

    work_on(task, jobs, operation.blank, lambda job: plan_job(job, operation))
    if not operation.though_gone and all(job.skipped for job in jobs):
        warn_of_nothing(task, f" and offers {operation.capability!r}" if jobs else "")
    # If nothing may change unless it can be done for every service, all changes depend on all waits.
    waiting = [job for job in jobs if not job.planned()] if operation.all_or_none else []
    waits = union((job, job.steps()) for job in waiting)
    steps = [*waits, *union(((job, job.steps()) for job in jobs if job not in waiting), after=waits)]
    if any(job.error for job in jobs):
        if operation.all_or_none:
            raise refuse_all(jobs)
        if task.check_mode:
            raise combine_errors(jobs, ServiceJob.planned)

    def failure() -> HostedError | None:
        failed = [job for job in jobs if job.error]
        if failed and operation.all_or_none and not all(job.planned() for job in failed):
            return refuse_all(jobs)
        return combine_errors(jobs, ServiceJob.done) if failed else None

    return plan_jobs(task, jobs, steps, failure)


def work_on(
    task: Task[ManyServicesOptions],
    jobs: Sequence[ServiceJob],
    blank: Mapping[str, Any],
    work: Callable[[ServiceJob], T],
) -> list[T]:
    """Work in parallel on each service that was found; return what comes of those that it succeeds for."""

    def attempt(client: Client, job: ServiceJob) -> list[T]:
        job.task.client, job.result, job.blank = client, blank, blank
        try:
            return [work(job)] if job.service is not None else []
        except HostedError as error:
            job.error = error
            return []

    return list(chain(*run_parallel(task.client, jobs, attempt, task.options.max_parallel)))


def plan_jobs(
    task: Task[ManyServicesOptions],
    jobs: Sequence[ServiceJob],
    steps: Sequence[Step],
    failure: Callable[[], HostedError | None],
) -> Plan:
    """Return the plan for all services, with a last step that collects the results."""
    plan = Plan(
        result=(), failure=failure, max_parallel=task.options.max_parallel, subject=name_services(jobs)
    )

    def gather(actions_of: Callable[[ServiceJob], list[str]]) -> None:
        plan.result = [job.entry(actions_of(job)) for job in jobs]
        plan.before = {job.label: job.plan.before for job in jobs if job.plan and job.plan.before}
        plan.after = {job.label: job.plan.after for job in jobs if job.plan and job.plan.after}

    gather(ServiceJob.planned)
    if steps:  # of which one may find less to do than planned
        told = partial(gather, ServiceJob.done)
        last = Step("gather what became of each service", told, needs=steps, regardless=True, changes=False)
        plan.steps = [*steps, last]
    return plan


def name_services(jobs: Sequence[ServiceJob]) -> str:
    names = [job.name for job in jobs if job.plan]
    return f"of {first_of(names, NAMED_SERVICES)}" if names else ""


def plan_job(job: ServiceJob, operation: Operation) -> None:
    """Read a service in full, because its capabilities depend on its status, and plan for it."""
    if job.by_name and job.id and (found := in_place_of(job.task, job.id, job.wanted)):
        if operation.destroys:
            raise found.refusal
        job.task.warn(f"{found.told}, so the task works on that. Write its name, or the id of the other one")
        job.service = job.task.account.existing_service(found.id)
    service = read_job(job)
    if not job.skipped and job.offers(service, operation.capability, operation.what):
        job.plan = operation.plan(job.task, service)
        job.result = job.plan.result


def read_job(job: ServiceJob) -> Service:
    """Read the service of a job in full, and skip it if it has left the project that brought it along."""
    if not isinstance(job.service, Service):  # one that is to be made comes in this form
        job.service = job.task.account.existing_service(str(job.id))
    if job.by_name and job.wanted == job.id:
        projects = [job.project] if job.project else []
        check_id_matches(job.service, family=job.task.options.family, projects=projects)
    elif job.project is not None and job.service.project_id not in (None, job.project.id):
        job.skipped = f"skipped: {job.label} is in another project by now"
    return job.service


class SomeFailed(HostedError):
    """Some services, or parts of a blueprint, failed; the details show the outcome for each."""


def refuse_all(jobs: Sequence[ServiceJob]) -> HostedError:
    """Return the error for a task that was not begun, because it cannot be done for every service."""
    error = combine_errors(jobs, ServiceJob.done)
    if not all(job.error for job in jobs):
        error.prepend("nothing was done: ")
        error.append("\nSet allow_partial: true to go on with the other services")
    return error


def combine_errors(jobs: Sequence[ServiceJob], actions_of: Callable[[ServiceJob], list[str]]) -> HostedError:
    """Return the error of the task: that of the only failed service, or a line for each."""
    reasons = [(job, job.error) for job in jobs if job.error]
    actions = [action for job in jobs for action in actions_of(job)]
    details = {
        "services": [job.entry(actions_of(job)) for job in jobs],
        "changed": bool(actions) or any(job.task.effects.changed_before(job.error) for job in jobs),
        "actions": actions,
    }
    if len(jobs) == 1:
        return SomeFailed(reasons[0][1].message, **{**reasons[0][1].details, **details})
    lines = line_for_each((job.label, error.message) for job, error in reasons)
    return SomeFailed(f"{len(reasons)} of {len(jobs)} services failed:{lines}", **details)


# --- In which order they start and stop ---------------------------------------------------------------


@dataclass(frozen=True)
class Order:
    """Which of the selected services each of them needs, directly or through others."""

    needs: Mapping[str, frozenset[str]] = field(default_factory=dict)
    reaches: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """All selected services that each needs, those of its own cycle included."""

    @property
    def cycles(self) -> list[list[str]]:
        """The services that need each other, in groups."""
        groups = {
            frozenset({id, *(other for other in reached if id in self.reaches[other])})
            for id, reached in self.reaches.items()
        }
        return sorted(sorted(group) for group in groups if len(group) > 1)

    def starting(self, ids: Iterable[str]) -> list[str]:
        return sorted(ids, key=lambda id: (len(self.needs.get(id, ())), id))


def order_of(ids: Collection[str], references: Mapping[str, Collection[str]]) -> Order:
    """Return the order of the selected services, by what each refers to, be it outside of the selection.

    A cycle takes the order from its own services alone. Whoever needs one of them, or is needed by one,
    keeps its place, even where the cycle is outside of the selection.
    """
    everything = {id: reachable(id, references) for id in ids}
    reaches = {id: frozenset(found & set(ids) - {id}) for id, found in everything.items()}
    needs = {
        id: frozenset(other for other in found if id not in everything[other])
        for id, found in reaches.items()
    }
    return Order(needs, reaches)


def reachable(id: str, references: Mapping[str, Collection[str]]) -> set[str]:
    """Return every service that a service needs, directly or through others."""
    found, left = set[str](), list(references.get(id, ()))
    while left:
        other = left.pop()
        if other not in found:
            found.add(other)
            left += references.get(other, ())
    return found


def explicit_references(
    start_after: Mapping[str, Any], find: Callable[[Sequence[str]], Sequence[str]]
) -> dict[str, set[str]]:
    """Return which services need which by ``start_after``. ``find`` returns the ids of names."""
    found: dict[str, set[str]] = {}
    for name, others in start_after.items():
        after = [others] if isinstance(others, str) else others
        if not isinstance(after, list) or not after or not all(isinstance(one, str) for one in after):
            raise Invalid(f"start_after of {name!r} is {others!r}; write a list of services, by name or id")
        found.setdefault(find([str(name)])[0], set()).update(find(after))
    return found


def read_order(
    task: Task[Any], services: Sequence[Service], references: dict[str, set[str]], projects: bool = True
) -> Order:
    """Return the order of services by ``references`` and, if wanted, those in their projects."""
    for project in sorted({each.project_id for each in services if each.project_id}) if projects else ():
        try:
            edges = task.account.graph(project).edges or []
        except HostedError as error:
            task.warn(
                f"the references in project {project} cannot be read, so only start_after gives an order: "
                f"{error.message}"
            )
            continue
        for edge in edges:
            if edge.from_ and edge.to:
                references.setdefault(edge.from_, set()).add(edge.to)
    names = {each.id: each.name for each in services}
    order = order_of(names, references)
    for cycle in order.cycles:
        named = ", ".join(repr(names[id]) for id in cycle)
        task.warn(f"services {named} need each other, so there is no order between them")
    return order
