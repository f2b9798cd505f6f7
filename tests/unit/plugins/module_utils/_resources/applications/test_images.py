# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Images as folders, how they are copied, and which release a task means."""

from __future__ import annotations

import hashlib
import json
import os
import tarfile
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.errors import ConnectionFailed
from ansible_collections.hosted.services.plugins.module_utils._api.models import RegistryCredentials
from ansible_collections.hosted.services.plugins.module_utils._api.registry import Repository
from ansible_collections.hosted.services.plugins.module_utils._resources import app_deploy
from ansible_collections.hosted.services.plugins.module_utils._resources import app_image as oci
from ansible_collections.hosted.services.plugins.module_utils._resources.app_deploy import APP_DEPLOY
from ansible_collections.hosted.services.plugins.module_utils._resources.app_image import APP_IMAGE
from ansible_collections.hosted.services.plugins.module_utils._resources.app_release import APP_RELEASE
from ansible_collections.hosted.services.plugins.module_utils._resources.applications.repository import (
    Part,
    copy_image,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import (
    Invalid,
)
from hosted_sandbox.registry.images import build_image
from hosted_sandbox.testing import Sandbox
from unit.plugins.apps import Platform, plain, server
from unit.plugins.module_utils._resources.platform import run

MANIFEST = "application/vnd.oci.image.manifest.v1+json"


class Builder:
    def __init__(self, path: Path) -> None:
        self.path = path
        (path / "blobs" / "sha256").mkdir(parents=True)

    def blob(self, content: bytes, media_type: str = "", **more: Any) -> dict[str, Any]:
        digest = hashlib.sha256(content).hexdigest()
        (self.path / "blobs" / "sha256" / digest).write_bytes(content)
        return {"digest": f"sha256:{digest}", "size": len(content), "mediaType": media_type, **more}

    def image(self, machine: str = "amd64", layer: bytes = b"layer", **more: Any) -> dict[str, Any]:
        config = self.blob(json.dumps({"os": "linux", "architecture": machine}).encode())
        manifest = {"mediaType": MANIFEST, "config": config, "layers": [self.blob(layer)]}
        return self.blob(json.dumps(manifest).encode(), MANIFEST, **more)

    def index(self, *entries: dict[str, Any]) -> oci.Folder:
        (self.path / "index.json").write_text(json.dumps({"manifests": entries}))
        return oci.Folder(str(self.path))


@pytest.fixture
def build(tmp_path: Path) -> Builder:
    return Builder(tmp_path / "layout")


def test_what_runs_chooses_between_several(build: Builder) -> None:
    amd, arm = build.image("amd64"), build.image("arm64")
    inner = build.blob(
        json.dumps(
            {
                "mediaType": oci.INDEXES[0],
                "manifests": [amd, arm, {**amd, "platform": {"os": "unknown", "architecture": "unknown"}}],
            }
        ).encode(),
        oci.INDEXES[0],
    )
    layout = build.index(inner)
    assert oci.choose_image(layout, None, None, "linux/arm64").digest == arm["digest"]
    assert oci.choose_image(layout, None, "linux/x86_64", "linux/arm64").digest == amd["digest"]
    with pytest.raises(Invalid, match="set platform to that of its node"):
        oci.choose_image(layout, None, None, "linux/riscv64")
    with pytest.raises(Invalid, match="is for linux/amd64, linux/arm64, not for linux/riscv64") as error:
        oci.choose_image(layout, None, "linux/riscv64")
    assert error.value.details["platforms"] == ["linux/amd64", "linux/arm64"]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("linux/amd64", "linux/x86_64", True),
        ("linux/arm64/v8", "linux/aarch64", True),
        ("arm64", "linux/ARM64", True),
        ("linux/amd64", "windows/amd64", False),
        ("linux/amd64", "linux/arm64", False),
        ("amd64", "arm64", False),
    ],
)
def test_platforms_in_several_spellings(one: str, other: str, same: bool) -> None:
    for pair in ((one, other), (other, one)):
        assert oci.same_platform(*pair) is same


# --- Damage -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", "does not match its digest"),
        (b'{"a": 1}', "does not match its digest"),
        (b'{"a": "' + b"x" * oci.MAX_JSON + b'"}', "has more than 4194304 bytes, the limit"),
    ],
)
def test_a_manifest_that_is_another_one_is_refused(build: Builder, content: bytes, said: str) -> None:
    entry = build.image()
    layout = build.index(entry)
    (build.path / "blobs" / entry["digest"].replace(":", "/")).write_bytes(content)
    with pytest.raises(Invalid, match=said):
        oci.choose_image(layout, None, None)


def test_what_would_be_waited_for_is_no_image(tmp_path: Path, build: Builder) -> None:
    """Reading a pipe or a device never ends."""
    os.mkfifo(tmp_path / "pipe.tar")
    for path in (tmp_path / "pipe.tar", Path("/dev/zero")):
        with pytest.raises(Invalid, match="neither a regular file nor a folder"):
            oci.open_layout(str(path))
    layout = build.index()
    part = Part.read(build.blob(b"content"))
    (build.path / part.path).unlink()
    os.mkfifo(build.path / part.path)
    with pytest.raises(Invalid, match=r"is not a regular file"):
        layout.verify(part)


@pytest.mark.parametrize("target", ["gone", "index.json"])
def test_a_link_in_an_archive_that_leads_nowhere_is_a_missing_file(tmp_path: Path, target: str) -> None:
    link = tarfile.TarInfo("index.json")
    link.type, link.linkname = tarfile.SYMTYPE, target
    with tarfile.open(tmp_path / "image.tar", "w") as archive:
        archive.addfile(link)
    with pytest.raises(Invalid, match=r"lacks index.json; is it cut short"):
        oci.choose_image(oci.open_layout(str(tmp_path / "image.tar")), None, None)


def test_no_application_is_made_for_a_registry_out_of_reach(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build_image(tmp_path / "image.tar")
    given: dict[str, Any] = {"slug": "to-come", "path": str(tmp_path / "image.tar"), "check_mode": True}
    assert run(sandbox, APP_IMAGE, **given)["changed"]

    def unreachable(repository: Repository, reference: str) -> None:
        raise ConnectionFailed("cannot connect")

    monkeypatch.setattr(Repository, "digest_of", unreachable)
    assert run(sandbox, APP_IMAGE, **given)["msg"] == "cannot connect"


INDEX = "application/vnd.oci.image.index.v1+json"


@pytest.fixture
def repositories(sandbox: Sandbox, tmp_path: Path) -> tuple[Repository, Repository, str]:
    """The repository of an application with an image, that of another one, and the digest."""
    sandbox.seed({"apps": [{"slug": "acme-shop"}, {"slug": "acme-shop-staging"}]})
    digest = build_image(tmp_path / "image.tar", files={"app/server": b"x" * 100_000})
    run(sandbox, APP_IMAGE, slug="acme-shop", path=str(tmp_path / "image.tar"))
    credentials = RegistryCredentials(**sandbox.api("GET", "/api/registry/credentials").json())
    return Repository(credentials, "acme-shop"), Repository(credentials, "acme-shop-staging"), digest


def test_the_registry_takes_over_what_it_has(repositories: tuple[Repository, Repository, str]) -> None:
    source, target, digest = repositories
    assert target.digest_of(digest) is None
    copied = copy_image(task_of(), source, target, digest)
    assert copied["sent"] == 0 and copied["mounted"]
    assert target.manifest(digest) == source.manifest(digest)


def test_a_registry_that_takes_nothing_over_is_sent_everything(
    repositories: tuple[Repository, Repository, str],
) -> None:
    source, target, digest = repositories
    source.path = "somebody-else/shop"  # which only a mount names
    copied = copy_image(task_of(), source, target, digest)
    assert copied["sent"] and copied["mounted"] == 0
    assert target.manifest(digest) == source.manifest(digest)
    assert copy_image(task_of(), source, target, digest) == {"mounted": 0, "sent": 0}


def test_an_index_comes_with_all_of_its_images(repositories: tuple[Repository, Repository, str]) -> None:
    source, target, image = repositories
    content, media_type = source.manifest(image)
    entry = {"mediaType": media_type, "digest": image, "size": len(content)}
    index = json.dumps({"schemaVersion": 2, "mediaType": INDEX, "manifests": [entry]}).encode()
    source.put_manifest(index, INDEX, "all")
    digest = source.digest_of("all")
    assert digest
    copy_image(task_of(), source, target, digest)
    assert target.digest_of(digest) == digest and target.digest_of(image) == image


def task_of() -> Any:
    client = SimpleNamespace(close=lambda: None, set_pace=lambda *given: None)
    client.clone = lambda: client
    return SimpleNamespace(client=client)


__all__ = ["plain", "server"]
DECLARE, DEPLOY = "releases.declare", "apps.deploy"


def push_new(platform: Platform, tag: str) -> str:
    """Push an image that the platform has not analyzed yet."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "new.tar"
        digest = build_image(path, {"app/server": tag.encode()})
        assert platform.run(APP_IMAGE, path=str(path), tag=tag)["changed"]
    return digest


def pending(platform: Platform, tag: str) -> None:
    """Let the analysis of an image run for ever."""
    platform.sandbox.operator("scans/shop", digest=platform.digests[tag], status="PENDING")


def test_a_scan_that_is_not_there_while_it_runs_is_pending(plain: Platform) -> None:
    """The release is on the list: it is waited for, never declared again, and never called undeclared."""
    plain.sandbox.profile("plain", **{"refusal.scan_unfinished": "404"})
    plain.sandbox.delays(scan_wait=0)
    pending(plain, "v2")
    wish: dict[str, Any] = {"tag": "v2", "digest": plain.digests["v2"]}
    for resource in (APP_RELEASE, APP_DEPLOY):
        result = plain.run(resource, **wish, wait_timeout=1)
        assert result["failed"] and not result["changed"]
        assert "gave up waiting" in result["msg"] and "not declared" not in result["msg"]
    hurried = plain.run(APP_RELEASE, **wish, wait=False)
    assert hurried["release"]["scan_status"] == "PENDING" and not hurried["changed"]
    assert plain.writes() == []


def test_a_verdict_that_comes_after_a_refusal_is_taken(plain: Platform) -> None:
    """The deploy is refused while the analysis runs, and so is the scan: both are asked again."""
    plain.sandbox.profile("plain", **{"refusal.scan_unfinished": "404"})
    plain.sandbox.delays(scan_wait=0.1, scan=5)
    digest = push_new(plain, "v3")
    assert plain.run(APP_RELEASE, tag="v3", digest=digest, wait=False)["release"]["scan_status"] == "PENDING"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            app_deploy, "await_verdict", lambda task, report, *rest: report
        )  # straight to the deploy
        assert plain.run(APP_DEPLOY, tag="v3")["changed"]
    assert plain.in_service == digest
    assert len(plain.writes(DECLARE)) == 1 and len(plain.writes(DEPLOY)) > 1
