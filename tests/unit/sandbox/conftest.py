# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One sandbox for all of these tests, empty and without delays at the beginning of each."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from hosted_sandbox.registry.images import build_image
from hosted_sandbox.testing import NO_DELAYS, Sandbox

SIZE = {"cpuCores": 2, "ramGb": 4, "storageGb": 20}

Push = Callable[..., str]
Order = Callable[..., str]


def pytest_configure(config: pytest.Config) -> None:
    """The mark that ties a test to the rules it holds."""
    config.addinivalue_line("markers", "rule(*names): the rules of docs/sandbox/rules.md that a test holds")


@pytest.fixture(scope="session")
def server() -> Iterator[Sandbox]:
    """The process behind all tests; whatever it prints is an error of its own."""
    with Sandbox() as sandbox:
        yield sandbox
        assert sandbox.output() == ""


@pytest.fixture
def sandbox(server: Sandbox) -> Sandbox:
    """A fresh world."""
    server.reset(profile="plain", delays=NO_DELAYS)
    return server


@pytest.fixture
def order(sandbox: Sandbox) -> Order:
    """Order something and get its id."""

    def give(product: str = "minecraft", name: str = "mc", host: str = "node-paris-1", **more: Any) -> str:
        body = {"productSlug": product, "hostId": host, "dimensions": SIZE, "name": name, **more}
        answer = sandbox.api("POST", "/api/order", body)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["instanceId"])

    return give


@pytest.fixture
def push(sandbox: Sandbox, tmp_path: Path) -> Push:
    """Build an image, push it to an application, declare it as a release, and get its digest."""

    def give(slug: str, tag: str, declare: bool = True, **image: Any) -> str:
        layout = tmp_path / f"{slug}-{tag}"
        digest = build_image(layout, {"app/tag": tag.encode()}, **image)
        upload(sandbox, layout, digest, slug, tag)
        if declare:
            answer = sandbox.api("POST", f"/api/apps/{slug}/releases", {"tag": tag, "digest": digest})
            assert answer.status_code == 201, answer.text
        return digest

    return give


def upload(sandbox: Sandbox, layout: Path, digest: str, slug: str, tag: str) -> None:
    """Push an OCI layout as every registry client does: blobs, then the manifest."""
    login = sandbox.api("GET", "/api/registry/credentials").json()
    host = f"http://{login['host']}"
    base = f"{host}/v2/{login['project']}/{slug}"
    with requests.Session() as session:
        session.auth = (login["username"], login["secret"])
        for blob in (layout / "blobs" / "sha256").iterdir():
            begun = session.post(f"{base}/blobs/uploads/")
            assert begun.status_code == 202, begun.text
            place = requests.compat.urljoin(host, begun.headers["Location"])
            query = {"digest": f"sha256:{blob.name}"}
            assert session.put(place, params=query, data=blob.read_bytes()).status_code == 201
        body = (layout / "blobs" / "sha256" / digest.partition(":")[2]).read_bytes()
        kind = {"Content-Type": json.loads(body)["mediaType"]}
        sent = session.put(f"{base}/manifests/{tag}", data=body, headers=kind)
        assert sent.status_code == 201, sent.text
