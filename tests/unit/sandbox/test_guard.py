# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The control port refuses what a browser sends for a page of another site."""

from __future__ import annotations

import pytest
import requests
from starlette.datastructures import Headers

from hosted_sandbox.control.guard import is_foreign
from hosted_sandbox.testing import Sandbox


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        (None, "shop.example.com:8081"),  # a program, not a browser
        ("http://127.0.0.1:8081", "127.0.0.1:8081"),
        ("http://[::1]:8081", "[::1]:8081"),
        ("http://localhost:8081", "LOCALHOST:8081"),
        ("http://web.localhost:8081", "web.localhost:8081"),
        ("http://sandbox:8081", "sandbox:8081"),
        ("https://named.example.com", "named.example.com"),  # what --host names
    ],
)
def test_own_requests(origin: str | None, host: str) -> None:
    headers = Headers({"host": host} | ({"origin": origin} if origin is not None else {}))
    assert not is_foreign(headers, "named.example.com")


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        ("http://evil.example.com", "127.0.0.1:8081"),
        ("http://127.0.0.1:3000", "127.0.0.1:8081"),  # another server on this machine
        ("http://evil.example.com:8081", "evil.example.com:8081"),  # its name leads to 127.0.0.1
        ("http://127.0.0.1.example.com", "127.0.0.1.example.com"),
        ("null", "127.0.0.1:8081"),  # a frame in a cage, or a file
        ("", ""),
        ("http://", ""),
        ("http://[", "["),
    ],
)
def test_foreign_requests(origin: str, host: str) -> None:
    assert is_foreign(Headers({"origin": origin, "host": host}), "named.example.com")


@pytest.mark.parametrize("path", ["/reset", "/stop", "/faults", "/clock"])
def test_a_page_of_another_site_controls_nothing(sandbox: Sandbox, path: str) -> None:
    sandbox.seed({"projects": ["web"]})
    before = sandbox.control("GET", "/state")["records"]["project"]
    # What a form or a script of any page may send without asking first.
    headers = {"Origin": "http://evil.example.com", "Content-Type": "text/plain"}
    body = '{"route": "*", "kind": "reset", "advance": 3600}' if path in ("/faults", "/clock") else "{}"
    answer = requests.post(sandbox.control_url + path, data=body, headers=headers, timeout=10)
    assert (answer.status_code, "evil.example.com" in answer.json()["message"]) == (403, True)
    assert sandbox.control("GET", "/state")["records"]["project"] == before
    assert sandbox.control("GET", "/faults") == []
