# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long it takes until a project is there again: an account that is empty, a file, and a folder of copies.

The sandbox orders and starts at once, so this is what the collection itself and the transfer take. A platform
adds the time in which it creates services.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

import asyncssh

from ansible_collections.hosted.services.plugins.module_utils._ansible.execution import RunContext, execute
from ansible_collections.hosted.services.plugins.module_utils._ansible.options import argument_spec
from ansible_collections.hosted.services.plugins.module_utils._resources.databases.dump import dump
from ansible_collections.hosted.services.plugins.module_utils._resources.recover import RECOVER
from hosted_sandbox.testing import Sandbox
from integration.database_servers import DATABASE, PATH, USER, PostgreSQL, missing, serving

CASES = ((2, 1), (10, 100), (10, 1000), (50, 500))
"""How many services there are, and how many MiB all of them hold together."""
FILES, MIB, ROWS = 20, 1024 * 1024, 1_000_000
TABLE = "CREATE TABLE orders AS SELECT n AS id, md5(n::text) AS note FROM generate_series(1, {rows}) AS n;"
SIZE = {"cpu_cores": 1, "ram_gb": 2, "storage_gb": 10}
ORDERED = {"product": "minecraft", "host": "node-paris-1", "dimensions": SIZE, "state": "started"}


def shelve(folder: Path, name: str, product: str = "") -> Path:
    """Make the folder of a copy, and its description; return it."""
    copy = folder / "copies" / f"svc_{name}" / "nightly-20261120T031500Z"
    copy.mkdir(parents=True)
    about = {"id": f"svc_{name}", "name": name, "slug": None, "project": "shop", "engine": product}
    (copy.parent / "service.json").write_text(json.dumps(about))
    return copy


def recover(sandbox: Sandbox, folder: Path, blueprint: dict[str, Any], **given: Any) -> dict[str, Any]:
    """Recover a project; return what is told of it."""
    os.environ["HOSTED_SERVICES_HOME"] = str(folder)
    options = {name: option.get("default") for name, option in argument_spec(RECOVER).items()}
    options |= {
        "base_url": sandbox.base_url,
        "token": sandbox.token,
        "blueprint": {"project": "shop", **blueprint},
        "copies": str(folder / "copies"),
        "wait_interval": 0.5,
        **given,
    }
    result = execute(RECOVER, options, RunContext())
    if result.get("failed"):
        sys.exit(result["msg"])
    told: dict[str, Any] = result["recovery"]
    return told


def measure_files(sandbox: Sandbox, services: int, mebibytes: int) -> None:
    """Measure a project of game servers."""
    chance = random.Random(services)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number in range(services):
            copy = shelve(folder, f"game-{number}")
            for file in range(FILES):
                size = mebibytes * MIB // services // FILES
                (copy / f"region-{file}.bin").write_bytes(chance.randbytes(size))
        sandbox.reset()
        sandbox.seed({"balance_cents": 10_000_000})
        key = asyncssh.generate_private_key("ssh-ed25519")
        key.write_private_key(folder / "key")
        blueprint = {
            "services": {f"game-{number}": ORDERED for number in range(services)},
            "ssh_keys": {"deploy": key.export_public_key().decode().strip()},
        }
        files = {"private_key_file": str(folder / "key"), "known_hosts": str(folder / "known_hosts")}
        told = recover(sandbox, folder, blueprint, **files)
    slowest = max(each["seconds"] for each in told["services"])
    print(
        f"{services} services, {mebibytes} MiB in {services * FILES} files: {told['rto_seconds']} s, "
        f"the slowest service {slowest} s",
        flush=True,
    )


def measure_database(sandbox: Sandbox, rows: int) -> None:
    """Measure a database, dumped from one real server and restored into another.

    The sandbox gives a service no server of its own, so there is one already, which is empty.
    """
    os.environ["PATH"] = PATH
    with tempfile.TemporaryDirectory() as name, serving(PostgreSQL) as lost, serving(PostgreSQL) as fresh:
        lost.sql(f"SET ROLE {USER};" + TABLE.format(rows=rows), DATABASE)
        folder = Path(name)
        size = dump(shelve(folder, "db", "postgresql"), {"engine": "postgresql", **lost.connection})["bytes"]
        sandbox.reset()
        service = {"name": "db", "product": "postgresql", "project": "shop"}
        ids = sandbox.seed({"balance_cents": 10_000_000, "services": [service]})["services"]
        sandbox.operator(f"services/{ids['db']}", connection=fresh.connection)
        told = recover(sandbox, folder, {"services": {"db": {"product": "postgresql"}}}, overwrite=["db"])
    print(f"PostgreSQL, {rows} rows, a dump of {size / MIB:.0f} MiB: {told['rto_seconds']} s", flush=True)


def main() -> None:
    """Measure everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS, help="of the database")
    parser.add_argument("--database", action="store_true", help="measure the database alone")
    given = parser.parse_args()
    with Sandbox() as sandbox:
        for services, mebibytes in () if given.database else CASES:
            measure_files(sandbox, services, mebibytes)
        if names := missing("postgresql"):
            print(f"databases: not measured, {names} is not installed")
        else:
            measure_database(sandbox, given.rows)


if __name__ == "__main__":
    main()
