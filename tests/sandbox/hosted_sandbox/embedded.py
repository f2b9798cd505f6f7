# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the sandbox on a thread of this process, for tests that control it thousands of times.

It is the same server on real sockets. Only calls of the control port bypass the network.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from hosted_sandbox.api.gateway import Answer, replay
from hosted_sandbox.server import Options, Site, assemble, listen, open_world, serve
from hosted_sandbox.testing import START_SECONDS, SandboxClient
from hosted_sandbox.traffic import connections

ANSWER_SECONDS = 60.0
MEMORY = Path("/dev/shm")


def quick_folder() -> str | None:
    """Return a folder in memory, if this machine has one."""
    return str(MEMORY) if os.access(MEMORY, os.W_OK) else None


class Embedded(SandboxClient):
    """A sandbox that runs until it is stopped.

    `on_silence` is called on its thread when a request will never get a response, or never a complete
    one: by then the sandbox has acted, or never will.
    """

    def __init__(self) -> None:
        super().__init__()
        self.on_silence: Callable[[], None] = lambda: None
        self._folder = Path(tempfile.mkdtemp(prefix="sandbox-", dir=quick_folder()))
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._site: Site
        begun: Future[dict[str, Any]] = Future()
        self._thread = threading.Thread(target=self._live, args=[begun], daemon=True, name="sandbox")
        self._thread.start()
        self._take(begun.result(START_SECONDS))

    def _live(self, begun: Future[dict[str, Any]]) -> None:
        options = Options(port=0, control_port=0, sftp_port=0, registry_port=0)
        try:
            world = open_world(options, self._folder)  # Open it here: its database belongs to one thread.
            self._site = assemble(options, world, listen(options))
            self._site.journal.listener = self._written
            self._loop.run_until_complete(
                serve(self._site, self._stop, lambda: begun.set_result(self._site.ready()))
            )
            world.store.close()
        except BaseException as error:
            if begun.done():
                raise
            begun.set_exception(error)
        finally:
            self._loop.close()

    def _written(self, line: dict[str, Any]) -> None:
        if line["fault"] == "no_answer" or (line["fault"] == "drip" and line["answer"]):
            self.on_silence()

    def control(self, method: str, path: str, body: Any = None, query: dict[str, str] | None = None) -> Any:
        """Call the control port and return its JSON."""
        asked = asyncio.run_coroutine_threadsafe(self._ask(method, path, body, query), self._loop)
        answer = asked.result(ANSWER_SECONDS)
        if answer.status != 200:
            raise RuntimeError(f"{method} {path}: {answer.body.decode()}")
        return json.loads(answer.body)

    async def _ask(self, method: str, path: str, body: Any, query: dict[str, str] | None) -> Answer:
        answer = Answer()
        scope = {
            "type": "http", "http_version": "1.1", "scheme": "http", "root_path": "", "headers": [],
            "method": method, "path": path, "query_string": urlencode(query or {}).encode(),
        }  # fmt: skip
        sent = b"" if body is None else json.dumps(body).encode()
        await self._site.control(scope, replay(sent), answer.take)
        return answer

    def stop(self) -> None:
        """Stop it; do nothing if it has already stopped."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(connections.reset_all)
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(START_SECONDS)
        super().stop()
        shutil.rmtree(self._folder, ignore_errors=True)
