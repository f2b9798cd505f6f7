# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Gap profiles: every open question has values, and under each of them the platform works."""

from __future__ import annotations

from typing import Any

import pytest

from hosted_sandbox.gaps import POINTS, Profile
from hosted_sandbox.testing import Sandbox
from unit.sandbox.conftest import SIZE

NAMES = ("plain", "terse", "wrapped")


def test_every_point_has_a_choice() -> None:
    for point in POINTS.values():
        assert len(set(point.values)) >= 2, point.name
        assert point.section
        assert point.question


def test_the_named_profiles_differ_wherever_they_can() -> None:
    plain, terse, wrapped = (Profile(name) for name in NAMES[:3])
    for name, point in POINTS.items():
        chosen = {plain[name], terse[name], wrapped[name]}
        assert len(chosen) >= 2, name
        if len(point.values) >= 3:
            assert plain[name] != terse[name], name


@pytest.mark.parametrize("name", NAMES)
def test_a_life_under_every_profile(server: Sandbox, name: str) -> None:
    sandbox = server
    sandbox.reset(profile=name)
    sandbox.clock(rate=50)

    def call(method: str, path: str, body: Any = None) -> Any:
        answer = sandbox.api(method, path, body)
        assert answer.status_code in (200, 201, 202, 204), (method, path, answer.text)
        return answer

    call("POST", "/api/projects", {"name": "web"})
    sandbox.clock(advance=1)  # some show it late, by a second or by a read
    listed = [item for __ in range(2) for item in call("GET", "/api/projects").json()]
    project = next(item for item in listed if item["name"] == "web")
    order = {"productSlug": "minecraft", "hostId": "node-paris-1", "dimensions": SIZE, "name": "mc"}
    call("POST", "/api/order", order)
    [key] = [item["id"] for item in call("GET", "/api/resources").json()["items"] if item["name"] == "mc"]
    base = f"/api/resources/{key}"
    _wait(sandbox, key, "ACTIVE")
    call("PUT", f"{base}/project", {"projectId": project["id"]})
    call("PUT", f"{base}/network", {"isPublic": False})
    call("PUT", f"{base}/scale", {**SIZE, "ramGb": 8})
    call("PUT", f"{base}/deploy", {"command": "x"})
    call("POST", f"{base}/files/write", {"path": "a.txt", "content": "x"})
    call("GET", f"{base}/files")
    call("POST", f"{base}/backups", {"name": "b"})
    sandbox.clock(advance=60)  # some suspend nothing while it is made
    call("POST", f"{base}/suspend")
    _wait(sandbox, key, "SUSPENDED")
    call("POST", f"{base}/resume")
    _wait(sandbox, key, "ACTIVE")
    assert [entry["name"] for entry in call("GET", f"{base}/files").json()] == ["a.txt"]
    assert call("GET", base).json()["dimensions"]["ramGb"] == 8
    for path in ("nodes", "projects"):
        call("GET", f"/api/apps/{path}")
    for path in ("billing/overview", "billing/daily-spend", "billing/invoices", "billing/statements",
                 "wallet", "wallet/transactions"):  # fmt: skip
        call("GET", f"/api/{path}")
    call("DELETE", base)
    call("DELETE", f"/api/projects/{project['id']}")


def _wait(sandbox: Sandbox, key: str, status: str) -> None:
    for __ in range(500):
        answer = sandbox.api("GET", f"/api/resources/{key}")
        if answer.ok and answer.json()["status"] == status:
            return
        sandbox.clock(advance=1)
    raise AssertionError(f"never {status}")


@pytest.mark.parametrize("value", POINTS["answer"].values)
def test_answers_of_a_write(sandbox: Sandbox, value: str) -> None:
    sandbox.profile("plain", **{"answer": value})
    answer = sandbox.api("POST", "/api/projects", {"name": "web"})
    assert answer.status_code == (204 if value == "empty 204" else 201)
    assert (answer.content == b"") == (value == "empty 204")
    assert len(sandbox.api("GET", "/api/projects").json()) == 2


@pytest.mark.parametrize("status", POINTS["refusal.status"].values)
def test_refusals_without_a_stated_status(sandbox: Sandbox, status: str) -> None:
    sandbox.profile("plain", **{"refusal.status": status})
    body = {"name": "k", "publicKey": "-----BEGIN OPENSSH PRIVATE KEY-----"}
    answer = sandbox.api("POST", "/api/users/me/ssh-keys", body)
    assert answer.status_code == answer.json()["statusCode"] == int(status)


@pytest.mark.parametrize("value", POINTS["delay"].values)
def test_a_read_may_show_late_what_a_write_did(sandbox: Sandbox, value: str) -> None:
    """Several writes show one after the other. Only the list of services is never late."""
    sandbox.profile("plain", delay=value)
    sandbox.clock(freeze=True)
    for name in ("web", "shop"):
        sandbox.api("POST", "/api/projects", {"name": name})
    sandbox.api("POST", "/api/apps", {"slug": "shop"})

    def shown() -> tuple[int, int]:
        apps = sandbox.api("GET", "/api/apps").json()["items"]
        return len(sandbox.api("GET", "/api/projects").json()), len(apps)

    late = {"at once": 0, "one read late": 1, "a second late": 3}[value]
    assert [shown() for __ in range(3)] == [(1, 0)] * late + [(3, 1)] * (3 - late)
    assert len(sandbox.api("GET", "/api/resources").json()["items"]) == 1
    sandbox.clock(advance=1)
    assert shown() == (3, 1)
