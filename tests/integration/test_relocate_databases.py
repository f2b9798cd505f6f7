# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Relocations of real databases: all rows are in the new one, and come back with what was written since."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.relocate import RELOCATE
from hosted_sandbox.testing import Sandbox
from integration.database_servers import DATABASE, PATH, Server, serving
from integration.test_clone_databases import AS_OWNER, KINDS, TABLES, connect, content, id_of
from unit.plugins.module_utils._resources.clones.platform import environment
from unit.plugins.module_utils._resources.platform import run
from unit.plugins.module_utils._resources.relocations.platform import done, status_of

pytestmark = pytest.mark.night


@pytest.fixture(scope="module", params=KINDS)
def servers(request: pytest.FixtureRequest) -> Iterator[tuple[Server, Server]]:
    """A server for the old service and one for the new one."""
    kind = KINDS[request.param]
    with serving(kind) as old, serving(kind) as new:
        old.sql(AS_OWNER[kind.engine] + TABLES, DATABASE)
        yield old, new


def test_a_database_is_relocated_and_comes_back(
    servers: tuple[Server, Server], sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its application is stopped while it is copied, and each direction brings all rows."""
    old, new = servers
    monkeypatch.setenv("PATH", PATH)
    monkeypatch.setenv("HOSTED_SERVICES_HOME", str(tmp_path))
    app = {"slug": "acme-api", "project": "shop", "images": [{"tag": "v1"}], "deployed": "v1"}
    sandbox.seed(
        {
            "balance_cents": 100000,
            "projects": ["old", "shop"],
            "services": [{"name": "db", "product": old.engine, "project": "shop"}],
            "apps": [{**app, "environment": {"DATABASE": "${db.URL}"}}],
        }
    )
    connect(sandbox, "db", old)
    sandbox.clear_journal()
    ids = {"db": id_of(sandbox, "db"), "app": id_of(sandbox, "acme-api")}

    def relocate(**given: Any) -> dict[str, Any]:
        usual = {"host": "node-frankfurt-1", "environments": {"acme-api": {"DATABASE": "${db.URL}"}}}
        return run(sandbox, RELOCATE, service="db", wait_timeout=2.0, healthy_for=0.0, **{**usual, **given})

    failed = relocate()  # until the new database answers
    assert "cannot reach the database" in failed["msg"]
    assert status_of(sandbox, ids["db"]) == status_of(sandbox, ids["app"]) == ("ACTIVE", "running")
    connect(sandbox, "db-2", new)
    check = {"url": "http://127.0.0.1:9/", "status": [200], "tcp": False, "timeout": 0.2}
    unhealthy = relocate(health_checks=[check])  # the old one and its application run again
    assert "runs again, and nothing that refers to it was changed" in unhealthy["msg"]
    assert status_of(sandbox, ids["db"]) == status_of(sandbox, ids["app"]) == ("ACTIVE", "running")
    assert environment(sandbox, "acme-api") == {"DATABASE": "${db.URL}"}
    sandbox.clear_journal()
    done(relocate())
    assert content(new, DATABASE) == content(old, DATABASE)
    signals = [line["path"] for line in sandbox.journal() if line["path"].endswith("/power")]
    new_id = id_of(sandbox, "db-2")  # which the run before stopped again
    assert signals == [f"/api/resources/{id}/power" for id in (new_id, ids["app"], ids["db"])]
    assert status_of(sandbox, ids["db"])[0] == "SUSPENDED"
    assert status_of(sandbox, ids["app"]) == ("ACTIVE", "running")
    assert environment(sandbox, "acme-api") == {"DATABASE": "${db-2.URL}"}
    new.sql("UPDATE orders SET note = 'newer' WHERE id = 1;", DATABASE)
    done(relocate(state="returned", copy_back=True))
    assert "newer" in content(old, DATABASE)[0]
    assert content(old, DATABASE) == content(new, DATABASE)
    assert status_of(sandbox, ids["db"]) == status_of(sandbox, ids["app"]) == ("ACTIVE", "running")
    assert environment(sandbox, "acme-api") == {"DATABASE": "${db.URL}"}
    assert [each["name"] for each in sandbox.ledger()["orders"]].count("db-2") == 1
    assert [line for line in sandbox.journal() if line["method"] == "DELETE"] == []
