# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files of a recovered service: those of its copy, compared by their content once they are there."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ..._api.models import Service
from ..._sftp.local import Local
from ..._sftp.mirror import PUSH, Mirror
from ..._sftp.patterns import Patterns
from ..._sftp.remote import Remote
from ..._sftp.session import Login, SftpSession
from ..._sftp.trees import Kind
from ..clones.files import (
    EVERYTHING,
    POWER,
    CopyOptions,
    CopyWork,
    FilesOnService,
    compared,
    plan_between,
    stop_steps,
)
from ..files.mirror import first_paths, plan_expected, read_source
from ..last_copies.content import differing_files
from ..shared.identify import label
from ..shared.options import required
from ..shared.plan import Expansion, Plan, Resource, Step, Task, plan_with
from ..shared.task_errors import EffectUnverified, Invalid
from .target import Target


@dataclass(frozen=True, kw_only=True)
class PushOptions(CopyOptions):
    """From which copy to which service."""

    key: str = required()
    name: str = required()
    existing: str = "refuse"
    """Whether a service that is in use is kept as it is, its content replaced, or the task refused."""
    start: bool = False
    """Whether the service runs afterwards. One that the recovery did not make runs if it did before."""

    @property
    def what(self) -> str:
        """What is done with which files, for messages."""
        return f"restore the files of {self.name!r} from copy {os.path.basename(self.src)}"


class PushWork(CopyWork):
    """What becomes of the files of a service that gets those of a copy."""

    task: Task[PushOptions]

    async def check(self) -> dict[str, int]:
        """Read all files of the service, and compare their content with that of the copy."""
        there = await self.mirror.target.tree(Patterns(), lambda path, why: None)
        if differing := await differing_files(self.mirror, self.source, there.entries):
            raise EffectUnverified(
                f"service {self.task.options.service} does not hold what its copy does: "
                f"{first_paths(differing)}. Does something else write to it? Run this again"
            )
        sizes = [entry.size for entry in self.source.entries.values() if entry.kind is Kind.FILE]
        return {"files": len(sizes), "bytes": sum(sizes)}


class RecoveredFiles(FilesOnService[PushOptions]):
    """The files of a copy, on a service."""

    def __init__(self, service: Resource[Any], target: Target) -> None:
        """``target`` tells what may be written to."""
        super().__init__(service)
        self._project = target

    def _target(self, task: Task[PushOptions], id: str) -> Service:
        return self._project.read_own(task)

    def _foreseen(self, task: Task[PushOptions]) -> Plan:
        local = Local(task.options.src)
        source = asyncio.run(read_source(task, local, Patterns()))
        plan = plan_expected(task, Login("", 0, ""), local, source, task.options.describe)
        plan.result = {"copy": os.path.basename(task.options.src), "restored": bool(plan.steps)}
        return plan

    def _over(
        self, task: Task[PushOptions], service: Service, stack: ExitStack, session: SftpSession
    ) -> Plan:
        """Plan the push, which notes where it begins and what it ended with."""
        started, options, record = time.monotonic(), task.options, self._project.record
        mirror = Mirror(Local(options.src), Remote(session.sftp, EVERYTHING), PUSH, task.progress)
        found = session.run(compared(task, session, mirror, PushWork))
        result: dict[str, Any] = {"copy": os.path.basename(options.src), "restored": bool(found.changes)}
        if self._is_in_use(task, service, found):
            leave = Step("remember that it is left", lambda: record.leave([service.id]), changes=False)
            return Plan(result={**result, "restored": False}, steps=[leave])

        def check() -> None:
            result["verified"] = session.run(found.check())
            result["seconds"] = round(time.monotonic() - started, 1)

        def end() -> None:
            record.end(options.key, service.id, {"copy": options.src})

        if not found.changes:
            check()
        last = [Step("compare the files with the copy", check, changes=False)]
        starting = self._start_steps(task, service)
        plan = plan_between(found, service, self._service, stack, last)
        begin = Step("remember it", lambda: record.begin(options.key, service.id), changes=False)
        plan.steps = [begin, *plan.steps, *starting, Step("remember that", end, changes=False)]
        plan.result, plan.reread = result, None
        return plan

    def _is_in_use(self, task: Task[PushOptions], service: Service, found: PushWork) -> bool:
        """Tell whether somebody uses a service that never got its content, so that it is left as it is.

        Long after a run that failed, it may have been filled by hand, or have made a world of its own.
        """
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


def written_since(found: PushWork, moment: datetime | None) -> str | None:
    """Return a file that would be replaced or deleted, and was written after a moment."""
    if moment is None:
        return None
    limit, copy = moment.timestamp(), found.source.entries
    for path, entry in found.target.entries.items():
        known = copy.get(path)
        same = known is not None and (known.size, known.mtime) == (entry.size, entry.mtime)
        if entry.kind is Kind.FILE and entry.mtime > limit and not same and path not in found.equal:
            return path
    return None
