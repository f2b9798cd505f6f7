# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Indexes of images, as docker buildx pushes them."""

from __future__ import annotations

import json
from pathlib import Path

import requests

from ansible_collections.hosted.services.plugins.module_utils._resources.app_deploy import APP_DEPLOY
from ansible_collections.hosted.services.plugins.module_utils._resources.app_info import APP_INFO
from ansible_collections.hosted.services.plugins.module_utils._resources.app_release import APP_RELEASE
from hosted_sandbox.registry.images import build_image
from unit.plugins.apps import Platform, plain, server

__all__ = ["plain", "server"]
DECLARE, DEPLOY = "releases.declare", "apps.deploy"


def push_index(platform: Platform, folder: Path, tag: str) -> str:
    """Push an index of images for two platforms, as docker buildx does, and return its digest."""
    digest = build_image(folder / tag, {"app/server": tag.encode()}, architecture=["amd64", "arm64"])
    login = platform.sandbox.api("GET", "/api/registry/credentials").json()
    name = f"http://{login['host']}/v2/{login['project']}/shop"
    send(folder / tag, name, (login["username"], login["secret"]), digest, tag)
    return digest


def send(layout: Path, name: str, auth: tuple[str, str], digest: str, tag: str) -> None:
    """Push what an index refers to, and the index under its tag."""
    session = requests.Session()
    session.auth = auth
    blobs = layout / "blobs" / "sha256"
    for blob in blobs.iterdir():
        answer = session.post(f"{name}/blobs/uploads/?digest=sha256:{blob.name}", data=blob.read_bytes())
        assert answer.status_code == 201
    index = json.loads((blobs / digest.partition(":")[2]).read_bytes())
    for part in [*index["manifests"], {"digest": digest, "mediaType": index["mediaType"]}]:
        body = (blobs / part["digest"].partition(":")[2]).read_bytes()
        reference = tag if part["digest"] == digest else part["digest"]
        headers = {"Content-Type": part["mediaType"]}
        answer = session.put(f"{name}/manifests/{reference}", data=body, headers=headers)
        assert answer.status_code == 201, answer.text


def test_an_index_is_deployed_once(plain: Platform, tmp_path: Path) -> None:
    first, second = (push_index(plain, tmp_path, tag) for tag in ("one", "two"))
    for tag, digest in (("one", first), ("two", second)):
        release = plain.run(APP_RELEASE, tag=tag, digest=digest)
        assert release["changed"] and not release.get("failed"), release.get("msg")
        assert not plain.run(APP_RELEASE, tag=tag, digest=digest)["changed"]
        deployed = plain.run(APP_DEPLOY, tag=tag, digest=digest)
        assert deployed["changed"] and not deployed.get("failed"), deployed.get("msg")
        again = plain.run(APP_DEPLOY, tag=tag, digest=digest)
        assert not again["changed"] and not again.get("failed"), again.get("msg")
    assert plain.writes(DECLARE) == [201, 201] and plain.writes(DEPLOY) == [200, 200]
    app = plain.run(APP_INFO, include=["releases"])["apps"][0]
    assert app["previous_release"]["tag"] == "one"
    assert [release["tag"] for release in app["releases"] if release["in_service"]] == ["two"]
    assert plain.run(APP_DEPLOY, tag="one")["changed"]
    assert plain.run(APP_INFO, include=["releases"])["apps"][0]["previous_release"] is not None
