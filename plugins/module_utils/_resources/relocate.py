# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Relocations: a service on another node or as another product, with a short stop and a way back.

The platform cannot move a service between nodes or change its product. So another one is ordered, and gets
what the old one holds: most of it while that runs, the rest while it is stopped. The old one is suspended
then, and deleted only if a task says so.
"""

from __future__ import annotations

from dataclasses import replace

from .._api.text import counted
from .._api.values import ServiceStatus
from .app_deploy import APP_DEPLOY
from .clones.content import FilesResource
from .clones.source import Data
from .environment import ENVIRONMENT
from .relocations.choice import (
    BEFORE_STOP,
    WHERE_TO,
    asked_by,
    check_deployable,
    check_options,
    check_references,
    check_relocatable,
    check_variables,
    choose_name,
    differing,
    find_made,
    read_dependents,
    read_new,
)
from .relocations.ways import in_service_since, newer_in, plan_back, plan_end, plan_there, used_since, view
from .relocations.work import Modules, RelocateOptions, Work
from .service import SERVICE
from .services.on_service import service_id
from .shared.identify import label
from .shared.plan import Plan, Resource, Step, Task
from .shared.relocation_record import Phase, Relocation, known_relocations
from .shared.store import one_at_a_time, state_key
from .shared.task_errors import Ambiguous, Invalid, NoSuchItem

MODULES = Modules(SERVICE, ENVIRONMENT, APP_DEPLOY, FilesResource(SERVICE))


class RelocateResource(Resource[RelocateOptions]):
    """A service in the place of another one."""

    result_key = "relocation"

    def plan(self, task: Task[RelocateOptions]) -> Plan:
        check_options(task.options)
        task.composition = replace(task.composition, copies=True)
        record = find_record(task)
        if not task.check_mode:
            subject = f"relocate:{state_key(task.options.base_url, record.old_id)}"
            what = f"relocating service {record.old_id}"
            task.closing.enter_context(one_at_a_time(subject, what))
            task.account.refresh()
            record = Relocation.of(task.options, record.old_id)
        ways = {"finished": plan_finished, "relocated": plan_relocated, "returned": plan_returned}
        return ways[task.options.state](task, record)


RELOCATE = RelocateResource()


def find_record(task: Task[RelocateOptions]) -> Relocation:
    """Return the record of the service that the task names. For the way back, it may name the new one.

    :raises NoSuchItem: if there is no such service, and no relocation of it is remembered.
    """
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
    """Plan what is left to do until the new service has taken the place of the old one."""
    if record.deleting is not None and record.deleting == record.new_id:
        if not record.gone:
            raise Invalid(
                f"service {record.new_name!r} ({record.new_id}) is about to be deleted. Nothing was done. "
                "Complete that with state: finished first"
            )
        record = Relocation(record.old_id, path=record.path)  # it went back, so it begins anew
    if record.phase is Phase.RELOCATED or record.deleting is not None:
        return plan_kept(task, record)
    check_forward(task, record)
    work = Work.of(MODULES, task, record)
    if record.phase is Phase.NONE:
        if not any(getattr(task.options, name) for name in WHERE_TO):
            raise Invalid(
                f"nothing says what is to be different of {work.label}: set {', '.join(WHERE_TO[:-1])} or "
                f"{WHERE_TO[-1]}"
            )
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
    check_readable(work)
    return plan_there(work)


def plan_kept(task: Task[RelocateOptions], record: Relocation) -> Plan:
    """Return the plan for a relocation that is complete: the date alone may change."""
    days = task.options.keep_days
    service = task.account.service(record.new_id) if record.new_id and record.deleting is None else None
    if service is not None and (found := differing(asked_by(task.options), service)):
        raise Invalid(
            f"service {record.old_name!r} was relocated, and {label(service)}, which took its place, has "
            f"{found}. Nothing was done. To relocate that one, name it; state: returned brings the old "
            "one back"
        )
    if days is None or days == record.keep_days or record.deleting is not None:
        return Plan(result=view(record))
    step = Step(
        f"keep service {record.old_name!r} for {counted(days, 'day')} in place of {record.keep_days}",
        lambda: record.write(keep_days=days),
    )
    before, after = {"keep_days": record.keep_days}, {"keep_days": days}
    return Plan(view(record), [step], lambda: view(record), before, after)


def check_forward(task: Task[RelocateOptions], record: Relocation) -> None:
    """Refuse to go on where that would lose something."""
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
        used = (
            f"{label(left)} may have been used since {record.since}, when it was suspended, and may hold "
            "what is nowhere else"
        )
    if used:
        raise Invalid(
            f"{used}. Nothing was done. To overwrite it, set overwrite: true; to keep what it holds, copy "
            "that elsewhere first"
        )


def check_readable(work: Work) -> None:
    """Look at what is going to be copied, so that what cannot be read is found before anything is ordered.

    :raises HostedError: if it cannot be read.
    """
    if work.data is not Data.NONE and work.record.new_id is None:
        work.foreseen = "; ".join(work.plan_copy(work.old, None).actions) or None


# --- Back, and the end ----------------------------------------------------------------------------------


def plan_returned(task: Task[RelocateOptions], record: Relocation) -> Plan:
    """Plan what is left to do until the old service is in service again."""
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
    """Return the error for going back to a service whose deletion was begun."""
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


def plan_finished(task: Task[RelocateOptions], record: Relocation) -> Plan:
    """Plan the deletion of the one that is not in service."""
    if record.phase is Phase.NONE:
        raise Invalid(
            f"no relocation of service {record.old_id} is remembered on this controller. Nothing was "
            "deleted. hosted.services.service with state: absent deletes a service"
        )
    find_made(task, record)
    return plan_end(task, record, SERVICE)
