# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A web server that responds as a test says, in place of a workload."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Responder(ThreadingHTTPServer):
    """Responds to each request with what ``answer`` says; ``requests`` are their lines and headers."""

    def __init__(self, answer: Callable[[int], int]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer = answer
        self.requests: list[tuple[str, dict[str, str]]] = []

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.server_port}"

    @property
    def url(self) -> str:
        return f"http://{self.address}/health"


class Handler(BaseHTTPRequestHandler):
    """Notes a request and responds."""

    server: Responder

    def do_GET(self) -> None:
        """Respond with the status of this request, by its number from 1 on."""
        self.server.requests.append((self.path, dict(self.headers)))
        status = self.server.answer(len(self.server.requests))
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "/elsewhere")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


@contextmanager
def responding(answer: Callable[[int], int]) -> Iterator[Responder]:
    with Responder(answer) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()
