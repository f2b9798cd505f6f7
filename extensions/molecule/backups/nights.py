# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Four weeks of nights, by moving the sandbox's clock; some of them go wrong.

Writes to expected.json which backups must be left at the end, worked out from what every night brought and
the policy in words: the newest of each of the last 7 days and of each of the last 4 weeks.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

FOLDER = Path(sys.argv[1])
FACTS = json.loads((FOLDER / "sandbox.json").read_text())
COMMAND = str(FOLDER / "bin" / "hosted-backup")
SERVICES = {"survival": "minecraft", "shop": "postgresql", "worker": "linux"}
NIGHTS = 28
FAILED_NIGHT, SILENT_NIGHT, KILLED_NIGHT = 9, 15, 20
DAILY, WEEKLY = 7, 4


def call(method: str, url: str, body: Any = None) -> Any:
    """Make a call to the sandbox, its API or its control port."""
    headers = {
        "Authorization": f"Bearer {FACTS['tokens']['full']}",
        "X-Control-Secret": FACTS["control_secret"],
        "Content-Type": "application/json",
    }
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, headers, method=method)  # noqa: S310 - the sandbox
    with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310 - the sandbox
        return json.loads(answer.read() or b"null")


def control(method: str, path: str, body: Any = None) -> Any:
    """Steer the sandbox."""
    return call(method, FACTS["control_url"] + path, body)


def backups(service_id: str) -> list[dict[str, Any]]:
    """Return the backups of a service."""
    found: list[dict[str, Any]] = call("GET", f"{FACTS['base_url']}/api/resources/{service_id}/backups")
    return found


def start(name: str) -> subprocess.Popen[bytes]:
    """Begin a run of the plan."""
    log = (FOLDER / "runs.log").open("ab")
    command = [COMMAND, "run", "nightly", "-e", f"backups_run_name={name}"]
    return subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)  # noqa: S603 - our own


def all_pending(ids: dict[str, str], name: str) -> None:
    """Wait until every service has begun its backup."""
    while not all(any(b["name"] == name for b in backups(id)) for id in ids.values()):
        time.sleep(0.1)


def a_quiet_night(ids: dict[str, str], name: str) -> set[str]:
    """Nothing goes wrong."""
    if start(name).wait():
        raise SystemExit(f"{name} failed; see runs.log")
    return set(ids)


def a_failed_night(ids: dict[str, str], name: str) -> set[str]:
    """The backup of one service fails on the platform; the run says so and works on for the others."""
    control("POST", f"/operator/services/{ids['shop']}", {"backup_fails": True})
    code = start(name).wait()
    control("POST", f"/operator/services/{ids['shop']}", {"backup_fails": False})
    if not code:
        raise SystemExit("a run with a failed backup ended as if nothing had happened")
    return set(ids) - {"shop"}


def a_silent_night(ids: dict[str, str], name: str) -> set[str]:
    """The node of one service does not answer when the backup is asked for, and nothing comes of it."""
    control("POST", "/operator/nodes/node-frankfurt-1", {"reachable": False})
    control("POST", "/faults", {"route": "backups.create", "kind": "no_answer"})
    if not start(name).wait():
        raise SystemExit("a run with a silent node ended as if nothing had happened")
    control("DELETE", "/faults")
    control("POST", "/operator/nodes/node-frankfurt-1", {"reachable": True})
    done = {service for service, id in ids.items() if any(b["name"] == name for b in backups(id))}
    if len(done) != len(ids) - 1:
        raise SystemExit(f"one service should have no backup of the silent night; {sorted(done)} have one")
    return done


def a_killed_night(ids: dict[str, str], name: str) -> set[str]:
    """The run is killed while the backups are being made; the platform completes them all the same."""
    control("PUT", "/delays", {"backup": 3600})
    run = start(name)
    all_pending(ids, name)
    for pid in (run.pid, *descendants(run.pid)):
        os.kill(pid, signal.SIGKILL)
    run.wait()
    control("POST", "/clock", {"advance": 3600})
    control("PUT", "/delays", {"backup": 0.3})
    return set(ids)


def descendants(pid: int) -> list[int]:
    """Return the processes that a process has started, and theirs."""
    children = [
        int(child)
        for task in Path(f"/proc/{pid}/task").iterdir()
        for child in (task / "children").read_text().split()
    ]
    return [*children, *(other for child in children for other in descendants(child))]


def left(nights: list[datetime]) -> list[datetime]:
    """Return what the policy keeps of these nights."""
    weeks = {night.isocalendar()[:2]: night for night in nights}  # the last of a week wins
    return sorted({*nights[-DAILY:], *list(weeks.values())[-WEEKLY:]})


def main() -> None:
    """Live through the nights and write down what must be left of them."""
    last = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(hours=1)
    nights = [last - timedelta(days=day) for day in reversed(range(NIGHTS))]
    seeds = [{"name": name, "product": product} for name, product in SERVICES.items()]
    seeds[0]["host"] = "node-frankfurt-1"
    begin = {"clock": (nights[0] - timedelta(hours=2)).isoformat(), "seed": {"services": seeds}}
    ids: dict[str, str] = control("POST", "/reset", begin)["services"]
    special = {FAILED_NIGHT: a_failed_night, SILENT_NIGHT: a_silent_night, KILLED_NIGHT: a_killed_night}
    brought: dict[str, list[datetime]] = {service: [] for service in ids}
    for number, night in enumerate(nights):
        control("POST", "/clock", {"set": night.isoformat()})
        for service in special.get(number, a_quiet_night)(ids, called(night)):
            brought[service].append(night)
    expected = {service: [called(night) for night in left(found)] for service, found in brought.items()}
    expected["shop"] = sorted([*expected["shop"], called(nights[FAILED_NIGHT])])  # keep_failed is 1
    (FOLDER / "expected.json").write_text(json.dumps(expected))


def called(night: datetime) -> str:
    """Return the name of a night's backups."""
    return f"nightly-{night:%Y%m%dT%H%M%SZ}"


main()
