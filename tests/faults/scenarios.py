# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tasks that run under faults, on an account that has something of everything.

Each module has its own in `cases.yml` in the folder of its target.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cases import by_module
from integration.database_servers import PostgreSQL, missing

KEYS = (
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFzj6KifbzD3SQ/ODoy4X+uPIHgVn/YK4x+KxD2Lbjot laptop@example",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHovbwhQLpsdyWDhUXaW7wCdNgn9bLmZwKcURj7f2WQo desktop@example",
)
SIZE = {"cpu_cores": 1, "ram_gb": 1, "storage_gb": 10}
GAME_SIZE = {"cpu_cores": 2, "ram_gb": 4, "storage_gb": 20}
BACKUPS = [
    {"name": f"nightly-{day}", "created_at": f"2026-01-0{day}T02:00:00Z", "status": "COMPLETED"}
    for day in (1, 2, 3, 4)
]
ACCOUNT: dict[str, Any] = {
    "clock": "2026-01-10T00:00:00Z",
    "delays": dict.fromkeys(
        ("provision", "start", "stop", "resume", "delete", "backup", "restore", "restore_begins", "scan"),
        0.25,
    ),
    "seed": {
        "balance_cents": 5_000_000,
        "projects": ["games", "spare"],
        "ssh_keys": [{"name": "laptop", "public_key": KEYS[0]}],
        "services": [
            {"name": "mc", "product": "minecraft", "project": "games", "backups": BACKUPS,
             "files": {"server.properties": "motd=hi", "world/level.dat": "1", "world/old.dat": "0"},
             "created_at": "2026-01-01T00:00:00Z"},
            {"name": "idle", "product": "minecraft", "state": "stopped", "files": {"a.txt": "a"}},
            {"name": "asleep", "product": "minecraft", "status": "SUSPENDED"},
            {"name": "db", "product": "postgresql"},
            {"name": "box", "product": "linux", "files": {"etc.txt": "now"}},
        ],
        "apps": [{"slug": "shop", "images": [{"tag": "v1"}, {"tag": "v2"}], "deployed": "v1"}],
    },
}  # fmt: skip


@dataclass(frozen=True)
class Scenario:
    """One task, and what it is judged by.

    In the options ``{folder}``, ``{inputs}``, ``{public_key}``, ``{digest_v2}`` and ``{id_idle}`` are filled
    in. ``before`` are tasks that come first, without a fault. ``happens`` names what must have happened on
    the platform whenever the task succeeds, where the state alone does not show it. A task that is
    ``repeated`` changes something in every run. With ``real_database`` a PostgreSQL server is behind ``db``.
    """

    module: str
    what: str
    options: Mapping[str, Any]
    before: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    happens: str = ""
    repeated: bool = False
    creates: str = ""
    real_database: bool = False

    @property
    def name(self) -> str:
        """How the scenario is called in figures and in a failure."""
        return f"{self.module}: {self.what}"

    @property
    def missing(self) -> str:
        """The programs that it needs and this machine does not have."""
        return missing(PostgreSQL.engine) if self.real_database else ""


ORDER = {"product": "postgresql", "host": "node-paris-1", "dimensions": SIZE, "name": "new",
         "secrets_dest": "{folder}/secrets.json"}  # fmt: skip
GAME = {"product": "minecraft", "host": "node-paris-1", "dimensions": GAME_SIZE, "name": "new"}


def scenarios() -> Iterator[Scenario]:
    """Yield the scenarios of every module."""
    for module, tasks in by_module("faults").items():
        for task in tasks:
            before = tuple((first["module"], first["options"]) for first in task.get("before", ()))
            yield Scenario(module, **{**task, "before": before})


SCENARIOS = tuple(scenarios())
