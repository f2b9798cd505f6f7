# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A registry on a port of its own, and a client that is logged in to it."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest
import uvicorn
from starlette.types import ASGIApp

from hosted_sandbox.registry import AccountSpace, RegistryStore, create_registry
from hosted_sandbox.registry.access import Login

SECRETS = {("anna", "s3cret"): AccountSpace("anna"), ("ben", "pass:word"): AccountSpace("ben")}


@dataclass
class Running:
    """A registry that answers, with what it was told and where it keeps its content."""

    storage: Path
    port: int
    pushes: list[tuple[str, str]] = field(default_factory=list)
    secrets: dict[tuple[str, str], AccountSpace] = field(default_factory=lambda: dict(SECRETS))

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def store(self) -> RegistryStore:
        return RegistryStore(self.storage)

    def client(self, username: str = "anna", secret: str = "s3cret") -> httpx.Client:
        return httpx.Client(base_url=f"http://{self.host}", auth=(username, secret))


@contextmanager
def serving(
    storage: Path,
    login: Login = "basic",
    token_seconds: float = 300.0,
    around: Callable[[ASGIApp], ASGIApp] = lambda app: app,
) -> Iterator[Running]:
    """Serve a registry from a thread until the block ends, with ``around`` between it and its callers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        registry = Running(storage, listener.getsockname()[1])
        app = create_registry(
            storage,
            lambda username, secret: registry.secrets.get((username, secret)),
            lambda repository, digest: registry.pushes.append((repository, digest)),
            login=login,
            token_seconds=token_seconds,
        )
        server = uvicorn.Server(uvicorn.Config(around(app), log_level="error", lifespan="off"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        while not server.started:
            time.sleep(0.01)
        try:
            yield registry
        finally:
            server.should_exit = True
            thread.join()


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[Running]:
    with serving(tmp_path / "registry") as running:
        yield running


@pytest.fixture
def client(registry: Running) -> Iterator[httpx.Client]:
    with registry.client() as client:
        yield client


@pytest.fixture
def serve(tmp_path: Path) -> Callable[..., object]:
    """Serve with other settings: ``with serve(login="token") as registry``."""

    def start(login: Login = "basic", token_seconds: float = 300.0) -> object:
        return serving(tmp_path / "registry", login, token_seconds)

    return start
