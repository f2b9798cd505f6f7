# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ordering a service: quoted first, sent once, its one-time secrets kept (Ordering)."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from ..._api import routes as r
from ..._api.errors import HostedError, Refused, TokenRejected
from ..._api.models import Dimensions, Order, Project, Quote, Service, ServiceSummary
from ..._api.text import composed
from ..._api.values import WITH_SETTINGS
from ..shared import journal, secrets_file
from ..shared.account import Account
from ..shared.change import BILLED_SECONDS, Change, call_once
from ..shared.currency import format_price
from ..shared.fingerprints import Prints, prints_of
from ..shared.identify import (
    close_name,
    near_miss,
    only_service,
    with_name,
)
from ..shared.money import (
    Commitment,
    Cost,
    format_amount,
    from_cents,
    rate_from,
    to_decimal,
)
from ..shared.names import same_name
from ..shared.plan import Task
from ..shared.run_memory import run_id
from ..shared.runs import run_process
from ..shared.store import one_at_a_time
from ..shared.task_errors import EffectUnverified, Invalid
from ..shared.waiting import poll_for
from .namesakes import ORDERED, ORDERING, Ordered, check_namesakes
from .options import OrderOptions, ServiceOptions
from .rates import compare_rate
from .settings import check_max_monthly, differing_fact, later_settings

MAX_SERVICE_NAME = 80


def order_fields(task: Task[ServiceOptions]) -> dict[str, Any]:
    """Return the body of the quote of an order, which the order's own adds name and project to.

    :raises Invalid: when something that an order needs was not given.
    """
    options, name = task.options, task.options.wanted_name
    if not name:
        raise Invalid("to order a service, give its name")
    if len(name) > MAX_SERVICE_NAME:
        raise Invalid(f"the service name has {len(name)} characters; at most {MAX_SERVICE_NAME} are allowed")
    if missing := missing_options(options):
        raise Invalid(f"{missing_service(task, name)} To order it, also set {missing}")
    odd = later_settings(options)
    if odd and options.family not in (None, *WITH_SETTINGS):  # they would fail once it is ordered
        raise Invalid(
            f"{' and '.join(odd)} cannot be set on a {options.family} service; only families "
            f"{' and '.join(WITH_SETTINGS)} have settings. Nothing was ordered"
        )
    return quote_fields(options)


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


def missing_options(options: OrderOptions) -> str:
    """Return what an order and its quote need and the user did not give, for messages; empty if nothing."""
    needed = {"product": options.product, "host": options.host}
    missing = [name for name, value in needed.items() if not value]
    if options.preset or (options.dimensions is not None and not options.dimensions.missing):
        return " and ".join(missing)
    parts = "" if options.dimensions is None else " (cpu_cores, ram_gb and storage_gb)"
    size = f"dimensions{parts} or preset"
    return ", ".join([*missing, f"and {size}"]) if missing else size


def quote_fields(options: OrderOptions) -> dict[str, Any]:
    """Return the body of the quote of an order."""
    body = {
        "productSlug": options.product,
        "runtimeId": options.runtime,
        "hostId": options.host,
        "presetId": options.preset,
        "dimensions": Dimensions(**options.dimensions.as_dict()).as_body() if options.dimensions else None,
        "variables": options.variables,
        "options": [{"optionId": each.option, "choiceId": each.choice} for each in options.options or []]
        or None,
    }
    return {key: value for key, value in body.items() if value is not None}


def quote_of(account: Account, body: dict[str, Any]) -> Quote:
    """Return the quote of an order. A refusal is told with the near miss among what the account has."""
    try:
        return account.client.quote(body=body)
    except TokenRejected:
        raise
    except Refused as error:
        services = account.services()
        products = {
            each.product.slug: each.product.name for each in services if each.product and each.product.slug
        }
        hosts = {each.host.id: each.host.label for each in services if each.host and each.host.id}
        hints = [
            unknown_name("product", body.get("productSlug"), products),
            unknown_name("host", body.get("hostId"), hosts),
        ]
        raise error.append("".join(hints)) from None


def unknown_name(option: str, wanted: str | None, known: Mapping[str, str | None]) -> str:
    """Say that no service of the account has a product or node, and which may be meant; empty if one has."""
    if wanted is None or wanted in known or not known:
        return ""
    labelled = next((id for id, label in known.items() if label == wanted), None)
    hint = f"; {wanted!r} is the name of {labelled!r}" if labelled else near_miss(wanted, known)
    return f". No service of this account has {option} {wanted!r}{hint}"


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
    monthly = rate_from(quote.monthly_millicents)
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
        monthly,
        lines,
        balance=None if quote.balance_cents is None else from_cents(quote.balance_cents),
        min_balance=None if quote.min_balance_cents is None else from_cents(quote.min_balance_cents),
        days_covered=quote.days_covered,
    )


@dataclass(frozen=True)
class Arrived:
    """The account has a new service of the name and project of an order that is as ordered."""

    options: ServiceOptions
    project: Project | None
    known: frozenset[str]

    def found(self, account: Account) -> Sequence[ServiceSummary | Service]:
        """Return the services."""
        return self.among(account, account.services())

    def among(
        self, account: Account, services: Sequence[ServiceSummary]
    ) -> Sequence[ServiceSummary | Service]:
        """Return those of some services that are such ones."""
        named = with_name(services, self.options.wanted_name, None)
        new = [each for each in named if each.id not in self.known]
        return account.within(
            [each for each in new if differing_fact(self.options, each) is None], self.project
        )


class Ordering:
    """An order on its way: what was asked for, and the id of the service once it is known."""

    def __init__(self, task: Task[ServiceOptions], project: Project | None) -> None:
        self.task, self.project = task, project
        self.listed: Sequence[ServiceSummary] = ()
        """The services of the account as they were last read."""
        self.body = order_fields(task)
        self.name = task.options.wanted_name
        self.what = f"service {self.name!r}"
        self.id: str | None = None
        self.kept: secrets_file.SecretWriter | None = None
        """The entry of the order, which stays until the service is known by its name."""
        self.placed: ServiceSummary | None = None
        """The service as the list showed it right after the order."""
        self.adopted = False
        """Whether the service appeared since the plan, so that nothing was ordered."""
        self.run = run_process()
        """The process that waits for this task. An orphan has another one: its run was killed."""
        self.cost = Cost(None, None)
        """What was quoted, once it is."""
        secrets_file.check_folder(task)

    @property
    def commitment(self) -> Commitment:
        """What the order adds to the running rate."""
        project = self.project
        return Commitment(
            "order",
            self.what,
            self.cost.after,
            name=self.name,
            project=project.id if project else None,
            project_name=project.name if project else None,
        )

    def place(self) -> str:
        """Place the order, unless the service has appeared since the plan was made. Return its id.

        The hosts of a play and the runs of a controller order a name one after the other, so that all but the
        first find the service there.

        :raises Invalid: when another task does not get done with an order of this name.
        """
        # Not by the address of the platform, which may be written in many ways.
        with one_at_a_time(f"{ORDERING}{self.name}", f"ordering {self.what}"):
            appeared = self._find_existing() or self._await_lost_order()
            if appeared is not None:
                self.task.composition.adopting(appeared.id)
                self.id, self.adopted = appeared.id, True
                self.task.warn(
                    f"a service named {self.name!r} appeared before it was ordered; it is used instead"
                )
            else:
                check_namesakes(self.task, self.project, self.listed)  # another task may have ordered since
                self.id = self.task.effects.facts["service_id"] = self._send_once()
                home = self.project.name if self.project else None
                settings = prints_of(self.id, used_once(self.task.options))
                with suppress(Invalid):  # without what is remembered here, later tasks warn of less
                    ORDERED.of(self.task.options.base_url, self.id).write(Ordered(home, run_id(), settings))
        self.task.effects.facts["service_id"] = self.id
        return self.id

    def _find_existing(self) -> ServiceSummary | Service | None:
        """Return the service of the name, where there is one by now."""
        account = self.task.account
        self.listed = account.services()
        named = account.within(with_name(self.listed, self.name, self.task.options.family), self.project)
        return only_service(account.in_default_project(named), self.name)

    def _await_lost_order(self) -> ServiceSummary | Service | None:
        """Give an order whose outcome nobody knows the time to be carried out, before another one is sent."""
        place, shown = self.task.options.base_url, {service.id for service in self.listed}
        left = BILLED_SECONDS - journal.seconds_since(place, f"{secrets_file.ORDERED}:{self.name}", shown)
        if left <= 0:
            return None
        self.task.warn(
            f"an earlier order of {self.what} got no response, so the list of services is "
            f"watched for up to {left:.0f} seconds before another one is sent"
        )
        poll_for(lambda: self._find_existing() is not None, left)
        return self._find_existing()

    def _send_once(self) -> str:
        """Send the order, keep its secrets, and return the id of the service.

        :raises Invalid: for a run that was killed: nobody would see the order, and the next run orders too.
        """
        if os.getppid() != self.run:
            raise Invalid(f"the run was killed before {self.what} was ordered; nothing was ordered")
        known = frozenset(service.id for service in self.listed)
        body = {**self.body, "name": composed(self.name)}
        if self.project is not None:
            body["projectId"] = self.project.id
        subject = f"{secrets_file.ORDERED}:{self.name}"
        arrived = Arrived(self.task.options, self.project, known)
        place = Change(what=self.what, route=r.ORDER, body=body, shown=arrived, commitment=self.commitment)
        with secrets_file.keep_secrets(self.task, subject, f"the one-time secrets of {self.what}") as kept:
            outcome = call_once(self.task, place)
            order: Order | None = outcome.response
            if order is None:
                adopted = outcome.found[0]
                kept.close()
                self.task.warn(
                    f"the one-time secrets of {self.what}, if any, were in the lost response and are lost "
                    f"too. If it has any: {kept.remedy}"
                )
                return str(adopted.id)
            saved = write_order_secrets(kept, self.name, order)
        if not any(same_name(service.name, self.name) for service in self.listed):
            # Earlier orders of the name came to nothing, so no secrets of theirs can be missing.
            journal.close(self.task.options.base_url, subject, but=kept.record)
        if saved:
            self.kept = kept
            kept.note_id(order.instance_id)
        self._check_placed(order, arrived)
        return order.instance_id

    def confirm(self, service: Service | ServiceSummary) -> None:
        """Check that a task finds the service by the name that it ordered, and close the entry of the order.

        :raises Invalid: if the platform gave it another one. The entry stays, so that none is ordered again.
        """
        if not same_name(service.name, self.name):
            raise Invalid(
                f"the platform named the new service {service.name!r}, not {self.name!r}. Use that name or "
                f"its id, {service.id}, from now on: tasks that use the other name will not find it. This "
                "controller does not order it again, but another controller would"
            )
        if self.kept is not None:
            self.kept.close()

    def _check_placed(self, order: Order, arrived: Arrived) -> None:
        """Tell of another price than was quoted, and of services of the name that came up at the same time.

        :raises EffectUnverified: if the list does not show what was ordered.
        """
        told = rate_from(to_decimal(order.monthly_millicents))
        if told is not None and self.cost.after is not None:
            advice = "It is ordered; delete it with state: absent if that is too much"
            compare_rate(self.task, self.what, told, self.cost, advice)
        id = order.instance_id
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


def ordered_with(task: Task, id: str) -> Prints:
    """Return what is known of the settings that a service was ordered with."""
    with suppress(Invalid):
        found = ORDERED.of(task.options.base_url, id).read().settings
        return found if found.id == id else Prints()
    return Prints()


def used_once(options: ServiceOptions) -> dict[str, str]:
    """Return the settings that an order alone uses, as text."""
    given = {"variables": options.variables, "options": options.options}
    return {name: json.dumps(value, sort_keys=True, default=repr) for name, value in given.items() if value}


def differs_from_order(task: Task[ServiceOptions], id: str) -> list[str]:
    """Return the options that differ from what a service was ordered with, where that is known here."""
    ordered, given = ordered_with(task, id), used_once(task.options)
    differences = ordered.differences(given)
    return sorted(differences["added"] + differences["changed"]) if ordered.known else []


def write_order_secrets(kept: secrets_file.SecretWriter, name: str, order: Order) -> bool:
    """Keep what the order generated; no other answer shows it. Tell whether nothing was lost."""
    secrets = [secret.as_dict() for secret in order.secrets or []]
    if not secrets:
        return True
    labels = ", ".join(str(secret["label"] or "without a label") for secret in secrets)
    content = {"service_id": order.instance_id, "name": name, "secrets": secrets}
    return kept.write(order.instance_id, content, f"the secrets of service {name!r} ({labels})")
