# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The control port's faults: what happens on the wire, and whether the server acted."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
import requests

from hosted_sandbox.testing import Sandbox

PATH = "/api/projects"


def _create(sandbox: Sandbox, name: str, **options: Any) -> requests.Response:
    timeout = options.pop("timeout", 10)
    url, body = sandbox.base_url + PATH, {"name": name}
    return requests.post(
        url, json=body, headers=sandbox.headers, timeout=timeout, allow_redirects=False, **options
    )


def _names(sandbox: Sandbox) -> list[str]:
    return [project["name"] for project in sandbox.api("GET", PATH).json()][1:]


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_reset_cuts_the_connection(sandbox: Sandbox, when: str) -> None:
    sandbox.fault("projects.create", "reset", when=when)
    with pytest.raises(requests.ConnectionError, match="reset"):
        _create(sandbox, "web")
    assert _names(sandbox) == (["web"] if when == "after" else [])
    (line,) = sandbox.journal("projects.create")
    assert (line["status"], line["fault"]) == ((201 if when == "after" else None), "reset")


@pytest.mark.parametrize("when", ["before", "after"])
def test_no_answer(sandbox: Sandbox, when: str) -> None:
    sandbox.fault("POST /api/projects", "no_answer", when=when)
    with pytest.raises(requests.ReadTimeout):
        _create(sandbox, "web", timeout=0.2)
    assert _names(sandbox) == (["web"] if when == "after" else [])


@pytest.mark.parametrize(
    ("status", "retry_after", "header"),
    [
        (429, 2, "2"),
        (429, "Wed, 21 Oct 2026 07:28:00 GMT", "Wed, 21 Oct 2026 07:28:00 GMT"),
        (500, None, None),
        (502, None, None),
        (503, 0, "0"),
        (504, None, None),
    ],
)
def test_statuses(sandbox: Sandbox, status: int, retry_after: Any, header: str | None) -> None:
    sandbox.fault("projects.create", "status", status=status, retry_after=retry_after)
    answer = _create(sandbox, "web")
    assert (answer.status_code, answer.headers.get("Retry-After")) == (status, header)
    assert answer.json()["statusCode"] == status
    assert _names(sandbox) == []


def test_a_cut_off_answer(sandbox: Sandbox) -> None:
    sandbox.fault("projects.create", "truncated")
    with pytest.raises(requests.exceptions.ChunkedEncodingError):
        _create(sandbox, "web")
    assert _names(sandbox) == ["web"]


def test_a_slow_drip(sandbox: Sandbox) -> None:
    sandbox.fault("projects.create", "drip", interval=0.001)
    with _create(sandbox, "web", stream=True) as answer:
        body = b"".join(answer.iter_content(None))
    assert json.loads(body)["name"] == "web"


def test_html_in_place_of_an_answer_without_a_body(sandbox: Sandbox) -> None:
    """A 204 cannot carry a page, so the page comes with a 200, and the platform has acted."""
    made = sandbox.api("POST", "/api/projects", {"name": "web"})
    id = made.json()["id"] if made.content else sandbox.api("GET", "/api/projects").json()[-1]["id"]
    sandbox.fault("projects.delete", "html", when="after")
    answer = sandbox.api("DELETE", f"/api/projects/{id}")
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "text/html")
    assert "Oops" in answer.text
    assert sandbox.api("GET", f"/api/projects/{id}").status_code == 404


def test_html_and_redirect(sandbox: Sandbox) -> None:
    sandbox.fault("projects.create", "html")
    assert _create(sandbox, "web").headers["Content-Type"] == "text/html"
    sandbox.fault("projects.create", "redirect", location="http://127.0.0.1:9/")
    answer = _create(sandbox, "web")
    assert (answer.status_code, answer.headers["Location"]) == (307, "http://127.0.0.1:9/")
    assert _names(sandbox) == []


def test_latency_alone(sandbox: Sandbox) -> None:
    sandbox.fault("projects.create", "latency", latency=0.05)
    begun = time.monotonic()
    assert _create(sandbox, "web").status_code == 201
    assert time.monotonic() - begun >= 0.05


def test_nth_and_count(sandbox: Sandbox) -> None:
    sandbox.fault("projects.create", "status", status=500, nth=2, count=2)
    statuses = [_create(sandbox, f"p{number}").status_code for number in range(5)]
    assert statuses == [201, 500, 500, 201, 201]
    (fault,) = sandbox.control("GET", "/faults")
    assert (fault["seen"], fault["injected"]) == (5, 2)


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
    assert sandbox.control("GET", "/faults") == []


@pytest.mark.parametrize(
    "route", ["projects.creat", "POST /api/project", "/api/projects/1", "PUT /api/wallet", ""]
)
def test_a_route_that_is_none_is_refused(sandbox: Sandbox, route: str) -> None:
    with pytest.raises(RuntimeError, match=r"no route is called .*; known: .*projects\.create"):
        sandbox.fault(route, "reset")
    assert sandbox.control("GET", "/faults") == []
    with pytest.raises(RuntimeError, match=r"no route is called .*; known: .*projects\.create"):
        sandbox.control("GET", "/journal", query={"route": route})


def test_a_method_that_is_none_is_refused(sandbox: Sandbox) -> None:
    with pytest.raises(RuntimeError, match="no requests have method 'POTS'; known: GET, POST"):
        sandbox.journal(method="POTS")


@pytest.mark.parametrize("route", ["projects.create", PATH, f"POST {PATH}"])
def test_a_route_goes_by_three_names(sandbox: Sandbox, route: str) -> None:
    sandbox.fault(route, "status", status=500)
    assert [_create(sandbox, "web").status_code for __ in range(2)] == [500, 201]
    assert len(sandbox.journal(route)) == 2


def test_the_journal_tells_what_was_asked(sandbox: Sandbox) -> None:
    begun = time.time()
    sandbox.api("POST", PATH, {"name": "web"}, params={"a": "1"})
    sandbox.api("GET", "/api/nothing", headers={"Authorization": "Bearer wrong", "User-Agent": "probe/1"})
    first, second = sandbox.journal()
    assert (first["route"], first["method"], first["template"]) == ("projects.create", "POST", PATH)
    assert (first["query"], first["body"], first["status"]) == ({"a": "1"}, {"name": "web"}, 201)
    assert (first["token"], first["answer"]["name"]) == ("FULL", "web")
    assert (second["route"], second["token"], second["status"]) == (None, None, 404)
    assert second["agent"] == "probe/1"
    assert first["ms"] > 0
    assert begun <= first["real_at"] <= second["real_at"] <= time.time()
    assert sandbox.journal(method="POST") == [first]
    assert sandbox.journal(after=first["n"]) == [second]
    assert sandbox.journal(method="POST", after=first["n"]) == sandbox.journal(after=second["n"]) == []
    sandbox.clear_journal()
    assert sandbox.journal() == []


def test_several_faults_at_once(sandbox: Sandbox) -> None:
    """A list sets them in its order; one that is malformed sets nothing from there on."""
    planted = [{"route": "*", "kind": "status", "nth": nth, "status": 500 + nth} for nth in (1, 2)]
    assert [fault["status"] for fault in sandbox.control("POST", "/faults", {"faults": planted})] == [
        501,
        502,
    ]
    assert [_create(sandbox, "web").status_code for __ in range(3)] == [501, 502, 201]
    with pytest.raises(RuntimeError, match="kind"):
        sandbox.control("POST", "/faults", {"faults": [{"route": "*"}]})
