# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a recovered service holds: the files or the dump of its copy, compared with it once they are there."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..._api.models import Service
from ..._api.text import counted
from ..._api.values import Family
from ..._sftp.local import Local
from ..._sftp.mirror import PUSH, Mirror
from ..._sftp.remote import Remote
from ..._sftp.session import Login, SftpSession
from ..._sftp.trees import Kind, Patterns
from ..clones.content import (
    EVERYTHING,
    POWER,
    CopyOptions,
    CopyWork,
    FilesOnService,
    FillOptions,
    address_of,
    compared,
    plan_between,
    plan_foreseen,
    stop_steps,
)
from ..databases.dump import find_source
from ..databases.engine import find_connection
from ..databases.restore import Dump, as_failure, check_client, count_rows, engine_of
from ..files.mirror import first_paths, plan_expected, read_source
from ..last_copies.last_copy import differing_files
from ..shared.identify import label
from ..shared.options import required
from ..shared.plan import Expansion, Plan, Resource, Step, Task, plan_with
from ..shared.task_errors import EffectUnverified, Invalid, NoSuchItem
from .target import RecoveryRecord, Target


@dataclass(frozen=True, kw_only=True)
class CopiedOptions(FillOptions):
    key: str = required()
    name: str = required()
    existing: str = "refuse"
    """What becomes of what somebody else may have written: replaced, as in a drill, kept, or refused."""


def remembered(record: RecoveryRecord, key: str, id: str, steps: Sequence[Step]) -> list[Step]:
    """Return steps that bring the content of a copy, with the notes of that before and after them."""
    return [
        Step("remember it", lambda: record.begin(key, id), changes=False),
        *steps,
        Step("remember that", lambda: record.end(key, id), changes=False),
    ]


# --- Files ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class PushOptions(CopyOptions, CopiedOptions):
    start: bool = False
    """Whether the service runs afterwards. One that the recovery did not make runs if it did before."""

    @property
    def copy(self) -> str:
        return os.path.basename(self.src)

    @property
    def what(self) -> str:
        return f"restore the files of {self.name!r} from copy {self.copy}"


class RecoveredFiles(FilesOnService[PushOptions]):
    name = "files"

    def __init__(self, service: Resource[Any], target: Target) -> None:
        super().__init__(service)
        self._project = target

    def _target(self, task: Task[PushOptions]) -> Service:
        return self._project.read_own(task)

    def _foreseen(self, task: Task[PushOptions]) -> Plan:
        local = Local(task.options.src)
        source = asyncio.run(read_source(task, local, Patterns()))
        plan = plan_expected(task, Login("", 0, ""), local, source)
        plan.result = {"copy": task.options.copy, "restored": bool(plan.steps)}
        return plan

    def _over(
        self, task: Task[PushOptions], service: Service, stack: ExitStack, session: SftpSession
    ) -> Plan:
        started, options, record = time.monotonic(), task.options, self._project.record
        mirror = Mirror(Local(options.src), Remote(session.sftp, EVERYTHING), PUSH, task.progress)
        found = session.run(compared(task, session, mirror, CopyWork))
        result: dict[str, Any] = {"copy": options.copy, "restored": bool(found.changes)}
        if self._is_in_use(task, service, found):
            leave = Step("remember that it is left", lambda: record.leave([service.id]), changes=False)
            return Plan(result={**result, "restored": False}, steps=[leave])

        def check() -> None:
            result["verified"] = session.run(verify(found))
            result["seconds"] = round(time.monotonic() - started, 1)

        if not found.changes:
            check()
        last = [Step("compare the files with the copy", check, changes=False)]
        starting = self._start_steps(task, service)
        plan = plan_between(found, service, self._service, stack, last)
        plan.steps = remembered(record, options.key, service.id, [*plan.steps, *starting])
        plan.result, plan.reread = result, None
        return plan

    def _is_in_use(self, task: Task[PushOptions], service: Service, found: CopyWork) -> bool:
        """Tell whether a service that never got its content may have been filled by hand, long after that."""
        key, record = task.options.key, self._project.record
        newer = written_since(found, record.in_use_since(key))
        if newer is None or key in self._project.overwrite or task.options.existing == "replace":
            return False
        said = (
            f"{label(service)} did not get the content of its copy when this recovery "
            f"made it, and files were written to it more than an hour later, such as {newer!r}"
        )
        if task.options.existing == "keep":
            task.warn(f"{said}. It is left as it is; name {key!r} in overwrite to replace what it holds")
            return True
        raise Invalid(
            f"{said}, so somebody may use it. Nothing was written to it. existing: keep leaves it as it is; "
            f"name {key!r} in overwrite to replace what it holds by the copy"
        )

    def _start_steps(self, task: Task[PushOptions], service: Service) -> Sequence[Step]:
        """Return what starts a service that was stopped for its files, or whose run was killed then."""
        runs = self._project.is_own(task.options.key) or stop_steps(task, service, self._service)
        if not (task.options.start and runs) or POWER not in (service.capabilities or ()):
            return []

        def start() -> Sequence[Step]:
            return plan_with(task, self._service, {"id": service.id, "state": "started"}).steps

        return [Expansion("start it again if it does not run", start, changes=False)]


async def verify(found: CopyWork) -> dict[str, int]:
    there = await found.mirror.target.tree(Patterns())
    if differing := await differing_files(found.mirror, found.source, there.entries):
        raise EffectUnverified(
            f"service {found.task.options.service} does not hold what its copy does: "
            f"{first_paths(differing)}. Does something else write to it? Run this again"
        )
    sizes = [entry.size for entry in found.source.entries.values() if entry.kind is Kind.FILE]
    return {"files": len(sizes), "bytes": sum(sizes)}


def written_since(found: CopyWork, moment: datetime | None) -> str | None:
    if moment is None:
        return None
    limit, copy = moment.timestamp(), found.source.entries
    for path, entry in found.target.entries.items():
        known = copy.get(path)
        same = known is not None and (known.size, known.mtime) == (entry.size, entry.mtime)
        if entry.kind is Kind.FILE and entry.mtime > limit and not same and path not in found.equal:
            return path
    return None


# --- Databases ------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class DumpOptions(CopiedOptions):
    dump: str = required()


class RecoveredDatabase(Resource[DumpOptions]):
    result_key = name = "database"

    def __init__(self, target: Target) -> None:
        self._target = target

    def plan(self, task: Task[DumpOptions]) -> Plan:
        options, path = task.options, Path(task.options.dump)
        held = task.closing.enter_context(ExitStack())
        with restoring(options):
            check_client(engine_of(path))  # before anything of the dump is read
            dump = held.enter_context(Dump.kept_at(path))
        if options.service is None:
            summary = f"restore {described(options, dump)}"
            held.close()
            return plan_foreseen(task, f"service {options.name!r}", summary, options.dump)
        service = self._target.read_own(task)
        return self._plan_restore(task, service, dump)

    def _plan_restore(self, task: Task[DumpOptions], service: Service, dump: Dump) -> Plan:
        started, options = time.monotonic(), task.options
        with restoring(options):
            database = find_source(own_address(task, service))
            if database.engine.file != dump.engine.file:
                raise Invalid(
                    f"{options.dump} was not made from a database of the engine of {label(service)}; name "
                    "another copy in copies_of"
                )
            rows, same = count_rows(database), dump.is_in(database)
        if rows and not same:
            self._check_replaceable(options, service, rows)
        result: dict[str, Any] = {"copy": options.dump, "bytes": dump.size, "restored": not same}

        def compare() -> None:
            with restoring(options):
                now, whole = count_rows(database), same or dump.is_in(database)
            if not whole:
                task.warn(
                    f"{label(service)} was restored, but a new dump of it differs from the one that it was "
                    "restored from. Another version of the engine or of its programs can cause that, and so "
                    "can something that writes to it. Check its content"
                )
            told = {"tables": len(now), "rows": sum(now), "same_dump": whole}
            result.update(verified=told, seconds=round(time.monotonic() - started, 1))

        def write() -> None:
            with restoring(options):
                dump.restore(database)

        said = f"restore {described(options, dump)} into {label(service)}"
        steps = [] if same else [Step(said, write)]
        steps.append(Step("compare the database with the dump", compare, changes=False))
        steps = remembered(self._target.record, options.key, service.id, steps)
        state = {"content": options.dump}
        return Plan(result=result, steps=steps, before=state if same else {"content": "another"}, after=state)

    def _check_replaceable(self, options: DumpOptions, service: Service, rows: Sequence[int]) -> None:
        """Refuse to replace what this recovery has not written itself, or what may be in use by now."""
        key, record = options.key, self._target.record
        in_use = record.in_use_since(key)
        if record.begun.get(key) != service.id:
            why = "which this recovery did not write"
        elif options.existing != "replace" and in_use and in_use < datetime.now(UTC):
            why = (
                "and this recovery began to restore it more than an hour ago, so somebody may have used it "
                "since"
            )
        else:
            return
        if key not in self._target.overwrite:
            raise Invalid(
                f"the database of {label(service)} is not empty: it has {counted(len(rows), 'table')} with "
                f"{counted(sum(rows), 'row')}, {why}. Nothing was restored. If that is to be "
                f"replaced by the dump, name {key!r} in overwrite"
            )


def described(options: DumpOptions, dump: Dump) -> str:
    copy = Path(options.dump).parent.name
    return f"the dump of {options.name!r} from copy {copy} ({counted(dump.size, 'byte')})"


def restoring(options: DumpOptions) -> AbstractContextManager[None]:
    return as_failure(
        f"the database of {options.name!r} cannot be restored from {options.dump}",
        "copies_of names another copy, and without_data lists services to recover empty",
    )


# --- Where a database is --------------------------------------------------------------------------------


def own_address(task: Task[DumpOptions], service: Service) -> dict[str, Any]:
    """Return how to connect to a database, without an address that may lead to another service.

    An internal name is known only inside of a project. Where two projects have the same, it leads to that of
    the project that this machine is in.
    """
    facts, others = address_of(task, service), set[tuple[str, int]]()
    apps = task.account.apps_by_id()
    for each in task.account.services():
        if each.family == Family.APP and each.id not in apps and each.id != service.id:
            with suppress(NoSuchItem, Invalid):  # it is gone, or tells nobody how to connect to it
                other = task.account.existing_service(each.id)
                if find_connection(task.account, other) is not None:
                    others.update(addresses(address_of(task, other)).values())
    own = addresses(facts)
    for place, found in own.items():
        if found in others:
            facts |= dict.fromkeys(place)
    if others.issuperset(own.values()):
        raise Invalid(
            f"every address of the database of {label(service)} is that of another service, too, so nothing "
            "was restored. Open it to the Internet: public: true in overrides"
        )
    return facts


def addresses(facts: Mapping[str, Any]) -> dict[tuple[str, str], tuple[str, int]]:
    places = (("host", "port"), ("public_host", "public_port"))
    known = [(host, port) for host, port in places if facts.get(host) and facts.get(port)]
    return {(host, port): (str(facts[host]), int(facts[port])) for host, port in known}
