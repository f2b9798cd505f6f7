# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is decided and refused before a relocation does anything: what it orders, and what refers to that."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import count, takewhile
from typing import Any

from ..._api.errors import HostedError
from ..._api.models import ProjectGraph, Service, ServiceSummary, Settings
from ..._api.values import ServiceStatus
from ..applications.lookup import REFERENCE
from ..clones.content import POWER
from ..clones.rules import check_lacking, lacks
from ..clones.source import Data, check_dictionaries, referring_names
from ..fleets.health import LONGEST, check_probe
from ..services.order import MAX_SERVICE_NAME, ordered_with
from ..services.settings import carried
from ..shared.identify import existing, label, only_service, with_name
from ..shared.names import same_name
from ..shared.plan import Task
from ..shared.relocation_record import Phase, Relocation
from ..shared.task_errors import Invalid
from .work import Dependent, RelocateOptions, Work

SUSPENSION = "suspension"
MAX_DAYS = 3650
STATES_OF = {
    "copy_back": ("returned",),
    "delete_backups": ("finished",),
    "discard_newer": ("relocated", "finished"),
}
"""The options that not every state uses. Elsewhere they are refused, as somebody may rely on them."""
WHERE_TO = ("host", "product", "runtime", "preset", "dimensions", "options")
BEFORE_STOP = (Phase.NONE, Phase.RETURNED, Phase.ORDERED)
BEFORE_SWITCH = (*BEFORE_STOP, Phase.STOPPED)
"""The phases in which nothing refers to the new service yet."""
NUMBER = re.compile(r"^(.*?)-(\d+)$")


def check_options(options: RelocateOptions) -> None:
    if options.new_project is not None:
        raise Invalid(
            f"new_project is {options.new_project!r}: the platform itself moves a service between projects, "
            "with its disk and its alias. Nothing was done. Use hosted.services.service with new_project"
        )
    if not options.wait:
        raise Invalid("each step of a relocation needs the one before it, so wait cannot be false")
    if not 0 <= options.healthy_for <= LONGEST:
        raise Invalid(f"healthy_for is {options.healthy_for}; it must be 0 to {LONGEST:g} seconds")
    if options.keep_days is not None and not 0 <= options.keep_days <= MAX_DAYS:
        raise Invalid(f"keep_days is {options.keep_days}; it must be 0 to {MAX_DAYS}")
    for check in options.health_checks:
        check_probe(check)
    check_dictionaries(options, "environments", "secret_environments")
    for name, states in STATES_OF.items():
        if getattr(options, name) and options.state not in states:
            fitting = " or ".join(states)
            raise Invalid(f"{name} goes with state: {fitting} alone, and state is {options.state}")


def check_relocatable(work: Work) -> None:
    service = work.old
    if service.status != ServiceStatus.ACTIVE:
        raise Invalid(
            f"{work.label} has status {service.status}; only an ACTIVE one can be relocated. Nothing was "
            "ordered. hosted.services.service with state: resumed takes a suspended one back into service"
        )
    if work.data is Data.NONE and not work.task.options.without_data:
        raise Invalid(
            f"what {work.label} of family {service.family} holds cannot be copied: it has neither files "
            "over SFTP nor a database. Nothing was ordered. without_data: true relocates it empty"
        )
    offered = service.capabilities
    lacking = [] if offered is None else [name for name in (POWER, SUSPENSION) if name not in offered]
    if lacking:
        raise Invalid(
            f"{work.label} of family {service.family} does not offer {' and '.join(lacking)}, so it cannot "
            "be stopped for the copy or suspended afterwards. Nothing was ordered"
        )


# --- What is ordered ----------------------------------------------------------------------------------


def wanted_order(options: RelocateOptions, old: Service, settings: Settings | None) -> dict[str, Any]:
    product = options.product or (old.product.slug if old.product else None)
    same_product = old.product is not None and product == old.product.slug
    runtime = old.runtime.id if old.runtime and same_product else None
    kept = carried(old, settings, other_product=not same_product)
    given = {name: value for name in kept if (value := getattr(options, name, None)) is not None}
    if options.preset:
        given["dimensions"] = None
    elif options.dimensions:
        size = {name: value for name, value in options.dimensions.as_dict().items() if value is not None}
        given["dimensions"] = {**(kept["dimensions"] or {}), **size}
    return {
        "product": product,
        "runtime": options.runtime or runtime,
        "host": options.host or (old.host.id if old.host else None),
        "preset": options.preset,
        "variables": options.variables,
        "options": [vars(each) for each in options.options] if options.options else None,
        **kept,
        **given,
    }


def asked_by(options: RelocateOptions) -> dict[str, Any]:
    return {**vars(options), "dimensions": options.dimensions.as_dict() if options.dimensions else None}


def differing(asked: Mapping[str, Any], service: Service) -> str:
    """Return what an order asks for and a service is not, for messages; empty if it is all of it."""
    host, runtime, size = service.host, service.runtime, service.dimensions
    facts: dict[str, tuple[Any, ...]] = {  # by name, each of the ways to say it
        "host": (host.id, host.label) if host else (),
        "product": (service.product.slug,) if service.product else (),
        "runtime": (runtime.id, runtime.slug) if runtime else (),
        **{name: (value,) for name, value in (size.as_dict() if size else {}).items()},
    }
    wanted = {name: asked[name] for name in ("host", "product", "runtime")} | (asked["dimensions"] or {})
    found = [
        f"{name} {next(filter(None, facts.get(name, ())), None)!r}, not {value!r}"
        for name, value in wanted.items()
        if value is not None and value not in facts.get(name, ())
    ]
    return ", ".join(found)


def check_variables(work: Work) -> None:
    task, id = work.task, work.old.id
    if work.record.new_id is not None or task.options.variables:
        return
    if names := referring_names(id, work.graph.edges or []):
        raise Invalid(
            f"the platform does not show the variables of the order of {work.label}, and these are not "
            f"given: {', '.join(names)}. Nothing was ordered. Give all of them in variables"
        )
    ordered = ordered_with(task, id)
    if not ordered.known or "variables" in ordered.prints:
        task.warn(
            f"the platform does not show whether {work.label} was ordered with variables; "
            "the new one is ordered without any. If it had some, give them in variables"
        )


# --- Which service is the new one -----------------------------------------------------------------------


def choose_name(work: Work) -> None:
    task, record, old = work.task, work.record, work.old
    wanted = task.options.name
    find_made(task, record)
    if record.new_id is not None:
        if wanted and not same_name(wanted, record.new_name):
            task.warn(f"the relocation was begun with name {record.new_name!r}, so {wanted!r} is not used")
        return
    # One whose order got no response keeps its name, unless the task gives another one.
    if not record.sent or (wanted and not same_name(wanted, record.new_name)):
        record.sent.clear()
        record.old_name, record.project_id = old.name, old.project_id
        record.names[old.id] = wanted or next_name(work)
    if same_name(record.new_name, record.old_name):
        raise Invalid(
            f"name is {record.new_name!r}, that of {work.label}. A task that names them would fit both. "
            "Nothing was ordered. Give another name, or none"
        )
    if there := named_new(task, record):
        if task.options.existing != "adopt":
            raise Invalid(
                f"{', '.join(map(label, there))} has the name of the new service, and no relocation is known "
                "to have made it. Nothing was done. Set another name; existing: adopt takes it, "
                "and overwrites what it holds"
            )
        if only_service(there, record.new_name):
            record.ids[old.id] = there[0].id


def next_name(work: Work) -> str:
    """Return the old name with the next free number. What has one before that may be of a lost record."""
    account, old = work.task.account, work.old
    by_name: dict[str, ServiceSummary] = {each.name: each for each in existing(account.services())}
    found = [by_name[name] for name in takewhile(by_name.__contains__, numbered(old.name))]
    there = account.within(found, account.project(str(old.project_id)))
    if there and work.task.options.existing == "adopt":
        return there[0].name
    for each in there:
        work.task.warn(
            f"{label(each)} is there already. If a relocation ordered it whose record is not on this "
            "controller, nothing more has to be ordered: existing: adopt takes it"
        )
    return next(name for name in numbered(old.name) if name not in by_name)


def numbered(name: str) -> Iterator[str]:
    found = NUMBER.match(name)
    base, first = (found[1], int(found[2]) + 1) if found else (name, 2)
    for number in count(first):
        suffix = f"-{number}"
        yield f"{base[: MAX_SERVICE_NAME - len(suffix)]}{suffix}"


def read_new(work: Work) -> None:
    """Forget the new service if it is gone, so that nothing of its name is taken for it."""
    record = work.record
    if record.new_id is None or work.task.account.staying(record.new_id) is not None:
        return
    if record.phase not in BEFORE_SWITCH:
        raise Invalid(
            f"{work.new_name} ({record.new_id}), which took the place of {work.label}, was deleted. Nothing "
            "was done. state: returned brings the old one back into service"
        )
    record.ids.clear()
    record.sent.clear()


def find_made(task: Task[RelocateOptions], record: Relocation) -> None:
    """Find the new service, if a run was killed before its id was known: it came up with the order."""
    lost = record.new_id is None and record.sent
    for found in record.recognize(named_new(task, record)) if lost else ():
        raise Invalid(
            f"{', '.join(map(label, found))} were created when the new service was ordered, and the response "
            "was lost, so which one it is is not known. Nothing was done. Delete the one that nobody needs"
        )


def named_new(task: Task[RelocateOptions], record: Relocation) -> list[ServiceSummary]:
    project = task.account.project(str(record.project_id))
    return with_name(task.account.members(project), record.new_name, None)


# --- What refers to the service -------------------------------------------------------------------------


def read_dependents(work: Work) -> None:
    options, record = work.task.options, work.record
    referring, left = referring_to(work.graph, {work.old.id, record.new_id or ""}), options.without_dependents
    remembered = {app.id for app in work.apps.values() if app.slug in record.dependents}
    found, others = [], []
    for id in sorted({*referring, *remembered}):
        app = work.apps.get(id)
        if app is None:
            others += [] if id in left else [id]
        elif not {id, app.slug} & set(left):
            plain, secret = (
                {**(given or {}).get(id, {}), **(given or {}).get(app.slug, {})}
                for given in (options.environments, options.secret_environments)
            )
            found.append(Dependent(app, referring.get(id, ()), plain, secret))
    found = [each for each in found if each.referring or each.plain or each.secret]
    if others:
        names = {node.id: node.name for node in work.graph.nodes or []}
        raise Invalid(
            f"{', '.join(f'service {names.get(id) or id!r} ({id})' for id in others)} refers to "
            f"{work.label} in the variables of its order, which the platform neither shows nor changes. "
            "Nothing was ordered. Order it anew as well, or list it in without_dependents"
        )
    check_given(work, found)
    work.dependents = sorted(found, key=lambda each: each.slug)


def referring_to(graph: ProjectGraph, ids: Collection[str]) -> dict[str, set[str]]:
    """Return what refers to services, except these themselves: by id, the variables through which it does."""
    referring: dict[str, set[str]] = {}
    for edge in graph.edges or []:
        if edge.to in ids and edge.from_ and edge.from_ not in ids:
            referring.setdefault(edge.from_, set()).update(edge.through or ())
    return referring


def check_given(work: Work, found: Sequence[Dependent]) -> None:
    options = work.task.options
    known = {name for each in found for name in (each.slug, each.app.id)} | set(options.without_dependents)
    for name in ("environments", "secret_environments"):
        if unknown := sorted(set(getattr(options, name) or {}) - known):
            there = ", ".join(sorted(each.slug for each in found)) or "none"
            raise Invalid(
                f"{name} names {', '.join(map(repr, unknown))}; applications that refer to the service: "
                f"{there}. Nothing was ordered"
            )
    checked = (lacks(options, each.app, each.referring, {*each.plain, *each.secret}) for each in found)
    check_lacking([said for said in checked if said], "list the application in without_dependents")


def check_references(work: Work) -> None:
    """Check that each environment that is given refers to the service: it may be that of another time."""
    for each in work.dependents:
        values = [*each.plain.values(), *each.secret.values()]
        refers = any(found[1] in work.names for value in values for found in REFERENCE.finditer(str(value)))
        if each.referring and not refers:
            known = " or ".join(f"${{{name}.FIELD}}" for name in sorted(work.names))
            raise Invalid(
                f"the environment given for {each.label} does not refer to {work.label}, as its "
                f"{', '.join(sorted(each.referring))} does now. Nothing was done. Write it as {known}"
            )


def check_deployable(work: Work) -> None:
    """Find out whether what is to be deployed again can be. On the way back, what cannot be comes last."""
    first, last = [], []
    for each in work.dependents:
        try:
            if each.deployable:
                work.release_of(each)
            first.append(each)
        except HostedError as error:
            if work.task.options.state != "returned":
                raise error.append(". Nothing was done") from None
            work.task.warn(f"{each.label} is deployed last, as that will probably fail: {error.message}")
            last.append(each)
    work.dependents = [*first, *last]


def check_not_referred_to(task: Task[RelocateOptions], service: Service) -> None:
    """Refuse to delete a service to which something refers that without_dependents does not name."""
    try:
        graph, slugs = task.account.graph(str(service.project_id)), task.account.slugs()
    except HostedError as error:
        raise error.append(
            f". So whether anything refers to {label(service)} is not known, and nothing was deleted. Run "
            "this again, or delete it with hosted.services.service and state: absent"
        ) from None
    left, names = set(task.options.without_dependents), {node.id: node.name for node in graph.nodes or []}
    used = [
        f"{slugs.get(id) or names.get(id)} ({id}) through {', '.join(sorted(through)) or 'a variable'}"
        for id, through in sorted(referring_to(graph, {service.id}).items())
        if not left & {id, slugs.get(id)}
    ]
    if used:
        raise Invalid(
            f"{label(service)} is still referred to by {'; '.join(used)}. Nothing was deleted. Let that "
            "refer to the service in its place and deploy it, or list it in without_dependents"
        )
