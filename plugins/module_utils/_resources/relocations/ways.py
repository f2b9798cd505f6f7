# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The ways of a relocation: there, back again, and its end. Each goes on from what the record tells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from functools import partial
from typing import Any, NamedTuple

from ..._api.errors import HostedError, undone_if_nothing_happened
from ..._api.models import Service
from ..._api.platform_clock import CLOCKS_DIFFER
from ..._api.values import ContainerState, ServiceStatus
from ..clones.source import Data
from ..services.settings import SETTINGS, carried, check_max_monthly
from ..services.view import Rates, billed_rate, rates_of, read_state
from ..shared.identify import label
from ..shared.money import Cost, format_amount
from ..shared.plan import Plan, Resource, Step, Task, plan_with
from ..shared.relocation_record import DEFAULT_DAYS, Phase, Relocation
from ..shared.restore_points import parse_moment
from ..shared.retention import NO_DATE
from ..shared.task_errors import Invalid
from ..shared.time_zones import utc_text
from .dependents import check_not_referred_to
from .options import RelocateOptions
from .origin import asked_of, differing, find_made, of_order, told, wanted_order
from .work import Work, rescued

BEFORE_SWITCH = (Phase.NONE, Phase.RETURNED, Phase.ORDERED, Phase.STOPPED)
"""The phases in which nothing refers to the new service yet."""

NO_TIME = timedelta(0)


class Sums(NamedTuple):
    """What both services cost a month. ``None`` where the platform does not show it."""

    before: Decimal | None
    both: Decimal | None
    """Until one of them is suspended."""
    after: Decimal | None


def sums_of(old: Service, new: Service | None, rates: Rates, *, back: bool = False) -> Sums:
    """Return what both services cost. ``rates`` are those of the new one, ``back`` says which one stays."""
    own = rates_of(old)
    after = total(own.full, rates.storage) if back else total(own.storage, rates.full)
    before = total(billed_rate(old), billed_rate(new) if new else Decimal(0))
    return Sums(before, total(own.full, rates.full), after)


def total(one: Decimal | None, other: Decimal | None) -> Decimal | None:
    """Return a sum; ``None`` if a part of it is unknown."""
    return None if one is None or other is None else one + other


# --- There --------------------------------------------------------------------------------------------


def plan_there(work: Work) -> Plan:
    """Plan what is left to do until the new service has taken the place of the old one."""
    phase = work.record.phase
    there = read_new(work)
    if there is not None and phase in BEFORE_SWITCH:
        check_as_asked(work, there)
    order = plan_order(work) if there is None else None
    price = order.cost.after if order and order.cost else None
    sums = sums_of(work.old, there, rates_of(there) if there else Rates(price, None))
    steps: list[Step] = []
    if phase in (Phase.NONE, Phase.RETURNED, Phase.ORDERED):
        steps += preparing_steps(work, there, order)
    if phase in BEFORE_SWITCH:
        steps += rescued(switching_steps(work), work.rescue)
        steps.append(work.note(Phase.SWITCHED, lambda: {"switched_at": work.now(), "newer": True}))
    elif work.task.check_mode and not work.task.options.discard_newer and (used := work.used_since()):
        work.task.warn(used)  # a plan for real may not wait for a late state
    both_ways = (
        f". {work.new_name} is in service in place of {work.origin.label}, which is kept. Run this again to "
        "complete it, or with state: returned to go back"
    )
    steps += rescued(steps_in_service(work), lambda error: error.append(both_ways))
    steps += work.unpause_others()  # after all else: one that needs the old service does not run any more
    steps.append(work.note(Phase.RELOCATED, partial(left_over, work, work.old.id)))
    return Plan(
        result={
            **view(work.record),
            "phase": str(Phase.RELOCATED),
            "dependents": [each.slug for each in work.dependents],
        },
        steps=steps,
        reread=lambda: view(work.record),
        before=describe(work, work.old, work.origin.label, sums.before),
        after=describe(work, None, work.new_name, sums.after),
        cost=cost_of(work, sums),
        subject=work.old.name,
    )


def read_new(work: Work) -> Service | None:
    """Return the new service, if it is there."""
    record = work.record
    if record.new_id is None:
        return None
    service = work.task.account.service(record.new_id)
    if service is not None and service.status not in ServiceStatus.DELETING_OR_DELETED:
        return service
    if work.record.phase not in BEFORE_SWITCH:
        raise Invalid(
            f"{work.new_name} ({record.new_id}), which took the place of {work.origin.label}, was deleted. "
            "Nothing was done. state: returned brings the old one back into service"
        )
    record.new_id = record.sent = None  # so that nothing of its name is taken for it, unless that is said
    find_made(work.task, work.record)
    return work.task.account.existing_service(record.new_id) if record.new_id else None


def check_as_asked(work: Work, there: Service) -> None:
    """Check that the new service is what the task asks for: an earlier task may have ordered another one."""
    order = wanted_order(work.task, work.origin)
    found = differing(asked_of(order), there, work.record.asked)
    if found:
        raise Invalid(
            f"{label(there)}, which an earlier task ordered for this, has {told(found)}. Nothing was done. "
            "Repeat the task that ordered it; or go back with state: returned, and delete it with state: "
            "finished before you order another one"
        )
    rate = rates_of(there).full
    if rate is not None:
        check_max_monthly(work.task, rate, label(there))


def check_ordered(work: Work, id: str) -> None:
    """Check that what has the name of the new service is that: it had not when the name was chosen."""
    if work.task.options.existing == "adopt":
        return
    if not any(each.id == id for each in of_order(work.task, work.record)):
        raise Invalid(
            f"{work.new_name} ({id}) appeared meanwhile, and this relocation did not order it. Nothing was "
            "ordered, and nothing written to it. Run this again, which takes the next number, or give "
            "another name; existing: adopt takes it for the new one, and overwrites what it holds"
        )


def plan_order(work: Work) -> Plan:
    """Plan the order, with its quote. A database has to run so that it can be restored into."""
    options, record = work.task.options, work.record
    own = {
        "name": record.new_name,
        "project": work.old.project_id,
        "family": None,
        "max_monthly": options.max_monthly,
        "secrets_dest": options.secrets_dest,
        "return_secrets": options.return_secrets,
    }
    given = {**wanted_order(work.task, work.origin), **own, "state": state_while_copying(work)}
    asked = replace(
        work.task.composition, creating=partial(sending, work), adopting=partial(check_ordered, work)
    )
    task = replace(work.task, composition=asked)
    plan = plan_with(task, work.modules.service, given)
    if plan.result and plan.result["id"] is not None:
        raise Invalid(
            f"{work.new_name} ({plan.result['id']}) appeared while this was planned. Nothing was done. Run "
            "this again"
        )
    return plan


@contextmanager
def sending(work: Work) -> Iterator[None]:
    """Note when the order is sent, unless it comes to nothing for sure."""
    record = work.record
    record.write(sent=work.now())
    with undone_if_nothing_happened(lambda: record.write(sent=None)):
        yield


def state_while_copying(work: Work) -> str:
    """Return the state in which the new service gets what the old one holds."""
    return "started" if work.origin.data is Data.DATABASE else "stopped"


def preparing_steps(work: Work, there: Service | None, order: Plan | None) -> list[Step]:
    """Return the steps that order the new service, and copy to it while the old one runs."""
    record, ran = work.record, work.origin.running
    slugs = [each.slug for each in work.dependents]
    facts: dict[str, Any] = {"ran": ran, "dependents": slugs, "newer": False, "data": work.origin.data.value}
    facts |= {"since": None, "suspended_at": None, "back_since": None, "running": work.stopped_meanwhile()}
    if order is not None:
        facts["asked"] = asked_of(wanted_order(work.task, work.origin))
    steps = [work.note(Phase.ORDERED, lambda: {**facts, "switched_at": None})]
    if order is not None:
        first, *later = order.steps
        id_known = work.note(None, lambda: {"new_id": work.task.effects.facts.pop("service_id")})
        steps += [first, id_known, *later]
    elif there is not None:
        if there.status == ServiceStatus.SUSPENDED:
            steps += work.plan_service(id=there.id, state="resumed").steps
        options = wanted_order(work.task, work.origin)
        asked = {name: getattr(work.task.options, name) for name in ("host", "product", "runtime")}
        kept = {each.name: options.get(each.name) for each in SETTINGS if each.carried and not each.ordered}
        steps.append(work.bring(record.new_id, work.new_name, state_while_copying(work), **kept, **asked))
    while_running = f"copy what {work.origin.label} holds to {work.new_name} while it is in service"
    return steps + work.copy_steps(work.foreseen or while_running)


def switching_steps(work: Work) -> list[Step]:
    """Return the steps for which the old service is stopped. If one fails, it is started again."""
    stopped = work.record.phase is Phase.STOPPED  # by an earlier run, which noted whether it ran
    copy = work.copy_steps(f"copy what has changed in {work.origin.label} since")
    stop = work.bring(work.old.id, work.origin.label, "stopped")
    moved = [stop, *copy]
    if work.origin.data is Data.DATABASE:  # which is dumped while it runs, and nothing writes to it
        start = [work.bring(work.old.id, work.origin.label, "started")]
        if stopped:  # that run may have been killed at its stop
            start = work.start_again()
        moved = [*work.pause_steps(), *start, *copy, *work.compare_steps(), stop]
    steps = [work.note(Phase.STOPPED, lambda: {"running": work.ran_until_now()}), *moved]
    if work.record.ran if stopped else work.origin.running:
        steps += [work.bring(None, work.new_name, "started"), work.healthy_step()]
    return [*steps, work.still_stopped_step()]


def steps_in_service(work: Work) -> list[Step]:
    """Return the steps from the switch on: references lead to the new service, and the old one is suspended.

    Hours may have passed since the switch, or a deploy, in which somebody started the old one.
    """
    switched = work.record.phase not in BEFORE_SWITCH
    return [
        *(work.not_used_steps() if switched else []),
        *work.dependent_steps(None, work.new_name),
        Step(f"check that {work.new_name} is in service", lambda: check_in_service(work), changes=False),
        *work.not_used_steps(),
        work.suspend(work.old.id, work.origin.label),
    ]


def check_in_service(work: Work) -> None:
    """Check that the new service is in service right before the old one is suspended."""
    service = work.task.account.existing_service(work.new_id)
    problem = None
    if service.status != ServiceStatus.ACTIVE:
        problem = f"has status {service.status}"
    elif work.record.ran and read_state(work.task, service.id) == ContainerState.STOPPED:
        problem = "does not run"
    if problem:
        raise Invalid(
            f"{label(service)} {problem}, so {work.origin.label} was not suspended. Start it and run this "
            "again, or go back with state: returned"
        )


def left_over(work: Work, id: str | None) -> dict[str, Any]:
    """Return what is remembered of the one that is not in service, once it is suspended."""
    suspended_at = None
    with suppress(HostedError):  # everything is done by now, and the end goes by "since" without it
        service = work.task.account.service(id) if id else None
        suspended_at = suspended_since(service)
    days = work.task.options.keep_days
    ran = [each.app.id for each in work.dependents if each.app.id in work.record.running]
    return {
        "since": work.now(),
        "suspended_at": suspended_at,
        "keep_days": DEFAULT_DAYS if days is None else days,
        "running": ran if id == work.old.id else [],
    }


# --- Back again -----------------------------------------------------------------------------------------


def plan_back(work: Work) -> Plan:
    """Plan what is left to do until the old service is in service again, and the new one is suspended."""
    record = work.record
    new = work.task.account.staying(record.new_id) if record.new_id else None
    check_back(work, new)
    copies = new is not None and record.newer and work.task.options.copy_back
    sums = sums_of(work.old, new, rates_of(new) if new else Rates(Decimal(0), Decimal(0)), back=True)
    since = (record.back_since or work.now()) if record.newer and not copies else None
    steps = [work.note(Phase.RETURNING, lambda: {"back_since": since, "running": work.ran_until_now()})]
    if work.old.status == ServiceStatus.SUSPENDED:
        resuming = work.plan_service(id=work.old.id, state="resumed").steps
        steps += rescued(resuming, partial(note_not_back, work, record.back_since))
    if new is not None and copies:
        if new.status == ServiceStatus.SUSPENDED:
            steps += work.plan_service(id=new.id, state="resumed").steps
        steps += copying_back_steps(work)
    if work.record.phase is not Phase.ORDERED:  # before that, it was not stopped
        steps += as_before_steps(work)
    if record.switched_at:
        is_back = (
            f". {work.origin.label} is back as it was before the relocation, and {work.new_name} is left as "
            "it is until this is run again"
        )
        again = work.dependent_steps(work.old.id, work.origin.label)
        steps += [*rescued(again, lambda error: error.append(is_back)), *work.unpause_others()]
    else:
        steps += work.unpause(record.running)
    if new is not None and (copies or new.status != ServiceStatus.SUSPENDED):
        steps.append(work.suspend(new.id, work.new_name))
    steps.append(work.note(Phase.RETURNED, partial(left_over, work, new.id if new else None)))
    warn_of_newer(work, new)
    return Plan(
        result={**view(work.record), "phase": str(Phase.RETURNED)},
        steps=steps,
        reread=lambda: view(work.record),
        before=describe(work, new, work.new_name, sums.before) if record.switched_at else {},
        after=describe(work, work.old, work.origin.label, sums.after),
        cost=cost_of(work, sums),
        subject=work.old.name,
    )


def as_before_steps(work: Work) -> list[Step]:
    """Return the steps that bring the old service to the state that it had before the relocation."""
    if not work.record.ran:
        return [work.bring(work.old.id, work.origin.label, "stopped")]
    if not work.record.switched_at:  # the stop may have been the last thing that was asked for
        return work.start_again()
    return [work.bring(work.old.id, work.origin.label, "started")]


def check_back(work: Work, new: Service | None) -> None:
    """Refuse a way back that would leave the old service half overwritten, or overwrite what it got since."""
    record, copy_back = work.record, work.task.options.copy_back
    if record.copying_back and not copy_back:
        raise Invalid(
            f"an earlier run began to copy back to {work.origin.label} what {work.new_name} holds, and did "
            "not end. Nothing was done. Set copy_back: true to complete it"
        )
    if not (record.newer and copy_back):
        return
    if record.back_since:
        raise in_service_since(record, record.back_since)
    if was_used(work) and not work.task.options.overwrite:
        raise Invalid(
            f"{work.origin.label} was in use since {work.new_name} took its place, so it may hold what was "
            "written to it since and is nowhere else, and copy_back would overwrite that. Nothing was done. "
            "Copy what is missing elsewhere first and set overwrite: true, or leave out copy_back"
        )
    if new is None:
        kept = (
            "An earlier run overwrote a part of it, so restore a backup of it"
            if record.copying_back
            else "Leave out copy_back to go back to what it held before"
        )
        raise Invalid(
            f"{work.new_name} ({record.new_id}) was in service and does not exist anymore, so nothing can "
            f"be copied back to {work.origin.label}. Nothing was done. {kept}"
        )


def was_used(work: Work) -> bool:
    """Tell whether somebody used the old service after the switch. A way back that was begun uses it, too."""
    if work.record.phase is Phase.RELOCATED:
        return used_since(work.record, work.old)
    return work.record.phase is Phase.SWITCHED and work.used_since() is not None


def note_not_back(work: Work, before: str | None, error: HostedError) -> None:
    """Note that the old service is not back in service: it certainly could not be resumed."""
    if error.nothing_done:
        work.record.write(back_since=before)


def in_service_since(record: Relocation, moment: str | None) -> Invalid:
    """Return the error for a copy back to a service that is in service again."""
    return Invalid(
        f"service {record.old_name!r} went back at {moment} and has been in service since, so copy_back "
        f"would overwrite what it got. Nothing was done. Resume {record.new_name!r} and copy what is "
        "missing with hosted.services.sftp_sync"
    )


def warn_of_newer(work: Work, new: Service | None) -> None:
    """Say that what was written to the new service stays there, unless it is copied back."""
    record = work.record
    if not record.newer or work.task.options.copy_back:
        return
    kept = (
        "it is kept in the suspended service. copy_back: true copies it back instead"
        if new
        else "that service does not exist anymore"
    )
    work.task.warn(
        f"{work.new_name} was in service since {record.switched_at}. What was written to it since is "
        f"not in {work.origin.label}; {kept}"
    )


def copying_back_steps(work: Work) -> list[Step]:
    """Return the steps that copy what the new service has got back to the old one, while none is in use."""
    copy = work.copy_steps(f"copy what has changed in {work.new_name} back to {work.origin.label}", back=True)
    if work.origin.data is Data.DATABASE:
        start = work.bring(work.old.id, work.origin.label, "started")
        before = [*work.pause_steps(), start]
        copy = [*copy, *work.compare_steps(back=True)]
    else:
        before = [work.bring(None, work.new_name, "stopped")]
    return [
        *before,
        work.note(None, lambda: {"copying_back": True}),
        *copy,
        work.note(None, lambda: {"copying_back": False, "newer": False}),
    ]


# --- The end --------------------------------------------------------------------------------------------


def plan_end(task: Task[RelocateOptions], record: Relocation, service: Resource[Any]) -> Plan:
    """Plan the deletion of the one that is not in service, once its date is over.

    :param service: deletes it, with its own guards.
    """
    shown = view(record)
    if record.gone or (record.phase is Phase.RETURNED and record.new_id is None):
        return Plan(result=shown)
    if record.pair is None:
        raise Invalid(
            f"the relocation of service {record.old_name!r} ({record.old_id}) is not complete: it is "
            f"{record.phase}. Nothing was deleted. Complete it with state: relocated, or go back with state: "
            "returned"
        )
    left, kept = record.pair
    found = task.account.service(left)
    check_end(task, record, found, kept)
    if found is not None and found.status not in ServiceStatus.DELETING_OR_DELETED:
        check_not_referred_to(task, found)
    given = {"id": left, "state": "absent", "delete_backups": task.options.delete_backups}
    deletion = plan_with(task, service, given)
    begin, end = (lambda: record.write(Phase.FINISHED, deleting=left)), (lambda: record.write(gone=True))
    steps = [
        Step(f"remember that service {left} is deleted", begin, changes=False),
        *deletion.steps,
        Step("remember that it is deleted", end, changes=False),
    ]
    if not any(step.changes for step in deletion.steps):
        deletion.cost = None
    return replace(deletion, result=shown, steps=steps, reread=lambda: view(record), subject=record.old_name)


def check_not_needed(
    task: Task[RelocateOptions], record: Relocation, left: Service | None, kept: str
) -> None:
    """Check that nobody uses the service to delete, also if its deletion was begun before and refused."""
    finished = record.phase is Phase.FINISHED
    if left is None and finished:  # it is gone: only the note of that is missing
        return
    other = task.account.service(kept)
    if other is None or other.status != ServiceStatus.ACTIVE:
        status = other.status if other else "deleted"
        raise Invalid(
            f"service {kept}, which is to be in service in its place, is {status}. Nothing was deleted. The "
            "relocation can go back with state: returned"
        )
    if left is None or (finished and left.status == ServiceStatus.DELETING):
        return
    if left.status != ServiceStatus.SUSPENDED:
        raise Invalid(
            f"{label(left)} was suspended by the relocation and has status {left.status} now, so somebody "
            "may use it. Nothing was deleted. Suspend it and set discard_newer: true, or delete it with "
            "hosted.services.service"
        )
    if not task.options.discard_newer and used_since(record, left):
        raise Invalid(
            f"{label(left)} was suspended at {record.suspended_at or record.since}, and again at "
            f"{suspended_since(left) or 'a time that is not shown'}, so somebody used it in between, and it "
            "may hold what is nowhere else. Nothing was deleted. To delete it as well, set discard_newer: "
            "true; to keep that, copy it elsewhere first"
        )


def used_since(record: Relocation, left: Service) -> bool:
    """Tell whether a service was used since a relocation suspended it. What is not known counts as used."""
    if left.status != ServiceStatus.SUSPENDED:
        return True
    noted = parse_moment(record.suspended_at)
    first = noted or parse_moment(record.since)
    moment = parse_moment(suspended_since(left))
    if first is None or moment is None:
        return True
    return moment - first > (NO_TIME if noted else CLOCKS_DIFFER)


def newer_in(record: Relocation) -> str:
    """Say that the new service holds what is nowhere else."""
    return (
        f"service {record.new_name!r} ({record.new_id}) was in service from {record.switched_at} to "
        f"{record.since}, and holds what was written to it then and is nowhere else"
    )


def suspended_since(service: Service | None) -> str | None:
    """Return when a service was suspended, as far as the platform shows it."""
    return service.dates.suspended_at if service and service.dates else None


def check_end(task: Task[RelocateOptions], record: Relocation, left: Service | None, kept: str) -> None:
    """Check that a service may be deleted. Its date is not looked at again once the deletion was begun."""
    check_not_needed(task, record, left, kept)
    if record.phase is Phase.FINISHED:
        return
    if left and record.phase is Phase.RETURNED and record.newer and not task.options.discard_newer:
        raise Invalid(
            f"{newer_in(record)}. Nothing was deleted. To delete it as well, set discard_newer: true; to "
            "keep it, copy it elsewhere first"
        )
    due = record.delete_after(task.options.keep_days)
    if due is None or task.options.keep_days == 0:
        return
    now = task.platform_now()
    if now is None or now < due:
        doubt = "" if now else f", and {NO_DATE}"
        raise Invalid(
            f"{label(left) if left else 'it'} is kept until {utc_text(due)}{doubt}. Nothing was deleted. "
            "Run this after that, or shorten it with keep_days, down to 0",
            delete_after=utc_text(due),
        )


# --- Results --------------------------------------------------------------------------------------------


def view(record: Relocation) -> dict[str, Any]:
    """Return the relocation for results."""
    due = record.delete_after()
    return {
        "phase": str(record.phase),
        "name": record.old_name,
        "id": record.old_id,
        "new_name": record.new_name or None,
        "new_id": record.new_id,
        "project_id": record.project_id,
        "dependents": list(record.dependents),
        "newer": record.newer,
        "switched_at": record.switched_at,
        "delete_after": utc_text(due),
        "deleted": record.gone,
    }


def describe(work: Work, service: Service | None, name: str, monthly: Decimal | None) -> Mapping[str, Any]:
    """Return what a diff shows of the service that is in service, and what both services cost a month."""
    if service is None:
        order = wanted_order(work.task, work.origin)
        beside = ("variables", "options")
        known = {key: value for key, value in order.items() if value is not None and key not in beside}
        return {"in service": name, **known, "monthly": monthly}
    return {
        "in service": name,
        "product": service.product.slug if service.product else None,
        "runtime": service.runtime.id if service.runtime else None,
        "host": service.host.id if service.host else None,
        **{key: value for key, value in carried(service, work.origin.settings).items() if value is not None},
        "monthly": monthly,
    }


def cost_of(work: Work, sums: Sums) -> Cost:
    """Return what a way does to the price, with what is billed in between."""
    lines: Iterable[tuple[str, str, Decimal | None]] = (
        ("both services", "until one of them is suspended", sums.both),
        ("both services", "afterwards, until the suspended one is deleted", sums.after),
    )
    found = [{"label": name, "detail": text, "monthly": format_amount(rate)} for name, text, rate in lines]
    return Cost(sums.before, sums.after, found, service=work.old.name, service_id=work.old.id)
