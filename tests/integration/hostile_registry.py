# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An image registry that means no good, and a platform whose images are in it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from hosted_sandbox.testing import Sandbox
from integration.proxy_server import ProxyServer, running

SECRET = "registry-s3cret-of-anna"
LOGIN = {"project": "acme", "username": "anna", "secret": SECRET}
INDEX = "application/vnd.oci.image.index.v1+json"


class Answer(NamedTuple):
    """What is answered to a request."""

    status: int = 200
    headers: Mapping[str, str] = {}
    body: bytes = b""


class HostileRegistry(ThreadingHTTPServer):
    """Keeps manifests, takes every part over, and answers otherwise where `answer` says so."""

    daemon_threads = True

    def __init__(self, answer: Callable[[str, str, str], Answer | None] = lambda *asked: None) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.host = f"127.0.0.1:{self.server_address[1]}"
        self.manifests: dict[str, bytes] = {}
        self.copied: set[str] = set()
        self.asked: list[tuple[str, str, str]] = []
        """Method, path and `Authorization` of each request."""
        self.answer = answer

    def keep(self, manifest: Mapping[str, Any] | bytes) -> dict[str, Any]:
        """Keep a manifest; return what refers to it."""
        content = manifest if isinstance(manifest, bytes) else json.dumps(manifest).encode()
        digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
        self.manifests[digest] = content
        return {"mediaType": INDEX, "digest": digest, "size": len(content)}

    def respond(self, method: str, path: str, authorization: str) -> Answer:
        """Return the answer to a request."""
        self.asked.append((method, path, authorization))
        answer = self.answer(method, path, authorization)
        if answer is not None or path == "/v2/":
            return answer or Answer()
        name = path.rpartition("/")[2]
        if method in ("POST", "PUT"):
            self.copied.add(name)
            return Answer(201)
        here = "/manifests/" in path and ("-copy/" not in path or name in self.copied)
        found = self.manifests.get(name) if here else None
        return Answer(404) if found is None else Answer(200, {"Content-Type": INDEX}, found)


class Handler(BaseHTTPRequestHandler):
    """One request."""

    def log_message(self, *arguments: Any) -> None:
        """Say nothing."""

    def handle_one(self) -> None:
        """Answer it."""
        assert isinstance(self.server, HostileRegistry)
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        status, headers, body = self.server.respond(
            self.command, self.path, self.headers.get("Authorization", "")
        )
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        with suppress(OSError):  # whoever asked has had enough
            self.end_headers()
            self.wfile.write(b"" if self.command == "HEAD" else body)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = handle_one  # noqa: N815 - the library's


@contextmanager
def hostile(
    sandbox: Sandbox, registry: HostileRegistry, host: str = "", digest: str = ""
) -> Iterator[dict[str, str]]:
    """Give the environment of a platform that names this registry, and this digest as what runs."""

    def change(content: bytes) -> bytes:
        if b'"secret"' in content:
            return json.dumps({"host": host or registry.host, **LOGIN}).encode()
        runs = app_digest(content)
        return content.replace(runs.encode(), digest.encode()) if digest and runs else content

    with ExitStack() as stack:
        stack.enter_context(running(registry))
        platform = stack.enter_context(running(ProxyServer(sandbox, change=change)))
        yield {"HOSTED_SERVICES_URL": platform.url}


def app_digest(content: bytes) -> str:
    """Return the digest that an answer of the platform names; empty if it names none."""
    _before, colon, after = content.partition(b"sha256:")
    return f"sha256:{after[:64].decode()}" if colon else ""
