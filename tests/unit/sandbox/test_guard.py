# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The sandbox is for who started it: not for pages of other sites, nor for programs of other users."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import requests

from hosted_sandbox.control.guard import is_own
from hosted_sandbox.testing import SANDBOX, Sandbox
from unit.sandbox.test_control import ANY_PORTS

WRITES = ["POST /reset", "POST /stop", "POST /seed", "PUT /state", "POST /faults", "DELETE /journal",
          "POST /operator/accounts/main"]  # fmt: skip
BODY = '{"route": "*", "kind": "reset", "balance_cents": 1, "projects": ["theirs"]}'


def status(url: str, method: str = "GET", **headers: str) -> int:
    """Return the status of a request of somebody who only knows the address."""
    body = None if method == "GET" else BODY
    return requests.request(method, url, data=body, headers=headers, timeout=10).status_code


@pytest.mark.parametrize("host", ["127.0.0.1:{}", "LOCALHOST:{}", "[::1]:{}", "box", "a.localhost", "b.test"])
def test_own_names(sandbox: Sandbox, host: str) -> None:
    for url, path in ((sandbox.control_url, "/journal"), (sandbox.base_url, "/api/projects")):
        headers = {"Host": host.format(url.rpartition(":")[2]), "Authorization": f"Bearer {sandbox.token}"}
        assert status(url + path, **headers) == 200


@pytest.mark.parametrize("host", ["evil.example", "evil.example.com:8081", "127.0.0.1.nip.io", "", "["])
def test_a_name_that_leads_here_reads_nothing(sandbox: Sandbox, host: str) -> None:
    """A site may let its own name lead to this machine; a browser then sends no `Origin` with a GET."""
    for path in ("/", "/journal", "/state", "/ledger", "/page/page.js"):
        for accept in ("*/*", "text/html"):
            assert status(sandbox.control_url + path, Host=host, Accept=accept) == 403
    # Everybody knows the token, and the API would believe it.
    headers = {"Host": host, "Authorization": f"Bearer {sandbox.token}"}
    assert status(f"{sandbox.base_url}/api/projects", **headers) == 403
    assert sandbox.journal() == []


def test_the_name_of_host_is_its_own() -> None:
    assert is_own("Named.example.com:8081", "named.example.COM")
    assert not is_own("named.example.com.evil.example", "named.example.com")


@pytest.mark.parametrize(
    "origin", ["http://evil.example.com", "http://127.0.0.1:3000", "null", "", "http://["]
)
def test_a_page_of_another_site_gets_nothing(sandbox: Sandbox, origin: str) -> None:
    assert status(f"{sandbox.control_url}/journal", Origin=origin) == 403
    headers = {"Origin": origin, "X-Control-Secret": sandbox.control_secret}
    assert status(f"{sandbox.control_url}/faults", "POST", **headers) == 403
    assert status(f"{sandbox.control_url}/journal", Origin=sandbox.control_url) == 200


@pytest.mark.parametrize("call", WRITES)
@pytest.mark.parametrize("headers", [{}, {"X-Control-Secret": "guessed"}])
def test_what_writes_needs_the_secret(sandbox: Sandbox, call: str, headers: dict[str, str]) -> None:
    sandbox.api("GET", "/api/wallet")
    before = sandbox.control("GET", "/state")["records"]["project"], sandbox.ledger()["balances"]
    method, path = call.split()
    answer = requests.request(method, sandbox.control_url + path, data=BODY, headers=headers, timeout=10)
    assert answer.status_code == 403
    assert "X-Control-Secret: the control_secret of the ready file" in answer.json()["message"]
    after = sandbox.control("GET", "/state")["records"]["project"], sandbox.ledger()["balances"]
    assert (after, sandbox.control("GET", "/faults"), len(sandbox.journal())) == (before, [], 1)


def test_who_only_knows_the_address_reads_no_secret(sandbox: Sandbox) -> None:
    """Programs on this machine may read the journal and the ledger, but not files and records."""
    for path in ("/", "/page/page.js", "/journal", "/ledger", "/profile", "/clock"):
        for accept in ("*/*", "text/html"):
            answer = requests.get(sandbox.control_url + path, headers={"Accept": accept}, timeout=10)
            assert (answer.status_code, sandbox.control_secret in answer.text) == (200, False)
    assert status(f"{sandbox.control_url}/state") == 403


def test_what_it_writes_is_its_own(tmp_path: Path) -> None:
    """Whatever the umask is, and whatever somebody has put into the folder of the ready file."""
    (victim := tmp_path / "victim").write_text("mine")
    (tmp_path / ".ready.json.part").symlink_to(victim)
    options = ["--ready-file=ready.json", "--detach=log", "--data=data"]
    command = [sys.executable, str(SANDBOX), *ANY_PORTS, *options]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=300, umask=0)
    facts = json.loads((tmp_path / "ready.json").read_text())
    os.kill(facts["pid"], signal.SIGKILL)
    names = ("ready.json", "data", "data/sandbox.sqlite")
    modes = [(tmp_path / name).stat().st_mode & 0o777 for name in names]
    assert (modes, victim.read_text()) == ([0o600, 0o700, 0o600], "mine")
    log = (tmp_path / "log").read_text()
    assert (facts["control_secret"] in log, "control_secret in ready.json" in log) == (False, True)
