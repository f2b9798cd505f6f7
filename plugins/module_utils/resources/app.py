# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Applications: created when missing, quoted first (Applications)."""

from __future__ import annotations

from typing import Any, ClassVar

from ..api.errors import OF_A_CALL, Conflict, Refused
from ..api.models import App, AppQuote, Dimensions
from .apps import ON_APP, app_view, check_slug, choose, find_app, foreseen_app, need_app
from .lookup import foresee
from .money import Cost, from_millicents, shown
from .plan import Plan, Resource, Step, Task
from .problems import Invalid, Missing, WaitEnded
from .service_settings import check_budget, check_limit, describe_size
from .service_view import AWAITING_ADMIN, FAILED, PROVISIONING
from .waiting import create_unique, wait_until

SIZE = ("cpu_cores", "ram_gb", "storage_gb")


class AppResource(Resource):
    """An application, by its slug."""

    noun = "app"
    options: ClassVar[dict[str, Any]] = {
        **ON_APP,
        "host": {"type": "str"},
        "project": {"type": "str"},
        "dimensions": {"type": "dict", "options": {name: {"type": "int"} for name in SIZE}},
        "max_monthly": {"type": "str"},
        "state": {"type": "str", "choices": ["present"], "default": "present"},
    }
    selectors = frozenset({"slug", "host", "project", "max_monthly"})
    waits = True

    def plan(self, task: Task) -> Plan:
        """Create the application when it is missing. What is there is left as it is."""
        slug = task.options["slug"]
        check_slug(slug)
        check_limit(task)
        app = find_app(task.client, slug)
        if app is None:
            return creation(task, slug)
        if task.options["wait"] and not task.check_mode:
            app = created(task)
        managed = {"slug": slug}
        return Plan(result=app_view(app), before=managed, after=managed)


APP = AppResource()


def creation(task: Task, slug: str) -> Plan:
    """Plan a new application, quoted and within the budget."""
    options = task.options
    size = whole_size(options["dimensions"])
    host = choose(options["host"], options["host"] and task.client.app_nodes(), "host")
    project = project_of(task)
    quote = task.client.quote_app(host, size)
    cost = quoted(quote)
    check_budget(task, cost.after, f"application {slug!r}")

    def call() -> None:
        task.client.create_app(slug, host, project, size)

    def new_ones() -> list[App]:
        return [app for app in task.client.apps() if app.slug == slug]

    def make() -> None:
        try:
            create_unique(call, new_ones, f"application {slug!r}", task)
        except Refused as error:
            raise explained(error, slug) from None

    seen: list[App] = []
    steps = [Step(f"create application {slug!r} for {shown(cost.after)} a month", make)]
    if task.options["wait"]:
        wait = f"wait until application {slug!r} is created"
        steps.append(Step(wait, lambda: seen.append(created(task))))
    return Plan(
        result=app_view(foreseen_app(slug)),
        steps=steps,
        reread=lambda: app_view(seen[0] if seen else read_created(task)),
        after=summary(task, quote, cost),
        cost=cost,
    )


def project_of(task: Task) -> str | None:
    """Return the id of the wished project; nothing leaves it to the platform.

    :raises Missing: when there is none of this name, and none can come before this task.
    """
    wanted = task.options["project"]
    try:
        return choose(wanted, wanted and task.client.app_projects(), "project")
    except Missing as error:
        foresee(task, error, "creates")
        return None  # check mode only quotes, and the price is the same in every project


def whole_size(given: dict[str, Any] | None) -> Dimensions | None:
    """Return the wished size; none at all leaves it to the platform.

    :raises Invalid: when a part of it is missing: the platform takes a size whole.
    """
    if given is None:
        return None
    missing = [name for name in SIZE if given[name] is None]
    if missing:
        raise Invalid(
            f"dimensions lacks {', '.join(missing)}; give all three parts, or leave dimensions out for the "
            "entry-level size"
        )
    return Dimensions(**given)


def quoted(quote: AppQuote) -> Cost:
    """Return what a quote does to the monthly price."""
    monthly = None if quote.monthly_millicents is None else from_millicents(quote.monthly_millicents)
    detail = describe_size(quote.dimensions.as_dict()) if quote.dimensions else None
    line = {"label": quote.host_label or quote.host_id, "detail": detail, "monthly": shown(monthly)}
    return Cost(from_millicents(0), monthly, [line])


def explained(error: Refused, slug: str) -> Refused | Invalid:
    """Return the refusal of a new application with what it can mean: a taken slug has no known status."""
    if error.status == 401:
        return error
    taken = (
        f"the slug {slug!r} is taken, by another account"
        if isinstance(error, Conflict)
        else f"slugs are unique across all accounts, so {slug!r} may be taken by another one"
    )
    return Invalid(
        f"application {slug!r} was not created: {error.message}. If it is not for another reason given "
        f"there: {taken}; choose another slug",
        status=error.status,
    )


def read_created(task: Task) -> App:
    """Return an application that was just created. The answer to that does not show it, so look it up."""
    try:
        return need_app(task)
    except OF_A_CALL as error:
        slug = task.options["slug"]
        error.message = f"application {slug!r} was created, but its state is unknown: {error.message}"
        raise


def created(task: Task) -> App:
    """Return the application once it is created.

    :raises WaitEnded: when its creation failed, or needs somebody at the platform.
    """

    def done(app: App) -> bool:
        if app.status in (FAILED, AWAITING_ADMIN):
            raise WaitEnded(
                f"application {app.slug!r} is {app.status}: "
                + (
                    "its creation failed; hosted.services.service_info with include: [details] tells why"
                    if app.status == FAILED
                    else "it waits for somebody at the platform"
                ),
                app=app_view(app),
            )
        return app.status != PROVISIONING

    return wait_until(
        task,
        lambda: read_created(task),
        done,
        lambda app: f"its status is {app.status}",
        f"application {task.options['slug']!r}",
    )


def summary(task: Task, quote: AppQuote, cost: Cost) -> dict[str, Any]:
    """Return what a diff shows of an application that is not there yet."""
    facts = {
        "slug": task.options["slug"],
        "host": quote.host_label or quote.host_id or task.options["host"],
        "project": task.options["project"],
        "dimensions": quote.dimensions.as_dict() if quote.dimensions else None,
        "monthly": shown(cost.after),
    }
    return {name: value for name, value in facts.items() if value is not None}
