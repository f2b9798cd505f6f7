# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The database of a clone: a dump of its source, restored into the clone's own and into no other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from ..._api.models import Service
from ..._api.text import counted
from ..._api.values import ServiceStatus
from ..._sftp.errors import TransferFailed
from ..databases.dump import NoDumpError, Source, find_source
from ..databases.restore import HeldDump, check_client, check_login, find_target, held_dump, restore
from ..services.lookup import label
from ..services.view import read_service, read_settings
from ..shared.options import WaitOptions, required
from ..shared.plan import Plan, Resource, Step, Task
from ..shared.task_errors import EffectUnverified, WaitEnded
from ..shared.waiting import wait_until
from .target import check_own

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class DatabaseOptions(WaitOptions):
    """From which service to which."""

    source_id: str = required()
    service: str | None = None
    project_id: str | None = None
    public: bool = False
    """Whether the clone will be open to the Internet."""


class DatabaseResource(Resource[DatabaseOptions]):
    """The content of one database, in another."""

    result_key = "database"

    def plan(self, task: Task[DatabaseOptions]) -> Plan:
        """Dump both databases, and plan a restore if they differ.

        :raises Invalid: if a database cannot be dumped from here.
        """
        options = task.options
        original = read_service(task, options.source_id)
        source = explained(original, lambda: dumpable(task, original))
        what = f"database {source.login.database!r} of {label(original)}"
        if options.service is None:
            warn_of_network(task, original)
            return Plan(
                result=None, steps=[Step(f"restore a dump of {what}", lambda: None)], after={"content": what}
            )
        own = check_own(task, options.service, options.source_id, options.project_id)
        if own.status == ServiceStatus.SUSPENDED:
            task.warn(f"{label(own)} is suspended, so its database was left as it is")
            return Plan(result=None)
        return plan_restore(task, Pair(original, own, source), what)


DATABASE = DatabaseResource()


def warn_of_network(task: Task[DatabaseOptions], original: Service) -> None:
    """Warn of a clone that this machine probably does not reach."""
    if not task.options.public:
        task.warn(
            f"the clone of service {original.name!r} will not be open to the Internet. Unless this machine "
            "reaches it in another way, its database cannot be restored; public: true opens it"
        )


@dataclass(frozen=True)
class Pair:
    """A database and its clone."""

    original: Service
    own: Service
    source: Source


def plan_restore(task: Task[DatabaseOptions], pair: Pair, what: str) -> Plan:
    """Plan to restore a dump, unless the clone has the same content."""
    own = pair.own
    target = explained(own, lambda: find_target(connection_facts(task, own), pair.source))
    stack = task.closing.enter_context(ExitStack())
    task.progress(f"dumping {what}")
    held = explained(pair.original, lambda: stack.enter_context(held_dump(pair.source)))
    with dumped(own, target) as there:
        same = there.digest == held.digest
    result = {"engine": held.engine.programs[0], "bytes": held.size, "restored": False}
    if same:
        stack.close()
        return Plan(result=result)

    def run() -> None:
        with stack:
            check_own(task, own.id, pair.original.id, task.options.project_id)
            explained(own, lambda: restore(held, target))
            check_restored(own, target, held)
        result["restored"] = True

    summary = f"restore a dump of {what} ({counted(held.size, 'byte')}) into {label(own)}"
    return Plan(
        result=result, steps=[Step(summary, run)], before={"content": "another"}, after={"content": what}
    )


def check_restored(own: Service, target: Source, held: HeldDump) -> None:
    """Dump what was restored, and compare it with what it was restored from.

    :raises EffectUnverified: if they differ.
    """
    with dumped(own, target) as there:
        if there.digest != held.digest:
            raise EffectUnverified(
                f"{label(own)} does not hold what was restored into it; does something else write to it? "
                "Stop that, and run this again"
            )


@contextmanager
def dumped(service: Service, database: Source) -> Iterator[HeldDump]:
    """Dump a database, and say of which service it is if that fails."""
    with ExitStack() as stack:
        yield explained(service, lambda: stack.enter_context(held_dump(database)))


def dumpable(task: Task[DatabaseOptions], service: Service) -> Source:
    """Return a database that can be dumped and restored with what is installed here.

    :raises NoDumpError: if it cannot.
    """
    source = find_source(connection_facts(task, service))
    check_client(source.engine)
    return source


def connection_facts(task: Task[WaitOptions], service: Service) -> dict[str, Any]:
    """Return how to connect to a database, from inside of its project and from outside."""
    facts: dict[str, Any] = dict(task.client.database_connection(service.id).as_dict())
    settings = read_settings(task, service)
    network = settings.network if settings else None
    if network and network.is_public:
        facts |= {"public_host": network.public_ip, "public_port": network.public_port}
    return facts


def explained(service: Service, call: Callable[[], T]) -> T:
    """Make a call, and say which database cannot be copied if it fails.

    :raises TransferFailed: with what to do.
    """
    try:
        return call()
    except NoDumpError as error:
        raise TransferFailed(
            f"the database of {label(service)} cannot be copied: {error}. without_data lists services to "
            "clone without what they hold"
        ) from None


def await_database(
    task: Task[Any], id: str | None, facts: Callable[[Task[Any], Service], dict[str, Any]] = connection_facts
) -> None:
    """Wait until a new database lets its user in: it may be in service a little before.

    One that does not within ``wait_timeout`` is left to whoever writes to it, who fails and says why.

    :param facts: returns how to connect to it.
    """
    if id is None:
        return
    service = read_service(task, id)

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
