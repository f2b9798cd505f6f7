# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Applications: quotes and creates missing ones (Applications)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

from .._api.errors import OF_A_CALL, HostedError, Refused, TokenRejected
from .._api.models import App, AppQuote, Dimensions, ProjectDetail, ServiceSummary
from .._api.values import ServiceStatus
from .applications.lookup import (
    OnAppOptions,
    app_view,
    check_slug,
    never_deployed,
    placeholder_app,
    select_host,
    select_id,
)
from .services.namesakes import order_lock
from .services.options import CommitmentOptions, Size
from .services.settings import check_max_monthly, describe_size
from .shared.budget import Commitment
from .shared.controller_state import one_at_a_time
from .shared.currency import format_price
from .shared.money import Cost, Move, describe_monthly, format_amount, from_millicents, rate_from
from .shared.names import likely_meant
from .shared.options import WaitOptions, names_given, option
from .shared.plan import NOTHING_DONE, Plan, Resource, Step, Task, after_waiting
from .shared.task_errors import EffectUnverified, Invalid, NoSuchItem, WaitEnded
from .shared.waiting import QUIET_SECONDS, create_unique, wait_for_new, wait_until

SIZE = ("cpu_cores", "ram_gb", "storage_gb")


@dataclass(frozen=True, kw_only=True)
class AppOptions(OnAppOptions, CommitmentOptions, WaitOptions):
    """The options of module app."""

    host: str | None = option(None, selects=True)
    project: str | None = option(None, selects=True)
    dimensions: Size | None = None
    state: Literal["present"] = "present"


class AppResource(Resource[AppOptions]):
    """An application, by its slug."""

    result_key = "app"

    def plan(self, task: Task[AppOptions]) -> Plan:
        """Plan the creation of a missing application. An existing one must match the options."""
        check_slug(task.options.slug)
        size = requested_size(task.options.dimensions)
        slug = task.options.slug
        app = task.account.app_if_any(slug)
        if app is None:
            return plan_creation(task, slug, size)
        task.adopting(app.id)
        check_existing(task, app, size)
        if not task.options.wait or task.check_mode or app.status == ServiceStatus.ACTIVE:
            return as_it_is(app)
        what = f"wait until application {slug!r} is created"
        return after_waiting(what, lambda: await_app(task), as_it_is, until=as_it_is(app))


APP = AppResource()


def as_it_is(app: App) -> Plan:
    """Return the plan for an application that needs no change."""
    managed = {"slug": app.slug}
    return Plan(result=app_view(app), before=managed, after=managed)


def plan_creation(task: Task[AppOptions], slug: str, size: Dimensions | None) -> Plan:
    """Plan a new application, after checking its quote against ``max_monthly``."""
    options = task.options
    host = select_host(task.account, options.host)
    project = requested_project(task)
    quote = task.client.quote_app(host, size)
    cost = replace(cost_of_app_quote(quote), service=slug)
    check_max_monthly(task, cost.after, f"application {slug!r}")
    warn_of_similar_slug(task, slug)

    quoted_host, quoted_size = as_quoted(quote, host, size)

    def call() -> None:
        with task.creating():
            task.client.create_app(slug, quoted_host, project, quoted_size, adds)

    creation = Creation(task, size, call)
    price = describe_monthly(format_price(task, cost.after))
    adds = Commitment(
        "creation",
        f"application {slug!r}",
        cost.after,
        name=slug,
        project=project,
        project_name=options.project,
    )
    plan = Plan(
        result=app_view(placeholder_app(slug)),
        reread=lambda: app_view(read_created(task)),
        after=to_diff(task, quote, cost),
        cost=cost,
    )
    make = partial(creation.make, plan)
    move = Move("create", cost.after)
    steps = [Step(f"create application {slug!r} {price}", make, move=move, commitment=adds)]
    if task.options.wait:
        wait = f"wait until application {slug!r} is created"
        steps.append(Step(wait, partial(creation.wait, plan), changes=False))
    plan.steps = steps
    return plan


class Creation:
    """The creation of an application, for which another run may be faster.

    Then the plan becomes that for what the other run created.
    """

    def __init__(self, task: Task[AppOptions], size: Dimensions | None, call: Callable[[], None]) -> None:
        self.task = task
        self.slug = task.options.slug
        self.size = size
        self.call = call
        self.outrun = False

    def make(self, plan: Plan) -> object:
        """Create the application, unless it has appeared since the plan was made.

        :raises Invalid: if another run created one that does not match the options.
        """
        with one_at_a_time(order_lock(self.slug), f"creating application {self.slug!r}"):
            found = self.create_or_find()
        if found is None:
            return None
        self.outrun = True
        check_existing(self.task, found, self.size)
        plan.become(as_it_is(found))
        return NOTHING_DONE

    def create_or_find(self) -> App | None:
        """Create the application, once; return the one that another run created, if that was faster."""
        what = f"application {self.slug!r}"
        there = self.new_ones()
        if there:
            self.task.adopting(there[0].id)
            self.task.warn(f"{what} appeared before it was created; it is used instead")
            return there[0]
        try:
            own = create_unique(self.call, self.new_ones, what, self.task)
        except Refused as error:
            raise explain_slug_refusal(error, self.slug, is_being_deleted(self.task)) from None
        if own:
            return None
        outrun = read_created(self.task)
        self.task.adopting(outrun.id)
        return outrun

    def new_ones(self) -> list[App]:
        """Return the application, which was not there when the task was planned."""
        found = self.task.account.app_if_any(self.slug)
        return [found] if found else []

    def wait(self, plan: Plan) -> object:
        """Wait until the application is created, whoever creates it."""
        now = await_app(self.task)
        if self.outrun:
            plan.become(as_it_is(now))
            return NOTHING_DONE
        plan.reread = lambda: app_view(now)
        return None


def warn_of_similar_slug(task: Task, slug: str) -> None:
    """Warn in check mode of the application whose slug is probably meant."""
    if task.names_made or not task.check_mode:
        return
    meant = likely_meant(slug, (app.slug for app in task.account.apps()))
    if meant is not None:
        task.warn(f"there is no application {slug!r}, so one would be created; did you mean {meant!r}?")


def check_existing(task: Task[AppOptions], app: App, size: Dimensions | None) -> None:
    """Warn of an existing application that differs from the options, which hosted.services.service changes.

    The application routes do not show its size, node, project and price, and cannot change them. A token
    that may not read them compares nothing.

    :raises Invalid: if it is on another node, which nothing changes, or what a larger plan takes for its own
        is in another project.
    """
    options = task.options
    if not names_given(
        host=options.host, project=options.project, size=options.dimensions, price=options.max_monthly
    ):
        return

    project = task.account.page_of_app(app)
    if project is None:
        return
    service = next(service for service in project.resources if service.id == app.id)
    check_host(task, service)
    if task.composed and options.project not in (None, project.id, project.name):
        raise Invalid(
            f"application {app.slug!r} is in project {project.name!r}, and was not changed. A slug is unique "
            "on the account: give this project's application another one, or move that one here first, with "
            f"hosted.services.service, id: {app.id} and new_project"
        )
    if app.slug in task.foreseen:
        return  # an earlier task of the play is to change it
    for told, remedy in differences(task, project, service, size):
        task.warn(
            f"application {app.slug!r} {told}, and was not changed: hosted.services.service with {remedy} "
            "changes it"
        )


def differences(
    task: Task[AppOptions], project: ProjectDetail, service: ServiceSummary, size: Dimensions | None
) -> Iterator[tuple[str, str]]:
    """Yield how an application differs from the options, and what changes it."""
    wanted, now, most = task.options.project, service.dimensions, task.options.monthly_limit()
    if wanted not in (None, project.id, project.name):
        yield f"is in project {project.name!r}, not {wanted!r}", "new_project"
    if size is not None and now is not None and any(getattr(now, n) != getattr(size, n) for n in SIZE):
        yield f"has {describe_size(now.as_dict())}, not {describe_size(size.as_dict())}", "dimensions"
    monthly = rate_from(service.monthly_millicents)
    if most is not None and monthly is not None and monthly > most:
        over = f"over max_monthly {format_price(task, most)}"
        yield f"costs {format_price(task, monthly)} a month, {over}", "dimensions"


def check_host(task: Task[AppOptions], service: ServiceSummary) -> None:
    """Check that the application is on the requested node: no route changes it.

    :raises Invalid: if it is on another.
    """
    wanted, host = task.options.host, service.host
    if wanted is not None and host and wanted not in (host.id, host.label):
        raise Invalid(
            f"application {task.options.slug!r} is on host {host.label or host.id!r}, not {wanted!r}; the "
            "platform cannot change it. To use that node, create another one and delete this one"
        )


def requested_project(task: Task[AppOptions]) -> str | None:
    """Return the id of the requested project; ``None`` leaves the choice to the platform.

    :raises NoSuchItem: if it does not exist and the play cannot create it.
    """
    wanted = task.options.project
    if not wanted:
        return None
    try:
        names = {project.id: project.name for project in task.client.app_projects()}
        return select_id(wanted, names, "project")
    except NoSuchItem as error:
        task.expect_created(error, wanted)
        return None  # check mode only quotes, and the price is the same in every project


def requested_size(given: Size | None) -> Dimensions | None:
    """Return the requested size; ``None`` leaves the choice to the platform.

    :raises Invalid: if a part is missing: the platform needs all of them.
    """
    if given is None:
        return None
    if given.missing:
        raise Invalid(
            f"dimensions lacks {', '.join(given.missing)}; give all three parts, or leave dimensions out "
            "for the entry-level size"
        )
    return Dimensions(**given.as_dict())


def as_quoted(
    quote: AppQuote, host: str | None, size: Dimensions | None
) -> tuple[str | None, Dimensions | None]:
    """Return the node and size of the quote, so that nothing else is created.

    Otherwise the platform would choose again, and may have no capacity left on the quoted node.
    """
    told = quote.dimensions
    whole = told is not None and all(getattr(told, name) is not None for name in SIZE)
    return host or quote.host_id, size or (told if whole else None)


def cost_of_app_quote(quote: AppQuote) -> Cost:
    """Return the effect of a quote on the monthly price."""
    monthly = rate_from(quote.monthly_millicents)
    detail = describe_size(quote.dimensions.as_dict()) if quote.dimensions else None
    line = {"label": quote.host_label or quote.host_id, "detail": detail, "monthly": format_amount(monthly)}
    return Cost(from_millicents(0), monthly, [line])


def is_being_deleted(task: Task[AppOptions]) -> bool:
    """Tell whether the slug is that of an application of the account whose deletion is not over."""
    with suppress(HostedError):
        apps = task.account.apps()
        return any(app.slug == task.options.slug and app.status == ServiceStatus.DELETING for app in apps)
    return False


def explain_slug_refusal(error: Refused, slug: str, deleting: bool = False) -> Refused | Invalid:
    """Add the possible reason to a refused creation: the status for a taken slug is not documented.

    :param deleting: whether an application of the account with this slug is being deleted.
    """
    if isinstance(error, TokenRejected):
        return error
    if deleting:
        return Invalid(
            f"application {slug!r} was not created: {error.message}. The one with this slug is still "
            "being deleted. hosted.services.service with state: absent waits until it is gone; then run "
            "this again",
            **error.details,
        )
    return Invalid(
        f"application {slug!r} was not created: {error.message}. If it is not for another reason given "
        f"there: slugs are unique across all accounts, so {slug!r} may be taken by another one; choose "
        "another slug",
        **error.details,
    )


def read_created(task: Task[AppOptions]) -> App:
    """Return an application that was created, once the list shows it.

    :raises EffectUnverified: if it does not.
    """
    slug = task.options.slug
    try:
        found = wait_for_new(lambda: task.account.app_if_any(slug), QUIET_SECONDS)
    except OF_A_CALL as error:
        error.prepend(f"application {slug!r} was created, but its state is unknown: ")
        raise
    if found is None:
        raise EffectUnverified(
            f"application {slug!r} was created, but the list of applications does not show it yet, so its "
            "state is unknown. Run this again in a few seconds"
        )
    return found


def await_app(task: Task[AppOptions]) -> App:
    """Return an application once it is created, or counts as created.

    The duration of PROVISIONING is not documented. It may last until the first deploy, so an application
    without one is waited for briefly only; the deploy waits if necessary.

    :raises WaitEnded: if its creation failed, or needs an operator of the platform.
    """
    until = time.monotonic() + min(QUIET_SECONDS, task.options.wait_timeout)

    def done(app: App) -> bool:
        if app.status in (ServiceStatus.FAILED, ServiceStatus.AWAITING_ADMIN):
            raise WaitEnded(
                f"application {app.slug!r} is {app.status}: "
                + (
                    "its creation failed; hosted.services.service_info with include: [details] shows why"
                    if app.status == ServiceStatus.FAILED
                    else "it waits for an operator of the platform"
                ),
                app=app_view(app),
            )
        return app.status != ServiceStatus.PROVISIONING or (never_deployed(app) and time.monotonic() >= until)

    app = wait_until(
        task,
        lambda: read_created(task),
        done,
        lambda app: f"its status is {app.status}",
        f"application {task.options.slug!r}",
    )
    return app


def to_diff(task: Task[AppOptions], quote: AppQuote, cost: Cost) -> dict[str, Any]:
    """Return the diff of an application that does not exist yet."""
    facts = {
        "slug": task.options.slug,
        "host": quote.host_label or quote.host_id or task.options.host,
        "project": None if task.composed else task.options.project,  # a larger plan has its id
        "dimensions": quote.dimensions.as_dict() if quote.dimensions else None,
        "monthly": cost.after,
    }
    return {name: value for name, value in facts.items() if value is not None}
