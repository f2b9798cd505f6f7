# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the event source: in this process with a queue, or in one of its own that can be killed."""

from __future__ import annotations

import asyncio
import json
import os
import runpy
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from hosted_sandbox.testing import Sandbox
from integration.warm import PLACE, WHOLE

COLLECTION = Path(WHOLE, PLACE)
PLUGIN = COLLECTION / "extensions" / "eda" / "plugins" / "event_source" / "account.py"
SECONDS = 600
"""How long a test waits for what must happen."""

LOG, EVENTS = "source.log", "events.jsonl"

CHILD = """\
import asyncio, json, os, runpy, sys

class Queue:
    def __init__(self, path):
        self.file = open(path, "a")

    async def put(self, event):
        self.file.write(json.dumps(event) + "\\n")
        self.file.flush()
        os.fsync(self.file.fileno())

plugin, path, arguments = sys.argv[1:]
asyncio.run(runpy.run_path(plugin)["main"](Queue(path), json.loads(arguments)))
"""
"""Stands in for ansible-rulebook: takes the plugin by its path, and puts events into a file, on disk."""


def arguments(sandbox: Sandbox, folder: Path, **more: Any) -> dict[str, Any]:
    """Return arguments with which the source looks often."""
    return {
        "base_url": sandbox.base_url,
        "token": sandbox.token,
        "state_file": str(folder / "state.json"),
        "min_interval": 0.05,
        "max_interval": 0.1,
        "backup_interval": 1,
        "drift_interval": 1,
        **more,
    }


class Watched:
    """A source that runs in this process, and the events that it has sent."""

    def __init__(self, queue: asyncio.Queue[dict[str, Any]]) -> None:
        self.queue = queue
        self.events: list[dict[str, Any]] = []

    async def until(self, type: str, **facts: Any) -> dict[str, Any]:
        """Wait for an event of a type with these facts, and return it. Keep all that come."""
        while True:
            event = await asyncio.wait_for(self.queue.get(), SECONDS)
            self.events.append(event)
            if event["type"] == type and facts.items() <= event.items():
                return event

    async def polls(self, sandbox: Sandbox, count: int = 3) -> list[dict[str, Any]]:
        """Wait until the source has polled a number of times, and return the events that came."""
        before = len(self.events)
        sandbox.clear_journal()
        await wait_until(lambda: len(sandbox.journal("apps.list")) > count)
        while not self.queue.empty():
            self.events.append(self.queue.get_nowait())
        return self.events[before:]


async def wait_until(condition: Callable[[], object]) -> None:
    """Wait until something is so.

    :raises TimeoutError: if that takes too long.
    """
    end = time.monotonic() + SECONDS
    while not await asyncio.to_thread(condition):
        if time.monotonic() > end:
            raise TimeoutError
        await asyncio.sleep(0.02)


def run_source(given: dict[str, Any], use: Callable[[Watched], Coroutine[Any, Any, None]]) -> Watched:
    """Run the source as ansible-rulebook does while ``use`` watches it, and cancel it then."""

    async def both() -> Watched:
        watched = Watched(asyncio.Queue())
        source = asyncio.create_task(runpy.run_path(str(PLUGIN))["main"](watched.queue, dict(given)))
        watching = asyncio.create_task(use(watched))
        done, _pending = await asyncio.wait([source, watching], return_when=asyncio.FIRST_COMPLETED)
        if source in done:
            watching.cancel()
            source.result()
            raise AssertionError("the source ended")
        source.cancel()
        await asyncio.wait([source])
        watching.result()
        return watched

    return asyncio.run(both())


class Child:
    """A source in a process of its own."""

    def __init__(self, folder: Path, given: dict[str, Any]) -> None:
        # ansible-rulebook does not tell Python where collections are; the plugin finds its own by itself.
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        with (folder / LOG).open("a") as log:
            command = [sys.executable, "-c", CHILD, str(PLUGIN), str(folder / EVENTS), json.dumps(given)]
            self.process = subprocess.Popen(command, env=environment, cwd=folder, stdout=log, stderr=log)

    def kill(self) -> None:
        """End it as a power cut does."""
        self.process.kill()
        self.process.wait(SECONDS)


def recorded(folder: Path) -> list[dict[str, Any]]:
    """Return what the sources that ran in a folder have put on their queues, oldest first."""
    path = folder / EVENTS
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
