# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Docker's registry, and a platform whose images are in it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import requests

from hosted_sandbox.testing import Sandbox
from integration.proxy_server import ProxyServer
from integration.proxy_server import running as proxy_running

PROGRAMS = ("docker-registry", "skopeo")
LOGIN = {"project": "acme", "username": "anna", "secret": "s3cret"}
HASHED = "anna:$2y$05$abcdefghijklmnopqrstuuLK7U1u6pVRmL7L1BBM2aS35PSZnDXlK\n"
START_SECONDS = 300.0


class Docker(NamedTuple):
    """A registry that runs, by its address."""

    host: str

    @property
    def login(self) -> dict[str, str]:
        return {"host": self.host, **LOGIN}

    def inspect(self, reference: str) -> dict[str, Any]:
        """Return what skopeo reads of an image."""
        image = f"docker://{self.host}/acme/shop{reference}"
        login = ["--creds", f"{LOGIN['username']}:{LOGIN['secret']}", "--tls-verify=false"]
        done = subprocess.run(
            ["skopeo", "inspect", *login, image], capture_output=True, text=True, check=True
        )
        found: dict[str, Any] = json.loads(done.stdout)
        return found


@contextmanager
def serving(folder: Path, **environment: str) -> Iterator[Docker]:
    """Run the registry over a folder, with a login."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    (folder / "htpasswd").write_text(HASHED)
    (folder / "config.yml").write_text(
        "version: 0.1\nlog: {level: error, accesslog: {disabled: true}}\n"
        f"storage: {{filesystem: {{rootdirectory: {folder / 'storage'}}}}}\n"
        f"http: {{addr: '127.0.0.1:{port}'}}\n"
        f"auth: {{htpasswd: {{realm: registry, path: {folder / 'htpasswd'}}}}}\n"
    )
    process = subprocess.Popen(
        ["docker-registry", "serve", str(folder / "config.yml")],
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        await_answer(process, port)
        yield Docker(f"127.0.0.1:{port}")
    finally:
        process.terminate()
        process.wait()


def await_answer(process: subprocess.Popen[bytes], port: int) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        try:
            requests.get(f"http://127.0.0.1:{port}/v2/", timeout=5)
        except requests.ConnectionError:
            time.sleep(0.05)
        else:
            return
    raise RuntimeError("the registry did not start")


@contextmanager
def platform(sandbox: Sandbox, docker: Docker) -> Iterator[str]:
    """Give the address of a platform whose images are in that registry."""

    def change(content: bytes) -> bytes:
        answer = json.loads(content)
        return json.dumps(docker.login if "secret" in answer else answer).encode()

    with proxy_running(ProxyServer(sandbox, change=change)) as server:
        yield server.url
