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

from .app_deploy import APP_DEPLOY
from .clones.content import FilesResource
from .environment import ENVIRONMENT
from .relocations.choice import check_options
from .relocations.ways import plan_finished, plan_relocated, plan_returned
from .relocations.work import Modules, RelocateOptions
from .service import SERVICE
from .services.on_service import service_id
from .shared.plan import Plan, Resource, Task
from .shared.relocation_record import Phase, Relocation, known_relocations
from .shared.store import one_at_a_time, state_key
from .shared.task_errors import Ambiguous, NoSuchItem

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
            task.account.reads.forget()
            record = Relocation.of(task.options, record.old_id)
        ways = {"finished": plan_finished, "relocated": plan_relocated, "returned": plan_returned}
        return ways[task.options.state](MODULES, task, record)


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
