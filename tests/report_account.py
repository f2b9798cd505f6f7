# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Accounts for reports, as seeds of the sandbox: one to show, with a bit of everything, and large ones."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from hosted_sandbox.testing import SandboxClient

BEGIN = datetime(2026, 10, 20, 9, 30, tzinfo=UTC)
AS_OF = datetime(2026, 11, 19, 9, 30, tzinfo=UTC)
SECRET = "canary-5e7d1c09"
"""A value of a variable, which must not be in any report."""
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIG6yYkCXXvMuxtVVm0hZ8Fcdve0O8Vu6yDCxkQIcwkoA me@example"


def backups(days: int, missing: tuple[int, ...] = (), failed: tuple[int, ...] = ()) -> list[dict[str, Any]]:
    """Return nightly backups of the last days, without those of some days ago, and with failed ones."""
    found = []
    for ago in range(days):
        made = (AS_OF - timedelta(days=ago)).replace(hour=3, minute=0)
        status = "FAILED" if ago in failed else "COMPLETED"
        if ago not in missing:
            found.append({"name": f"nightly-{ago}", "status": status, "created_at": made.isoformat()})
    return found


def shown_account() -> dict[str, Any]:
    """Return an account with three projects, in which something is of every kind that a report tells."""

    def service(name: str, product: str, project: str, **more: Any) -> dict[str, Any]:
        return {"name": name, "product": product, "project": project, **more}

    web = {"DATABASE_URL": "${db.URL}", "CACHE_HOST": "${cache.HOST}"}
    nights = backups(30, failed=(9,))
    shop = [
        service("db", "postgresql", "shop", backups=backups(30), dimensions=size(2, 4, 40)),
        service("cache", "valkey", "shop", backups=backups(30, missing=(4, 5, 6))),
        service("search", "linux", "shop", dimensions=size(4, 8, 50), backups=backups(12, failed=(0, 7))),
        service("media", "bucket", "shop"),
    ]
    games = [
        service("survival", "minecraft", "games", dimensions=size(4, 8, 50), backups=nights),
        service("lobby", "minecraft", "games", backups=backups(21, missing=(0, 1, 2, 3)), public=True),
        service("factory", "factorio", "games", state="stopped"),
        service("creative", "minecraft", "games", status="SUSPENDED", backups=backups(25, missing=(0, 1))),
        service("event-2027", "minecraft", "games", status="FAILED", failure_reason="no node has room"),
    ]
    blog = [
        service("blog-db", "mariadb", "blog", backups=backups(30)),
        service("stats", "linux", "blog", status="AWAITING_ADMIN"),
    ]
    return {
        "balance_cents": 12_900,
        "projects": ["shop", "games", "blog"],
        "services": [*shop, *games, *blog],
        "apps": [
            app("acme-web", "shop", web, blocked="v3"),
            app("acme-worker", "shop", {"DATABASE_URL": "${db.URL}", "SEARCH_URL": "${search.URL}"}),
            app("acme-admin", "shop", {"DB": "${db.URL}", "API": "${acme-web.URL}", "API_TOKEN": SECRET}),
            app("acme-blog", "blog", {"DATABASE_URL": "${blog-db.URL}"}),
        ],
        "ssh_keys": [{"name": "laptop", "public_key": KEY}],
    }


def size(cpu: int, ram: int, storage: int) -> dict[str, int]:
    """Return the size of a service."""
    return {"cpuCores": cpu, "ramGb": ram, "storageGb": storage}


def app(slug: str, project: str, environment: dict[str, str], blocked: str | None = None) -> dict[str, Any]:
    """Return an application with three releases, of which the second one runs."""
    images: list[dict[str, Any]] = [{"tag": f"v{number}"} for number in (1, 2, 3)]
    for image in images:
        if image["tag"] == blocked:
            image["packages"] = {"runc": "1.0.0~rc6"}
    return {
        "slug": slug,
        "project": project,
        "environment": environment,
        "images": images,
        "deployed": "v2",
    }


def large_account(services: int, projects: int = 10) -> dict[str, Any]:
    """Return an account with many services, each with its nightly backups."""
    products = ("minecraft", "postgresql", "linux", "valkey", "factorio")
    return {
        "balance_cents": 10_000_000,
        "services": [
            {
                "name": f"service-{number:04d} of team {number % projects}",
                "product": products[number % len(products)],
                "project": f"team-{number % projects}",
                "state": "stopped" if number % 13 == 0 else "running",
                "backups": backups(30, missing=(number % 31, number % 7 + 8), failed=(number % 23,)),
            }
            for number in range(services)
        ],
    }


def build(sandbox: SandboxClient, seed: dict[str, Any], **platform: Any) -> None:
    """Make an account that has been running for a month when the report is made."""
    sandbox.reset(clock=BEGIN.isoformat(), seed=seed, **platform)
    sandbox.clock(freeze=True)
    sandbox.clock(set=AS_OF.isoformat())
