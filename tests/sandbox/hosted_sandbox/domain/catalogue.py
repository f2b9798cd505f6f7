# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The initial catalogue: the nodes, products and accounts of a sandbox without a seed."""

from __future__ import annotations

import secrets

from hosted_sandbox.clock import HOUR
from hosted_sandbox.domain.world import World
from hosted_sandbox.store.records import Account, Entry, Node, Product, Project, Token

FULL_TOKEN = "sandbox-full-token"
REGISTRY_TOKEN = "sandbox-registry-token"
OTHER_TOKEN = "sandbox-other-token"
ACCOUNT = "account-main"
OTHER_ACCOUNT = "account-other"
#: Balance of a fresh account, in cents.
BALANCE = 1_000_000
#: How much older an account is than what is put into it, in milliseconds.
AGE = HOUR

BOUNDS = {"cpuCores": [1, 16], "ramGb": [1, 64], "storageGb": [5, 500]}
RATES = {"cpuCores": 2400, "ramGb": 1060, "storageGb": 85}

NODES = (
    Node("node-paris-1", "Paris 1", "Paris, France", ip="203.0.113.10", bounds=BOUNDS, rates=RATES,
         families=["GAME", "APP", "COMPUTE", "VIRTUAL_MACHINE", "BUCKET"]),
    Node("node-frankfurt-1", "Frankfurt 1", "Frankfurt, Germany", ip="203.0.113.20",
         families=["GAME", "APP", "COMPUTE"], rates={"cpuCores": 2650, "ramGb": 990, "storageGb": 70},
         bounds={"cpuCores": [1, 8], "ramGb": [1, 32], "storageGb": [5, 250]}),
    Node("node-helsinki-arm", "Helsinki ARM", "Helsinki, Finland", platform="linux/arm64",
         ip="203.0.113.30", families=["APP", "COMPUTE"], bounds=BOUNDS,
         rates={"cpuCores": 1500, "ramGb": 700, "storageGb": 60}),
    Node("node-metal-1", "Paris metal", "Paris, France", ip="203.0.113.40",
         families=["DEDICATED", "VIRTUAL_MACHINE"], rates={"cpuCores": 3100, "ramGb": 900, "storageGb": 25},
         bounds={"cpuCores": [4, 64], "ramGb": [16, 512], "storageGb": [100, 8000]}),
)  # fmt: skip

SMALL = {"cpuCores": 1, "ramGb": 1, "storageGb": 5}
GAME_SIZE = {"cpuCores": 2, "ramGb": 4, "storageGb": 20}
MACHINE_SIZE = {"cpuCores": 4, "ramGb": 16, "storageGb": 100}
GAME_PRESETS = [
    {"id": "preset-small", "dimensions": GAME_SIZE},
    {"id": "preset-large", "dimensions": {"cpuCores": 4, "ramGb": 8, "storageGb": 40}},
]
GAME_OPTIONS = [
    {
        "id": "option-slots",
        "label": "Player slots",
        "choices": [
            {"id": "slots-20", "label": "20 players", "millicents": 0},
            {"id": "slots-100", "label": "100 players", "millicents": 1500},
        ],
    }
]
MINECRAFT = [
    {"id": "runtime-paper", "slug": "paper", "name": "Paper"},
    {"id": "runtime-vanilla", "slug": "vanilla", "name": "Vanilla"},
]
FACTORIO = [
    {"id": "runtime-stable", "slug": "stable", "name": "Stable"},
    {"id": "runtime-experimental", "slug": "experimental", "name": "Experimental"},
]

PRODUCTS = (
    Product("minecraft", "Minecraft server", "Minecraft", "GAME", MINECRAFT, GAME_SIZE, GAME_PRESETS,
            GAME_OPTIONS, {"MOTD": "Welcome"}, command="java -jar server.jar", internal_port=25565,
            public=True),
    Product("factorio", "Factorio server", "Factorio", "GAME", FACTORIO, GAME_SIZE, GAME_PRESETS,
            command="factorio --start-server", internal_port=34197, public=True),
    Product("application", "Application", "App", "APP", entry=SMALL, internal_port=8080, public=True),
    Product("hobby", "Hobby application", "Hobby", "APP", entry=SMALL, internal_port=8080, free=True,
            image="catalogue/hobby"),
    Product("postgresql", "PostgreSQL", "PostgreSQL", "APP", entry={**SMALL, "storageGb": 10},
            presets=[{"id": "preset-db", "dimensions": {"cpuCores": 2, "ramGb": 4, "storageGb": 20}}],
            image="catalogue/postgresql", command="postgres", internal_port=5432, engine="postgresql"),
    Product("mariadb", "MariaDB", "MariaDB", "APP", entry={**SMALL, "storageGb": 10},
            image="catalogue/mariadb", command="mariadbd", internal_port=3306, engine="mariadb"),
    Product("valkey", "Valkey", "Valkey", "APP", entry=SMALL, image="catalogue/valkey",
            command="valkey-server", internal_port=6379, engine="valkey"),
    Product("linux", "Linux instance", "Linux", "COMPUTE", entry={**SMALL, "storageGb": 10},
            internal_port=22, public=True),
    Product("virtual-machine", "Virtual machine", "VM", "VIRTUAL_MACHINE", entry=MACHINE_SIZE,
            internal_port=22, public=True),
    Product("dedicated", "Dedicated server", "Dedicated", "DEDICATED",
            entry={"cpuCores": 16, "ramGb": 64, "storageGb": 1000}, internal_port=22, public=True),
    Product("bucket", "Object storage", "Bucket", "BUCKET", entry={**SMALL, "storageGb": 50},
            internal_port=443),
    Product("broken-game", "Game that cannot be created", "Broken", "GAME", FACTORIO, GAME_SIZE,
            internal_port=27015, outcome="FAILED"),
    Product("attended-game", "Game set up by hand", "Attended", "GAME", FACTORIO, GAME_SIZE,
            internal_port=27015, outcome="AWAITING_ADMIN"),
)  # fmt: skip


def create_catalogue(world: World) -> None:
    """Create the catalogue and two accounts in an empty world; the second account owns nothing."""
    for record in (*NODES, *PRODUCTS):
        world.store.put(type(record)(**vars(record)))
    main = add_account(world, ACCOUNT, "owner@sandbox.test", BALANCE)
    other = add_account(world, OTHER_ACCOUNT, "neighbor@sandbox.test", BALANCE)
    world.store.put(Token(FULL_TOKEN, main.id, "FULL"))
    world.store.put(Token(REGISTRY_TOKEN, main.id, "REGISTRY"))
    world.store.put(Token(OTHER_TOKEN, other.id, "FULL"))


def add_account(world: World, key: str, email: str, balance_cents: int) -> Account:
    """Create an account with its default project, registry credentials and a first deposit."""
    name = key.removeprefix("account-")
    account = Account(
        key, email, world.now, balance_cents, None, name, f"robot-{name}", secrets.token_urlsafe(18)
    )
    world.store.put(account)
    world.store.put(Project(world.new_id("prj"), key, "default", True, world.now - AGE))
    world.store.put(Entry(world.new_id("trx"), key, "DEPOSIT", balance_cents, "Top-up", world.now))
    return account
