# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a service gets: files of another one over SFTP, through memory alone, or a dump of its database."""

from __future__ import annotations

import asyncio
import posixpath
import time
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from ..._api.models import Service
from ..._api.text import counted
from ..._api.values import ServiceStatus
from ..._sftp.errors import ConnectionBroken, LoginRefused
from ..._sftp.library import require
from ..._sftp.mirror import PUSH, Mirror, same_size
from ..._sftp.remote import Relayed, Remote
from ..._sftp.session import SftpSession
from ..._sftp.trees import ROOT, Kind, Patterns, Tree
from ..databases.dump import NoDumpError, find_source
from ..databases.engine import connection_facts
from ..databases.restore import Dump, as_failure, check_client, check_login, find_target
from ..files.mirror import (
    MirrorWork,
    SftpSyncOptions,
    check_readable,
    describe_counts,
    key_session,
    plan_expected,
    read_source,
)
from ..services.view import read_settings
from ..shared.identify import label
from ..shared.options import WaitOptions
from ..shared.plan import Expansion, Plan, Resource, Step, Task, after_waiting, plan_with
from ..shared.task_errors import EffectUnverified, WaitEnded
from ..shared.waiting import wait_until
from .target import check_own

EVERYTHING = "."
POWER = "powerSignals"
SETTLE_SECONDS = 2.1
"""What is written to a file this long after a listing has another time than that, in any file system."""
PAUSES = (1, 2, 4, 8, 15, 30)
"""The seconds between attempts to log in to a service that may be new."""
REFUSED_SECONDS = 15
"""How long a refused login may be due to that. It is more often a key that is not registered."""
WITHOUT_DATA = "without_data lists services to clone without what they hold"


@dataclass(frozen=True, kw_only=True)
class FillOptions(WaitOptions):
    service: str | None = None
    """``None`` if it does not exist yet."""
    project_id: str | None = None
    source_id: str = ""
    public: bool = False
    """Whether the service will be open to the Internet."""


def read_target(task: Task[Any], content: str) -> Service | None:
    """Return the service to write to, read again; ``None`` for one that is left as it is."""
    options = task.options
    service = check_own(task, options.service, options.source_id, options.project_id)
    if service.status == ServiceStatus.SUSPENDED:
        task.warn(f"{label(service)} is suspended, so its {content}")
        return None
    return service


# --- Files ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class CopyOptions(SftpSyncOptions, FillOptions):
    """To which service, all of whose files become those of the source."""

    src: str = EVERYTHING
    dest: str = EVERYTHING
    exclude: list[str] = field(default_factory=list)
    """What the service keeps, although the source does not have it."""
    in_use: bool = False
    """Whether something may write to the source while it is copied."""

    source_name: str = ""

    @property
    def what(self) -> str:
        return f"copy the files of service {self.source_name!r}"

    def describe(self, result: Mapping[str, Any]) -> str:
        to = f" to service {self.service}" if self.service else ""
        return f"{self.what}{to}: {describe_counts(result)}"


CopyT = TypeVar("CopyT", bound=CopyOptions)


class FilesOnService(Resource[CopyT]):
    result_key = "files"

    def __init__(self, service: Resource[Any]) -> None:
        """``service`` stops a service while its files are replaced."""
        self._service = service

    def plan(self, task: Task[CopyT]) -> Plan:
        """Plan what makes the service like the other place. One that lets nobody in yet is waited for."""
        require()
        id = task.options.service
        if id is None:
            return self._foreseen(task)
        service = self._target(task)
        if service is None:
            return Plan(result=None)
        stack = task.closing.enter_context(ExitStack())
        over = partial(self._over, task, service, stack)
        try:
            session = open_session(task, stack, id)
        except (LoginRefused, ConnectionBroken) as error:
            until = self._foreseen(task)
            if task.check_mode:
                task.warn(f"what service {id} holds is unknown: {error.message}")
                return until
            summary = f"wait until service {id} lets the account in over SFTP"
            return after_waiting(summary, lambda: open_target(task, stack, id), over, until)
        return over(session)

    @abstractmethod
    def _target(self, task: Task[CopyT]) -> Service | None:
        """Return the service to write to, read again; ``None`` for one that is left as it is."""

    @abstractmethod
    def _foreseen(self, task: Task[CopyT]) -> Plan:
        """Plan for a service that does not exist yet, or shows nothing yet: everything is copied."""

    @abstractmethod
    def _over(self, task: Task[CopyT], service: Service, stack: ExitStack, session: SftpSession) -> Plan:
        """Plan over a connection to the service."""


class FilesResource(FilesOnService[CopyOptions]):
    name = "files"

    def _target(self, task: Task[CopyOptions]) -> Service | None:
        return read_target(task, "files were left as they are")

    def _foreseen(self, task: Task[CopyOptions]) -> Plan:
        with ExitStack() as stack:
            session, side = open_source(task, stack)
            source = session.run(read_source(task, side, Patterns()))
        return plan_expected(task, session.login, side, source)

    def _over(
        self, task: Task[CopyOptions], service: Service, stack: ExitStack, session: SftpSession
    ) -> Plan:
        _session, side = open_source(task, stack, session)
        mirror = Mirror(side, Remote(session.sftp, EVERYTHING), PUSH, task.progress)
        found = session.run(compared(task, session, mirror, CopyWork))
        plan = plan_between(found, service, self._service, stack)
        if plan.steps and task.options.in_use:
            wait = "wait until files that are written show it"
            plan.steps = [Step(wait, lambda: session.run(found.settle()), changes=False), *plan.steps]
        return plan


def open_source(
    task: Task[CopyOptions], stack: ExitStack, beside: SftpSession | None = None
) -> tuple[SftpSession, Relayed]:
    """Log in to the service that is copied; return its files as well, which pass through this machine."""
    session = open_session(task, stack, task.options.source_id, beside)
    return session, Relayed(session.sftp, EVERYTHING, f"service {task.options.source_name!r}")


WorkT = TypeVar("WorkT", bound="CopyWork")


async def compared(task: Task[CopyOptions], target: SftpSession, mirror: Mirror, kind: type[WorkT]) -> WorkT:
    tree = await read_source(task, mirror.source, Patterns())
    check_readable(mirror.source, tree)
    there = await mirror.target.tree(Patterns())
    spare(there, tree, Patterns((), task.options.exclude))
    found = kind(task, target, mirror, tree, there)
    found.listed = time.monotonic()
    await found.compare()
    return found


def spare(tree: Tree, source: Tree, kept: Patterns) -> None:
    """Take out of a tree what stays although the source does not have it."""
    spared: set[str] = set()
    for path, entry in sorted(tree.entries.items()):
        below = posixpath.dirname(path) in spared
        if below or (path != ROOT and kept.excludes(path, entry.kind is Kind.DIRECTORY)):
            spared.add(path)
    for path in spared - source.entries.keys():
        del tree.entries[path]
        tree.protect(path)


def plan_between(
    found: CopyWork,
    service: Service,
    stopper: Resource[Any],
    stack: ExitStack,
    last: Sequence[Step] = (),
) -> Plan:
    """Plan what is to be done to the files of a service, which is stopped for that. ``last`` follows it."""
    task, plan = found.task, found.plan()
    if not plan.steps:
        stack.close()
        return plan
    copying = plan.steps

    def close() -> None:
        stack.close()
        if found.changes:
            task.effects.nothing_changed = False  # it was stopped at least
            task.effects.facts.pop("actions", None)  # which would name the copy alone

    def decide() -> Sequence[Step]:
        found.session.run(found.mirror.adapt(found.changes))
        stopped = [*stop_steps(task, service, stopper), *copying] if found.changes else []
        return [*stopped, *last, Step("close the connections", close, changes=False)]

    plan.steps = [Expansion(task.options.describe(plan.result), decide)]
    return plan


class CopyWork(MirrorWork):
    task: Task[CopyOptions]
    listed: float = 0.0
    """When the source was listed, on the monotonic clock."""

    async def settle(self) -> None:
        """Wait until whatever is written to a file from now on gives it another time than was listed."""
        if self.task.options.in_use:
            await asyncio.sleep(max(0.0, self.listed + SETTLE_SECONDS - time.monotonic()))

    async def compare(self) -> None:
        """Find out what is to be done. A service stops for it, so what only looks changed is compared."""
        if self.task.options.checksum:
            await self.settle()
        await super().compare()
        there, files = self.target.entries, self.changes.files
        doubtful = {path: entry for path, entry in files.items() if same_size(entry, there.get(path))}
        if doubtful and not self.mirror.compared:
            await self.settle()
            await self._read(doubtful)
            await super().compare()


def stop_steps(task: Task[CopyOptions], service: Service, stopper: Resource[Any]) -> Sequence[Step]:
    if POWER not in (service.capabilities or ()):
        task.warn(f"{label(service)} cannot be stopped while its files are copied")
        return []
    return plan_with(task, stopper, {"id": service.id, "state": "stopped"}).steps


def open_target(task: Task[CopyOptions], stack: ExitStack, id: str) -> SftpSession:
    """Log in to a service that may be new: it learns the keys of the account a little after its start."""
    waited = 0
    for pause in PAUSES:
        try:
            return open_session(task, stack, id)
        except LoginRefused:
            if waited >= REFUSED_SECONDS:
                raise
        except ConnectionBroken:
            pass
        task.progress(f"waiting until service {id} lets the account in over SFTP")
        time.sleep(pause)
        waited += pause
    return open_session(task, stack, id)


def open_session(
    task: Task[CopyOptions], stack: ExitStack, id: str, beside: SftpSession | None = None
) -> SftpSession:
    """Log in with a key of the account: a password would be a change of the source."""
    session = key_session(task, task.account.sftp(id), task.options.known_hosts, beside)
    try:
        return stack.enter_context(session)
    except LoginRefused:
        login = session.login
        raise LoginRefused(
            f"{login} refused the login with {login.credentials_tried()}. Files are copied with a key of the "
            "account, as a password could only be generated, which would change the service. Register a key "
            "with hosted.services.ssh_key or in ssh_keys of a blueprint, and name its private half in "
            "private_key_file. A service that was made just now may not know it yet: run this again"
        ) from None


# --- Databases ------------------------------------------------------------------------------------------


class DatabaseResource(Resource[FillOptions]):
    result_key = name = "database"

    def plan(self, task: Task[FillOptions]) -> Plan:
        options = task.options
        original = task.account.existing_service(options.source_id)
        with copying(original):
            source = find_source(address_of(task, original))
            check_client(source.engine)
        what = f"database {source.login.database!r} of {label(original)}"
        if options.service is None:
            name = f"the clone of service {original.name!r}"
            return plan_foreseen(task, name, f"restore a dump of {what}", what)
        own = read_target(task, "database was left as it is")
        if own is None:
            return Plan(result=None)
        with copying(own):
            target = find_target(address_of(task, own), source)
        stack = task.closing.enter_context(ExitStack())
        task.progress(f"dumping {what}")
        with as_failure(f"{what} cannot be copied", WITHOUT_DATA):
            dump = stack.enter_context(Dump.of(source))
        with copying(own):
            same = dump.is_in(target)
        result = {"engine": dump.engine.programs[0], "bytes": dump.size, "restored": False}
        if same:
            stack.close()
            return Plan(result=result)

        def run() -> None:
            with stack, copying(own):
                check_own(task, own.id, options.source_id, options.project_id)
                dump.restore(target)
                if not dump.is_in(target):
                    raise EffectUnverified(
                        f"{label(own)} does not hold what was restored into it; does something else write to "
                        "it? Stop that, and run this again"
                    )
            result["restored"] = True

        summary = f"restore a dump of {what} ({counted(dump.size, 'byte')}) into {label(own)}"
        steps, before, after = [Step(summary, run)], {"content": "another"}, {"content": what}
        return Plan(result=result, steps=steps, before=before, after=after)


DATABASE = DatabaseResource()


def plan_foreseen(task: Task[Any], name: str, summary: str, content: str) -> Plan:
    """Plan for a service that does not exist yet, whose database this machine may not reach."""
    if not task.options.public:
        task.warn(
            f"{name} will not be open to the Internet. Unless this machine reaches it in another way, its "
            "database cannot be restored; public: true opens it"
        )
    return Plan(result=None, steps=[Step(summary, lambda: None)], after={"content": content})


def address_of(task: Task[WaitOptions], service: Service) -> dict[str, Any]:
    return connection_facts(task.account.database_connection(service.id), read_settings(task, service))


def copying(service: Service) -> AbstractContextManager[None]:
    """Say which database cannot be copied, where there is no dump."""
    return as_failure(f"the database of {label(service)} cannot be copied", WITHOUT_DATA)


def await_database(
    task: Task[Any], id: str | None, facts: Callable[[Task[Any], Service], dict[str, Any]] = address_of
) -> None:
    """Wait until a new database lets its user in. If it does not, whoever writes to it fails and says why."""
    if id is None:
        return
    service = task.account.existing_service(id)

    def ready() -> bool:
        try:
            check_login(find_source(facts(task, service)))
        except NoDumpError:
            return False
        return True

    said, goal = "it does not let its user in yet", f"the database of {label(service)}"
    with suppress(WaitEnded):
        wait_until(task, ready, bool, lambda _ready: said, goal)
