# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Accounts made at random, as seeds of the sandbox: the same number makes the same account."""

from __future__ import annotations

import random
from typing import Any

PRODUCTS = ("minecraft", "factorio", "postgresql", "mariadb", "valkey", "linux", "bucket", "hobby")
WORDS = (
    "shop", "blog", "world", "cache", "main db", "queue.v2", "eu-west", "on", "123", "null", "a:b", "x#y"
)  # fmt: skip
PROJECTS = ("games", "web", "staging-2", "null", "404")
SIZE = {"cpuCores": (1, 2, 4), "ramGb": (1, 2, 4, 8), "storageGb": (10, 20, 50)}
STATUSES = ("ACTIVE", "ACTIVE", "ACTIVE", "SUSPENDED")
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIG6yYkCXXvMuxtVVm0hZ8Fcdve0O8Vu6yDCxkQIcwkoA me@example"


def random_account(number: int) -> dict[str, Any]:
    """Return the seed of an account with up to three projects and ten services.

    The names are what any platform stores as they are: in lower case, without blanks around them.
    """
    chance = random.Random(number)
    projects = chance.sample(PROJECTS, chance.randint(0, 3))
    names = chance.sample(WORDS, chance.randint(0, 7))
    homes = [*projects, None]
    return {
        "projects": projects,
        "services": [random_service(chance, name, chance.choice(homes)) for name in names],
        "apps": [
            random_app(chance, f"acme-{number}-{each}", chance.choice(homes))
            for each in range(chance.randint(0, 3))
        ],
        "ssh_keys": [{"name": "laptop", "public_key": KEY}] if chance.random() < 0.5 else [],
    }


def random_service(chance: random.Random, name: str, project: str | None) -> dict[str, Any]:
    service: dict[str, Any] = {
        "name": name,
        "product": chance.choice(PRODUCTS),
        "project": project,
        "status": chance.choice(STATUSES),
    }
    if service["product"] != "hobby":
        service["dimensions"] = {part: chance.choice(sizes) for part, sizes in SIZE.items()}
    if service["status"] == "ACTIVE" and service["product"] != "bucket":
        service["state"] = chance.choice(("running", "stopped"))
    if chance.random() < 0.3 and service["product"] in ("minecraft", "postgresql"):
        service["public"] = chance.random() < 0.5
    return service


def random_app(chance: random.Random, slug: str, project: str | None) -> dict[str, Any]:
    app: dict[str, Any] = {"slug": slug, "project": project, "environment": {"LOG_LEVEL": "info"}}
    if chance.random() < 0.6:
        app |= {"images": [{"tag": "v1"}], "deployed": "v1"}
    return app
