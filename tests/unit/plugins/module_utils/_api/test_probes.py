# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Probes: what counts as a response, and what is told otherwise."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.probes import probe_tcp, probe_url
from hosted_sandbox.testing import Sandbox
from unit.plugins.responder import responding


@pytest.fixture(scope="module")
def server() -> Iterator[Sandbox]:
    """Something that responds."""
    with Sandbox() as sandbox:
        yield sandbox


def test_a_url_responds_with_a_status(server: Sandbox) -> None:
    """Without a token, so that the platform refuses it."""
    url = f"{server.base_url}/api/projects"
    assert probe_url(url, [200, 401], 5.0, True) is None
    assert probe_url(url, [200, 204], 5.0, True) == f"{url} responds with status 401, not 200 or 204"


def test_a_url_does_not_respond() -> None:
    """The innermost reason is told, not the whole text of the error, which holds the URL once more."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        assert str(probe_url(f"http://127.0.0.1:{port}/", [200], 1.0, True)).endswith("Connection refused")
        assert str(probe_tcp(f"127.0.0.1:{port}", 1.0)).endswith("Connection refused")
    assert "does not respond: " in str(probe_url("http://", [200], 1.0, True))


def test_a_url_that_never_responds() -> None:
    """However slowly it drips."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        assert probe_url(url, [200], 0.2, True) == f"{url} does not respond within 0.2 seconds"


def test_no_credentials_are_sent_and_no_redirect_is_followed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password canary\n")
    monkeypatch.setenv("NETRC", str(netrc))
    with responding(lambda number: 302) as workload:
        assert "responds with status 302" in str(probe_url(workload.url, [200], 5.0, True))
    [(path, headers)] = workload.requests
    assert path == "/health" and "Authorization" not in headers


def test_a_port_accepts_a_connection(server: Sandbox) -> None:
    """Of an address as services have it."""
    assert probe_tcp(server.base_url.removeprefix("http://"), 5.0) is None
    assert "accepts no connection" in str(probe_tcp("127.0.0.1:x", 5.0))
    assert "accepts no connection" in str(probe_tcp("127.0.0.1", 5.0))
