# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Images: whole, for the right platform, sent once, and never half there."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.app_image import APP_IMAGE
from ansible_collections.hosted.services.plugins.module_utils._resources.app_release import APP_RELEASE
from hosted_sandbox.registry.images import build_image
from unit.plugins.apps import Platform, plain, server

__all__ = ["plain", "server"]
PACKAGES = [("zlib", "1:1.3")]


def build(path: Path, content: str = "1", **made_of: Any) -> str:
    """Build an image with a layer of packages below one of its own."""
    made_of.setdefault("packages", PACKAGES)
    return build_image(path, {"app/server": content.encode()}, **made_of)


def skopeo(platform: Platform, *arguments: str) -> str:
    """Run skopeo with the account's registry login."""
    login = platform.sandbox.api("GET", "/api/registry/credentials").json()
    image = f"docker://{login['host']}/{login['project']}/shop"
    command = [
        "skopeo",
        *arguments,
        "--creds",
        f"{login['username']}:{login['secret']}",
        "--tls-verify=false",
    ]
    done = subprocess.run(
        [part.replace("IMAGE", image) for part in command], capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.mark.skipif(shutil.which("skopeo") is None, reason="skopeo is not installed")
@pytest.mark.parametrize("compression", ["gzip", "zstd", None])
@pytest.mark.parametrize("dest", ["image.tar", "layout"])
def test_skopeo_reads_back_the_digest_that_was_pushed_and_declared(
    plain: Platform, tmp_path: Path, dest: str, compression: Any
) -> None:
    """From an archive and a layout, with each compression."""
    digest = build(tmp_path / dest, compression=compression)
    pushed = plain.run(APP_IMAGE, path=str(tmp_path / dest), tag="new")
    assert pushed["changed"] and pushed["image"]["digest"] == digest
    assert plain.run(APP_RELEASE, tag="new", digest=digest)["release"]["digest"] == digest
    read = json.loads(skopeo(plain, "inspect", "IMAGE:new"))
    assert read["Digest"] == digest and len(read["Layers"]) == 2


def test_an_image_that_runs_for_the_wrong_architecture_locks_none_out(
    plain: Platform, tmp_path: Path
) -> None:
    """The list shows what the image is for, not the node. So it is a word of warning, and no error."""
    build(tmp_path / "arm.tar", architecture="arm64")
    build(tmp_path / "amd.tar")
    images = [{"tag": "wrong", "architecture": "amd64"}]
    plain.sandbox.seed(
        {"apps": [{"slug": "arm", "host": "node-helsinki-arm", "images": images, "deployed": "wrong"}]}
    )
    right = plain.run(APP_IMAGE, slug="arm", path=str(tmp_path / "arm.tar"))
    assert right["changed"] and right["image"]["platform"] == "linux/arm64"
    assert "the image is for linux/arm64" in right["warnings"][0] and "linux/amd64" in right["warnings"][0]
    again = plain.run(APP_IMAGE, slug="arm", path=str(tmp_path / "arm.tar"), platform="linux/arm64")
    assert not again["changed"] and "warnings" not in again
    held = plain.run(APP_IMAGE, slug="arm", path=str(tmp_path / "amd.tar"), platform="linux/arm64")
    assert held["failed"] and "without a message" in held["msg"]


def registry_holds(plain: Platform, digest: str) -> bool:
    return not plain.run(APP_RELEASE, tag="probe", digest=digest).get("failed")


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9])
def test_an_archive_that_is_cut_short_is_refused(plain: Platform, tmp_path: Path, share: float) -> None:
    """Wherever it was cut, before anything is sent."""
    path = tmp_path / "one.tar"
    digest = build(path, content=os.urandom(500_000).hex())
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    result = plain.run(APP_IMAGE, path=str(path))
    assert result["failed"] and "cut short" in result["msg"]
    assert not registry_holds(plain, digest)


def test_a_layer_that_was_changed_is_refused(plain: Platform, tmp_path: Path) -> None:
    """Its digest tells."""
    digest = build(tmp_path / "layout")
    largest = max((tmp_path / "layout" / "blobs" / "sha256").iterdir(), key=lambda path: path.stat().st_size)
    content = bytearray(largest.read_bytes())
    content[-1] ^= 1
    largest.write_bytes(content)
    result = plain.run(APP_IMAGE, path=str(tmp_path / "layout"))
    assert result["failed"] and "damaged" in result["msg"]
    largest.unlink()
    assert "lacks blobs/" in plain.run(APP_IMAGE, path=str(tmp_path / "layout"))["msg"]
    assert not registry_holds(plain, digest)


def archive_of(path: Path, files: dict[str, bytes]) -> None:
    with tarfile.open(path, "w") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "is not an OCI layout"),
        ({"manifest.json": b"[]"}, "one.tar oci-archive:NEW.tar"),
        ({"index.json": b"{"}, "damaged"),
        ({"index.json": b"[]"}, "damaged"),
        ({"index.json": b"[" * 100_000}, "damaged"),
        ({"index.json": b"{}"}, "holds no image"),
        ({"index.json": b'{"manifests": [{}]}'}, "without a digest"),
        ({"index.json": b'{"manifests": [{"digest": "sha256:../../x", "size": 1}]}'}, "without a digest"),
    ],
)
def test_what_is_no_image_is_told(
    plain: Platform, tmp_path: Path, files: dict[str, bytes], said: str
) -> None:
    """With what writes one."""
    archive_of(tmp_path / "one.tar", files)
    result = plain.run(APP_IMAGE, path=str(tmp_path / "one.tar"))
    assert result["failed"] and said in result["msg"]


def test_an_application_that_is_missing_may_still_come(plain: Platform, tmp_path: Path) -> None:
    """Check mode looks at the image on disk all the same, and not into a repository that is not there."""
    digest = build(tmp_path / "one.tar")
    planned = plain.run(APP_IMAGE, check_mode=True, slug="blog", path=str(tmp_path / "one.tar"))
    assert planned["changed"] and planned["image"]["digest"] == digest
    assert "3 of 3 parts" in planned["actions"][0]
    (tmp_path / "one.tar").write_bytes((tmp_path / "one.tar").read_bytes()[:2000])
    cut = plain.run(APP_IMAGE, check_mode=True, slug="blog", path=str(tmp_path / "one.tar"))
    assert cut["failed"] and "cut short" in cut["msg"]
