# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Requests for the health of a workload."""

from __future__ import annotations

import socket

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import health
from ansible_collections.hosted.services.plugins.module_utils._api.health import problem_of_url, why_unhealthy
from unit.plugins.responder import responding


@pytest.mark.parametrize("url", ["http://a", "https://shop.example.com/health?deep=1", "http://[::1]:8080/"])
def test_urls_that_can_be_requested(url: str) -> None:
    assert problem_of_url(url) is None


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("shop.example.com/health", "must begin with http:// or https://"),
        ("file:///etc/passwd", "must begin with http:// or https://"),
        ("http:///health", "name a host"),
        ("http://a:99999/", "is no URL"),
        ("http://[::1/", "is no URL"),
        ("http://me:secret@a/", "must not hold a user name or a password"),
        ("http://me@a/", "must not hold a user name or a password"),
    ],
)
def test_urls_that_cannot(url: str, problem: str) -> None:
    assert problem in str(problem_of_url(url))


def test_the_status_decides() -> None:
    with responding(lambda number: 204) as server:
        assert why_unhealthy(server.url, [200, 204], True) is None
        assert why_unhealthy(server.url, [200], True) == "it responds with status 204"
    assert [path for path, _headers in server.requests] == ["/health"] * 2


def test_no_credentials_are_sent_and_no_redirect_is_followed(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    netrc = tmp_path_factory.mktemp("home") / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password canary\n")
    monkeypatch.setenv("NETRC", str(netrc))
    with responding(lambda number: 302) as server:
        assert why_unhealthy(server.url, [200], True) == "it responds with status 302"
    [(path, headers)] = server.requests
    assert path == "/health" and "Authorization" not in headers


def test_who_does_not_respond_is_not_healthy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "MAX_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        assert "0.2 seconds" in str(why_unhealthy(f"http://127.0.0.1:{port}/", [200], True))
    assert "refused" in str(why_unhealthy(f"http://127.0.0.1:{port}/", [200], True))
