# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The run of ansible-playbook that a task belongs to: whether it goes on, and what its tasks tell each other.

The tasks of a run share a folder that ends with the run.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from ..._api.errors import HostedError
from .store import RUN_FOLDER, Kind, Record, state_key
from .task_errors import Invalid

if TYPE_CHECKING:
    from .plan import Plan, Resource, Task

T = TypeVar("T")
ENDED = ("Z", "X")
"""How the system shows a process that was killed and whose parent does not look after it."""
NAMES = ("name", "slug", "path", "digest")
"""The keys of results that name things."""
LOCK_SECONDS = 5.0
"""Seconds to wait for another task that reads the same."""
SAID = Kind[list[Any]]("", list, "what a task of this run said", hint=True)
"""Holds what the first task said of a subject, which may be ``None``; nothing before that."""
FORESEEN = Kind[dict[str, str]]("", dict, "what earlier tasks of this run planned", hint=True)
"""Holds the names of what tasks in check mode planned, each with what there is to know of it."""


@dataclass(frozen=True)
class Run:
    """A run: its process, the folder that its tasks share, and when the process started."""

    process: int
    folder: str
    started: str | None = None

    @classmethod
    def of_task(cls) -> Self | None:
        """Return the run of this task; ``None`` if it runs as a module elsewhere."""
        folder = run_id()
        return cls(run_process(), folder, start_of(run_process())) if folder else None

    def goes_on(self) -> bool:
        """Tell whether the run goes on. One that has ended has no folder, though a process got its number.

        One that was killed has left its folder. So the time at which its process started counts as well,
        where that is known.
        """
        try:
            os.kill(self.process, 0)
        except ProcessLookupError:
            return False
        except PermissionError:  # it is another user's
            pass
        return os.path.isdir(self.folder) and self.started in (None, start_of(self.process))


def run_process() -> int:
    """Return the process of the run that this task belongs to, also if that was killed meanwhile.

    Ansible makes its workers with multiprocessing, which remembers who made them. An orphan's parent by the
    system's account is process 1.
    """
    parent = multiprocessing.parent_process()
    return os.getppid() if parent is None or parent.pid is None else parent.pid


def start_of(process: int) -> str | None:
    """Return when a process started, in a form to compare; ``None`` if it has ended or nothing shows it."""
    with suppress(OSError, IndexError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        facts = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
        fields = facts.rpartition(")")[2].split()
        return None if fields[0] in ENDED else f"{boot}:{fields[19]}"
    return None


# --- What its tasks tell each other -----------------------------------------------------------------


def run_id() -> str | None:
    """Return what tells this run from others, in each of its processes; ``None`` for a module elsewhere."""
    return os.environ.get(RUN_FOLDER)


def run_record(kind: Kind[T], subject: str) -> Record[T] | None:
    """Return a record that ends with the run; ``None`` for a module elsewhere, and once the run has ended."""
    folder = os.environ.get(RUN_FOLDER, "")
    return Record(kind, os.path.join(folder, f"hosted.services.{subject}")) if os.path.isdir(folder) else None


def first_said(subject: str, read: Callable[[], str | None]) -> str | None:
    """Return what the first task of the run said of a subject, or has read for all, even if that failed."""
    record, found = run_record(SAID, subject), list[Any]()
    if record is not None:
        found = record.read()  # without a turn: what was said stays
    if not found:
        turn: AbstractContextManager[list[Any]] = record.held(LOCK_SECONDS) if record else nullcontext([])
        with suppress(OSError, Invalid), turn as earlier:
            try:
                found = earlier or [read()]
            except HostedError:
                found = [None]
            if record is not None:
                record.write(found)
    return found[0] if found and isinstance(found[0], str) else None


def foresee(resource: Resource[Any], task: Task[Any], plan: Plan) -> None:
    """Note what a task in check mode plans, for the tasks after it: what selects it, and how it is named."""
    options = task.options
    record = run_record(FORESEEN, state_key(options.base_url, "foreseen"))
    if record is None or not plan.changed:
        return
    chosen = {name: getattr(options, name) for name in resource.selectors - resource.secret_options}
    names = dict.fromkeys(
        [f"a new {resource.result_key}", *_names_in([list(chosen.values()), plan.result])], ""
    )
    if getattr(options, "state", None) == "absent":
        names = {f"no {resource.result_key} {chosen.get('id') or chosen.get('name')}": ""}
    if isinstance(plan.result, dict) and plan.result.get("id") and "new_name" in chosen:
        names[str(plan.result["name"])] = str(plan.result["id"])
    if {"slug", "tag", "digest"} <= chosen.keys() and chosen["digest"]:
        names[f"{chosen['slug']}:{chosen['tag']}"] = str(chosen["digest"])
    with suppress(OSError, Invalid):
        record.edit(
            lambda known: {**known, **{name: said or known.get(name, "") for name, said in names.items()}}
        )


def _names_in(value: Any) -> Iterator[str]:
    """Yield what can name things: the texts in lists, and those of some keys of results."""
    if isinstance(value, list):
        for item in value:
            yield from [item] if isinstance(item, str) else _names_in(item)
    elif isinstance(value, dict):
        yield from _names_in(
            [item for key, item in value.items() if key in NAMES or not isinstance(item, str)]
        )
