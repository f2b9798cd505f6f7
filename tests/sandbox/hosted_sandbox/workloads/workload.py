# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A simulated container on a node: it starts, runs, crashes, stops and writes a log.

Nothing happens by itself. Each call first runs what is due by its clock, so that
the same calls at the same times always give the same log (spec, section Container state, and rule 3 of
section Applications: an image of another architecture starts and then dies without a clear message).

An image controls its behavior through labels, or through variables, which take precedence:

=========================  =========================  ===================================================
label                      variable                   effect
=========================  =========================  ===================================================
``sandbox.start``          ``SANDBOX_START``          ``fail``: the process ends before it is ready
``sandbox.start_seconds``  ``SANDBOX_START_SECONDS``  how long it takes to be ready
``sandbox.stop_seconds``   ``SANDBOX_STOP_SECONDS``   how long it takes to end when asked to
``sandbox.crash_after``    ``SANDBOX_CRASH_AFTER``    it crashes so many seconds after it was ready
=========================  =========================  ===================================================
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from hosted_sandbox.clock import SECOND, stamp

State = Literal["running", "stopped", "starting", "stopping", "installing", "unknown"]
Clock = Callable[[], int]
"""The time in milliseconds since the epoch."""
Resolver = Callable[[Mapping[str, str]], Mapping[str, str]]
"""Resolves the references in an environment; raises `LookupError` with a message if one is broken."""

START_SECONDS = 0.5
STOP_SECONDS = 0.2
GRACE_SECONDS = 10.0
FOREIGN_SECONDS = 0.3
"""How long an image of another architecture seems to run."""
KEPT_LINES = 1000

_Step = Literal["ready", "crash", "stopped", "killed", "respawn"]


@dataclass(frozen=True)
class Configuration:
    """The configuration of a container, fixed from one start to the next.

    `architecture` is the image's, `node_architecture` that of the node (``amd64`` and so on). `environment`
    holds the image's variables, overridden by the owner's, with unresolved references. `public` tells whether
    the port is published on the Internet.
    """

    command: tuple[str, ...]
    architecture: str
    node_architecture: str
    environment: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    public: bool = False

    def setting(self, name: str) -> str | None:
        """Return the image's setting `name` for the sandbox."""
        return self.environment.get(f"SANDBOX_{name.upper()}", self.labels.get(f"sandbox.{name}"))

    def seconds(self, name: str, default: float) -> float:
        """Return a duration from the image's settings; the default if it is missing or invalid."""
        try:
            asked = float(self.setting(name) or default)
        except ValueError:
            return default
        return asked if 0 <= asked < math.inf else default


class Workload:
    """A simulated container. All methods take effect at the time of `clock`."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._state: State = "stopped"
        self._due: tuple[int, _Step] | None = None
        self._log: list[str] = []
        self._running_since: int | None = None
        self._failure: str | None = None
        self.configuration: Configuration | None = None
        """The configuration of the present container, references resolved; None before the first start."""

    @property
    def state(self) -> State:
        """The state at this moment."""
        self._advance()
        return self._state

    @property
    def failure(self) -> str | None:
        """Why the last process ended by itself, or None if it did not."""
        self._advance()
        return self._failure

    @property
    def uptime_seconds(self) -> int:
        """Whole seconds since the process became ready; 0 when it is not running."""
        self._advance()
        return 0 if self._running_since is None else (self._clock() - self._running_since) // SECOND

    def logs(self, lines: int) -> list[str]:
        """Return the last lines of the log, oldest first, each after its time."""
        self._advance()
        return self._log[-lines:]

    def write(self, text: str) -> None:
        """Add a line to the log, as the platform does when it kills the container."""
        self._advance()
        self._write(self._clock(), text)

    def start(self, configuration: Configuration, resolve: Resolver) -> None:
        """Create a container and start it; kill a running process first.

        References are resolved here, so that they follow changes of their targets. A broken one
        ends the start before there is a process, and `failure` names it.
        """
        self._advance()
        if self._state != "stopped":
            self.kill()
        now = self._clock()
        try:
            environment = dict(resolve(configuration.environment))
        except LookupError as error:
            self._fail(now, f"the container was not created: {error.args[0]}")
            return
        self.configuration = replace(configuration, environment=environment)
        self._spawn(now)

    def stop(self) -> None:
        """Ask the process to end; kill it after the grace period."""
        self._advance()
        if self._state not in ("stopped", "stopping"):
            self._end("stopped", "killed")

    def restart(self) -> None:
        """End the process and start it again in the same container; without a container nothing happens."""
        self._advance()
        if self.configuration is None:
            return
        if self._state == "stopped":
            self._spawn(self._clock())
        else:
            self._end("respawn", "respawn")

    def kill(self) -> None:
        """End the process at once."""
        self._advance()
        if self._state != "stopped":
            self._halt(self._clock(), "killed")

    def to_dict(self) -> dict[str, Any]:
        """Return the complete state as JSON values. Its environment holds secrets."""
        self._advance()
        return {
            "state": self._state,
            "due": list(self._due) if self._due else None,
            "log": list(self._log),
            "running_since": self._running_since,
            "configuration": asdict(self.configuration) if self.configuration else None,
            "failure": self._failure,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], clock: Clock) -> Workload:
        """Restore a state; what is due since then happens at the first call."""
        workload = cls(clock)
        workload._state = data["state"]
        workload._due = (data["due"][0], data["due"][1]) if data["due"] else None
        workload._log = list(data["log"])
        workload._running_since = data["running_since"]
        made_of = data["configuration"]
        if made_of:
            workload.configuration = Configuration(**{**made_of, "command": tuple(made_of["command"])})
        workload._failure = data["failure"]
        return workload

    def _advance(self) -> None:
        """Run every step that is due, each at its own time."""
        while self._due and self._due[0] <= self._clock():
            at, step = self._due
            self._due = None
            match step:
                case "ready":
                    self._become_ready(at)
                case "crash":
                    self._fail(at, "the process exited with code 1")
                case "stopped":
                    self._halt(at, "the process ended")
                case "killed":
                    self._halt(at, "the process did not end in time and was killed")
                case "respawn":
                    self._halt(at, "the process ended")
                    self._spawn(at)

    def _spawn(self, at: int) -> None:
        made_of = self._made_of()
        self._failure = None
        self._write(at, f"starting {' '.join(made_of.command)}")
        if not made_of.command:
            self._fail(at, "the image names no command")
            return
        self._enter("starting", at, made_of.seconds("start_seconds", START_SECONDS), "ready")

    def _become_ready(self, at: int) -> None:
        made_of = self._made_of()
        if made_of.setting("start") == "fail":
            self._fail(at, "the process exited with code 1 before it was ready")
            return
        self._running_since = at
        self._state = "running"
        if made_of.architecture != made_of.node_architecture:
            # Write no helpful log line, now or at the end: users of the platform get none either.
            self._enter("running", at, FOREIGN_SECONDS, "crash")
            return
        self._write(at, "ready")
        if made_of.setting("crash_after") is not None:
            self._enter("running", at, made_of.seconds("crash_after", 0.0), "crash")

    def _end(self, asked: _Step, forced: _Step) -> None:
        now = self._clock()
        self._write(now, "stopping")
        made_of = self.configuration
        seconds = made_of.seconds("stop_seconds", STOP_SECONDS) if made_of else STOP_SECONDS
        step = asked if seconds <= GRACE_SECONDS else forced
        self._enter("stopping", now, min(seconds, GRACE_SECONDS), step)

    def _enter(self, state: State, at: int, seconds: float, then: _Step) -> None:
        self._state = state
        self._due = (at + round(seconds * SECOND), then)
        if state != "running":
            self._running_since = None

    def _fail(self, at: int, why: str) -> None:
        self._halt(at, why)
        self._failure = why

    def _halt(self, at: int, why: str) -> None:
        self._state = "stopped"
        self._due = None
        self._running_since = None
        self._write(at, why)

    def _made_of(self) -> Configuration:
        if self.configuration is None:
            raise ValueError("the workload has no container yet")
        return self.configuration

    def _write(self, at: int, text: str) -> None:
        self._log.append(f"{stamp(at)} {text}")
        del self._log[:-KEPT_LINES]
