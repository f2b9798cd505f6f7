# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What holds for all routes: errors, shapes, the open points of the specification, and faults."""

from __future__ import annotations

import json
import re
import time
from typing import Any

import pytest
import requests
from pydantic import TypeAdapter

from hosted_sandbox.api.app import CHAPTERS, table
from hosted_sandbox.gaps import POINTS, Profile
from hosted_sandbox.testing import Sandbox
from unit.sandbox.conftest import SIZE, Order, Push

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
def test_no_route_opens_without_a_token(sandbox: Sandbox) -> None:
    for route in ROUTES:
        url = sandbox.base_url + route.template.replace("{", "").replace("}", "")
        for headers in (
            {},
            _bearer("unknown"),
            {"Authorization": sandbox.token},
            {"Authorization": "Basic x"},
        ):
            _is_error(requests.request(route.method, url, headers=headers, timeout=10), 401)


@pytest.mark.rule("auth-full", "auth-registry")
def test_a_registry_token_opens_the_application_flow_only(sandbox: Sandbox) -> None:
    for route in ROUTES:
        url = route.template.replace("{", "").replace("}", "")
        answer = sandbox.api(route.method, url, headers=_bearer(sandbox.registry_token))
        if route.template.startswith(("/api/apps", "/api/registry")):
            assert answer.status_code != 403, route.name
        else:
            _is_error(answer, 403)


def test_whoami(sandbox: Sandbox) -> None:
    for token in (sandbox.token, sandbox.registry_token):
        answer = sandbox.api("GET", "/api/apps/whoami", headers=_bearer(token))
        assert answer.json() == {"email": "owner@sandbox.test"}
    sandbox.control("PUT", "/auth", {"header": "X-API-Key", "scheme": ""})
    _is_error(sandbox.api("GET", "/api/apps/whoami"), 401)
    elsewhere = {"X-API-Key": sandbox.token}
    assert sandbox.api("GET", "/api/apps/whoami", headers=elsewhere).status_code == 200
    sandbox.control("DELETE", f"/operator/tokens/{sandbox.token}")
    _is_error(sandbox.api("GET", "/api/apps/whoami", headers=elsewhere), 401)


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


SHOWN = {
    route.name: route.response_model
    for chapter in CHAPTERS
    for route in chapter.router.routes
    if route.response_model
}
"""The response of every route that the specification shows."""
NAMES = ("plain", "terse", "wrapped")
TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
BOUNDS = "&".join(f"{name}Start=2026-01-01T00:00:00Z" for name in ("hour", "day", "week", "month"))
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ8Y0XrWXfVTNJ3s2ikZ0q5TmnhFvDkhCJ4f8n1m0Hn9 me@here"
SEED = {
    "services": [
        {"name": "mc", "product": "minecraft", "files": {"a.txt": "x", "b/c": "x"},
         "backups": [{"name": "done"}, {"name": "bad", "status": "FAILED"}]},
        {"name": "db", "product": "postgresql"},
        {"name": "box", "product": "linux"},
        {"name": "asleep", "product": "minecraft", "status": "SUSPENDED"},
        {"name": "broken", "product": "minecraft", "status": "FAILED"},
        {"name": "made", "product": "bucket", "status": "PROVISIONING"},
    ],
    "ssh_keys": [{"name": "k", "public_key": KEY}],
}  # fmt: skip
GAME = ("", "/settings", "/files", "/files/contents?path=a.txt", "/backups", "/logs", "/events", "/usage",
        f"/billed-totals?{BOUNDS}", "/sftp")  # fmt: skip


def _visit(sandbox: Sandbox, push: Push) -> None:
    """Make every answer that is shown happen once."""
    ids = sandbox.seed(SEED)["services"]
    sandbox.api("POST", "/api/apps", {"slug": "shop"})
    push("shop", "1", declare=False)
    game, database, box = (f"/api/resources/{ids[name]}" for name in ("mc", "db", "box"))
    for path in GAME:
        sandbox.api("GET", game + path)
    for name in ("asleep", "broken", "made"):
        sandbox.api("GET", f"/api/resources/{ids[name]}")
    sandbox.api("POST", f"{game}/power", {"signal": "start"})
    sandbox.api("POST", f"{game}/sftp/password")
    sandbox.api("POST", f"{box}/snapshots", {"name": "s"})
    sandbox.api("GET", f"{box}/snapshots")
    sandbox.api("POST", f"{database}/database/query", {"sql": "CREATE TABLE t (a)"})
    for path in ("", "/connection", "/rows?schema=main&table=t"):
        sandbox.api("GET", f"{database}/database{path}")
    project = sandbox.api("GET", "/api/projects").json()[0]["id"]
    for path in ("", "/consommation", "/graphe"):
        sandbox.api("GET", f"/api/projects/{project}{path}")
    for path in ("resources", f"resources/metrics?ids={ids['mc']},{ids['db']}", "apps", "apps/whoami",
                 "registry/credentials", "billing/overview", "wallet", "users/me/ssh-keys"):  # fmt: skip
        sandbox.api("GET", f"/api/{path}")
    sandbox.api("POST", "/api/apps/quote", {})
    order = {"productSlug": "postgresql", "hostId": "node-paris-1", "presetId": "preset-db"}
    sandbox.api("POST", "/api/order/quote", order)
    sandbox.api("POST", "/api/order", {**order, "name": "o"})
    _visit_other_reads(sandbox, {"resources": ids["mc"], "projects": project})


def _visit_other_reads(sandbox: Sandbox, ids: dict[str, str]) -> None:
    """Make every other read with a shown response happen, of the service or the project."""
    done = {line["route"] for line in sandbox.journal()}
    for route in table().routes:
        if route.method == "GET" and route.name in SHOWN.keys() - done - {"releases.scan"}:
            sandbox.api("GET", route.template.replace("{id}", ids.get(route.template.split("/")[2], "")))


def _release(sandbox: Sandbox, push: Push) -> None:
    digest = push("shop", "2", declare=False)
    sandbox.api("POST", "/api/apps/shop/releases", {"tag": "2", "digest": digest})
    sandbox.api("GET", "/api/apps/shop/releases/2/scan")
    sandbox.api("POST", "/api/apps/shop/deploy", {"tag": "2"})
    sandbox.api("GET", "/api/apps")


@pytest.mark.rule("shapes", "conventions")
@pytest.mark.parametrize("name", NAMES)
def test_every_answer_has_its_shape(server: Sandbox, push: Push, name: str) -> None:
    server.reset(profile=name, delays={"start": 0, "scan": 0, "provision": 0})
    _visit(server, push)
    _release(server, push)
    lines = server.journal()
    for line in lines:
        assert line["status"] in (200, 201, 202, 204), line
        if line["route"] in SHOWN:
            TypeAdapter(SHOWN[line["route"]]).validate_python(line["answer"], strict=True)
            _check_conventions(line["answer"])
    seen = {line["route"] for line in lines}
    assert set(SHOWN) - seen == set(), f"make these calls in _visit of {__file__}"


def _check_conventions(value: Any, name: str = "") -> None:
    if isinstance(value, dict):
        for key, part in value.items():
            _check_conventions(part, key)
    elif isinstance(value, list):
        for part in value:
            _check_conventions(part, name)
    elif value is not None and name.endswith(("At", "ExpiresAt")):
        assert TIMESTAMP.fullmatch(value), name
    elif name.lower().endswith("cents") and "Burn" not in name:
        assert isinstance(value, int) and not isinstance(value, bool), name


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
    answer, empty = _create(sandbox, "web"), value == "empty 204"
    assert (answer.status_code, answer.content == b"") == (204 if empty else 201, empty)
    assert _names(sandbox) == ["web"]
    for status in POINTS["refusal.status"].values:
        sandbox.profile("plain", **{"refusal.status": status})
        key = {"name": "k", "publicKey": "-----BEGIN OPENSSH PRIVATE KEY-----"}
        _is_error(sandbox.api("POST", "/api/users/me/ssh-keys", key), int(status))


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


def _create(sandbox: Sandbox, name: str, timeout: float = 10, **options: Any) -> requests.Response:
    url, options = f"{sandbox.base_url}/api/projects", {"allow_redirects": False, **options}
    return requests.post(url, json={"name": name}, headers=sandbox.headers, timeout=timeout, **options)


def _names(sandbox: Sandbox) -> list[str]:
    return [project["name"] for project in sandbox.api("GET", "/api/projects").json()][1:]


@pytest.mark.parametrize("when", ["before", "after"])
def test_no_answer(sandbox: Sandbox, when: str) -> None:
    sandbox.fault("POST /api/projects", "no_answer", when=when)
    with pytest.raises(requests.ReadTimeout):
        _create(sandbox, "web", timeout=0.2)
    assert _names(sandbox) == (["web"] if when == "after" else [])


@pytest.mark.parametrize(
    ("status", "retry_after"),
    [(429, 2), (429, "Wed, 21 Oct 2026 07:28:00 GMT"), (500, None), (502, None), (503, 0), (504, None)],
)
def test_statuses(sandbox: Sandbox, status: int, retry_after: Any) -> None:
    sandbox.fault("projects.create", "status", status=status, retry_after=retry_after)
    answer = _create(sandbox, "web")
    _is_error(answer, status)
    assert answer.headers.get("Retry-After") == (None if retry_after is None else str(retry_after))
    assert _names(sandbox) == []


def test_html_in_place_of_an_answer_without_a_body(sandbox: Sandbox) -> None:
    """A 204 cannot carry a page, so the page comes with a 200, and the platform has acted."""
    id = _create(sandbox, "web").json()["id"]
    sandbox.fault("projects.delete", "html", when="after")
    answer = sandbox.api("DELETE", f"/api/projects/{id}")
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "text/html")
    assert "Oops" in answer.text
    assert _names(sandbox) == []


def test_probability_repeats_with_its_seed(sandbox: Sandbox) -> None:
    runs = []
    for __ in range(2):
        sandbox.clear_faults()
        sandbox.fault("*", "status", status=503, probability=0.5, seed=7, count=None)
        runs.append([sandbox.api("GET", "/api/wallet").status_code for __ in range(20)])
    assert runs[0] == runs[1]
    assert set(runs[0]) == {200, 503}


def test_a_fault_that_makes_no_sense(sandbox: Sandbox) -> None:
    for fault, told in (
        ({"kind": "rset"}, r"no fault has the kind 'rset'; known: reset, no_answer, .*, latency"),
        ({}, r"kind: Field required"),
        ({"kind": "reset", "when": "never"}, r"when: Input should be 'before' or 'after'"),
        ({"kind": "reset", "nth": 0}, r"nth: Input should be greater than or equal to 1"),
        ({"kind": "reset", "colour": "red", "nth": 0}, r"nth: .*; colour: Extra inputs are not permitted"),
    ):
        with pytest.raises(RuntimeError, match=told + r'"}$') as error:
            sandbox.control("POST", "/faults", {"route": "*", **fault})
        assert "http" not in str(error.value) and "\\n" not in str(error.value)
    no_route = r"no route is called .*; known: .*projects\.create"
    for route in ("projects.creat", "POST /api/project", "/api/projects/1", "PUT /api/wallet", ""):
        with pytest.raises(RuntimeError, match=no_route):
            sandbox.fault(route, "reset")
        with pytest.raises(RuntimeError, match=no_route):
            sandbox.control("GET", "/journal", query={"route": route})
    assert sandbox.control("GET", "/faults") == []


@pytest.mark.parametrize("route", ["projects.create", "/api/projects", "POST /api/projects"])
def test_a_route_goes_by_three_names(sandbox: Sandbox, route: str) -> None:
    sandbox.fault(route, "status", status=500)
    assert [_create(sandbox, "web").status_code for __ in range(2)] == [500, 201]
    assert len(sandbox.journal(route)) == 2


def test_the_journal_tells_what_was_asked(sandbox: Sandbox) -> None:
    begun = time.time()
    sandbox.api("POST", "/api/projects", {"name": "web"}, params={"a": "1"})
    sandbox.api("GET", "/api/nothing", headers={"Authorization": "Bearer wrong", "User-Agent": "probe/1"})
    first, second = sandbox.journal()
    asked = {"route": "projects.create", "method": "POST", "template": "/api/projects", "query": {"a": "1"}}
    assert first.items() >= {**asked, "body": {"name": "web"}, "status": 201, "token": "FULL"}.items()
    assert first["answer"]["name"] == "web" and first["ms"] > 0
    assert second.items() >= {"route": None, "token": None, "status": 404, "agent": "probe/1"}.items()
    assert begun <= first["real_at"] <= second["real_at"] <= time.time()
    assert sandbox.journal(method="POST") == [first]
    assert sandbox.journal(after=first["n"]) == [second]
    assert sandbox.journal(method="POST", after=first["n"]) == sandbox.journal(after=second["n"]) == []
    sandbox.clear_journal()
    assert sandbox.journal() == []


def test_several_faults_at_once(sandbox: Sandbox) -> None:
    """A list sets them in its order; one that is malformed sets nothing from there on."""
    planted = [{"route": "*", "kind": "status", "nth": nth, "status": 500 + nth} for nth in (1, 2)]
    set_up = sandbox.control("POST", "/faults", {"faults": planted})
    assert [fault["status"] for fault in set_up] == [501, 502]
    assert [_create(sandbox, "web").status_code for __ in range(3)] == [501, 502, 201]
    with pytest.raises(RuntimeError, match="kind"):
        sandbox.control("POST", "/faults", {"faults": [{"route": "*"}]})


def test_every_point_has_a_choice_that_the_named_profiles_make() -> None:
    plain, terse, wrapped = (Profile(name) for name in NAMES)
    for name, point in POINTS.items():
        assert len(set(point.values)) >= 2 and point.section and point.question, name
        assert len({plain[name], terse[name], wrapped[name]}) >= 2, name
        assert len(point.values) < 3 or plain[name] != terse[name], name


def test_other_faults(sandbox: Sandbox) -> None:
    sandbox.fault("projects.create", "html")
    assert _create(sandbox, "web").headers["Content-Type"] == "text/html"
    sandbox.fault("projects.create", "redirect", location="http://127.0.0.1:9/")
    answer = _create(sandbox, "web")
    assert (answer.status_code, answer.headers["Location"]) == (307, "http://127.0.0.1:9/")
    assert _names(sandbox) == []
    sandbox.fault("projects.create", "drip", interval=0.001)
    with _create(sandbox, "web", stream=True) as answer:
        assert json.loads(b"".join(answer.iter_content(None)))["name"] == "web"
    sandbox.fault("projects.create", "latency", latency=0.05)
    begun = time.monotonic()
    assert _create(sandbox, "late").status_code == 201
    assert time.monotonic() - begun >= 0.05
