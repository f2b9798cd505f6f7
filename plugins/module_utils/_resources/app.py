# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Applications: quotes and creates missing ones (Applications)."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Literal

from .._api import routes as r
from .._api.errors import HostedError, Refused, TokenRejected
from .._api.models import App, AppQuote, Dimensions, ProjectDetail, ServiceSummary
from .._api.values import ServiceStatus
from .applications.lookup import OnAppOptions, check_slug, select_host, select_id
from .services.options import CommitmentOptions, Size
from .services.order import ORDERING
from .services.settings import check_max_monthly, describe_size
from .shared.account import Account
from .shared.change import Change, Listed, Outcome, apply
from .shared.money import NO_PRICE, Commitment, Cost, format_amount, format_price, rate_from
from .shared.names import likely_meant
from .shared.options import WaitOptions, names_given, option
from .shared.plan import NOTHING_DONE, Plan, Resource, Step, Task, after_waiting
from .shared.store import one_at_a_time
from .shared.task_errors import Invalid, NoSuchItem, WaitEnded
from .shared.waiting import QUIET_SECONDS, wait_until


@dataclass(frozen=True, kw_only=True)
class AppOptions(OnAppOptions, CommitmentOptions, WaitOptions):
    host: str | None = option(None, selects=True)
    project: str | None = option(None, selects=True)
    dimensions: Size | None = None
    state: Literal["present"] = "present"


class AppResource(Resource[AppOptions]):
    result_key = "app"

    def plan(self, task: Task[AppOptions]) -> Plan:
        slug = task.options.slug
        check_slug(slug)
        size = requested_size(task.options.dimensions)
        app = task.account.app_if_any(slug)
        if app is None:
            return plan_creation(task, slug, size)
        task.composition.adopting(app.id)
        check_existing(task, app, size)
        if not task.options.wait or task.check_mode or app.status == ServiceStatus.ACTIVE:
            return as_it_is(app)
        what = f"wait until application {slug!r} is created"
        return after_waiting(what, lambda: await_app(task), as_it_is, until=as_it_is(app))


APP = AppResource()


def as_it_is(app: App) -> Plan:
    managed = {"slug": app.slug}
    return Plan(result=app.as_dict(), before=managed, after=managed)


def with_slug(account: Account, slug: str) -> list[App]:
    app = account.app_if_any(slug)
    return [app] if app else []


def plan_creation(task: Task[AppOptions], slug: str, size: Dimensions | None) -> Plan:
    """Plan a new application, after checking its quote against ``max_monthly``.

    Node and size are those of the quote: otherwise the platform would choose again, and may have no capacity
    left on the quoted node.
    """
    options, what = task.options, f"application {slug!r}"
    host, project = select_host(task.account, options.host), requested_project(task)
    quote = task.client.quote_app(host, size)
    cost = replace(cost_of_app_quote(quote), service=slug)
    check_max_monthly(task, cost.after, what)
    if task.check_mode and not task.composition.copies:
        meant = likely_meant(slug, (app.slug for app in task.account.apps()))
        if meant is not None:
            task.warn(f"there is no application {slug!r}, so one would be created; did you mean {meant!r}?")
    told = quote.dimensions
    whole = told is not None and None not in told.as_size().values()
    priced = size or (told if whole else None)
    body = {
        "slug": slug,
        "hostId": host or quote.host_id,
        "projectId": project,
        "dimensions": priced.as_size(as_body=True) if priced else None,
    }
    adds = Commitment("creation", what, cost.after, name=slug, project=project, project_name=options.project)
    made = Listed(with_slug, (slug,))
    create = Change(what=what, route=r.APP_CREATE, body=body, shown=made, unique=True, commitment=adds)
    expected = App.model_construct(id=None, name=slug, slug=slug, status=ServiceStatus.ACTIVE)
    plan = Plan(result=expected.as_dict(), after=to_diff(task, quote, cost), cost=cost)
    price = format_price(task, cost.after)
    summary = f"create {what} {f'for {price} a month' if price else NO_PRICE}"
    steps = [Step(summary, lambda: make(task, create, plan, size), commitment=adds)]

    def wait() -> None:  # whoever creates it
        plan.reread = await_app(task).as_dict

    if options.wait:
        steps.append(Step(f"wait until {what} is created", wait, changes=False))
    plan.steps = steps
    return plan


def make(task: Task[AppOptions], create: Change, plan: Plan, size: Dimensions | None) -> object:
    """Create the application, unless another run was faster: then the plan becomes that for its one."""
    slug = task.options.slug
    with one_at_a_time(f"{ORDERING}{slug}", f"creating {create.what}"):
        there = create.shown.found(task.account)
        if there:
            task.warn(f"{create.what} appeared before it was created; it is used instead")
        try:
            outcome = Outcome(own=False, found=there) if there else apply(task, create)
        except Refused as error:
            raise explain_refusal(task, error) from None
    [app] = outcome.found
    if outcome.own:
        plan.reread = app.as_dict
        return None
    task.composition.adopting(app.id)
    check_existing(task, app, size)
    plan.become(as_it_is(app))
    return NOTHING_DONE


def explain_refusal(task: Task[AppOptions], error: Refused) -> Refused | Invalid:
    """Add the possible reason to a refused creation: the status for a taken slug is not documented."""
    if isinstance(error, TokenRejected):
        return error
    slug = task.options.slug
    hint = (
        "If it is not for another reason given there: slugs are unique across all accounts, so "
        f"{slug!r} may be taken by another one; choose another slug"
    )
    with suppress(HostedError):
        if any(app.slug == slug and app.status == ServiceStatus.DELETING for app in task.account.apps()):
            hint = (
                "The one with this slug is still being deleted. hosted.services.service with state: absent "
                "waits until it is gone; then run this again"
            )
    return Invalid(f"application {slug!r} was not created: {error.message}. {hint}", **error.details)


def await_app(task: Task[AppOptions]) -> App:
    """Return an application once it is created.

    PROVISIONING may last until the first deploy, so an application without one is waited for briefly only.
    """
    slug, until = task.options.slug, time.monotonic() + min(QUIET_SECONDS, task.options.wait_timeout)
    why = "hosted.services.service_info with include: [details] shows why"
    ends = {
        ServiceStatus.FAILED: f"its creation failed; {why}",
        ServiceStatus.AWAITING_ADMIN: "it waits for an operator of the platform",
    }

    def done(app: App) -> bool:
        if app.status in ends:
            raise WaitEnded(f"application {slug!r} is {app.status}: {ends[app.status]}", app=app.as_dict())
        awaits_deploy = app.digest is None and time.monotonic() >= until
        return app.status != ServiceStatus.PROVISIONING or awaits_deploy

    return wait_until(
        task,
        lambda: task.account.app(slug),
        done,
        lambda app: f"its status is {app.status}",
        f"application {slug!r}",
    )


def requested_project(task: Task[AppOptions]) -> str | None:
    """Return the id of the requested project; ``None`` leaves the choice to the platform."""
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
    """Return the requested size, of which the platform needs all parts; ``None`` leaves it the choice."""
    if given is None:
        return None
    if given.missing:
        raise Invalid(
            f"dimensions lacks {', '.join(given.missing)}; give all three parts, or leave dimensions out "
            "for the entry-level size"
        )
    return Dimensions(**given.as_dict())


def cost_of_app_quote(quote: AppQuote) -> Cost:
    monthly = rate_from(quote.monthly_millicents)
    detail = describe_size(quote.dimensions.as_dict()) if quote.dimensions else None
    line = {"label": quote.host_label or quote.host_id, "detail": detail, "monthly": format_amount(monthly)}
    return Cost(Decimal(0), monthly, [line])


def to_diff(task: Task[AppOptions], quote: AppQuote, cost: Cost) -> dict[str, Any]:
    facts = {
        "slug": task.options.slug,
        "host": quote.host_label or quote.host_id or task.options.host,
        "project": None if task.composition.part else task.options.project,  # a larger plan has its id
        "dimensions": quote.dimensions.as_dict() if quote.dimensions else None,
        "monthly": cost.after,
    }
    return {name: value for name, value in facts.items() if value is not None}


def check_existing(task: Task[AppOptions], app: App, size: Dimensions | None) -> None:
    """Warn of an existing application that differs from the options, which hosted.services.service changes.

    A token that may not read its page compares nothing. Nothing changes the node, and what a larger plan
    takes for its own must be in its project.
    """
    options = task.options
    given = {"host": options.host, "project": options.project, "size": size, "price": options.max_monthly}
    project = task.account.page_of_app(app) if names_given(**given) else None
    if project is None:
        return
    service = next(service for service in project.resources if service.id == app.id)
    host = service.host
    if options.host is not None and host and options.host not in (host.id, host.label):
        raise Invalid(
            f"application {app.slug!r} is on host {host.label or host.id!r}, not {options.host!r}; the "
            "platform cannot change it. To use that node, create another one and delete this one"
        )
    if task.composition.part and options.project not in (None, project.id, project.name):
        raise Invalid(
            f"application {app.slug!r} is in project {project.name!r}, and was not changed. Choose another "
            f"slug, or move it here first, with hosted.services.service, id: {app.id} and new_project"
        )
    if app.slug not in task.foreseen:  # otherwise an earlier task of the play is to change it
        warn_of_differences(task, app.slug, project, service, size)


def warn_of_differences(
    task: Task[AppOptions],
    slug: str,
    project: ProjectDetail,
    service: ServiceSummary,
    size: Dimensions | None,
) -> None:

    def warn(told: str, remedy: str) -> None:
        changes = f"hosted.services.service with {remedy} changes it"
        task.warn(f"application {slug!r} {told}, and was not changed: {changes}")

    wanted, now, most = task.options.project, service.dimensions, task.options.max_monthly
    if wanted not in (None, project.id, project.name):
        warn(f"is in project {project.name!r}, not {wanted!r}", "new_project")
    if size is not None and now is not None and now.as_size() != size.as_size():
        warn(f"has {describe_size(now.as_dict())}, not {describe_size(size.as_dict())}", "dimensions")
    monthly = rate_from(service.monthly_millicents)
    if most is not None and monthly is not None and monthly > most:
        over = f"over max_monthly {format_price(task, most)}"
        warn(f"costs {format_price(task, monthly)} a month, {over}", "dimensions")
