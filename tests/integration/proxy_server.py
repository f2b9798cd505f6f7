# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A server between the collection and a sandbox, which refuses calls or changes answers as a test wants."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeVar

import requests

from hosted_sandbox.testing import SandboxClient

Refusal = Callable[[str, str, str, str], bytes | None]
"""Takes method, path, the token's header and the body of a call; returns the body of a refusal, or none."""

Asked = Callable[[str, str], tuple[str, str]]
"""Takes path and body of a call, and returns those that the platform gets."""

S = TypeVar("S", bound=socketserver.BaseServer)


class ProxyServer(ThreadingHTTPServer):
    """The server. `change` gets every answer of success as bytes; `refusal` is the status of refusals, and
    `route` gets the path of every call."""

    daemon_threads = True

    def __init__(  # noqa: PLR0917 - they go by their names
        self,
        sandbox: SandboxClient,
        refuse: Refusal = lambda method, path, authorization, body: None,
        change: Callable[[bytes], bytes] = lambda content: content,
        refusal: int = 400,
        route: Callable[[str], str] = lambda path: path,
        asked: Asked = lambda path, body: (path, body),
    ) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.behind = sandbox.base_url
        self.refuse = refuse
        self.change = change
        self.refusal = refusal
        self.route = route
        self.asked = asked

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def carried_out(self, method: str, path: str) -> None:
        """Do something once the platform has answered a call: what a test wants."""


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *arguments: Any) -> None:
        """Say nothing."""

    def answer(self) -> None:
        """Refusal the call, or pass it on."""
        assert isinstance(self.server, ProxyServer)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        status = self.server.refusal
        content = self.server.refuse(self.command, self.path, self.headers["Authorization"], body)
        if content is None:
            path, body = self.server.asked(self.server.route(self.path), body)
            url, headers = self.server.behind + path, dict(self.headers)
            headers.pop("Content-Length", None)
            reply = requests.request(self.command, url, headers=headers, data=body.encode(), timeout=60)
            status, content = reply.status_code, self.server.change(reply.content)
            self.server.carried_out(self.command, self.path)
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer  # noqa: N815 - names that the library wants


@contextmanager
def running(server: S) -> Iterator[S]:
    with server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
