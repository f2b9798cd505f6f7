# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Relocations: another service is ordered and gets what the old one holds, which is suspended and kept."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Any

from .._api.errors import HostedError
from .._api.models import Service
from .._api.text import counted
from .._api.values import ContainerState, ServiceStatus
from .app_deploy import APP_DEPLOY
from .clones.content import DATABASE, FilesResource
from .clones.source import Data
from .environment import ENVIRONMENT
from .relocations.choice import (
    BEFORE_STOP,
    BEFORE_SWITCH,
    WHERE_TO,
    asked_by,
    check_deployable,
    check_not_referred_to,
    check_options,
    check_references,
    check_relocatable,
    check_variables,
    choose_name,
    differing,
    find_made,
    read_dependents,
    read_new,
    wanted_order,
)
from .relocations.work import RelocateOptions, Work
from .service import SERVICE
from .services.on_service import service_id
from .services.settings import SETTINGS, carried, check_max_monthly
from .services.view import Rates, billed_rate, rates_of, read_state
from .shared.identify import label
from .shared.money import Cost, format_amount
from .shared.plan import Plan, Resource, Step, Task, plan_with
from .shared.relocation_record import DEFAULT_DAYS, Phase, Relocation, known_relocations
from .shared.restore_points import parse_moment
from .shared.retention import NO_DATE
from .shared.runner import rescued
from .shared.task_errors import Ambiguous, Invalid, NoSuchItem
from .shared.time_zones import utc_text

MODULES = {each.name: each for each in (SERVICE, ENVIRONMENT, APP_DEPLOY, FilesResource(SERVICE), DATABASE)}


class RelocateResource(Resource[RelocateOptions]):
    """A service in the place of another one."""

    result_key = "relocation"

    def plan(self, task: Task[RelocateOptions]) -> Plan:
        check_options(task.options)
        task.composition = replace(task.composition, copies=True)
        record = find_record(task)
        if not task.check_mode:
            Relocation.take_turns(task, record.old_id)
            task.account.reads.forget()
            record = Relocation.of(task.options, record.old_id)
        ways = {"finished": plan_finished, "relocated": plan_relocated, "returned": plan_returned}
        return ways[task.options.state](task, record)


RELOCATE = RelocateResource()


def find_record(task: Task[RelocateOptions]) -> Relocation:
    """Return the record of the service that the task names. For the way back, it may name the new one."""
    options = task.options
    try:
        id = service_id(task)
    except NoSuchItem:
        found = find_relocation(options, options.service)
        if found is None:
            raise
        return found
    record = Relocation.of(options, id)
    if record.phase is Phase.NONE and options.state != "relocated":
        return find_relocation(options, id) or record
    return record


def find_relocation(options: RelocateOptions, wanted: str) -> Relocation | None:
    """Return the relocation of a service that may be gone, or that made a service, by id or name."""
    found = known_relocations(options, [options.state_dir]).relocations
    exact = [each for each in found if wanted in (each.old_id, each.new_id)]
    fitting = exact or [each for each in found if wanted in (each.old_name, each.new_name)]
    fitting = [each for each in fitting if not each.gone] or fitting
    if len(fitting) > 1:
        ids = [each.old_id for each in fitting]
        raise Ambiguous(
            f"{wanted!r} names the relocations of services {', '.join(ids)}; name one by id", ids=ids
        )
    return fitting[0] if fitting else None


# --- There --------------------------------------------------------------------------------------------


def plan_relocated(task: Task[RelocateOptions], record: Relocation) -> Plan:
    if record.deleting is not None and record.deleting == record.new_id:
        if not record.gone:
            raise Invalid(
                f"service {record.new_name!r} ({record.new_id}) is about to be deleted. Complete that with "
                "state: finished first"
            )
        record = Relocation(old_id=record.old_id, path=record.path)  # it went back, so it begins anew
    if record.phase is Phase.RELOCATED or record.deleting is not None:
        return plan_kept(task, record)
    check_forward(task, record)
    work = Work.of(MODULES, task, record)
    if record.phase is Phase.NONE:
        if not any(getattr(task.options, name) for name in WHERE_TO):
            raise Invalid(f"nothing says what is to be different of {work.label}: set {', '.join(WHERE_TO)}")
        beside = task.options.preset, task.options.options
        if not (differing(asked_by(task.options), work.old) or any(beside)):
            return Plan(result={**view(record), "name": work.old.name})
    read_new(work)
    if record.phase in BEFORE_STOP:
        check_relocatable(work)
        choose_name(work)
    read_dependents(work)
    check_deployable(work)
    check_references(work)
    check_variables(work)
    if work.data is not Data.NONE and record.new_id is None:  # what cannot be read fails before the order
        work.foreseen = "; ".join(work.plan_copy(work.old, None).actions) or None
    return plan_there(work)


def plan_kept(task: Task[RelocateOptions], record: Relocation) -> Plan:
    days = task.options.keep_days
    service = task.account.service(record.new_id) if record.new_id and record.deleting is None else None
    if service is not None:
        asked = asked_by(task.options)
        if found := differing({**asked, "dimensions": None}, service):
            raise Invalid(
                f"service {record.old_name!r} was relocated, and {label(service)}, which took its place, has "
                f"{found}. Nothing was done. To relocate that one, name it; state: returned brings the old "
                "one back"
            )
        if found := differing(asked, service):
            task.warn(f"{label(service)} has {found}; hosted.services.service resizes it")
    if days is None or days == record.keep_days or record.deleting is not None:
        return Plan(result=view(record))
    step = Step(
        f"keep service {record.old_name!r} for {counted(days, 'day')} in place of {record.keep_days}",
        lambda: record.write(keep_days=days),
    )
    before, after = {"keep_days": record.keep_days}, {"keep_days": days}
    return Plan(view(record), [step], lambda: view(record), before, after)


def check_forward(task: Task[RelocateOptions], record: Relocation) -> None:
    if record.phase is Phase.RETURNING:
        raise Invalid(
            f"the way back of service {record.old_name!r} ({record.old_id}) was begun and did not end. "
            "Nothing was done. Complete it with state: returned first"
        )
    if record.phase is not Phase.RETURNED or task.options.overwrite:
        return
    left = task.account.staying(record.new_id) if record.new_id else None
    used = newer_in(record) if record.newer else None
    if left is not None and not used and used_since(record, left):
        used = f"{label(left)} may have been used since {record.since}, and hold what is nowhere else"
    if used:
        raise Invalid(
            f"{used}. Nothing was done. Copy what it holds elsewhere, or set overwrite: true to overwrite it"
        )


def plan_there(work: Work) -> Plan:
    phase, wanted = work.record.phase, wanted_order(work.task.options, work.old, work.settings)
    there = work.task.account.existing_service(work.new_id) if work.record.new_id else None
    if there is not None and phase in BEFORE_SWITCH:
        check_as_asked(work, there, wanted)
    order = plan_order(work, wanted) if there is None else None
    price = order.cost.after if order and order.cost else None
    cost = cost_of(work, there, rates_of(there) if there else Rates(price, None))
    steps: list[Step] = []
    if phase in BEFORE_STOP:
        steps += preparing_steps(work, there, order, wanted)
    if phase in BEFORE_SWITCH:
        steps += rescued(switching_steps(work), work.rescue)
        steps.append(work.note(Phase.SWITCHED, lambda: {"switched_at": work.now(), "newer": True}))
    elif work.task.check_mode and not work.task.options.discard_newer and (used := work.used_since()):
        work.task.warn(used)  # a plan for real may not wait for a late state
    both_ways = (
        f". {work.new_name} is in service in place of {work.label}, which is kept. Run this again to "
        "complete it, or with state: returned to go back"
    )
    steps += rescued(steps_in_service(work), lambda error: error.append(both_ways))
    steps += work.unpause(others=True)  # after all else: one that needs the old service does not run any more
    steps.append(work.note(Phase.RELOCATED, partial(left_over, work, work.old.id)))
    beside = ("variables", "options")
    known = {name: value for name, value in wanted.items() if value is not None and name not in beside}
    after = {"in service": work.new_name, **known, "monthly": cost.after}
    before = describe(work, work.old, work.label, cost.before)
    plan = whole(work, Phase.RELOCATED, steps, cost, before=before, after=after)
    plan.result["dependents"] = [each.slug for each in work.dependents]
    return plan


def whole(work: Work, phase: Phase, steps: list[Step], cost: Cost, **sides: Any) -> Plan:
    reread = partial(view, work.record)
    result = {**reread(), "phase": str(phase)}
    return Plan(result, steps, reread, cost=cost, subject=work.old.name, **sides)


def check_as_asked(work: Work, there: Service, wanted: Mapping[str, Any]) -> None:
    if found := differing(wanted, there):
        raise Invalid(
            f"{label(there)}, which an earlier task ordered for this, has {found}. Nothing was done. "
            "Repeat that task; or go back with state: returned, and delete it with state: finished"
        )
    rate = rates_of(there).full
    if rate is not None:
        check_max_monthly(work.task, rate, label(there))


def plan_order(work: Work, wanted: Mapping[str, Any]) -> Plan:
    """Plan the order, with its quote. A database has to run so that it can be restored into."""
    task, record = work.task, work.record

    def check_ordered(id: str) -> None:
        if task.options.existing != "adopt" and not record.takes(work.old.id, id, task.account):
            raise Invalid(
                f"{work.new_name} ({id}) appeared meanwhile, and this relocation did not order it. Nothing "
                "was written to it. Run this again, which takes the next number, or give another name; "
                "existing: adopt takes it for the new one, and overwrites what it holds"
            )

    own = {"name": record.new_name, "project": work.old.project_id, "family": None}
    beside = {name: getattr(task.options, name) for name in ("max_monthly", "secrets_dest", "return_secrets")}
    given = {**wanted, **own, **beside, "state": state_while_copying(work)}
    ordering = partial(record.ordering, work.old.id, task.client.clock)
    composition = replace(task.composition, creating=ordering, adopting=check_ordered)
    plan = plan_with(replace(task, composition=composition), SERVICE, given)
    if plan.result and plan.result["id"] is not None:
        raise Invalid(
            f"{work.new_name} ({plan.result['id']}) appeared meanwhile. Nothing was done. Run this again"
        )
    return plan


def state_while_copying(work: Work) -> str:
    return "started" if work.data is Data.DATABASE else "stopped"


def preparing_steps(
    work: Work, there: Service | None, order: Plan | None, wanted: Mapping[str, Any]
) -> list[Step]:
    def note_id() -> None:
        work.record.note_id(work.old.id, work.task.effects.facts.pop("service_id"))

    slugs = [each.slug for each in work.dependents]
    facts = {"ran": work.running, "dependents": slugs, "newer": False, "data": work.data.value}
    facts |= dict.fromkeys(("since", "back_since", "switched_at"))
    steps = [work.note(Phase.ORDERED, lambda: facts)]
    if order is not None:
        first, *later = order.steps
        steps += [first, Step("remember which one it is", note_id, changes=False), *later]
    elif there is not None:
        if there.status == ServiceStatus.SUSPENDED:
            steps += work.plan("service", {"id": there.id, "state": "resumed"}).steps
        given = {name: getattr(work.task.options, name) for name in ("host", "product", "runtime")}
        given |= {each.name: wanted.get(each.name) for each in SETTINGS if each.carried and not each.ordered}
        steps.append(work.bring(there.id, work.new_name, state_while_copying(work), **given))
    while_running = f"copy what {work.label} holds to {work.new_name} while it is in service"
    return steps + work.copy_steps(work.foreseen or while_running)


def switching_steps(work: Work) -> list[Step]:
    stopped = work.record.phase is Phase.STOPPED  # by an earlier run, which noted whether it ran
    stop, summary = work.bring_old("stopped"), f"copy what has changed in {work.label} since"
    moved = [stop, *work.copy_steps(summary)]
    if work.data is Data.DATABASE:  # which is dumped while it runs, and nothing writes to it
        start = work.start_again() if stopped else [work.bring_old("started")]  # it may be about to stop
        moved = [*work.pause_steps(), *start, *work.copy_steps(summary, compared=True), stop]
    steps = [work.note(Phase.STOPPED, work.ran_until_now), *moved]
    if work.record.ran if stopped else work.running:
        steps += [work.bring(None, work.new_name, "started"), work.healthy_step()]
    return [*steps, work.still_stopped_step()]


def steps_in_service(work: Work) -> list[Step]:
    """Return the steps from the switch on. Somebody may have started the old one since."""

    def check() -> None:
        service, problem = work.task.account.existing_service(work.new_id), None
        if service.status != ServiceStatus.ACTIVE:
            problem = f"has status {service.status}"
        elif work.record.ran and read_state(work.task, service.id) == ContainerState.STOPPED:
            problem = "does not run"
        if problem:
            raise Invalid(f"{label(service)} {problem}, so {work.label} was not suspended. Start it first")

    unused = [] if work.task.options.discard_newer else [work.still_stopped_step(switched=True)]
    return [
        *([] if work.record.phase in BEFORE_SWITCH else unused),
        *work.dependent_steps(None, work.new_name),
        Step(f"check that {work.new_name} is in service", check, changes=False),
        *unused,
        work.bring(work.old.id, work.label, "suspended"),
    ]


def left_over(work: Work, id: str | None) -> dict[str, Any]:
    """Return what is remembered of the one that is not in service, once it is suspended."""
    since, days = work.now(), work.task.options.keep_days
    with suppress(HostedError):  # everything is done by now, and the end goes by this moment without it
        shown = suspended_since(work.task.account.service(id) if id else None)
        at, now = parse_moment(shown), parse_moment(since)
        since = str(shown) if at and now and at > now else since  # of the same second
    return {
        "since": since,
        "keep_days": DEFAULT_DAYS if days is None else days,
        "running": work.dependents_that_ran() if id == work.old.id else [],
    }


# --- Back again -----------------------------------------------------------------------------------------


def plan_returned(task: Task[RelocateOptions], record: Relocation) -> Plan:
    phase = record.phase
    if phase is Phase.NONE:
        raise Invalid(
            f"no relocation of service {record.old_id} is remembered on this controller, so what to go back "
            "from is not known. Nothing was done. Run this where the relocation was run, or with its "
            "state_dir; without its record, resume the old service with hosted.services.service"
        )
    if phase is Phase.FINISHED and record.deleting == record.old_id:
        raise no_way_back(task, record)
    if phase in (Phase.RETURNED, Phase.FINISHED):
        if record.newer and task.options.copy_back:
            raise in_service_since(record, record.since)
        return Plan(result=view(record))
    find_made(task, record)
    later = Relocation.of(task.options, record.new_id) if record.new_id else None
    if later is not None and later.phase not in (Phase.NONE, Phase.RETURNED):
        raise Invalid(
            f"service {record.new_name!r} ({record.new_id}), which took the place of "
            f"{record.old_name!r}, was relocated to {later.new_name!r} since. Nothing was done. Go "
            f"back from that first: state: returned of service {record.new_id}"
        )
    work = Work.of(MODULES, task, record)
    if record.switched_at:
        read_dependents(work)
        check_deployable(work)
    return plan_back(work)


def no_way_back(task: Task[RelocateOptions], record: Relocation) -> Invalid:
    named = f"service {record.old_name!r} ({record.old_id})"
    left = None if record.gone else task.account.service(record.old_id)
    if left is None or left.status == ServiceStatus.DELETING:
        return Invalid(
            f"{named} was deleted after its relocation, so there is no way back. A relocation of the new one "
            "leads to another node again"
        )
    return Invalid(
        f"the deletion of {named} was begun, so the relocation does not go back by itself. The service "
        f"is still there, with status {left.status}. Nothing was done. To use it again, resume it with "
        "hosted.services.service; state: finished does not delete it while it is in use"
    )


def plan_back(work: Work) -> Plan:
    record = work.record
    new = work.task.account.staying(record.new_id) if record.new_id else None
    check_back(work, new)
    copies = new is not None and record.newer and work.task.options.copy_back
    cost = cost_of(work, new, rates_of(new) if new else Rates(Decimal(0), Decimal(0)), back=True)
    before = record.back_since
    since = (before or work.now()) if record.newer and not copies else None
    steps = [work.note(Phase.RETURNING, lambda: {"back_since": since, **work.ran_until_now()})]

    def note_not_back(error: HostedError) -> None:
        if error.nothing_done:  # it certainly could not be resumed
            record.write(back_since=before)

    if work.old.status == ServiceStatus.SUSPENDED:
        steps += rescued(work.plan("service", {"id": work.old.id, "state": "resumed"}).steps, note_not_back)
    if new is not None and copies:
        if new.status == ServiceStatus.SUSPENDED:
            steps += work.plan("service", {"id": new.id, "state": "resumed"}).steps
        steps += copying_back_steps(work)
    steps += as_before_steps(work)
    if record.switched_at:
        is_back = (
            f". {work.label} is back as it was, and {work.new_name} is left as it is until this is run again"
        )
        again = work.dependent_steps(work.old.id, work.label)
        steps += rescued(again, lambda error: error.append(is_back))
    steps += work.unpause(others=bool(record.switched_at))
    if new is not None and (copies or new.status != ServiceStatus.SUSPENDED):
        steps.append(work.bring(new.id, work.new_name, "suspended"))
    steps.append(work.note(Phase.RETURNED, partial(left_over, work, new.id if new else None)))
    if record.newer and not work.task.options.copy_back:
        kept = "it is kept in the suspended service. copy_back: true copies it back instead"
        work.task.warn(
            f"{work.new_name} was in service since {record.switched_at}. What was written to it since is "
            f"not in {work.label}; {kept if new else 'that service does not exist anymore'}"
        )
    shown = describe(work, new, work.new_name, cost.before) if record.switched_at and new else {}
    after = describe(work, work.old, work.label, cost.after)
    return whole(work, Phase.RETURNED, steps, cost, before=shown, after=after)


def as_before_steps(work: Work) -> list[Step]:
    record = work.record
    if record.phase is Phase.ORDERED:  # it was not stopped yet
        return []
    if not record.ran:
        return [work.bring_old("stopped")]
    # Without a switch, the stop may have been the last thing that was asked for.
    return [work.bring_old("started")] if record.switched_at else work.start_again()


def check_back(work: Work, new: Service | None) -> None:
    record, copy_back = work.record, work.task.options.copy_back
    if record.copying_back and not copy_back:
        raise Invalid(
            f"an earlier run began to copy back to {work.label} what {work.new_name} holds. Nothing was "
            "done. Set copy_back: true to complete it"
        )
    if not (record.newer and copy_back):
        return
    if record.back_since:
        raise in_service_since(record, record.back_since)
    used = record.phase is Phase.RELOCATED and used_since(record, work.old)
    used = used or (record.phase is Phase.SWITCHED and work.used_since() is not None)
    if used and not work.task.options.overwrite:
        raise Invalid(
            f"{work.label} was in use since {work.new_name} took its place, so copy_back would overwrite "
            "what it may have got. Nothing was done. Set overwrite: true, or leave out copy_back"
        )
    if new is None:
        half = "An earlier run overwrote a part of it, so restore a backup of it"
        kept = half if record.copying_back else "Leave out copy_back to go back to what it held before"
        raise Invalid(
            f"{work.new_name} ({record.new_id}) was in service and does not exist anymore, so nothing can "
            f"be copied back to {work.label}. {kept}"
        )


def in_service_since(record: Relocation, moment: str | None) -> Invalid:
    return Invalid(
        f"service {record.old_name!r} went back at {moment} and has been in service since, so copy_back "
        f"would overwrite what it got. Nothing was done. Resume {record.new_name!r} and copy what is "
        "missing with hosted.services.sftp_sync"
    )


def copying_back_steps(work: Work) -> list[Step]:
    is_database = work.data is Data.DATABASE
    before = [work.bring(None, work.new_name, "stopped")]
    if is_database:
        before = [*work.pause_steps(), work.bring_old("started")]
    summary = f"copy what has changed in {work.new_name} back to {work.label}"
    return [
        *before,
        work.note(None, lambda: {"copying_back": True}),
        *work.copy_steps(summary, back=True, compared=is_database),
        work.note(None, lambda: {"copying_back": False, "newer": False}),
    ]


# --- The end --------------------------------------------------------------------------------------------


def plan_finished(task: Task[RelocateOptions], record: Relocation) -> Plan:
    if record.phase is Phase.NONE:
        raise Invalid(
            f"no relocation of service {record.old_id} is remembered on this controller. Nothing was "
            "deleted. hosted.services.service with state: absent deletes a service"
        )
    find_made(task, record)
    if record.gone or (record.phase is Phase.RETURNED and record.new_id is None):
        return Plan(result=view(record))
    if record.pair is None:
        raise Invalid(
            f"the relocation of service {record.old_name!r} ({record.old_id}) is not complete: it is "
            f"{record.phase}. Nothing was deleted. Complete it, or go back with state: returned"
        )
    left, kept = record.pair
    found = task.account.service(left)
    check_not_needed(task, record, found, kept)
    if record.phase is not Phase.FINISHED:  # else its deletion was begun, whatever its date
        check_due(task, record, found)
    if found is not None and found.status not in ServiceStatus.DELETING_OR_DELETED:
        check_not_referred_to(task, found)
    given = {"id": left, "state": "absent", "delete_backups": task.options.delete_backups}
    deletion = plan_with(task, SERVICE, given)
    begin, end = (lambda: record.write(Phase.FINISHED, deleting=left)), (lambda: record.write(gone=True))
    steps = [
        Step(f"remember that service {left} is deleted", begin, changes=False),
        *deletion.steps,
        Step("remember that it is deleted", end, changes=False),
    ]
    cost = deletion.cost if deletion.changed else None
    shown = partial(view, record)
    return replace(deletion, result=shown(), reread=shown, steps=steps, cost=cost, subject=record.old_name)


def check_not_needed(
    task: Task[RelocateOptions], record: Relocation, left: Service | None, kept: str
) -> None:
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
            "may use it. Nothing was deleted. Suspend it and set discard_newer: true"
        )
    if not task.options.discard_newer and used_since(record, left):
        raise Invalid(
            f"{label(left)} was suspended at {record.since}, and again at "
            f"{suspended_since(left) or 'a time that is not shown'}, so somebody used it in between, and it "
            "may hold what is nowhere else. Nothing was deleted. To delete it, set discard_newer: true"
        )


def used_since(record: Relocation, left: Service) -> bool:
    """Tell whether a service was used since a relocation suspended it. What is not known counts as used."""
    first, moment = parse_moment(record.since), parse_moment(suspended_since(left))
    suspended = left.status == ServiceStatus.SUSPENDED
    return not suspended or first is None or moment is None or moment > first


def newer_in(record: Relocation) -> str:
    return (
        f"service {record.new_name!r} ({record.new_id}) was in service from {record.switched_at} to "
        f"{record.since}, and holds what was written to it then and is nowhere else"
    )


def suspended_since(service: Service | None) -> str | None:
    return service.dates.suspended_at if service and service.dates else None


def check_due(task: Task[RelocateOptions], record: Relocation, left: Service | None) -> None:
    if left and record.phase is Phase.RETURNED and record.newer and not task.options.discard_newer:
        raise Invalid(
            f"{newer_in(record)}. Nothing was deleted. Copy it elsewhere, or set discard_newer: true"
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
        "delete_after": utc_text(record.delete_after()),
        "deleted": record.gone,
    }


def describe(work: Work, service: Service, name: str, monthly: Decimal | None) -> dict[str, Any]:
    return {
        "in service": name,
        "product": service.product.slug if service.product else None,
        "runtime": service.runtime.id if service.runtime else None,
        "host": service.host.id if service.host else None,
        **{key: value for key, value in carried(service, work.settings).items() if value is not None},
        "monthly": monthly,
    }


def cost_of(work: Work, new: Service | None, rates: Rates, *, back: bool = False) -> Cost:
    """Return what a way does to the price, with what is billed in between. ``rates`` are the new one's."""

    def total(one: Decimal | None, other: Decimal | None) -> Decimal | None:
        return None if one is None or other is None else one + other

    own = rates_of(work.old)
    before = total(billed_rate(work.old), billed_rate(new) if new else Decimal(0))
    after = total(own.full, rates.storage) if back else total(own.storage, rates.full)
    both = total(own.full, rates.full)
    lines = [
        {"label": "both services", "detail": text, "monthly": format_amount(rate)}
        for text, rate in (
            ("until one of them is suspended", both),
            ("afterwards, until the suspended one is deleted", after),
        )
    ]
    return Cost(before, after, lines, service=work.old.name, service_id=work.old.id)
