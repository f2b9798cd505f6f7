# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Start and control a sandbox from a test.

>>> with Sandbox() as sandbox:
...     requests.get(sandbox.base_url + "/api/resources", headers=sandbox.headers)
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from time import monotonic, sleep  # as they are, also where a test simulates pauses
from types import TracebackType
from typing import Any, Self

import requests
import yaml

SANDBOX = Path(__file__).resolve().parent
START_SECONDS = 120.0
NO_DELAYS = dict.fromkeys(
    ("provision", "start", "stop", "resume", "delete", "backup", "restore", "scan"), 0.0
)
"""Everything that takes time happens at once."""
READING_POSTS = ("apps.quote", "order.quote", "database.query")
"""Routes that change nothing by themselves; a query that writes changes the database's file."""


def _run(run: str | Sequence[str] | Callable[[], object]) -> None:
    if callable(run):
        run()
        return
    command = shlex.split(run) if isinstance(run, str) else run
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        raise AssertionError(f"{shlex.join(command)} ended with status {done.returncode}:\n{done.stdout}")


class SandboxClient:
    """A client of the API and the control port of a running sandbox; a context manager.

    Every method raises RuntimeError with the sandbox's message if the sandbox refuses it.
    """

    def __init__(self) -> None:
        self._session = requests.Session()
        self._session.trust_env = False

    def _take(self, facts: dict[str, Any]) -> None:
        self.base_url: str = facts["base_url"]
        self.control_url: str = facts["control_url"]
        self.control_secret: str = facts["control_secret"]
        self.page_url: str = facts["page_url"]
        self.token: str = facts["tokens"]["full"]
        self.registry_token: str = facts["tokens"]["registry"]
        self.sftp_host: str = facts["sftp"]["host"]
        self.sftp_port: int = facts["sftp"]["port"]
        self.registry: str = facts["registry"]["host"]
        self.headers = {"Authorization": f"Bearer {self.token}"}

    def api(self, method: str, path: str, body: Any = None, **options: Any) -> requests.Response:
        """Call the platform's API with the FULL token, to prepare and check a test."""
        options = {"timeout": 60, **options, "headers": {**self.headers, **options.get("headers", {})}}
        return self._session.request(method, self.base_url + path, json=body, **options)

    def control(self, method: str, path: str, body: Any = None, query: dict[str, str] | None = None) -> Any:
        """Call the control port and return its JSON."""
        answer = self._session.request(
            method, self.control_url + path, json=body, params=query, timeout=60,
            headers={"X-Control-Secret": self.control_secret},
        )  # fmt: skip
        if answer.status_code != 200:
            raise RuntimeError(f"{method} {path}: {answer.text}")
        return answer.json()

    def reset(self, **what: Any) -> Any:
        """Start over with `profile`, `values`, `delays`, `clock`, `seed` (see the README); return the ids."""
        return self.control("POST", "/reset", what)

    def seed(self, document: dict[str, Any] | Path) -> Any:
        """Add the contents of a seed document, or of a YAML file; return the new ids by name."""
        if isinstance(document, Path):
            document = yaml.safe_load(document.read_text(encoding="utf-8"))
        return self.control("POST", "/seed", document)

    def fault(self, route: str, kind: str, **options: Any) -> Any:
        """Inject a fault into a route: its name, `METHOD /path/{template}`, or `*`."""
        return self.control("POST", "/faults", {"route": route, "kind": kind, **options})

    def clear_faults(self) -> None:
        """Remove all faults."""
        self.control("DELETE", "/faults")

    def journal(
        self, route: str | None = None, method: str | None = None, after: int = 0
    ) -> list[dict[str, Any]]:
        """Return the requests so far, oldest first, optionally of one route or method.

        `after` is the number (`n`) of the last request that is already known.
        """
        given = {"route": route, "method": method, "after": str(after) if after else None}
        query = {name: value for name, value in given.items() if value}
        found: list[dict[str, Any]] = self.control("GET", "/journal", query=query)
        return found

    def clear_journal(self) -> None:
        """Delete the requests so far."""
        self.control("DELETE", "/journal")

    def writes(self) -> list[str]:
        """Return the requests so far that could change something, one line each."""
        return [
            f"{line['method']} {line['path']} ({line['route']}): {line['status'] or line['fault']}"
            for line in self.journal()
            if line["method"] != "GET" and line["route"] not in READING_POSTS
        ]

    def assert_idempotent(self, run: str | Sequence[str] | Callable[[], object]) -> None:
        """Run a command or a function twice; fail if the second run changes something on the platform.

        The second run may only read: it makes no request that writes, and leaves all files of services and
        all images as they are. A command must end with status 0 both times.
        """
        _run(run)
        self.clear_journal()
        before = self._contents()
        _run(run)
        after = self._contents()
        changed = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
        problems = self.writes() + [f"content of {path}" for path in changed]
        if problems:
            raise AssertionError("\n  ".join(["the second run changed something:", *problems]))

    def _contents(self) -> dict[str, Any]:
        """Return the files of services, databases included, and of the registry, by path."""
        entries: dict[str, dict[str, Any]] = self.control("GET", "/state")["files"]
        return {path: entry["content"] for path, entry in entries.items() if "content" in entry}

    def ledger(self) -> dict[str, Any]:
        """Return all orders, the cost of each service, balances and notices."""
        found: dict[str, Any] = self.control("GET", "/ledger")
        return found

    def operator(self, path: str, **what: Any) -> Any:
        """Act as the operator, for example `operator(f"services/{id}", status="FAILED", reason="…")`."""
        return self.control("POST", f"/operator/{path}", what)

    def clock(self, **what: Any) -> dict[str, Any]:
        """Read the clock, or `freeze=True`, `advance=seconds`, `set=timestamp`, `rate=number`."""
        found: dict[str, Any] = self.control("POST", "/clock", what)
        return found

    def delays(self, **seconds: float) -> Any:
        """Change how long operations take."""
        return self.control("PUT", "/delays", seconds)

    def profile(self, name: str = "plain", **values: str) -> Any:
        """Change the gap profile, and single values by name (`delay="a second late"`)."""
        return self.control("PUT", "/profile", {"name": name, "values": values})

    def stop(self) -> None:
        """Stop the sandbox; do nothing if it has already stopped."""
        self._session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


class Sandbox(SandboxClient):
    """A sandbox as a child process on free ports.

    `arguments` are more options of its command line, such as `--data DIR` or `--profile terse`.
    """

    def __init__(self, *arguments: str) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory(prefix="sandbox-test-")
        ready = Path(self._folder.name) / "ready.json"
        self._output = (Path(self._folder.name) / "output").open("w+b")
        ports = [f"--{name}=0" for name in ("port", "control-port", "sftp-port", "registry-port")]
        command = [sys.executable, str(SANDBOX), *ports, "--quiet", f"--ready-file={ready}", *arguments]
        self.process = subprocess.Popen(command, stdout=self._output, stderr=subprocess.STDOUT)
        self._take(self._wait(ready))

    def _wait(self, ready: Path) -> dict[str, Any]:
        end = monotonic() + START_SECONDS
        while monotonic() < end and self.process.poll() is None:
            if ready.exists():
                facts: dict[str, Any] = json.loads(ready.read_text())
                return facts
            sleep(0.01)
        output = self.output()
        self.stop()
        raise RuntimeError(f"the sandbox did not start:\n{output}")

    def output(self) -> str:
        """Return the output so far; empty unless something went wrong."""
        self._output.seek(0)
        return self._output.read().decode(errors="replace")

    def stop(self) -> None:
        """Stop the sandbox; do nothing if it has already stopped."""
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(START_SECONDS)
        super().stop()
        self._output.close()
        self._folder.cleanup()
