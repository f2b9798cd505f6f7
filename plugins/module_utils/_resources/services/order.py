# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ordering a service: quoted first, sent once, its one-time secrets kept (Ordering).

A service of that name in another project is another service. But services of a deleted project join the
default project, where the playbook that ordered them no longer looks. So an order stops if the default
project has the very service that was ordered for the task's project, and warns of any other of its name and
product. Which project is the default one is not shown. It cannot be deleted and every account has one, so the
oldest is assumed. A project of unknown age may be it, too.

How a service was ordered is remembered by its id. If the platform gave it another name than was asked for,
the entry of the order stays in the journal: a task would not find it, and order one more in every run.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from decimal import Decimal
from math import inf
from secrets import token_hex
from typing import Any

from ..._api import routes as r
from ..._api.errors import HostedError, Refused, TokenRejected
from ..._api.models import Dimensions, Order, Project, Quote, Service, ServiceSummary
from ..._api.text import composed
from ..._api.values import WITH_SETTINGS, ServiceStatus
from ..shared import journal, secrets_file
from ..shared.account import Account
from ..shared.change import BILLED_SECONDS, Change, create
from ..shared.identify import (
    close_name,
    label,
    near_miss,
    oldest_projects,
    only_service,
    with_name,
)
from ..shared.money import (
    Commitment,
    Cost,
    format_amount,
    format_price,
    from_cents,
    rate_from,
    to_decimal,
)
from ..shared.names import likely_meant, look_alike, same_name
from ..shared.pending import KEY_BYTES, Prints
from ..shared.plan import NOTHING_DONE, Task
from ..shared.run_memory import run_id, run_process
from ..shared.store import Kind, one_at_a_time
from ..shared.task_errors import EffectUnverified, Invalid
from ..shared.waiting import poll_for
from .options import OrderOptions, ServiceOptions
from .settings import check_max_monthly, differing_fact, later_settings
from .view import compare_rate

MAX_SERVICE_NAME = 80
MOST_SHOWN = 10
"""How many products or nodes of the account an error lists."""
ORDERING = "order:"
"""The beginning of the subject of the lock for orders of a name, including applications with this slug."""

# --- What is ordered --------------------------------------------------------------------------------


def missing_options(options: OrderOptions) -> str:
    """Return what an order and its quote need and the user did not give, for messages; empty if nothing."""
    needed = {"product": options.product, "host": options.host}
    missing = [name for name, value in needed.items() if not value]
    if options.preset or (options.dimensions and None not in vars(options.dimensions).values()):
        return " and ".join(missing)
    parts = "" if options.dimensions is None else " (cpu_cores, ram_gb and storage_gb)"
    size = f"dimensions{parts} or preset"
    return ", ".join([*missing, f"and {size}"]) if missing else size


def quote_of(account: Account, options: OrderOptions) -> tuple[dict[str, Any], Quote]:
    """Return what an order asks for, and its quote. A refusal is told with what the account has instead."""
    given = {
        "productSlug": options.product,
        "runtimeId": options.runtime,
        "hostId": options.host,
        "presetId": options.preset,
        "dimensions": Dimensions(**vars(options.dimensions)).as_size(as_body=True)
        if options.dimensions
        else None,
        "variables": options.variables,
        "options": [{"optionId": each.option, "choiceId": each.choice} for each in options.options or []]
        or None,
    }
    body = {key: value for key, value in given.items() if value is not None}
    try:
        return body, account.client.quote(body=body)
    except TokenRejected:
        raise
    except Refused as error:
        services = account.services()
        products = {
            each.product.slug: each.product.name for each in services if each.product and each.product.slug
        }
        hosts = {each.host.id: each.host.label for each in services if each.host and each.host.id}
        hints = [
            unknown_name("product", options.product, products),
            unknown_name("host", options.host, hosts),
        ]
        raise error.append("".join(hints)) from None


def unknown_name(option: str, wanted: str | None, known: Mapping[str, str | None]) -> str:
    """Say that no service of the account has a product or node, and which there are; empty if one has."""
    if wanted is None or wanted in known or not known:
        return ""
    labelled = next((id for id, label in known.items() if label == wanted), None)
    hint = f"; {wanted!r} is the name of {labelled!r}" if labelled else near_miss(wanted, known)
    shown = ", ".join(sorted(known)[:MOST_SHOWN])
    end = "" if hint.endswith("?") else "."
    return f". No service of this account has {option} {wanted!r}{hint}{end} It has {shown}; others may exist"


def check_quote(task: Task[ServiceOptions], quote: Quote) -> Cost:
    """Hold ``max_monthly`` and the rule of the platform on the balance; return the cost."""
    cost = cost_of_quote(quote)
    check_max_monthly(task, cost.after, f"service {task.options.name!r}")
    if quote.covers_first_day is False:
        balance, least = cost.balance, cost.min_balance
        raise Invalid(
            f"the balance {format_price(task, balance)} does not cover the first day of service "
            f"{task.options.name!r}; at least {format_price(task, least)} is needed. Nothing was ordered",
            balance=format_amount(balance),
            min_balance=format_amount(least),
        )
    return replace(cost, service=task.options.name)


def cost_of_quote(quote: Quote) -> Cost:
    """Return what a quote does to the monthly price."""
    lines = [
        {
            "label": line.label,
            "detail": line.detail,
            "monthly": None if line.monthly_cents is None else format_amount(from_cents(line.monthly_cents)),
        }
        for line in quote.lines or []
    ]
    return Cost(
        Decimal(0),
        rate_from(quote.monthly_millicents),
        lines,
        balance=None if quote.balance_cents is None else from_cents(quote.balance_cents),
        min_balance=None if quote.min_balance_cents is None else from_cents(quote.min_balance_cents),
        days_covered=quote.days_covered,
    )


# --- What stands in its way ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Ordered:
    """How a service was ordered: for the project of this name, in this run, with what an order alone uses."""

    project: str | None = None
    run: str | None = None
    settings: Prints = field(default_factory=Prints)


ORDERED = Kind("orders", Ordered, "the record of what was ordered")


def check_namesakes(
    task: Task[ServiceOptions], project: Project | None, services: Sequence[ServiceSummary]
) -> list[ServiceSummary]:
    """Check that an order would not duplicate one of ``services``; return those of its name and product.

    The family of a product is not shown before an order, but is the same for every order of it.
    """
    name, family, product = task.options.name or "", task.options.family, task.options.product
    named = with_name(services, name, None)
    alike = [each for each in named if each.product is None or each.product.slug == product]
    for other in alike:
        if family not in (None, other.family):
            raise Invalid(
                f"{label(other)} of this product is of family {other.family}, not {family}. Nothing was "
                "ordered. Correct the family, or leave it out",
                namesakes=[other.id],
            )
    known = {each.id: each for each in services if each.status not in ServiceStatus.DELETING_OR_DELETED}
    for record, entry in journal.opened(task.options.base_url, f"{secrets_file.ORDERED}:{name}").items():
        found = known.get(entry.id)
        if found and not same_name(found.name, name) and task.account.within([found], project):
            raise Invalid(
                f"{label(found)} is what an earlier order of {name!r} became, as the platform gave it "
                f"another name. Nothing was ordered. Use that name, or id: {found.id}; or remove "
                f"{record.path}, to order another one",
                namesakes=[found.id],
            )
    return alike


def check_other_projects(
    task: Task[ServiceOptions], project: Project, alike: Sequence[ServiceSummary]
) -> None:
    """Check whether another project has what the task orders; warn if it may, and refuse if it does."""
    account = task.account
    alone = len(with_name(account.services(), task.options.name or "", None)) == 1
    projects = account.projects()
    defaults = [each for each in projects if each.id in oldest_projects(projects) and each.id != project.id]
    there = {service.id for each in defaults for service in account.members(each)}
    for other in alike:
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
    """Warn of a service that stays in another project and is billed, if it has the size of the order."""
    home = next((each for each in task.account.projects() if service and each.id == service.project_id), None)
    wanted = task.options.dimensions.as_dict() if task.options.dimensions else {}
    if service is None or home is None:
        return
    differs = any(getattr(service.dimensions, name, None) != value for name, value in wanted.items())
    if differs or (run_id() and ORDERED.of(task.options.base_url, service.id).read().run == run_id()):
        return  # this run may have ordered both
    way = f". To move that one instead: {move}" if service.family in WITH_SETTINGS else ""
    names = f"name: {home.name!r} and new_name: {project.name!r}"
    rename = "" if project.resource_count else f". To rename the project: hosted.services.project, {names}"
    task.warn(
        f"{label(service)} of this product and size stays in project {home.name!r} and is billed; another "
        f"one is ordered{way}{rename}"
    )


def warn_of_slip(task: Task[ServiceOptions], services: Sequence[ServiceSummary], then: str = "") -> None:
    """Warn in check mode of the service whose name is probably meant."""
    name = task.options.name or ""
    if not task.composition.copies and not with_name(services, name, None):
        meant = likely_meant(name, (service.name for service in services))
        if meant is not None:
            alike = look_alike(name, meant)
            task.warn(f"there is no service named {name!r}{then}; did you mean {meant!r}{alike}?")


# --- The order ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Arrived:
    """The account has a new service of the name and project of an order that is as ordered."""

    options: ServiceOptions
    project: Project | None
    known: frozenset[str]

    def found(self, account: Account) -> Sequence[ServiceSummary | Service]:
        return self.among(account, account.services())

    def among(
        self, account: Account, services: Sequence[ServiceSummary]
    ) -> Sequence[ServiceSummary | Service]:
        """Return those of some services that are such ones."""
        named = with_name(services, self.options.name or "", None)
        new = [each for each in named if each.id not in self.known]
        return account.within(
            [each for each in new if differing_fact(self.options, each) is None], self.project
        )


class Ordering:
    """An order on its way: what was asked for, and the id of the service once it is known."""

    def __init__(self, task: Task[ServiceOptions], project: Project | None) -> None:
        options, name = task.options, task.options.name or ""
        if not name:
            raise Invalid("to order a service, give its name")
        if len(name) > MAX_SERVICE_NAME:
            raise Invalid(
                f"the service name has {len(name)} characters; at most {MAX_SERVICE_NAME} are allowed"
            )
        if missing := missing_options(options):
            raise Invalid(f"{missing_service(task, name)} To order it, also set {missing}")
        odd = later_settings(options)
        if odd and options.family not in (None, *WITH_SETTINGS):  # they would fail once it is ordered
            raise Invalid(
                f"{' and '.join(odd)} cannot be set on a {options.family} service; only families "
                f"{' and '.join(WITH_SETTINGS)} have settings. Nothing was ordered"
            )
        secrets_file.check_folder(task)
        self.task, self.project, self.name, self.what = task, project, name, f"service {name!r}"
        self.subject = f"{secrets_file.ORDERED}:{name}"
        self.body = dict[str, Any]()
        """What is ordered, as it was quoted."""
        self.run = run_process()
        """The process that waits for this task. An orphan has another one: its run was killed."""
        self.cost, home = Cost(None, None), (project.id, project.name) if project else (None, None)
        self.commitment = Commitment("order", self.what, None, None, name, *home)
        """Both as they were quoted, once they are."""
        self.listed: Sequence[ServiceSummary] = ()
        """The services of the account as they were last read."""
        self.id: str | None = None
        self.kept: secrets_file.SecretWriter | None = None
        """The entry of the order, which stays until the service is known by its name."""
        self.placed: ServiceSummary | None = None
        """The service as the list showed it right after the order."""
        self.adopted = False
        """Whether the service appeared since the plan, so that nothing was ordered."""

    def place(self) -> Any:
        """Place the order, unless the service has appeared since the plan was made: then nothing is done.

        The hosts of a play and the runs of a controller order a name one after the other, so that all but the
        first find the service there. Before that, an order whose outcome nobody knows gets the time to be
        carried out.
        """
        task, place = self.task, self.task.options.base_url
        # Not by the address of the platform, which may be written in many ways.
        with one_at_a_time(f"{ORDERING}{self.name}", f"ordering {self.what}"):
            appeared = self._find_existing()
            shown = {service.id for service in self.listed}
            orders = journal.opened(place, self.subject).values()
            last = max((each.at for each in orders if each.id not in shown), default=-inf)
            left = BILLED_SECONDS - max(0.0, time.time() - last)
            if appeared is None and left > 0:
                task.warn(
                    f"an earlier order of {self.what} got no response, so the list of services is "
                    f"watched for up to {left:.0f} seconds before another one is sent"
                )
                poll_for(lambda: self._find_existing() is not None, left)
                appeared = self._find_existing()
            if appeared is not None:
                task.composition.adopting(appeared.id)
                self.id, self.adopted = appeared.id, True
                task.warn(f"a service named {self.name!r} appeared before it was ordered; it is used instead")
            else:
                check_namesakes(task, self.project, self.listed)  # another task may have ordered since
                self.id = task.effects.facts["service_id"] = self._send_once()
                home = self.project.name if self.project else None
                settings = prints_of(self.id, task.options, token_hex(KEY_BYTES))
                with suppress(Invalid):  # without what is remembered here, later tasks warn of less
                    ORDERED.of(place, self.id).write(Ordered(home, run_id(), settings))
        task.effects.facts["service_id"] = self.id
        return NOTHING_DONE if self.adopted else None

    def _find_existing(self) -> ServiceSummary | Service | None:
        """Return the service of the name, where there is one by now."""
        account = self.task.account
        self.listed = account.services()
        named = account.within(with_name(self.listed, self.name, self.task.options.family), self.project)
        return only_service(account.in_default_project(named), self.name)

    def _send_once(self) -> str:
        """Send the order, keep its secrets, which no other answer shows, and return the id of the service.

        A run that was killed sends nothing: nobody would see the order, and the next run orders too.
        """
        if os.getppid() != self.run:
            raise Invalid(f"the run was killed before {self.what} was ordered; nothing was ordered")
        arrived = Arrived(self.task.options, self.project, frozenset(each.id for each in self.listed))
        home = {} if self.project is None else {"projectId": self.project.id}
        body = {**self.body, "name": composed(self.name), **home}
        change = Change(what=self.what, route=r.ORDER, body=body, shown=arrived, commitment=self.commitment)
        what, saved = f"the one-time secrets of {self.what}", True
        with secrets_file.keep_secrets(self.task, self.subject, what) as kept:
            outcome = create(self.task, change)
            order: Order | None = outcome.response
            if order is None:
                kept.close()
                lost = f"{what}, if any, were in the lost response and are lost too"
                self.task.warn(f"{lost}. If it has any: {kept.remedy}")
                return str(outcome.found[0].id)
            id, secrets = order.instance_id, [secret.as_dict() for secret in order.secrets or []]
            if secrets:
                labels = ", ".join(str(secret["label"] or "without a label") for secret in secrets)
                content = {"service_id": id, "name": self.name, "secrets": secrets}
                saved = kept.write(id, content, f"the secrets of {self.what} ({labels})")
        if not any(same_name(service.name, self.name) for service in self.listed):
            # Earlier orders of the name came to nothing, so no secrets of theirs can be missing.
            journal.close(self.task.options.base_url, self.subject, but=kept.record)
        if saved:
            self.kept = kept
            kept.note_id(id)
        self._check_placed(order, arrived)
        return id

    def _check_placed(self, order: Order, arrived: Arrived) -> None:
        """Tell of another price than was quoted, and of services of the name that came up meanwhile."""
        id, told = order.instance_id, rate_from(to_decimal(order.monthly_millicents))
        if told is not None and self.cost.after not in (None, told):
            advice = "It is ordered; delete it with state: absent if that is too much"
            compare_rate(self.task, self.what, told, self.cost, advice)
        try:
            services = self.task.account.services()
            news = replace(arrived, known=arrived.known | {id})
            others = [other.id for other in news.among(self.task.account, services)]
        except HostedError:  # the order is placed
            return
        self.placed = next((service for service in services if service.id == id), None)
        if self.placed is None:
            came = f"; {', '.join(others)} came up meanwhile" if others else ""
            raise EffectUnverified(
                f"{self.what} was ordered and is billed, but the list of services does not show "
                f"the id of the response, {id}{came}. Nothing more was done. Check the account before you "
                "run this again"
            )
        if others:
            self.task.effects.facts["namesakes"] = others
            self.task.warn(
                f"besides {self.what} ({id}), others of that name were ordered at the same time, "
                f"perhaps by another run: {', '.join(others)}; each is billed. Delete the extra ones by id, "
                "with state: absent"
            )


def missing_service(task: Task[ServiceOptions], name: str) -> str:
    """Say that there is no service of a name where the task looks for it, and what there is instead."""
    project, family = task.options.project, task.options.family
    here = f" in project {project!r}" if project else ""
    here += f" of family {family}" if family else ""
    services = task.account.services()
    elsewhere = [task.account.location(service) for service in with_name(services, name, None)]
    if elsewhere:
        return f"there is no service named {name!r}{here}, but {', '.join(elsewhere)} has that name."
    hint = close_name(name, (service.name for service in services))
    return f"there is no service named {name!r}{here}{f';{hint}' if hint else '.'}"


def ordered_with(task: Task, id: str) -> Prints:
    """Return what is known of the settings that a service was ordered with."""
    found = Prints()
    with suppress(Invalid):
        found = ORDERED.of(task.options.base_url, id).read().settings
    return found if found.id == id else Prints()


def prints_of(id: str, options: ServiceOptions, key: str) -> Prints:
    """Return fingerprints of what an order alone uses."""
    found, given = Prints(id, key), {"options": options.options, "variables": options.variables}
    texts = {name: json.dumps(value, sort_keys=True, default=repr) for name, value in given.items() if value}
    found.prints = {name: found.of(name, text) for name, text in texts.items()}
    return found


def differs_from_order(task: Task[ServiceOptions], id: str) -> list[str]:
    """Return the options that differ from what a service was ordered with, where that is known here."""
    ordered = ordered_with(task, id)
    now = prints_of(id, task.options, ordered.key).prints if ordered.known else {}
    return [name for name, found in now.items() if found != ordered.prints.get(name)]
