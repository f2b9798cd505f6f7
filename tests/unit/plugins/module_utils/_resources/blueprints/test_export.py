# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Exports: keys that stay the same, values that a blueprint takes, and remarks for the rest."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.hosted.services.plugins.module_utils._api.models import App, Edge, SshKey
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.contents import KEY
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.export import (
    Found,
    as_key,
    export_project,
    free_key,
)

DIGEST = f"sha256:{'a' * 64}"
NAMES = st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=12), max_size=6)


def service(id: str, name: str, **fields: Any) -> dict[str, Any]:
    """Return a service as in a listing."""
    shown = {"product": {"slug": "minecraft"}, "runtime": {"id": "vanilla"}, "host": {"id": "node-1"}}
    size = {"cpu_cores": 1, "ram_gb": 2, "storage_gb": 10, "backup_slots": None}
    common = {"family": "GAME", "status": "ACTIVE", "can_power": True, "dimensions": size, **shown}
    return {"id": id, "name": name, **common, **fields}


def shop(*services: dict[str, Any], **fields: Any) -> Found:
    """Return what was read of a project."""
    return Found("shop", services, **{"apps": {}, **fields})


@given(NAMES)
def test_every_name_gets_a_key_of_its_own(names: list[str]) -> None:
    found = shop(*(service(f"id-{number}", name) for number, name in enumerate(names)))
    keys = [entry.key for entry in export_project(found).services]
    assert len(set(keys)) == len(names)
    assert all(KEY.fullmatch(key) for key in keys)


@given(NAMES, st.randoms())
def test_the_order_of_the_list_does_not_matter(names: list[str], chance: Any) -> None:
    services = [service(f"id-{number}", name) for number, name in enumerate(names)]
    mixed = chance.sample(services, len(services))
    assert export_project(shop(*services)) == export_project(shop(*mixed))


def test_keys_have_the_form_of_aliases() -> None:
    assert [as_key(name) for name in ("Main DB", "--", "queue.v2", "Straße")] == [
        "main-db",
        "service",
        "queue-v2",
        "strasse",
    ]
    assert free_key("db", {"db": 1, "db-2": 1}) == "db-3"


def test_a_service_says_what_an_order_of_it_needs() -> None:
    [entry] = export_project(shop(service("1", "world", metrics={"state": "stopped"}))).services
    assert entry.values == {
        "product": "minecraft",
        "runtime": "vanilla",
        "host": "node-1",
        "dimensions": {"cpu_cores": 1, "ram_gb": 2, "storage_gb": 10},
        "state": "stopped",
    }


@pytest.mark.parametrize(
    ("fields", "state"),
    [
        ({"metrics": {"state": "running"}}, "started"),
        ({"metrics": {"state": "starting"}}, "started"),
        ({"metrics": {"state": "stopping"}}, None),
        ({"metrics": None}, None),
        ({"metrics": {"state": "running"}, "can_power": False}, None),
        ({"status": "SUSPENDED"}, "suspended"),
        ({"status": "PROVISIONING", "metrics": {"state": "running"}}, None),
    ],
)
def test_a_state_that_cannot_be_known_or_set_is_left_out(fields: dict[str, Any], state: str | None) -> None:
    [entry] = export_project(shop(service("1", "world", **fields))).services
    assert entry.values.get("state") == state


def test_only_a_command_of_the_users_own_is_kept() -> None:
    for command, kept in (("serve", "serve"), ("java -jar", None), ("", None), (None, None)):
        settings = {"deploy": {"command": command, "default_command": "java -jar"}}
        [entry] = export_project(shop(service("1", "world", settings=settings))).services
        assert entry.values.get("command") == kept
        assert ("its command may hold a password" in " ".join(entry.remarks)) is bool(kept)


def test_remarks_name_what_cannot_be_read() -> None:
    apps = {"2": App(id="2", slug="acme-web", status="ACTIVE", image_ref=f"r/acme@{DIGEST}")}
    app = service("2", "acme-web", settings={"source": {"tag": "v1"}}, status="SUSPENDED")
    edges = [Edge(from_="2", to="1", through=["URL"]), Edge(from_="2", to="elsewhere", through=["X"])]
    keys = [SshKey(id="k", name="laptop", fingerprint="SHA256:x")]
    lost = service("3", "lost", status="FAILED")
    found = shop(service("1", "db"), app, lost, apps=apps, edges=edges, ssh_keys=keys)
    export = export_project(found)
    assert export.remarks == (
        ["service 'lost' (3), whose creation failed", "SSH keys of the account: laptop (SHA256:x)"]
    )
    [entry] = export.applications
    assert entry.remarks == [
        f"image: {{tag: v1}} # which runs, with digest {DIGEST}",
        "it is suspended, which a blueprint neither says nor changes for an application",
        "environment: URL refers to db",
    ]
    assert "state" not in entry.values


def test_an_application_keeps_its_slug_when_a_service_has_its_name() -> None:
    apps = {"2": App(id="2", slug="web", status="ACTIVE")}
    export = export_project(shop(service("1", "web"), service("2", "web", status="PROVISIONING"), apps=apps))
    assert [(entry.key, entry.name) for entry in export.applications] == [("web", "web")]
    [other] = export.services
    assert (other.key, other.values["id"]) == ("web-2", "1")


def test_what_could_not_be_created_takes_no_key_from_an_entry() -> None:
    """It is kept by section, for those who compare; the blueprint is as if it were not there."""
    apps = {"1": App(id="1", slug="web", status="FAILED"), "3": App(id="3", slug="api", status="ACTIVE")}
    failed = [service("1", "web", status="FAILED"), service("2", "db.", status="FAILED")]
    there = [service("3", "api"), service("4", "db"), service("5", "web")]
    export = export_project(shop(*failed, *there, apps=apps))
    assert [entry.key for entry in (*export.services, *export.applications)] == ["db", "web", "api"]
    told = {section: [(each.id, each.key, each.name) for each in of] for section, of in export.failed.items()}
    assert told == {"applications": [("1", "web-2", "web")], "services": [("2", "db-2", "db.")]}
