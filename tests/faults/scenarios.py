# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is done under faults: one task each, as data, on an account that has something of everything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

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
    ``repeated`` changes something in every run.
    """

    noun: str
    what: str
    options: Mapping[str, Any]
    before: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    happens: str = ""
    repeated: bool = False

    @property
    def name(self) -> str:
        """How the scenario is called in figures and in a failure."""
        return f"{self.noun}: {self.what}"


ORDER = {"product": "postgresql", "host": "node-paris-1", "dimensions": SIZE, "name": "new",
         "secrets_dest": "{folder}/secrets.json"}  # fmt: skip
GAME = {"product": "minecraft", "host": "node-paris-1", "dimensions": GAME_SIZE, "name": "new"}
SNAPSHOT = (("snapshot", {"services": ["box"], "name": "clean"}),
            ("file", {"service": "box", "path": "etc.txt", "content": "later"}))  # fmt: skip
ENVIRONMENT = {"slug": "shop", "variables": {"MODE": "live"}, "secret_variables": {"KEY": "s3cret-value"},
               "state_dir": "{folder}/state"}  # fmt: skip
TABLE = (("database_query", {"service": "db", "query": "CREATE TABLE t (n INTEGER)", "read_only": False}),)
INSERT = {"service": "db", "query": "INSERT INTO t VALUES (1)", "read_only": False}
DEPLOY_KEY = (("ssh_key", {"name": "deploy", "public_key": "{public_key}"}),)
SYNC = {"service": "mc", "src": "{inputs}/site", "dest": "site", "private_key_file": "{inputs}/key",
        "known_hosts": "{folder}/known_hosts", "delete": True}  # fmt: skip

SCENARIOS: tuple[Scenario, ...] = (
    Scenario("project", "create", {"name": "new"}),
    Scenario("project", "rename", {"name": "spare", "new_name": "renamed"}),
    Scenario("project", "delete", {"name": "spare", "state": "absent"}),
    Scenario("project", "delete with services in it", {"name": "games", "state": "absent", "force": True}),
    Scenario("service", "order a database", ORDER),
    Scenario("service", "order a game, started", {**GAME, "state": "started"}),
    Scenario("service", "order a game, stopped, elsewhere",
             {**GAME, "project": "games", "state": "stopped", "command": "java -Xmx1g"}),
    Scenario("service", "order a game, suspended", {**GAME, "state": "suspended"}),
    Scenario("service", "scale", {"name": "mc", "dimensions": {**GAME_SIZE, "ram_gb": 8}}),
    Scenario("service", "close", {"name": "mc", "public": False}),
    Scenario("service", "move", {"id": "{id_idle}", "new_project": "spare"}),
    Scenario("service", "start", {"name": "idle", "state": "started"}),
    Scenario("service", "stop", {"name": "mc", "state": "stopped"}),
    Scenario("service", "restart", {"name": "mc", "state": "restarted"},
             happens="POWER_RESTART", repeated=True),
    Scenario("service", "new command and restart",
             {"name": "mc", "state": "restarted", "command": "java -Xmx1g"},
             happens="POWER_START", repeated=True),
    Scenario("service", "kill", {"name": "mc", "state": "killed"}),
    Scenario("service", "suspend", {"name": "mc", "state": "suspended"}),
    Scenario("service", "resume and start", {"name": "asleep", "state": "started"}),
    Scenario("service", "delete", {"name": "idle", "state": "absent"}),
    Scenario("service", "delete with backups", {"name": "mc", "state": "absent", "delete_backups": True}),
    Scenario("app", "create", {"slug": "fresh"}),
    Scenario("app", "create in a project", {"slug": "fresh", "project": "games", "host": "node-paris-1"}),
    Scenario("app_release", "declare", {"slug": "shop", "tag": "v3", "digest": "{digest_v2}"}),
    Scenario("app_deploy", "deploy", {"slug": "shop", "tag": "v2"}),
    Scenario("app_deploy", "deploy with a rollback", {"slug": "shop", "tag": "v2", "rollback": True}),
    Scenario("environment", "first write", ENVIRONMENT),
    Scenario("environment", "replace", {**ENVIRONMENT, "variables": {"MODE": "test", "DEBUG": "1"}},
             before=(("environment", ENVIRONMENT),)),
    Scenario("backup", "make", {"services": ["mc"], "name": "now"}),
    Scenario("backup", "make on two services", {"services": ["mc", "idle"], "name": "now", "at_once": 1}),
    Scenario("backup", "restore",
             {"services": ["mc"], "name": "nightly-2", "state": "restored", "confirm": True,
              "quiet_time": 0.6},
             happens="BACKUP_RESTORED", repeated=True),
    Scenario("backup", "delete", {"services": ["mc"], "name": "nightly-1", "state": "absent"}),
    Scenario("backup_retention", "thin out", {"services": ["mc"], "pattern": "nightly-*", "keep_last": 2}),
    Scenario("snapshot", "take", {"services": ["box"], "name": "clean"}),
    Scenario("snapshot", "roll back",
             {"services": ["box"], "name": "clean", "state": "rolled_back", "confirm": True,
              "quiet_time": 0.6},
             before=SNAPSHOT, happens="SNAPSHOT_ROLLED_BACK", repeated=True),
    Scenario("snapshot", "delete", {"services": ["box"], "name": "clean", "state": "absent"},
             before=SNAPSHOT),
    Scenario("ssh_key", "register", {"name": "desktop", "public_key": KEYS[1]}),
    Scenario("ssh_key", "replace", {"name": "laptop", "public_key": KEYS[1], "replace": True}),
    Scenario("ssh_key", "remove", {"name": "laptop", "state": "absent"}),
    Scenario("file", "write", {"service": "mc", "path": "server.properties", "content": "motd=bye"}),
    Scenario("file", "write in new folders",
             {"service": "mc", "path": "plugins/new/a.yml", "content": "a: 1"}),
    Scenario("file", "make a folder", {"service": "mc", "path": "plugins", "state": "directory"}),
    Scenario("file", "rename",
             {"service": "mc", "path": "world/old.dat", "new_name": "older.dat", "state": "renamed"}),
    Scenario("file", "remove", {"service": "mc", "paths": ["world", "server.properties"], "state": "absent"}),
    Scenario("sftp_password", "first", {"service": "mc", "secrets_dest": "{folder}/password.json"}),
    Scenario("sftp_password", "always",
             {"service": "mc", "update_password": "always", "secrets_dest": "{folder}/password.json"},
             repeated=True),
    Scenario("database_query", "write", INSERT, before=TABLE, repeated=True),
    Scenario("database_query", "read", {"service": "db", "query": "SELECT n FROM t"}, before=TABLE),
    Scenario("service_info", "everything of one",
             {"name": "mc", "include": ["settings", "metrics", "logs", "usage", "sftp", "backups"]}),
    Scenario("app_info", "one with its releases", {"slug": "shop", "include": ["releases"]}),
    Scenario("project_info", "one", {"project": "games", "include": ["services", "spend", "graph"]}),
    Scenario("billing_info", "overview", {}),
    Scenario("account_info", "whose token it is", {}),
    Scenario("quote", "a service", {"product": "postgresql", "host": "node-paris-1", "dimensions": SIZE}),
    Scenario("backup_info", "those of one", {"services": ["mc"]}),
    Scenario("snapshot_info", "those of one", {"services": ["box"]}, before=SNAPSHOT),
    Scenario("ssh_key_info", "all", {}),
    Scenario("file_info", "a tree", {"service": "mc", "recurse": True}),
    Scenario("sftp_info", "access", {"service": "mc"}),
    Scenario("database_info", "a table", {"service": "db", "table": "t"}, before=TABLE),
    Scenario("app_image", "push", {"slug": "shop", "path": "{inputs}/image.tar", "tag": "v9"}),
    Scenario("sftp_sync", "push", SYNC, before=DEPLOY_KEY),
    Scenario("sftp_sync", "pull", {**SYNC, "direction": "pull", "src": "world", "dest": "{folder}/world"},
             before=DEPLOY_KEY),
    Scenario("sftp_host_key", "pin", {"service": "mc", "known_hosts": "{folder}/known_hosts"}),
)  # fmt: skip
