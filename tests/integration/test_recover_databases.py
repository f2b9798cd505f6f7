# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recoveries of real databases: a dump that role `backups` kept, in an empty database, and in no other."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.hosted.services.plugins.module_utils._resources.databases.dump import dump
from ansible_collections.hosted.services.plugins.module_utils._resources.recover import RECOVER
from hosted_sandbox.testing import Sandbox
from integration.ansible_run import PLAY_SECONDS
from integration.backup_machine import BackupMachine
from integration.database_servers import DATABASE, PATH, Server, behind_proxy, serving
from integration.test_blueprint_killed import register_key
from integration.test_clone_databases import AS_OWNER, KINDS, MORE, TABLES, connect, content, id_of
from integration.test_recover import check_live_alone, drill_play
from unit.plugins.module_utils._resources.clones.platform import ids_of
from unit.plugins.module_utils._resources.platform import run
from unit.plugins.module_utils._resources.recoveries.platform import MOMENT

pytestmark = pytest.mark.night

Recover = Callable[..., dict[str, Any]]
SIZE = {"cpu_cores": 1, "ram_gb": 2, "storage_gb": 10}
ROWS = {"postgresql": 4, "mariadb": 4}
"""How many rows there are in all tables together."""


@pytest.fixture(scope="module", params=KINDS)
def lost(request: pytest.FixtureRequest) -> Iterator[Server]:
    """The database whose dump is all that is left."""
    kind = KINDS[request.param]
    with serving(kind) as server:
        server.sql(AS_OWNER[kind.engine] + TABLES + MORE[kind.engine], DATABASE)
        yield server


@pytest.fixture
def fresh(lost: Server) -> Iterator[Server]:
    """The server of the service that is ordered anew, whose user and database have other names."""
    with serving(type(lost), "tenant", "fresh") as server:
        yield server


def shelf(sandbox: Sandbox, folder: Path, engine: str) -> tuple[Path, dict[str, Any]]:
    """Return where a copy of a database goes, and what recovers a project from it."""
    copy = folder / "copies" / "svc_1" / f"nightly-{MOMENT}"
    copy.mkdir(parents=True)
    about = {"id": "svc_1", "name": "db", "slug": None, "project": "shop", "engine": engine}
    (copy.parent / "service.json").write_text(json.dumps(about))
    sandbox.reset()
    sandbox.seed({"balance_cents": 100_000})
    service = {"product": engine, "host": "node-paris-1", "dimensions": SIZE}
    return copy, {
        "blueprint": {"project": "shop", "services": {"db": service}},
        "copies": str(folder / "copies"),
        "secrets_dir": str(folder),
        "wait_timeout": 2.0,
    }


@pytest.fixture
def recover(lost: Server, sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Recover:
    """Recover a project with a database, from a dump that is made as role `backups` makes it."""
    monkeypatch.setenv("PATH", PATH)
    monkeypatch.setenv("HOSTED_SERVICES_HOME", str(tmp_path))
    copy, given = shelf(sandbox, tmp_path, lost.engine)
    dump(copy, {"engine": lost.engine, **lost.connection})

    def go(check_mode: bool = False, **own: Any) -> dict[str, Any]:
        return run(sandbox, RECOVER, check_mode, **{**given, **own})

    return go


def test_a_database_is_recovered_once(
    lost: Server, fresh: Server, sandbox: Sandbox, recover: Recover
) -> None:
    """Until the new database answers, it fails and goes on later. What is written afterwards stays."""
    planned = recover(check_mode=True)
    assert "restore the dump of 'db' from copy nightly-" in " ".join(planned["actions"]), planned.get("msg")
    assert "cannot reach the database" in recover()["msg"]
    connect(sandbox, "db", fresh)
    done = recover()
    assert not done.get("failed"), done["msg"]
    assert content(fresh, "fresh") == content(lost, DATABASE)
    [told] = done["recovery"]["services"]
    assert told["content"] == "dump" and told["verified"]["same_dump"]
    assert told["verified"]["tables"] >= 2 and told["verified"]["rows"] == ROWS[lost.engine]
    fresh.sql("UPDATE orders SET note = 'since' WHERE id = 1;", "fresh")
    again = recover()
    assert not again.get("failed") and not again["changed"]
    assert "since" in content(fresh, "fresh")[0]
    assert not recover(overwrite=["db"]).get("failed")
    assert content(fresh, "fresh") == content(lost, DATABASE)
    assert len(sandbox.ledger()["orders"]) == 1


def test_a_dump_of_the_database_before_it_was_restored_does_not_count(
    lost: Server, fresh: Server, sandbox: Sandbox, recover: Recover, tmp_path: Path
) -> None:
    """The backup plan of the project goes on, and dumps what was ordered and holds nothing yet."""
    assert "cannot reach the database" in recover()["msg"]
    connect(sandbox, "db", fresh)
    id = id_of(sandbox, "db")
    copy = tmp_path / "copies" / id / "nightly-20261121T031500Z"
    copy.mkdir(parents=True)
    dump(copy, {"engine": fresh.engine, **fresh.connection})
    about = {"id": id, "name": "db", "slug": None, "project": "shop", "engine": fresh.engine}
    (copy.parent / "service.json").write_text(json.dumps(about))
    done = recover()
    assert not done.get("failed"), done["msg"]
    assert content(fresh, "fresh") == content(lost, DATABASE)
    assert f"copies of {id} " in " ".join(done["warnings"])
    [told] = done["recovery"]["services"]
    assert told["copy"].startswith(str(tmp_path / "copies" / "svc_1")) and told["verified"]["same_dump"]


def test_a_database_that_holds_anything_is_not_overwritten(
    lost: Server, fresh: Server, sandbox: Sandbox, recover: Recover
) -> None:
    """An internal name may lead to a database that lives. One with tables is refused, whose it may be."""
    recover()
    fresh.sql(AS_OWNER[lost.engine].replace("owner", "tenant") + "CREATE TABLE live (id integer);", "fresh")
    connect(sandbox, "db", fresh)
    refused = recover()
    assert "is not empty: it has 1 table with 0 rows" in refused["msg"]
    sandbox.seed({"services": [{"name": "live", "product": lost.engine, "project": "other"}]})
    connect(sandbox, "live", fresh)
    refused = recover(overwrite=["db"])
    assert "is that of another service, too" in refused["msg"]
    found = fresh.sql("SELECT count(*) FROM live;", "fresh")
    assert found.strip() == "0"


def test_a_drill_from_the_copies_of_role_backups(
    lost: Server, fresh: Server, sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the live database over its nightly copy to another one, which takes its time to start."""
    monkeypatch.setenv("PATH", PATH)
    machine = BackupMachine(tmp_path, sandbox)
    sandbox.seed(
        {
            "balance_cents": 100_000,
            "projects": ["old", "shop"],
            "services": [{"name": "db", "product": lost.engine, "project": "shop"}],
        }
    )
    connect(sandbox, "db", lost)
    live = ids_of(sandbox, "shop")
    offsite = {"dest": str(tmp_path / "copies")}
    plan = {"name": "nightly", "project": "shop", "keep": {"last": 2}, "offsite": offsite, "wait_timeout": 20}
    machine.install(plan).succeed()
    code, output = machine.run("run", "nightly")
    assert code == 0, output
    service = {"product": lost.engine, "host": "node-paris-1", "dimensions": SIZE}
    (tmp_path / "shop.yml").write_text(yaml.safe_dump({"project": "shop", "services": {"db": service}}))
    play = drill_play(
        tmp_path,
        register_key(sandbox, tmp_path),
        without=(),
        recovery_drill_queries=[{"service": "db", "sql": "SELECT 1", "expect": 1}],
    )
    before = content(lost, DATABASE)
    sandbox.clear_journal()
    sandbox.delays(provision=3)
    with behind_proxy(fresh, refused=6) as port, ThreadPoolExecutor() as pool:
        pool.submit(connect_once_ordered, sandbox, "db-drill", {**fresh.connection, "port": port})
        machine.ansible.playbook(play).succeed()
    told = json.loads((tmp_path / "drill.json").read_text())
    assert told["restored"] and told["problems"] == []
    [restored] = told["services"]
    assert restored["verified"]["same_dump"] and restored["verified"]["rows"] == ROWS[lost.engine]
    assert content(fresh, "fresh") == content(lost, DATABASE) == before
    check_live_alone(sandbox, live)


def connect_once_ordered(sandbox: Sandbox, name: str, connection: dict[str, Any]) -> None:
    """Let a service be a real database as soon as it is ordered, before it is in service."""
    end = time.monotonic() + PLAY_SECONDS
    while name not in {each["name"] for each in sandbox.api("GET", "/api/resources").json()["items"]}:
        assert time.monotonic() < end, f"nobody orders {name}"
        time.sleep(0.05)
    sandbox.operator(f"services/{id_of(sandbox, name)}", connection=connection)


def test_a_dump_that_was_cut_off_is_found_before_anything_is_ordered(
    lost: Server, sandbox: Sandbox, recover: Recover, tmp_path: Path
) -> None:
    [path] = (tmp_path / "copies" / "svc_1" / f"nightly-{MOMENT}").iterdir()
    whole = path.read_bytes()
    for half in (whole[: len(whole) // 2], b"", b"something else"):
        path.write_bytes(half)
        refused = recover()
        assert refused["failed"] and str(path) in refused["msg"]
    assert sandbox.ledger()["orders"] == []
