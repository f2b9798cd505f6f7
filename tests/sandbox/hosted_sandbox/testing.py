# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Start a sandbox from a test, and steer it.

>>> with Sandbox() as sandbox:
...     requests.get(sandbox.base_url + "/api/resources", headers=sandbox.headers)
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import requests

SANDBOX = Path(__file__).resolve().parent
START_SECONDS = 120.0


class Steering:
    """What can be done to a sandbox that runs; a context manager.

    Every method raises RuntimeError with the sandbox's own words when it is refused.
    """

    def __init__(self) -> None:
        self._session = requests.Session()
        self._session.trust_env = False

    def _take(self, facts: dict[str, Any]) -> None:
        self.base_url: str = facts["base_url"]
        self.control_url: str = facts["control_url"]
        self.token: str = facts["tokens"]["full"]
        self.registry_token: str = facts["tokens"]["registry"]
        self.sftp_host: str = facts["sftp"]["host"]
        self.sftp_port: int = facts["sftp"]["port"]
        self.registry: str = facts["registry"]["host"]
        self.headers = {"Authorization": f"Bearer {self.token}"}

    def api(self, method: str, path: str, body: Any = None, **options: Any) -> requests.Response:
        """One call of the platform's API with the FULL token, for setting up and looking at tests."""
        options = {"timeout": 60, **options, "headers": {**self.headers, **options.get("headers", {})}}
        return self._session.request(method, self.base_url + path, json=body, **options)

    def control(self, method: str, path: str, body: Any = None, query: dict[str, str] | None = None) -> Any:
        """One call of the control port; answers its JSON."""
        answer = self._session.request(method, self.control_url + path, json=body, params=query, timeout=60)
        if answer.status_code != 200:
            raise RuntimeError(f"{method} {path}: {answer.text}")
        return answer.json()

    def reset(self, **what: Any) -> Any:
        """Begin anew; `profile`, `fill`, `delays` and `seed` as in the README. Answers the seed's ids."""
        return self.control("POST", "/reset", what)

    def seed(self, document: dict[str, Any]) -> Any:
        """Add what a seed document describes; answers the ids given, by name."""
        return self.control("POST", "/seed", document)

    def fault(self, route: str, kind: str, **options: Any) -> Any:
        """Set a fault on a route: its name, `METHOD /path/{template}`, or `*`."""
        return self.control("POST", "/faults", {"route": route, "kind": kind, **options})

    def clear_faults(self) -> None:
        """Take all faults away."""
        self.control("DELETE", "/faults")

    def journal(self, route: str | None = None, method: str | None = None) -> list[dict[str, Any]]:
        """The requests so far, oldest first, narrowed to a route and a method."""
        query = {name: value for name, value in (("route", route), ("method", method)) if value}
        found: list[dict[str, Any]] = self.control("GET", "/journal", query=query)
        return found

    def clear_journal(self) -> None:
        """Forget the requests so far."""
        self.control("DELETE", "/journal")

    def ledger(self) -> dict[str, Any]:
        """All orders, what each service cost, balances, notices."""
        found: dict[str, Any] = self.control("GET", "/ledger")
        return found

    def operator(self, path: str, **what: Any) -> Any:
        """An act of the operator, for example `operator(f"services/{id}", status="FAILED", reason="…")`."""
        return self.control("POST", f"/operator/{path}", what)

    def clock(self, **what: Any) -> dict[str, Any]:
        """Read the clock, or `freeze=True`, `advance=seconds`, `set=timestamp`, `rate=number`."""
        found: dict[str, Any] = self.control("POST", "/clock", what)
        return found

    def delays(self, **seconds: float) -> Any:
        """Change how long things take."""
        return self.control("PUT", "/delays", seconds)

    def profile(self, name: str = "plain", **fill: str) -> Any:
        """Change the gap profile, and single fillings by name (`{"answer.delete": "null"}` as keywords)."""
        return self.control("PUT", "/profile", {"name": name, "fill": fill})

    def stop(self) -> None:
        """Stop the sandbox; does nothing when it has stopped already."""
        self._session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


class Sandbox(Steering):
    """A sandbox as a child process on free ports.

    `arguments` are further options of its command line, such as `--data DIR` or `--profile terse`.
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
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end and self.process.poll() is None:
            if ready.exists():
                facts: dict[str, Any] = json.loads(ready.read_text())
                return facts
            time.sleep(0.01)
        output = self.output()
        self.stop()
        raise RuntimeError(f"the sandbox did not start:\n{output}")

    def output(self) -> str:
        """What the sandbox printed so far; empty unless something went wrong."""
        self._output.seek(0)
        return self._output.read().decode(errors="replace")

    def stop(self) -> None:
        """Stop the sandbox; does nothing when it has stopped already."""
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(START_SECONDS)
        super().stop()
        self._output.close()
        self._folder.cleanup()
