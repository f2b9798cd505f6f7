# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Images: whole, for the right platform, sent once, and never half there."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import subprocess
import tarfile
import threading
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import registry, uploads
from ansible_collections.hosted.services.plugins.module_utils._api.errors import (
    Interrupted,
    Refused,
)
from ansible_collections.hosted.services.plugins.module_utils._api.models import RegistryCredentials
from ansible_collections.hosted.services.plugins.module_utils._api.registry import RegistrySession
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


def test_what_is_there_is_not_sent_again(plain: Platform, tmp_path: Path) -> None:
    """Nothing for the same digest; of another image the layers that are new."""
    build(tmp_path / "one.tar")
    build(tmp_path / "two.tar", "2")
    first = plain.run(APP_IMAGE, path=str(tmp_path / "one.tar"))
    again = plain.run(APP_IMAGE, path=str(tmp_path / "one.tar"))
    second = plain.run(APP_IMAGE, path=str(tmp_path / "two.tar"))
    assert first["image"]["sent_bytes"] == first["image"]["size_bytes"]
    assert not again["changed"] and again["image"]["sent_bytes"] == 0
    assert 0 < second["image"]["sent_bytes"] < second["image"]["size_bytes"]
    assert plain.uses_only_application_routes()


def test_check_mode_sends_nothing(plain: Platform, tmp_path: Path) -> None:
    """It says how much would be sent."""
    digest = build(tmp_path / "one.tar")
    planned = plain.run(APP_IMAGE, check_mode=True, path=str(tmp_path / "one.tar"))
    assert planned["changed"] and "3 of 3 parts" in planned["actions"][0]
    assert plain.run(APP_RELEASE, tag="new", digest=digest)["failed"]


@pytest.mark.parametrize("index", [False, True])
@pytest.mark.parametrize("architectures", ["amd64", ["amd64", "arm64"], ["arm64", "amd64"]])
def test_the_image_that_fits_is_chosen(
    plain: Platform, tmp_path: Path, architectures: Any, index: bool
) -> None:
    """Out of an index, of a single image or of several."""
    build(tmp_path / "one.tar", architecture=architectures, index=index)
    result = plain.run(APP_IMAGE, path=str(tmp_path / "one.tar"))
    assert result["changed"] and result["image"]["platform"] == "linux/amd64"


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


def test_an_upload_that_is_cut_off_is_begun_anew(
    plain: Platform, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the image is there whole."""
    path = tmp_path / "one.tar"
    digest = build(path, content=os.urandom(200_000).hex())
    monkeypatch.setattr(uploads, "CHUNK", 50_000)
    cuts = cut_pieces(monkeypatch, [2, 4])
    result = plain.run(APP_IMAGE, path=str(path))
    assert cuts == [] and result["changed"] and result["image"]["digest"] == digest
    assert registry_holds(plain, digest)


def test_a_size_that_is_wrong_is_refused_though_the_registry_has_the_layer(
    plain: Platform, tmp_path: Path
) -> None:
    """Its own check is no promise: it may take an image that no node can pull."""
    folder = tmp_path / "image"
    digest = build(folder)
    assert plain.run(APP_IMAGE, path=str(folder))["changed"]
    manifest = json.loads((folder / "blobs" / digest.replace(":", "/")).read_bytes())
    manifest["layers"][0]["size"] += 1
    changed = json.dumps(manifest).encode()
    digest = f"sha256:{hashlib.sha256(changed).hexdigest()}"
    (folder / "blobs" / digest.replace(":", "/")).write_bytes(changed)
    index = json.loads((folder / "index.json").read_bytes())
    index["manifests"][0] |= {"digest": digest, "size": len(changed)}
    (folder / "index.json").write_text(json.dumps(index))
    for check_mode in (True, False):
        refused = plain.run(APP_IMAGE, check_mode, path=str(folder))
        assert refused["failed"] and "is cut short or damaged" in refused["msg"]
        assert f"should have {manifest['layers'][0]['size']} bytes" in refused["msg"]
    assert not registry_holds(plain, digest)


def test_an_upload_that_never_succeeds_leaves_no_image(
    plain: Platform, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some layers may be there, the image is not."""
    path = tmp_path / "one.tar"
    digest = build(path)
    cut_pieces(monkeypatch, list(range(1, 20)))
    result = plain.run(APP_IMAGE, path=str(path))
    assert result["failed"] and not result["changed"] and "the connection was cut" in result["msg"]
    assert not registry_holds(plain, digest)


def test_parts_are_on_their_way_at_the_same_time(
    plain: Platform, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No piece gets through until another part's is being sent as well."""
    digest = build(tmp_path / "one.tar")
    original, both = RegistrySession.request, threading.Barrier(2)

    def meeting(self: RegistrySession, method: str, url: str, *more: Any, **options: Any) -> Any:
        if method == "PATCH" and not met:
            both.wait(timeout=10)
            met.append(url)
        return original(self, method, url, *more, **options)

    met: list[str] = []
    monkeypatch.setattr(RegistrySession, "request", meeting)
    result = plain.run(APP_IMAGE, path=str(tmp_path / "one.tar"))
    assert result["image"]["sent_bytes"] == result["image"]["size_bytes"] and len(set(met)) == 2
    assert registry_holds(plain, digest)


def cut_pieces(
    monkeypatch: pytest.MonkeyPatch, cuts: list[int], error: BaseException | None = None
) -> list[int]:
    """Let the connection break, or raise another error, at these pieces of all uploads, counted from 1."""
    original = RegistrySession.request
    count = 0

    def cutting(self: RegistrySession, method: str, url: str, *more: Any, **options: Any) -> Any:
        nonlocal count
        if method == "PATCH":
            count += 1
            if count in cuts:
                cuts.remove(count)
                raise error or Interrupted("the connection was cut")
        return original(self, method, url, *more, **options)

    monkeypatch.setattr(RegistrySession, "request", cutting)
    return cuts


def test_a_wrong_login_is_told_without_the_secret(plain: Platform, tmp_path: Path) -> None:
    """The registry's own words, and no trace of the secret on disk or in the result."""
    login = plain.sandbox.api("GET", "/api/registry/credentials").json()
    build(tmp_path / "one.tar")
    result = plain.run(APP_IMAGE, path=str(tmp_path / "one.tar"))
    assert login["secret"] not in json.dumps(result)
    credentials = RegistryCredentials(**{**login, "secret": "wrong-secret"})
    with pytest.raises(Refused) as refused:
        registry.Repository(credentials, "shop").digest_of("latest")
    assert "401" in refused.value.message and "wrong-secret" not in refused.value.message


@pytest.mark.parametrize(
    ("host", "scheme"),
    [
        ("127.0.0.1:5000", "http"),
        ("localhost:5000", "http"),
        ("[::1]:5000", "http"),
        ("registry.example.com", "https"),
        ("10.0.0.1:5000", "https"),
    ],
)
def test_http_is_for_this_machine_alone(host: str, scheme: str) -> None:
    """Judged by the name."""
    assert registry.scheme_of(host) == scheme
