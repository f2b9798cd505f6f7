# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Layouts of images: whole or refused, and the right image of several."""

from __future__ import annotations

import hashlib
import json
import os
import tarfile
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.applications import oci_layout as oci
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid

MANIFEST = "application/vnd.oci.image.manifest.v1+json"


class Builder:
    """Writes a layout."""

    def __init__(self, path: Path) -> None:
        self.path = path
        (path / "blobs" / "sha256").mkdir(parents=True)

    def blob(self, content: bytes, media_type: str = "", **more: Any) -> dict[str, Any]:
        """Add a part and return its descriptor."""
        digest = hashlib.sha256(content).hexdigest()
        (self.path / "blobs" / "sha256" / digest).write_bytes(content)
        return {"digest": f"sha256:{digest}", "size": len(content), "mediaType": media_type, **more}

    def image(self, machine: str = "amd64", layer: bytes = b"layer", **more: Any) -> dict[str, Any]:
        """Add an image and return its descriptor."""
        config = self.blob(json.dumps({"os": "linux", "architecture": machine}).encode())
        manifest = {"mediaType": MANIFEST, "config": config, "layers": [self.blob(layer)]}
        return self.blob(json.dumps(manifest).encode(), MANIFEST, **more)

    def index(self, *entries: dict[str, Any]) -> oci.Folder:
        """Write the index and return the layout."""
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
    part = oci.Part.read(build.blob(b"content"))
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


def archived(build: Builder, folder: Path) -> oci.Layout:
    """Return the layout in an archive, ``image.tar`` in a folder."""
    with tarfile.open(folder / "image.tar", "w") as archive:
        archive.add(build.path, ".")
    return oci.open_layout(str(folder / "image.tar"))


def test_an_archive_that_is_gone_when_it_is_read_is_told(build: Builder, tmp_path: Path) -> None:
    build.index(build.image())
    layout = archived(build, tmp_path)
    image = oci.choose_image(layout, None, None)
    (tmp_path / "image.tar").unlink()
    with pytest.raises(Invalid, match=r"image\.tar"):
        layout.verify(image.parts[0])
