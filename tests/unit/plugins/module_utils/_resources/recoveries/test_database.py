# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Databases of recoveries without an engine; tests/integration/test_database_jobs.py has the rest."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.errors import Refused
from ansible_collections.hosted.services.plugins.module_utils._api.models import (
    App,
    DatabaseConnection,
    Service,
    Settings,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.databases.dump import (
    MARIADB,
    POSTGRESQL,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.recoveries import content
from ansible_collections.hosted.services.plugins.module_utils._resources.recoveries.content import (
    DumpOptions,
    RecoveredDatabase,
    own_address,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.recoveries.target import (
    RecoveryRecord,
    Target,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Plan, Task
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from hosted_sandbox.testing import Sandbox
from unit.plugins.fakes import FakeClient, carry_out
from unit.plugins.module_utils._resources.clones.platform import home_of
from unit.plugins.module_utils._resources.platform import id_of, run
from unit.plugins.module_utils._resources.recoveries.platform import member, shelve


@pytest.fixture
def given(sandbox: Sandbox, tmp_path: Path) -> dict[str, Any]:
    """Restore a dump that was cut off into a database."""
    sandbox.seed({"services": [{"name": "db", "product": "postgresql"}]})
    sandbox.clear_journal()
    copy = shelve(tmp_path / "copies", "svc_1", {"database.dump": "half"})
    service = id_of(sandbox, "db")
    return {
        "key": "db",
        "name": "db",
        "dump": str(copy / "database.dump"),
        "service": service,
        "project_id": home_of(sandbox, service),
    }


def test_a_dump_that_was_cut_off_is_refused(
    sandbox: Sandbox, given: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the service is there as well, so that nothing is ordered for it."""
    monkeypatch.setattr(content, "check_client", lambda engine: None)
    own = RecoveredDatabase(Target(RecoveryRecord(str(tmp_path / "record.json"))))
    for service in (None, given["service"]):
        refused = run(sandbox, own, check_mode=service is None, **{**given, "service": service})
        assert "database.dump is no whole dump" in refused["msg"] and "copies_of" in refused["msg"]
    assert sandbox.writes() == []


# --- Which database -------------------------------------------------------------------------------------


class Account(FakeClient):
    """An account with databases, by where they answer inside of their projects and outside."""

    def __init__(self) -> None:
        super().__init__()
        self.connections: dict[str, DatabaseConnection] = {}
        self.public: dict[str, tuple[str, int]] = {}
        self.applications: list[App] = []
        self.asked: list[str] = []
        self.add("db", "db.internal")

    def add(self, id: str, host: str, public: str | None = None, **fields: Any) -> None:
        """Add a database."""
        self.add_service(id, id, **{"product": {"slug": "postgresql"}, **fields})
        self.connections[id] = DatabaseConnection(engine="postgresql", host=host, port=5432)
        if public:
            self.public[id] = public, 15432

    def apps(self) -> list[App]:
        """Return the applications."""
        return self.applications

    def database_connection(self, id: str) -> DatabaseConnection:
        """Return how to connect to a database."""
        self.asked.append(id)
        if id not in self.connections:
            raise Refused("it is none", 400)
        return self.connections[id]

    def settings(self, id: str) -> Settings:
        """Return where a database answers outside."""
        network: dict[str, Any] = {"isPublic": id in self.public}
        network |= dict(zip(("publicIp", "publicPort"), self.public.get(id, ()), strict=False))
        return Settings.model_validate({**self.setting_records[id], "network": network})


def address_of(account: Account) -> tuple[Any, ...]:
    """Return where the database that is restored into is looked for."""
    task: Task[Any] = Task(cast(Any, account), DumpOptions(key="db", name="db", dump="x"))
    facts = own_address(task, cast(Service, account.service("db")))
    return tuple(facts.get(name) for name in ("host", "port", "public_host", "public_port"))


def test_an_address_that_another_database_has_too_is_not_used() -> None:
    """It leads to that of the project that this machine is in, which may be the one that lives."""
    account = Account()
    account.add("db", "db.internal", "203.0.113.1")
    account.add("live", "db.internal", "203.0.113.2")
    assert address_of(account) == (None, None, "203.0.113.1", 15432)
    account.add("live", "live.internal", "203.0.113.1")
    assert address_of(account) == ("db.internal", 5432, None, None)
    account.add("live", "db.internal", "203.0.113.1")
    with pytest.raises(Invalid, match=r"every address of the database of service 'db' .* so nothing was"):
        address_of(account)


# --- What is restored -----------------------------------------------------------------------------------


@dataclass
class Server:
    """A database server in place of the engine, and the dump."""

    content: str = "empty"
    rows: dict[str, int] = field(default_factory=dict)
    engine: Any = POSTGRESQL
    restored: int = 0

    def find(self, facts: Any) -> Any:
        """Find the database."""
        return SimpleNamespace(engine=self.engine)

    @contextmanager
    def kept_at(self, path: Path) -> Iterator[Any]:
        """Read the dump that was kept."""
        engine = POSTGRESQL if path.suffix == ".dump" else MARIADB
        yield SimpleNamespace(engine=engine, size=1000, is_in=self.has_dump, restore=self.restore)

    def has_dump(self, source: Any) -> bool:
        """Compare the database with the dump."""
        return self.content == "dump"

    def restore(self, source: Any) -> None:
        """Restore the dump."""
        self.restored += 1
        self.content, self.rows = "dump", {"orders": 3, "users": 4}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    """A server that stands for the engine."""
    server = Server()
    monkeypatch.setattr(content, "Dump", server)
    monkeypatch.setattr(content, "check_client", lambda engine: None)
    monkeypatch.setattr(content, "find_source", server.find)
    monkeypatch.setattr(content, "count_rows", lambda source: [*server.rows.values()])
    return server


@dataclass
class Case:
    """A dump that is to be restored."""

    account: Account
    record: RecoveryRecord
    task: Task[Any]
    overwrite: frozenset[str] = frozenset()

    def plan(self) -> Plan:
        """Plan to restore it."""
        there = {"db": member("db", id="db")} if self.overwrite else {}
        return RecoveredDatabase(Target(self.record, there, overwrite=self.overwrite)).plan(self.task)


def case(folder: Path, *, overwrite: bool = False, **given: Any) -> Case:
    """Return a dump for the database of the account."""
    account = Account()
    own = {"service": "db", "project_id": "prj_default", "dump": "/srv/svc_1/nightly/database.dump", **given}
    task: Task[Any] = Task(cast(Any, account), DumpOptions(key="db", name="Main", **own))
    record = RecoveryRecord(str(folder / "record.json"), ids={} if overwrite else {"db": "db"})
    return Case(account, record, task, frozenset({"db"} if overwrite else ()))


def test_a_dump_is_restored_into_an_empty_database_and_compared(server: Server, tmp_path: Path) -> None:
    """That it has begun is remembered before, and what it got afterwards."""
    found = case(tmp_path)
    plan = found.plan()
    assert plan.actions == [
        "restore the dump of 'Main' from copy nightly (1000 bytes) into service 'db' (db)"
    ]
    assert (plan.before, plan.after) == ({"content": "another"}, {"content": found.task.options.dump})
    begun = dict(found.record.begun)
    result = carry_out(plan)
    assert begun == {} and found.record.begun == {"db": "db"} and server.restored == 1
    assert result["verified"] == {"tables": 2, "rows": 7, "same_dump": True} and result["seconds"] >= 0
    assert (result["copy"], result["bytes"], result["restored"]) == (found.task.options.dump, 1000, True)
    assert found.record.restored == {"db": "db"}
    assert found.task.warnings == []


def test_what_somebody_else_wrote_is_not_replaced(server: Server, tmp_path: Path) -> None:
    """Unless that is said, or this recovery began to write it and was killed."""
    server.content, server.rows = "live", {"orders": 1, "users": 1}
    with pytest.raises(Invalid, match="has 2 tables with 2 rows, which this recovery did not write"):
        case(tmp_path).plan()
    assert server.restored == 0
    carry_out(case(tmp_path, overwrite=True).plan())
    server.content = "half"
    found = case(tmp_path)
    found.record.begun["db"] = "another"
    with pytest.raises(Invalid, match="name 'db' in overwrite"):
        found.plan()
    found.record.begun["db"] = "db"
    carry_out(found.plan())
    assert server.restored == 2


@pytest.mark.parametrize(("minutes", "existing"), [(59, "refuse"), (61, "replace")])
def test_a_restore_that_was_begun_is_completed_soon_or_in_a_drill(
    minutes: int, existing: str, server: Server, tmp_path: Path
) -> None:
    server.content, server.rows = "half", {"orders": 1}
    carry_out(begun_before(tmp_path, minutes, existing=existing).plan())
    assert server.restored == 1


@pytest.mark.parametrize("existing", ["refuse", "keep"])
def test_what_may_be_in_use_since_a_restore_was_begun_is_not_replaced(
    existing: str, server: Server, tmp_path: Path
) -> None:
    """Its end may not have been noted, and its users not have waited for that."""
    server.content, server.rows = "in use", {"orders": 9}
    found = begun_before(tmp_path, 61, existing=existing)
    with pytest.raises(Invalid, match="began to restore it more than an hour ago, so somebody may have used"):
        found.plan()
    assert server.restored == 0
    found.overwrite = frozenset({"db"})
    carry_out(found.plan())
    assert server.restored == 1


def begun_before(folder: Path, minutes: int, **given: Any) -> Case:
    """Return a dump whose restore a run began some minutes ago."""
    found = case(folder, **given)
    found.record.begin("db", "db")
    found.record.touched["db"] = datetime.now(UTC) - timedelta(minutes=minutes)
    return found


@pytest.mark.parametrize("name", ["database.dump", "database.sql.gz"])
def test_a_dump_of_another_engine_is_refused(name: str, server: Server, tmp_path: Path) -> None:
    server.engine = MARIADB if name == "database.dump" else POSTGRESQL
    with pytest.raises(Invalid, match=f"{name} was not made from a database of the engine of service 'db'"):
        case(tmp_path, dump=f"/srv/svc_1/nightly/{name}").plan()
    server.engine = POSTGRESQL if name == "database.dump" else MARIADB
    case(tmp_path, dump=f"/srv/svc_1/nightly/{name}").plan()


def test_a_database_that_is_suspended_or_another_is_not_written_to(server: Server, tmp_path: Path) -> None:
    found = case(tmp_path)
    found.account.service_records["db"]["status"] = "SUSPENDED"
    with pytest.raises(Invalid, match=r"service 'db' .db. is suspended, so it cannot get its content"):
        found.plan()
    with pytest.raises(Invalid, match="is not in the project of the recovery"):
        case(tmp_path, project_id="prj_other").plan()
    found = case(tmp_path)
    target = Target(RecoveryRecord(str(tmp_path / "another.json")))
    with pytest.raises(Invalid, match="this recovery did not make it"):
        RecoveredDatabase(target).plan(found.task)
