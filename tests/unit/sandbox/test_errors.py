# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sections Authentication and Errors: who is let in, and how the platform says no."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import requests

from hosted_sandbox.api.app import table
from hosted_sandbox.testing import Sandbox
from hosted_sandbox.traffic.routes import Route

Order = Callable[..., str]
ROUTES = table().routes
#: The body of each route of a service that takes one, by the end of its path.
BODIES: dict[str, dict[str, object]] = {
    "power": {"signal": "start"},
    "network": {"isPublic": True},
    "scale": {"cpuCores": 1, "ramGb": 1, "storageGb": 5},
    "deploy": {"command": ""},
    "project": {"projectId": "x"},
    "write": {"path": "x", "content": ""},
    "directory": {"root": "", "name": "x"},
    "rename": {"root": "", "from": "x", "to": "y"},
    "delete": {"root": "", "files": []},
    "backups": {"name": "x"},
    "snapshots": {"name": "x"},
    "query": {"sql": "x"},
}
JSON = {"Content-Type": "application/json"}


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def _is_error(answer: requests.Response, status: int) -> None:
    assert answer.status_code == status, answer.text
    body = answer.json()
    assert set(body) == {"statusCode", "message"}
    assert body["statusCode"] == status
    assert isinstance(body["message"], str)


@pytest.mark.rule("auth-missing", "error-form")
@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_no_route_opens_without_a_token(sandbox: Sandbox, route: Route) -> None:
    url = sandbox.base_url + route.template.replace("{", "").replace("}", "")
    for headers in ({}, _bearer("unknown"), {"Authorization": sandbox.token}, {"Authorization": "Basic x"}):
        _is_error(requests.request(route.method, url, headers=headers, timeout=10), 401)


@pytest.mark.rule("auth-full", "auth-registry")
@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_a_registry_token_opens_the_application_flow_only(sandbox: Sandbox, route: Route) -> None:
    url = route.template.replace("{", "").replace("}", "")
    answer = sandbox.api(route.method, url, headers=_bearer(sandbox.registry_token))
    if route.template.startswith(("/api/apps", "/api/registry")):
        assert answer.status_code != 403
    else:
        _is_error(answer, 403)


def test_whoami(sandbox: Sandbox) -> None:
    for token in (sandbox.token, sandbox.registry_token):
        answer = sandbox.api("GET", "/api/apps/whoami", headers=_bearer(token))
        assert answer.json() == {"email": "owner@sandbox.test"}


def test_the_token_may_be_expected_elsewhere(sandbox: Sandbox) -> None:
    sandbox.control("PUT", "/auth", {"header": "X-API-Key", "scheme": ""})
    _is_error(sandbox.api("GET", "/api/apps/whoami"), 401)
    answer = sandbox.api("GET", "/api/apps/whoami", headers={"X-API-Key": sandbox.token})
    assert answer.status_code == 200


def test_a_revoked_token_opens_nothing(sandbox: Sandbox) -> None:
    sandbox.control("DELETE", f"/operator/tokens/{sandbox.token}")
    _is_error(sandbox.api("GET", "/api/apps/whoami"), 401)


@pytest.mark.rule("error-form")
@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "/", b"", 404),
        ("GET", "/api/nothing", b"", 404),
        ("GET", "/openapi.json", b"", 404),
        ("DELETE", "/api/projects", b"", 404),
        ("POST", "/api/projects", b"", 400),
        ("POST", "/api/projects", b"{", 400),
        ("POST", "/api/projects", b"[]", 400),
        ("POST", "/api/projects", b"null", 400),
        ("POST", "/api/projects", b"{}", 400),
        ("POST", "/api/projects", b'{"name": 5}', 400),
        ("POST", "/api/projects", b'{"name": null}', 400),
        ("POST", "/api/projects", b'{"name": "\xff"}', 400),
        ("POST", "/api/projects", b'{"name": "\\ud800"}', 400),
        ("POST", "/api/projects", b"[" * 100_000, 400),
        ("POST", "/api/projects", b" " * (16 * 1024 * 1024 + 1), 413),
        ("GET", "/api/resources/%2e%2e/settings", b"", 404),
        ("GET", "/api/resources/%252e%252e/settings", b"", 404),
        ("GET", "/api/resources/..%2fx", b"", 404),
        ("GET", "/api/resources/%00", b"", 404),
        ("GET", "/api/resources/%ff", b"", 404),
    ],
)
def test_every_error_has_one_form(sandbox: Sandbox, method: str, path: str, body: bytes, status: int) -> None:
    headers = {**sandbox.headers, **JSON}
    request = requests.Request(method, sandbox.base_url + path, headers=headers, data=body).prepare()
    request.url = sandbox.base_url + path
    with requests.Session() as session:
        _is_error(session.send(request, timeout=10), status)


@pytest.mark.rule("error-other-account")
def test_another_account_s_service_looks_absent(sandbox: Sandbox, order: Order) -> None:
    key = order()
    other = _bearer("sandbox-other-token")
    for route in ROUTES:
        if route.template.startswith("/api/resources/{id}"):
            query = {"path": "x", "schema": "x", "table": "x"}
            mine, body = route.template.replace("{id}", key), BODIES.get(route.template.rpartition("/")[2])
            answers = [
                sandbox.api(route.method, path, body, headers=other, params=query)
                for path in (mine, route.template.replace("{id}", "nobody"))
            ]
            assert [(answer.status_code, answer.text) for answer in answers] == [
                (404, '{"statusCode":404,"message":"Resource not found"}')
            ] * 2
    assert sandbox.api("GET", "/api/resources", headers=other).json() == {"items": []}
