# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The database of a clone: a dump of its source, restored into the clone's own and into no other."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from ..._api.models import Service
from ..._api.text import counted
from ..._api.values import ServiceStatus
from ..databases.dump import NoDumpError, Source, find_source
from ..databases.engine import connection_facts
from ..databases.restore import Dump, as_failure, check_client, check_login, find_target
from ..services.view import read_settings
from ..shared.identify import label
from ..shared.options import WaitOptions, required
from ..shared.plan import Plan, Resource, Step, Task
from ..shared.task_errors import EffectUnverified, WaitEnded
from ..shared.waiting import wait_until
from .target import check_own

EMPTY = "without_data lists services to clone without what they hold"


@dataclass(frozen=True, kw_only=True)
class RestoreOptions(WaitOptions):
    """Into the database of which service."""

    service: str | None = None
    project_id: str | None = None
    public: bool = False
    """Whether the service will be open to the Internet."""


RestoreT = TypeVar("RestoreT", bound=RestoreOptions)


@dataclass(frozen=True, kw_only=True)
class DatabaseOptions(RestoreOptions):
    """From which service."""

    source_id: str = required()


class DatabaseResource(Resource[DatabaseOptions]):
    """The content of one database, in another."""

    result_key = "database"

    def plan(self, task: Task[DatabaseOptions]) -> Plan:
        options = task.options
        original = task.account.existing_service(options.source_id)
        with copying(original):
            source = find_source(address_of(task, original))
            check_client(source.engine)
        what = f"database {source.login.database!r} of {label(original)}"
        if options.service is None:
            name = f"the clone of service {original.name!r}"
            return plan_foreseen(task, name, f"restore a dump of {what}", what)
        own = check_own(task, options.service, options.source_id, options.project_id)
        if own.status == ServiceStatus.SUSPENDED:
            task.warn(f"{label(own)} is suspended, so its database was left as it is")
            return Plan(result=None)
        with copying(own):
            target = find_target(address_of(task, own), source)
        return plan_restore(task, own, source, target, what)


DATABASE = DatabaseResource()


def plan_restore(
    task: Task[DatabaseOptions], own: Service, source: Source, target: Source, what: str
) -> Plan:
    """Plan to restore a dump of ``source``, unless ``target``, the database of the clone, has its content."""
    stack = task.closing.enter_context(ExitStack())
    task.progress(f"dumping {what}")
    with as_failure(f"{what} cannot be copied", EMPTY):
        dump = stack.enter_context(Dump.of(source))
    with copying(own):
        same = dump.is_in(target)
    result = {"engine": dump.engine.programs[0], "bytes": dump.size, "restored": False}
    if same:
        stack.close()
        return Plan(result=result)

    def run() -> None:
        with stack, copying(own):
            check_own(task, own.id, task.options.source_id, task.options.project_id)
            dump.restore(target)
            if not dump.is_in(target):
                raise EffectUnverified(
                    f"{label(own)} does not hold what was restored into it; does something else write to it? "
                    "Stop that, and run this again"
                )
        result["restored"] = True

    summary = f"restore a dump of {what} ({counted(dump.size, 'byte')}) into {label(own)}"
    return Plan(
        result=result, steps=[Step(summary, run)], before={"content": "another"}, after={"content": what}
    )


def plan_foreseen(task: Task[RestoreT], name: str, summary: str, content: str) -> Plan:
    """Plan for a service that does not exist yet, whose database this machine may not reach."""
    if not task.options.public:
        task.warn(
            f"{name} will not be open to the Internet. Unless this machine reaches it in another way, its "
            "database cannot be restored; public: true opens it"
        )
    return Plan(result=None, steps=[Step(summary, lambda: None)], after={"content": content})


def address_of(task: Task[WaitOptions], service: Service) -> dict[str, Any]:
    """Return how to connect to the database of a service."""
    return connection_facts(task.account.database_connection(service.id), read_settings(task, service))


def copying(service: Service) -> AbstractContextManager[None]:
    """Say which database cannot be copied, where there is no dump."""
    return as_failure(f"the database of {label(service)} cannot be copied", EMPTY)


def await_database(
    task: Task[Any], id: str | None, facts: Callable[[Task[Any], Service], dict[str, Any]] = address_of
) -> None:
    """Wait until a new database lets its user in: it may be in service a little before.

    One that does not within ``wait_timeout`` is left to whoever writes to it, who fails and says why.

    :param facts: returns how to connect to it.
    """
    if id is None:
        return
    service = task.account.existing_service(id)

    def ready() -> bool:
        try:
            check_login(find_source(facts(task, service)))
        except NoDumpError:
            return False
        return True

    with suppress(WaitEnded):
        wait_until(
            task,
            ready,
            bool,
            lambda _ready: "it does not let its user in yet",
            f"the database of {label(service)}",
        )
