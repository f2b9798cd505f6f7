# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Clones of real databases: the rows of the source in the clone's own database, and nowhere else."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.clone import CLONE
from hosted_sandbox.testing import Sandbox
from integration.database_servers import (
    DATABASE,
    PATH,
    USER,
    MariaDB,
    PostgreSQL,
    Server,
    free_port,
    missing,
    serving,
)
from unit.plugins.module_utils._resources.platform import run

KINDS: dict[str, type[Server]] = {"postgresql": PostgreSQL, "mariadb": MariaDB}
AS_OWNER = {"postgresql": f"SET ROLE {USER};", "mariadb": ""}
TABLES = """
CREATE TABLE orders (id integer PRIMARY KEY, note text);
CREATE VIEW noted AS SELECT note FROM orders;
INSERT INTO orders VALUES (1, 'first'), (2, '-- Dumped from nowhere'), (3, NULL);
"""
LEFT_OVER = """
CREATE TABLE scratch (id integer PRIMARY KEY);
CREATE VIEW unwanted AS SELECT id FROM scratch;
"""
"""What somebody made in the clone."""


@pytest.fixture(scope="module", params=KINDS)
def servers(request: pytest.FixtureRequest) -> Iterator[tuple[Server, Server]]:
    """A server for the source and one for the clone, whose user and database have other names."""
    kind = KINDS[request.param]
    if names := missing(kind.engine):
        pytest.skip(f"not installed: {names}")
    with (
        serving(kind, free_port()) as old,
        serving(kind, free_port(), owner="tenant", database="fresh") as new,
    ):
        old.sql(AS_OWNER[kind.engine] + TABLES, DATABASE)
        yield old, new


def rows(server: Server, database: str) -> list[str]:
    """Return the rows of the table, in order."""
    return server.sql("SELECT id, note FROM orders ORDER BY id;", database).splitlines()


def connect(sandbox: Sandbox, name: str, server: Server) -> str:
    """Let a service of the sandbox be a real database; return its id."""
    services = sandbox.api("GET", "/api/resources").json()["items"]
    id = str(next(each["id"] for each in services if each["name"] == name))
    sandbox.operator(f"services/{id}", connection=server.connection)
    return id


def test_a_database_is_cloned(
    servers: tuple[Server, Server], sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until the new database answers, the clone fails and goes on later; a change is brought over."""
    old, new = servers
    monkeypatch.setenv("PATH", PATH)
    monkeypatch.setenv("HOSTED_SERVICES_HOME", str(tmp_path))
    sandbox.seed(
        {
            "projects": ["old", "shop"],
            "services": [{"name": "db", "product": old.engine, "project": "shop"}],
        }
    )
    source = connect(sandbox, "db", old)
    given: dict[str, Any] = {"source": "shop", "project": "copy", "rename": {"suffix": "-copy"}}

    def clone(check_mode: bool = False) -> dict[str, Any]:
        return run(sandbox, CLONE, check_mode, wait_timeout=2.0, secrets_dir=str(tmp_path), **given)

    sandbox.clear_journal()
    assert "cannot reach the database" in clone()["msg"]
    made = connect(sandbox, "db-copy", new)
    done = clone()
    assert not done.get("failed"), done["msg"]
    assert rows(new, "fresh") == rows(old, DATABASE)
    assert not clone()["changed"]
    old.sql("UPDATE orders SET note = 'changed' WHERE id = 1;", DATABASE)
    new.sql(AS_OWNER[old.engine].replace(USER, "tenant") + LEFT_OVER, "fresh")
    planned = clone(check_mode=True)
    assert [each for each in planned["actions"] if "restore a dump of database 'shop'" in each]
    assert clone()["changed"]
    assert rows(new, "fresh") == rows(old, DATABASE)
    assert "changed" in rows(new, "fresh")[0]
    assert not clone()["changed"]
    assert len(sandbox.ledger()["orders"]) == 1
    written = [line for line in sandbox.journal() if line["method"] != "GET" and source in line["path"]]
    assert written == [] and made != source
    assert not [name for name in os.listdir(tmp_path) if "dump" in name or "sql" in name]


def test_a_clone_that_leads_to_its_source_is_refused(
    servers: tuple[Server, Server], sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An internal name may lead to the source: then nothing is restored anywhere."""
    old, _new = servers
    monkeypatch.setenv("PATH", PATH)
    monkeypatch.setenv("HOSTED_SERVICES_HOME", str(tmp_path))
    sandbox.seed(
        {
            "projects": ["old", "shop"],
            "services": [{"name": "db", "product": old.engine, "project": "shop"}],
        }
    )
    connect(sandbox, "db", old)
    given: dict[str, Any] = {"source": "shop", "project": "copy", "rename": {"suffix": "-copy"}}
    before = rows(old, DATABASE)
    run(sandbox, CLONE, wait_timeout=1.0, secrets_dir=str(tmp_path), **given)
    connect(sandbox, "db-copy", old)
    refused = run(sandbox, CLONE, wait_timeout=2.0, secrets_dir=str(tmp_path), **given)
    assert "cannot be told from the one that was dumped" in refused["msg"]
    assert rows(old, DATABASE) == before
