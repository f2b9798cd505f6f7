# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Relocations: a service on another node or as another product, with a short stop and a way back.

The platform cannot move a service between nodes or change its product. So another one is ordered, and gets
what the old one holds: most of it while that runs, the rest while it is stopped. The old one is suspended
then, and deleted only if a task says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import count, takewhile

from .._api.models import ServiceSummary
from .._api.text import counted
from .._api.values import ServiceStatus
from .app_deploy import APP_DEPLOY
from .clones.content import DATABASE, FilesResource
from .clones.source import Data, referring_names
from .environment import ENVIRONMENT
from .relocations.dependents import check_references, read_dependents
from .relocations.options import WHERE_TO, RelocateOptions, check_options
from .relocations.origin import (
    Origin,
    check_adopts,
    check_kept,
    check_relocatable,
    differences,
    find_made,
    of_order,
    read_origin,
)
from .relocations.ways import in_service_since, newer_in, plan_back, plan_end, plan_there, used_since, view
from .relocations.work import Modules, Work
from .service import SERVICE
from .services.on_service import service_id
from .services.order import MAX_SERVICE_NAME, ordered_with
from .shared.identify import existing, label
from .shared.names import same_name
from .shared.plan import Plan, Resource, Step, Task
from .shared.relocation_record import Phase, Relocation, known_relocations
from .shared.store import one_at_a_time, state_key
from .shared.task_errors import Ambiguous, Invalid, NoSuchItem

MODULES = Modules(SERVICE, ENVIRONMENT, APP_DEPLOY, FilesResource(SERVICE), DATABASE)
NUMBER = re.compile(r"^(.*?)-(\d+)$")


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
            task.account.reads.forget()
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
    unfinished = [each for each in fitting if not each.gone]
    fitting = unfinished or fitting
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
        record = start_over(record)
    if record.phase is Phase.RELOCATED or record.deleting is not None:
        return plan_kept(task, record)
    check_forward(task, record)
    origin = read_origin(task, record)
    if record.phase is Phase.NONE:
        if not any(getattr(task.options, name) for name in WHERE_TO):
            raise Invalid(
                f"nothing says what is to be different of {origin.label}: set {', '.join(WHERE_TO[:-1])} or "
                f"{WHERE_TO[-1]}"
            )
        if not differences(task.options, origin.service):
            return Plan(result={**view(record), "name": origin.service.name})
    if record.phase in (Phase.NONE, Phase.RETURNED, Phase.ORDERED):
        check_relocatable(task, origin)
        choose_name(task, record, origin)
    work = Work(task, record, origin, read_dependents(task, origin, record), MODULES)
    check_references(work.dependents, work.names, origin.label)
    check_variables(task, origin, record)
    check_readable(work)
    return plan_there(work)


def start_over(record: Relocation) -> Relocation:
    """Begin a relocation anew whose service went back, and whose new one is deleted."""
    if not record.gone:
        raise Invalid(
            f"service {record.new_name!r} ({record.new_id}) is about to be deleted. Nothing was done. "
            "Complete that with state: finished first"
        )
    return Relocation(record.old_id, path=record.path)


def plan_kept(task: Task[RelocateOptions], record: Relocation) -> Plan:
    """Return the plan for a relocation that is complete: the date alone may change."""
    days = task.options.keep_days
    if record.deleting is None:
        check_kept(task, record)
    if days is None or days == record.keep_days or record.deleting is not None:
        return Plan(result=view(record))
    step = Step(
        f"keep service {record.old_name!r} for {counted(days, 'day')} in place of {record.keep_days}",
        lambda: record.write(keep_days=days),
    )
    return Plan(
        result=view(record),
        steps=[step],
        reread=lambda: view(record),
        before={"keep_days": record.keep_days},
        after={"keep_days": days},
    )


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


def choose_name(task: Task[RelocateOptions], record: Relocation, origin: Origin) -> None:
    """Decide how the new service is named, and find it if it is there."""
    options = task.options
    services = existing(task.account.services())
    expected = record.phase is not Phase.NONE and not is_name_free(task, record)
    if not expected:
        record.sent = None
        record.old_name, record.project_id = origin.service.name, origin.service.project_id
        record.new_name = options.name or next_name(task, origin, services)
        if same_name(record.new_name, record.old_name):
            raise Invalid(
                f"name is {record.new_name!r}, that of {origin.label}. Both are in one project until the "
                "old one is deleted, and a task that names them would fit both. Nothing was ordered. Give "
                "another name, or none"
            )
    elif options.name and not same_name(options.name, record.new_name):
        task.warn(
            f"the relocation was begun with the name {record.new_name!r} for the new service, so name "
            f"{options.name!r} is not used"
        )
    find_made(task, record)
    if record.new_id is not None and not expected:
        named = f"service {record.new_name!r} ({record.new_id})"
        check_adopts(task, named, "not known to be made by a relocation")


def is_name_free(task: Task[RelocateOptions], record: Relocation) -> bool:
    """Tell whether the new service may get another name: none was ordered by that of the record.

    One whose order got no response keeps its name, unless the task gives another one and nothing came of the
    order.
    """
    name = task.options.name
    if record.new_id is not None:
        return False
    if record.sent is None:
        return True
    return name is not None and not same_name(name, record.new_name) and not of_order(task, record)


def next_name(task: Task[RelocateOptions], origin: Origin, services: list[ServiceSummary]) -> str:
    """Return the old name with the next number that no service has.

    A service of the project with a number before that may be the new one of a relocation whose record was
    lost. It is told of, and its name is taken if one is to be adopted.
    """
    by_name = {each.name: each for each in services}
    found = [by_name[name] for name in takewhile(by_name.__contains__, numbered(origin.service.name))]
    there = task.account.within(found, task.account.project(str(origin.service.project_id)))
    if there and task.options.existing == "adopt":
        return there[0].name
    for each in there:
        task.warn(
            f"{label(each)} is there already. If a relocation ordered it whose record is not on this "
            "controller, nothing more has to be ordered: existing: adopt takes it"
        )
    return next(name for name in numbered(origin.service.name) if name not in by_name)


def numbered(name: str) -> Iterator[str]:
    """Return a name with each number that may follow."""
    found = NUMBER.match(name)
    base, first = (found[1], int(found[2]) + 1) if found else (name, 2)
    for number in count(first):
        suffix = f"-{number}"
        yield f"{base[: MAX_SERVICE_NAME - len(suffix)]}{suffix}"


def check_variables(task: Task[RelocateOptions], origin: Origin, record: Relocation) -> None:
    """Refuse to order without its variables what is known to have some."""
    if record.new_id is not None or task.options.variables:
        return
    if names := referring_names(origin.id, origin.graph.edges or []):
        raise Invalid(
            f"the platform does not show the variables of the order of {origin.label}, and these are not "
            f"given: {', '.join(names)}. Nothing was ordered. Give all of them in variables"
        )
    ordered = ordered_with(task, origin.id)
    if ordered.known and "variables" not in ordered.prints:
        return
    task.warn(
        f"the platform does not show whether {origin.label} was ordered with variables; "
        "the new one is ordered without any. If it had some, give them in variables"
    )


def check_readable(work: Work) -> None:
    """Look at what is going to be copied, so that what cannot be read is found before anything is ordered.

    :raises HostedError: if it cannot be read.
    """
    if work.origin.data is not Data.NONE and work.record.new_id is None:
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
    check_not_moved_on(task, record)
    origin = read_origin(task, record)
    dependents = read_dependents(task, origin, record) if record.switched_at else []
    return plan_back(Work(task, record, origin, dependents, MODULES))


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


def check_not_moved_on(task: Task[RelocateOptions], record: Relocation) -> None:
    """Refuse a way back from a service that was itself relocated: another one is in its place."""
    later = Relocation.of(task.options, record.new_id) if record.new_id else None
    if later is not None and later.phase not in (Phase.NONE, Phase.RETURNED):
        raise Invalid(
            f"service {record.new_name!r} ({record.new_id}), which took the place of "
            f"{record.old_name!r}, was relocated to {later.new_name!r} since. Nothing was done. Go "
            f"back from that first: state: returned of service {record.new_id}"
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
