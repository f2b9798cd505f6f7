# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The control port: what it does, and to whom it listens."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import requests

from hosted_sandbox.control.guard import is_own
from hosted_sandbox.testing import SANDBOX, Sandbox
from unit.sandbox.conftest import Order, Push
from unit.tiers import sample

SEED = {
    "balance_cents": 5000,
    "projects": ["web"],
    "ssh_keys": [],
    "tokens": [{"id": "mine", "scope": "REGISTRY"}],
    "products": [{"id": "tiny", "name": "Tiny", "short_name": "T", "family": "BUCKET",
                  "entry": {"cpuCores": 1, "ramGb": 1, "storageGb": 5}}],
    "services": [
        {"name": "mc", "product": "minecraft", "project": "web", "files": {"a/b.txt": "hello"},
         "backups": [{"name": "old", "created_at": "2026-01-01T00:00:00Z"}],
         "created_at": "2025-12-31T00:00:00Z"},
        {"name": "asleep", "product": "postgresql", "project": "new", "status": "SUSPENDED"},
        {"name": "broken", "product": "tiny", "status": "FAILED", "failure_reason": "no disk"},
        {"name": "halted", "product": "factorio", "state": "stopped"},
    ],
}  # fmt: skip

ANY_PORTS = [f"--{name}=0" for name in ("port", "control-port", "sftp-port", "registry-port")]


def test_a_seed_describes_a_world(sandbox: Sandbox) -> None:
    ids = sandbox.seed(SEED)["services"]
    items = {item["name"]: item for item in sandbox.api("GET", "/api/resources").json()["items"]}
    assert {name: item["status"] for name, item in items.items()} == {
        "mc": "ACTIVE", "asleep": "SUSPENDED", "broken": "FAILED", "halted": "ACTIVE",
    }  # fmt: skip
    assert items["mc"]["createdAt"] == "2025-12-31T00:00:00.000Z"
    metrics = sandbox.api("GET", f"/api/resources/metrics?ids={ids['mc']},{ids['halted']}").json()
    assert [metrics[ids[name]]["state"] for name in ("mc", "halted")] == ["running", "stopped"]
    names = [project["name"] for project in sandbox.api("GET", "/api/projects").json()]
    assert names == ["default", "web", "new"]
    assert sandbox.api("GET", "/api/wallet").json()["balanceCents"] == 5000
    assert sandbox.api("GET", f"/api/resources/{ids['broken']}").json()["failureReason"] == "no disk"
    assert sandbox.api("GET", "/api/apps", headers={"Authorization": "Bearer mine"}).status_code == 200


@pytest.mark.parametrize(
    "seed",
    [{"colour": 1}, {"services": [{"name": "a", "product": "none"}]}, {"delays": {"lunch": 1}},
     {"services": [{"name": "a", "product": "minecraft", "status": "TIRED"}]}, {"projects": ["default"]}],
)  # fmt: skip
def test_a_seed_that_makes_no_sense_changes_nothing(sandbox: Sandbox, seed: dict[str, Any]) -> None:
    before = sandbox.control("GET", "/state")["records"]["project"]
    with pytest.raises(RuntimeError):
        sandbox.seed(seed)
    assert sandbox.control("GET", "/state")["records"]["project"] == before
    assert sandbox.api("GET", "/api/resources").json() == {"items": []}


def test_save_and_load(sandbox: Sandbox) -> None:
    key = sandbox.seed(SEED)["services"]["mc"]
    sandbox.profile("terse")
    sandbox.clock(freeze=True)
    state = sandbox.control("GET", "/state")
    listed = sandbox.api("GET", "/api/resources").json()
    sandbox.reset(profile="plain")
    assert sandbox.api("GET", f"/api/resources/{key}").status_code == 404
    sandbox.control("PUT", "/state", state)
    assert sandbox.api("GET", "/api/resources").json() == listed
    content = sandbox.api("GET", f"/api/resources/{key}/files/contents?path=a/b.txt").json()
    assert content == {"content": "hello"}
    assert sandbox.control("GET", "/profile")["name"] == "terse"
    assert sandbox.control("GET", "/clock")["rate"] == 0


def test_the_clock(sandbox: Sandbox) -> None:
    before = sandbox.clock(freeze=True)["now"]
    later = f"{int(before[:4]):04d}-12-31T23:59:59.500Z"
    assert sandbox.clock(set=later) == {"now": later, "rate": 0.0}
    assert sandbox.clock(advance=1.5)["now"] == f"{int(before[:4]) + 1:04d}-01-01T00:00:01.000Z"
    with pytest.raises(RuntimeError, match="back"):
        sandbox.clock(set=before)
    for beyond in ({"advance": 1e300}, {"advance": "inf"}, {"advance": "nan"}, {"rate": "inf"}, {"rate": -1}):
        with pytest.raises(RuntimeError, match="the clock cannot"):
            sandbox.clock(**beyond)
    assert sandbox.clock(freeze=False)["rate"] == 1.0


def test_a_reset_may_begin_in_the_past(sandbox: Sandbox) -> None:
    sandbox.reset(clock="2026-01-02T03:04:05Z", delays={"backup": 3600})
    key = sandbox.seed(SEED)["services"]["mc"]
    sandbox.api("POST", f"/api/resources/{key}/backups", {"name": "b"})
    sandbox.clock(set="2026-01-02T06:00:00Z")
    made = next(b for b in sandbox.api("GET", f"/api/resources/{key}/backups").json() if b["name"] == "b")
    assert made["createdAt"].startswith("2026-01-02T03:04:")
    assert made["status"] == "COMPLETED"
    assert made["completedAt"].startswith("2026-01-02T04:04:")


def test_a_call_that_waits_moves_a_frozen_clock(sandbox: Sandbox, push: Push) -> None:
    sandbox.clock(freeze=True)
    sandbox.delays(scan=20, start=5)
    sandbox.api("POST", "/api/apps", {"slug": "shop"})
    push("shop", "1")
    before = datetime.fromisoformat(sandbox.clock()["now"])
    assert sandbox.api("POST", "/api/apps/shop/deploy", {"tag": "1"}).status_code == 200
    passed = datetime.fromisoformat(sandbox.clock()["now"]) - before
    assert passed.total_seconds() == pytest.approx(25, abs=0.2)


def test_what_falls_due_happens_in_its_order(sandbox: Sandbox, order: Order) -> None:
    sandbox.clock(freeze=True)
    key = order()
    start = sandbox.clock()["now"]
    sandbox.delays(backup=3600, provision=60)
    sandbox.api("POST", f"/api/resources/{key}/backups", {"name": "b"})
    late = order(name="late")
    sandbox.clock(advance=86_400)
    (backup,) = sandbox.api("GET", f"/api/resources/{key}/backups").json()
    assert backup["createdAt"] == start
    assert backup["completedAt"] > start
    events = sandbox.api("GET", f"/api/resources/{late}/events").json()["items"]
    assert {event["type"]: event["at"] for event in events}["PROVISIONED"] < backup["completedAt"]


def test_a_control_call_that_makes_no_sense(sandbox: Sandbox) -> None:
    for method, path, body in (
        ("POST", "/operator/services/none", {"status": "ACTIVE"}),
        ("PUT", "/profile", {"name": "purple"}),
        ("PUT", "/profile", {"values": {"nothing": "x"}}),
        ("PUT", "/delays", {"start": "soon"}),
        ("POST", "/clock", {"set": "yesterday"}),
        ("POST", "/reset", {"clock": "yesterday"}),
        ("POST", "/reset", {"value": {"delay": "a second late"}}),
        ("PUT", "/profile", {"name": "plain", "value": {"delay": "a second late"}}),
    ):
        with pytest.raises(RuntimeError, match="400"):
            sandbox.control(method, path, body)
    headers = {"X-Control-Secret": sandbox.control_secret}
    for text, status in (("projects: [one, two]\n", 200), ("a: [", 400)):  # a document may be YAML
        answer = requests.post(f"{sandbox.control_url}/seed", data=text, headers=headers, timeout=10)
        assert answer.status_code == status
    assert len(sandbox.api("GET", "/api/projects").json()) == 3


def test_nothing_acknowledged_is_lost_when_killed(tmp_path: Path) -> None:
    seed = tmp_path / "seed.yml"
    seed.write_text("services: [{name: mc, product: minecraft, files: {a.txt: hi}}]\n")
    data = str(tmp_path / "data")
    first = Sandbox("--data", data, "--seed", str(seed), "--profile", "wrapped")
    first.clock(advance=86_400)
    first.api("POST", "/api/projects", {"name": "web"})
    now = first.clock()["now"]
    os.kill(first.process.pid, signal.SIGKILL)
    first.process.wait()
    first.stop()
    with Sandbox("--data", data, "--seed", str(seed)) as second:
        names = [project["name"] for project in second.control("GET", "/state")["records"]["project"]]
        (service,) = second.api("GET", "/api/resources").json()["items"]
        path = f"/api/resources/{service['id']}/files/contents?path=a.txt"
        assert names.count("web") == 1
        assert second.api("GET", path).json() == {"content": "hi"}
        assert second.clock()["now"] >= now
        assert second.control("GET", "/profile")["name"] == "wrapped"
        assert second.output() == ""


@pytest.mark.night
def test_the_banner_and_the_end(tmp_path: Path) -> None:
    ready = tmp_path / "ready.json"
    command = [sys.executable, "-m", "hosted_sandbox", *ANY_PORTS, "--ready-file", str(ready)]
    environment = {**os.environ, "PYTHONPATH": str(SANDBOX.parent)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        banner = "".join(iter(process.stdout.readline, "Stop it with Ctrl-C.\n"))
        assert ready.exists()
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0
    assert "export HOSTED_SERVICES_TOKEN=sandbox-full-token" in banner
    assert "export HOSTED_SERVICES_URL=http://127.0.0.1:" in banner
    assert re.search(r"page      http://127\.0\.0\.1:\d+/#secret=(\S+) [^\n]*\n  secret    \1 ", banner)
    assert not ready.exists(), "it is there as long as the sandbox is"


@pytest.mark.night
def test_in_the_background_until_it_is_told_to_stop(tmp_path: Path) -> None:
    ready, log = tmp_path / "ready.json", tmp_path / "log"
    command = [sys.executable, str(SANDBOX), *ANY_PORTS, "--ready-file", str(ready), "--detach", str(log)]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    facts = json.loads(ready.read_text())
    headers = {"X-Control-Secret": facts["control_secret"]}
    shown = requests.get(facts["control_url"] + "/", timeout=10).json()
    assert {**facts, **shown} == facts
    assert facts.keys() - shown.keys() == {"control_secret", "page_url"}
    assert (facts["options"]["profile"], facts["options"]["port"]) == (None, 0)
    assert requests.post(facts["control_url"] + "/stop", headers=headers, timeout=10).status_code == 200
    end = time.monotonic() + 300
    while ready.exists() and time.monotonic() < end:
        time.sleep(0.05)
    assert not ready.exists()
    assert "The sandbox is ready." in log.read_text()


@pytest.mark.night
def test_in_the_background_a_failure_is_told(tmp_path: Path) -> None:
    command = [sys.executable, str(SANDBOX), "--detach", str(tmp_path / "log")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, "--detach needs --ready-file" in done.stderr) == (2, True)
    seed = tmp_path / "seed.yml"
    seed.write_text("colour: red")
    command += ["--ready-file", str(tmp_path / "ready.json"), "--seed", str(seed), *ANY_PORTS]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, "the seed makes no sense" in done.stderr) == (1, True)


@pytest.mark.parametrize("option", sample(["--port", "--control-port", "--sftp-port", "--registry-port"]))
def test_a_port_in_use_is_named_and_leaves_no_data_behind(tmp_path: Path, option: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        command = [sys.executable, str(SANDBOX), *ANY_PORTS, option, port, "--data", str(tmp_path / "data")]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 1
    assert f"127.0.0.1 port {port}: Address already in use; choose another with {option}" in done.stderr
    assert not (tmp_path / "data").exists()


WRITES = ["POST /reset", "POST /stop", "POST /seed", "PUT /state", "POST /faults", "DELETE /journal",
          "POST /operator/accounts/main"]  # fmt: skip
BODY = '{"route": "*", "kind": "reset", "balance_cents": 1, "projects": ["theirs"]}'


def status(url: str, method: str = "GET", **headers: str) -> int:
    body = None if method == "GET" else BODY
    return requests.request(method, url, data=body, headers=headers, timeout=10).status_code


@pytest.mark.parametrize("host", ["127.0.0.1:{}", "LOCALHOST:{}", "[::1]:{}", "box", "a.localhost", "b.test"])
def test_own_names(sandbox: Sandbox, host: str) -> None:
    for url, path in ((sandbox.control_url, "/journal"), (sandbox.base_url, "/api/projects")):
        headers = {"Host": host.format(url.rpartition(":")[2]), "Authorization": f"Bearer {sandbox.token}"}
        assert status(url + path, **headers) == 200
    assert is_own("Named.example.com:8081", "named.example.COM")
    assert not is_own("named.example.com.evil.example", "named.example.com")


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
