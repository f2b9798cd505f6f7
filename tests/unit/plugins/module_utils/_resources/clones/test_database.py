# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Databases of clones without an engine; tests/integration/test_database_jobs.py has the rest."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, cast

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.models import DatabaseConnection, Settings
from ansible_collections.hosted.services.plugins.module_utils._resources.clones import content
from ansible_collections.hosted.services.plugins.module_utils._resources.clones.content import (
    DATABASE,
    FillOptions,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.databases.dump import NoDumpError
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Plan, Task
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import (
    EffectUnverified,
    Invalid,
)
from hosted_sandbox.testing import Sandbox
from unit.plugins.fakes import FakeClient, carry_out
from unit.plugins.module_utils._resources.clones.platform import home_of
from unit.plugins.module_utils._resources.platform import id_of, run


@pytest.fixture
def source(sandbox: Sandbox) -> str:
    """A database, and another one."""
    sandbox.seed({"services": [{"name": name, "product": "postgresql"} for name in ("db", "copy")]})
    return id_of(sandbox, "db")


def test_a_database_that_cannot_be_reached_is_refused(sandbox: Sandbox, source: str) -> None:
    for service in (None, id_of(sandbox, "copy")):
        refused = run(
            sandbox, DATABASE, source_id=source, service=service, project_id=home_of(sandbox, source)
        )
        assert "the database of service 'db'" in refused["msg"]
        assert "without_data lists services to clone without what they hold" in refused["msg"]
    assert sandbox.writes() == []


# --- Without an engine ----------------------------------------------------------------------------------


class Account(FakeClient):
    """An account with a database and its clone, and what both hold."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__()
        self.contents = {"old": "rows", "new": "empty"}
        self.spoiled = False
        self.restored: list[tuple[str, str]] = []
        self.checked: list[str] = []
        self.starting: set[str] = set()
        self.network: dict[str, Any] = {"isPublic": False, "publicIp": "203.0.113.1", "publicPort": 15432}
        for id in self.contents:
            self.add_service(id, id)
        for name in ("check_client", "check_login", "find_source", "find_target"):
            monkeypatch.setattr(content, name, getattr(self, name))
        monkeypatch.setattr(content, "Dump", SimpleNamespace(of=self.dump))

    def database_connection(self, id: str) -> DatabaseConnection:
        """Return how to connect to a database."""
        return DatabaseConnection(engine="postgresql", host=f"{id}.internal", port=5432, database=id)

    def settings(self, id: str) -> Settings:
        """Return whether a database is open to the Internet."""
        return Settings.model_validate({**self.setting_records[id], "network": self.network})

    def check_client(self, engine: str) -> None:
        """Find the programs of an engine."""
        self.checked.append(engine)

    def find_source(self, facts: dict[str, Any]) -> Any:
        """Find a database; a clone that is new may not answer yet."""
        if facts["database"] not in self.contents:
            raise NoDumpError("nothing answers")
        return SimpleNamespace(engine=facts["engine"], login=SimpleNamespace(database=facts["database"]))

    def check_login(self, source: Any) -> None:
        """Log in; a database may accept connections before it can do that."""
        if source.login.database in self.starting:
            raise NoDumpError("the database system is starting up")

    def find_target(self, facts: dict[str, Any], source: Any) -> Any:
        """Find the database of a clone."""
        return self.find_source(facts)

    @contextmanager
    def dump(self, source: Any) -> Iterator[Any]:
        """Dump a database."""
        id = source.login.database
        content = self.contents[id]

        def is_in(target: Any) -> bool:
            return self.contents[target.login.database] == content

        def restore(target: Any) -> None:
            self.restored.append((id, target.login.database))
            self.contents[target.login.database] = "half" if self.spoiled else content

        engine = SimpleNamespace(programs=("pg_dump",))
        yield SimpleNamespace(size=1000, engine=engine, is_in=is_in, restore=restore)


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> Account:
    """An account whose databases are in memory."""
    return Account(monkeypatch)


def plan(account: Account, **given: Any) -> tuple[Plan, Task[Any]]:
    """Return the plan of a copy, and its task."""
    own = {"source_id": "old", "service": "new", "project_id": "prj_default", **given}
    task: Task[Any] = Task(cast(Any, account), FillOptions(**own))
    return DATABASE.plan(task), task


def test_a_dump_is_restored_into_the_clone_and_compared(account: Account) -> None:
    planned, _task = plan(account)
    said = "restore a dump of database 'old' of service 'old' (old) (1000 bytes) into service 'new' (new)"
    assert planned.actions == [said] and account.restored == []
    assert account.checked == ["postgresql"], "what restores it has to be here before anything is begun"
    assert planned.before == {"content": "another"}
    assert planned.after == {"content": "database 'old' of service 'old' (old)"}
    assert carry_out(planned) == {"engine": "pg_dump", "bytes": 1000, "restored": True}
    assert account.restored == [("old", "new")]


def test_a_restore_that_gives_something_else_is_no_success(account: Account) -> None:
    account.spoiled = True
    with pytest.raises(EffectUnverified, match=r"service 'new' \(new\) does not hold what was restored into"):
        carry_out(plan(account)[0])


def test_a_clone_that_was_moved_meanwhile_is_not_written_to(account: Account) -> None:
    planned, _task = plan(account)
    account.service_records["new"]["projectId"] = "prj_other"
    with pytest.raises(Invalid, match="is not in the project of the clone; nothing was written to it"):
        carry_out(planned)
    assert account.restored == []
