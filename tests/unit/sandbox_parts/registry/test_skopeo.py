# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Push, inspect and pull with skopeo, a client that was written without this server in mind."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from hosted_sandbox.registry import Blobs, Image, scan
from hosted_sandbox.registry.images import build_image
from hosted_sandbox.registry.scan import default_table
from hosted_sandbox.testing import SANDBOX

if TYPE_CHECKING:
    from .conftest import Running

pytestmark = pytest.mark.skipif(shutil.which("skopeo") is None, reason="skopeo is not installed")

FILES = {"app/server": b"#!/bin/sh\nexec sleep 1000\n", "app/data": bytes(range(256)) * 4096}


@pytest.fixture
def skopeo(tmp_path: Path) -> Any:
    """Run skopeo with a policy and a home of its own; gives its output."""
    policy = tmp_path / "policy.json"
    policy.write_text('{"default": [{"type": "insecureAcceptAnything"}]}')

    def run(*arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        command = ["skopeo", "--policy", str(policy), *arguments]
        environment = os.environ | {"HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path)}
        return subprocess.run(command, env=environment, check=check, capture_output=True, text=True)

    return run


def push(skopeo: Any, source: str, target: str, *options: str, **settings: Any) -> Any:
    login = ("--dest-tls-verify=false", "--dest-creds", "anna:s3cret")
    return skopeo("copy", *options, *login, source, f"docker://{target}", **settings)


def pull(skopeo: Any, source: str, target: str, *options: str) -> None:
    login = ("--src-tls-verify=false", "--src-creds", "anna:s3cret")
    skopeo("copy", *options, *login, f"docker://{source}", target)


def inspect(skopeo: Any, image: str, *options: str) -> Any:
    login = ("--tls-verify=false", "--creds", "anna:s3cret")
    return json.loads(skopeo("inspect", *options, *login, f"docker://{image}").stdout)


@pytest.mark.parametrize("compression", ["gzip", "zstd"])
@pytest.mark.parametrize("form", ["archive", "layout"])
def test_round_trip(registry: Running, skopeo: Any, tmp_path: Path, compression: Any, form: str) -> None:
    source = tmp_path / ("shop.tar" if form == "archive" else "shop")
    digest = build_image(
        source, FILES, compression=compression, packages=[("bash", "5.2")], labels={"a": "b"}
    )
    kind = "oci-archive" if form == "archive" else "oci"
    push(skopeo, f"{kind}:{source}:latest", f"{registry.host}/anna/shop:v1")

    seen = inspect(skopeo, f"{registry.host}/anna/shop:v1")
    assert seen["Digest"] == digest
    assert (seen["Architecture"], seen["RepoTags"], seen["Labels"]) == ("amd64", ["v1"], {"a": "b"})
    assert registry.pushes == [("anna/shop", digest)]

    pull(skopeo, f"{registry.host}/anna/shop@{digest}", f"oci:{tmp_path / 'back'}:latest")
    back = Blobs(tmp_path / "back/blobs")
    stored = registry.store.repository("anna", "shop").blobs
    assert back.digests() == stored.digests()
    assert all(back.read(name) == stored.read(name) for name in back.digests())
    assert Image(back, digest).files(lambda _: True).items() >= FILES.items()


def test_index(registry: Running, skopeo: Any, tmp_path: Path) -> None:
    digest = build_image(tmp_path / "shop.tar", FILES, architecture=["amd64", "arm64"])
    push(skopeo, f"oci-archive:{tmp_path / 'shop.tar'}", f"{registry.host}/anna/shop:v1", "--all")
    assert registry.pushes[-1] == ("anna/shop", digest)
    seen = inspect(skopeo, f"{registry.host}/anna/shop:v1", "--raw")
    assert [entry["platform"]["architecture"] for entry in seen["manifests"]] == ["amd64", "arm64"]
    pull(skopeo, f"{registry.host}/anna/shop:v1", f"oci:{tmp_path / 'back'}:latest", "--all")
    assert Image(Blobs(tmp_path / "back/blobs"), digest).platforms == ("linux/amd64", "linux/arm64")


def test_docker_form(registry: Running, skopeo: Any, tmp_path: Path) -> None:
    build_image(tmp_path / "shop.tar", FILES, packages=[("runc", "1.0.0")])
    source = f"oci-archive:{tmp_path / 'shop.tar'}"
    push(skopeo, source, f"{registry.host}/anna/shop:v1", "--format", "v2s2")
    image = registry.store.repository("anna", "shop").image(registry.pushes[-1][1])
    assert image.manifest.media_type == "application/vnd.docker.distribution.manifest.v2+json"
    assert scan(image, default_table()).status == "BLOCKED"


def test_second_push_and_mount_send_no_layer_again(registry: Running, skopeo: Any, tmp_path: Path) -> None:
    build_image(tmp_path / "shop.tar", FILES)
    source = f"oci-archive:{tmp_path / 'shop.tar'}"
    for target in ("shop:v1", "shop:v2", "other:v1"):
        push(skopeo, source, f"{registry.host}/anna/{target}")
    assert [repository for repository, __ in registry.pushes] == ["anna/shop", "anna/shop", "anna/other"]
    assert len({digest for __, digest in registry.pushes}) == 1


def test_token_login(serve: Any, skopeo: Any, tmp_path: Path) -> None:
    with serve(login="token") as registry:
        digest = build_image(tmp_path / "shop.tar", FILES)
        push(skopeo, f"oci-archive:{tmp_path / 'shop.tar'}", f"{registry.host}/anna/shop:v1")
        assert inspect(skopeo, f"{registry.host}/anna/shop:v1")["Digest"] == digest


def test_an_archive_that_is_cut_short_is_never_half_there(
    registry: Running, skopeo: Any, tmp_path: Path
) -> None:
    build_image(tmp_path / "shop", FILES)
    layer = max((tmp_path / "shop/blobs/sha256").iterdir(), key=lambda path: path.stat().st_size)
    layer.write_bytes(layer.read_bytes()[:-10])
    refusal = push(skopeo, f"oci:{tmp_path / 'shop'}:latest", f"{registry.host}/anna/shop:v1", check=False)
    assert refusal.returncode != 0
    assert registry.pushes == []
    with registry.client() as client:
        assert client.get("/v2/anna/shop/manifests/v1").status_code == 404


SERVER = """
import sys
from pathlib import Path
import uvicorn
from hosted_sandbox.registry import AccountSpace, create_registry
app = create_registry(Path(sys.argv[1]), lambda *_: AccountSpace("anna"), lambda *_: None)
uvicorn.run(app, port=int(sys.argv[2]), log_level="error")
"""


def test_nothing_is_lost_when_the_server_is_killed(skopeo: Any, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    host, storage = f"127.0.0.1:{port}", tmp_path / "registry"
    digest = build_image(tmp_path / "shop.tar", FILES)

    def run() -> subprocess.Popen[bytes]:
        server = subprocess.Popen([sys.executable, "-c", SERVER, str(storage), str(port)], cwd=SANDBOX.parent)
        while server.poll() is None:
            try:
                httpx.get(f"http://{host}/v2/")
                return server
            except httpx.TransportError:
                time.sleep(0.05)
        raise AssertionError("the registry did not start")

    def kill(server: subprocess.Popen[bytes]) -> None:
        server.send_signal(signal.SIGKILL)
        server.wait()

    server = run()
    try:
        push(skopeo, f"oci-archive:{tmp_path / 'shop.tar'}", f"{host}/anna/shop:v1")
        location = httpx.post(f"http://{host}/v2/anna/shop/blobs/uploads/", auth=("anna", "x")).headers[
            "Location"
        ]
        httpx.patch(f"http://{host}{location}", content=b"begun", auth=("anna", "x"))
        kill(server)
        server = run()
        assert inspect(skopeo, f"{host}/anna/shop:v1")["Digest"] == digest
        status = httpx.get(f"http://{host}{location}", auth=("anna", "x"))
        assert status.headers["Range"] == "0-4"
    finally:
        kill(server)
