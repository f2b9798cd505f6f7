# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The database of a recovered service: a dump that was kept, restored into an empty database or its own."""

from __future__ import annotations

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
from ..clones.database import RestoreOptions, address_of, plan_foreseen
from ..databases.dump import find_source
from ..databases.engine import find_connection
from ..databases.restore import Dump, as_failure, check_client, count_rows
from ..shared.identify import label
from ..shared.options import required
from ..shared.plan import Plan, Resource, Step, Task
from ..shared.task_errors import Invalid, NoSuchItem
from .target import Target


@dataclass(frozen=True, kw_only=True)
class DumpOptions(RestoreOptions):
    """From which dump to which service."""

    key: str = required()
    name: str = required()
    dump: str = required()
    existing: str = "refuse"
    """What becomes of rows that somebody else may have written: ``replace``, as in a drill, or refused."""


class RecoveredDatabase(Resource[DumpOptions]):
    """The content of a dump, in the database of a service."""

    result_key = "database"

    def __init__(self, target: Target) -> None:
        self._target = target

    def plan(self, task: Task[DumpOptions]) -> Plan:
        """Read the dump to its end, and plan to restore it."""
        options = task.options
        held = task.closing.enter_context(ExitStack())
        with restoring(options):
            dump = held.enter_context(Dump.kept_at(Path(options.dump)))
            check_client(dump.engine)
        if options.service is None:
            summary = f"restore {described(options, dump)}"
            held.close()
            return plan_foreseen(task, f"service {options.name!r}", summary, options.dump)
        service = self._target.read_own(task)
        return self._plan_restore(task, service, dump)

    def _plan_restore(self, task: Task[DumpOptions], service: Service, dump: Dump) -> Plan:
        """Plan to restore a dump, unless the database has the same content."""
        started, options, record = time.monotonic(), task.options, self._target.record
        with restoring(options):
            database = find_source(own_address(task, service))
            if database.engine.file != dump.engine.file:
                raise Invalid(
                    f"{options.dump} was not made from a database of the engine of {label(service)}; name "
                    "another copy in copies_of"
                )
            rows, same = count_rows(database), dump.is_in(database)
        if not same:
            self._check_replaceable(options, service, rows)
        result: dict[str, Any] = {"copy": options.dump, "bytes": dump.size, "restored": not same}

        def end() -> None:
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
            record.end(options.key, service.id, {"copy": options.dump})

        def write() -> None:
            with restoring(options):
                dump.restore(database)

        said = f"restore {described(options, dump)} into {label(service)}"
        steps = [
            Step("remember it", lambda: record.begin(options.key, service.id), changes=False),
            Step("compare the database with the dump", end, changes=False),
        ]
        if not same:
            steps.insert(1, Step(said, write))
        state = {"content": options.dump}
        return Plan(result=result, steps=steps, before=state if same else {"content": "another"}, after=state)

    def _check_replaceable(self, options: DumpOptions, service: Service, rows: Sequence[int]) -> None:
        """Refuse to replace what this recovery has not written itself, or what may be in use by now."""
        key, record = options.key, self._target.record
        in_use = record.in_use_since(key)
        if not rows or key in self._target.overwrite:
            return
        why = None
        if not record.may_replace(key, service.id):
            why = "which this recovery did not write"
        elif options.existing != "replace" and in_use and in_use < datetime.now(UTC):
            why = (
                "and this recovery began to restore it more than an hour ago, so somebody may have used it "
                "since"
            )
        if why:
            raise Invalid(
                f"the database of {label(service)} is not empty: it has {counted(len(rows), 'table')} with "
                f"{counted(sum(rows), 'row')}, {why}. Nothing was restored. If that is to be "
                f"replaced by the dump, name {key!r} in overwrite"
            )


def described(options: DumpOptions, dump: Dump) -> str:
    """Return a dump for messages, with its size."""
    copy = Path(options.dump).parent.name
    return f"the dump of {options.name!r} from copy {copy} ({counted(dump.size, 'byte')})"


def restoring(options: DumpOptions) -> AbstractContextManager[None]:
    """Say which database cannot be recovered, where there is no dump."""
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
    """Return where a database may answer, by the names of host and port."""
    places = (("host", "port"), ("public_host", "public_port"))
    known = [(host, port) for host, port in places if facts.get(host) and facts.get(port)]
    return {(host, port): (str(facts[host]), int(facts[port])) for host, port in known}
