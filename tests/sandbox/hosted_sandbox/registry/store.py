# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Repositories on disk.

::

    <storage>/<project>/<slug>/blobs/<algorithm>/<hex>      content, manifests included
                               manifests/<algorithm>/<hex>  a hard link to a blob that is a manifest
                               tags/<tag>                   the digest that the tag names
                               uploads/<id>                 what has arrived of a blob

A file appears under its final name complete, by one rename or link, so a process killed at any time leaves
either the old state or the new one. Mounting a blob from another repository is a hard link as well, which
makes deleting a plain unlink: no reference is counted anywhere.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from pathlib import Path

from hosted_sandbox.registry.content import Blobs, Image
from hosted_sandbox.registry.oci import Manifest, digest_of, digest_of_file, is_component, parse_manifest


class Upload:
    """A blob that is being uploaded: a growing file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.id = path.name

    @property
    def size(self) -> int:
        """Bytes that have arrived."""
        return self.path.stat().st_size

    def exists(self) -> bool:
        """Tell whether the upload is still open."""
        return self.path.is_file()

    def truncate(self, size: int) -> None:
        """Discard what arrived beyond `size` bytes."""
        os.truncate(self.path, size)

    def discard(self) -> None:
        """End the upload without a blob."""
        self.path.unlink(missing_ok=True)


class Repository:
    """One repository: blobs, manifests, tags and uploads of ``project/slug``."""

    def __init__(self, root: Path, project: str, slug: str) -> None:
        self.project = project
        self.slug = slug
        self.root = root / project / slug
        self.blobs = Blobs(self.root / "blobs")
        self._manifests = Blobs(self.root / "manifests")
        self._tags = self.root / "tags"
        self._uploads = self.root / "uploads"

    @property
    def name(self) -> str:
        """``project/slug``."""
        return f"{self.project}/{self.slug}"

    def exists(self) -> bool:
        """Tell whether anything was ever pushed here."""
        return self.root.is_dir()

    # Uploads

    def start_upload(self) -> Upload:
        """Start an empty upload."""
        upload = self.upload(uuid.uuid4().hex)
        upload.path.parent.mkdir(parents=True, exist_ok=True)
        upload.path.touch(exist_ok=False)
        return upload

    def upload(self, identifier: str) -> Upload:
        """Return the upload of this id, which may not exist."""
        return Upload(self._uploads / identifier)

    def finish_upload(self, upload: Upload, digest: str) -> bool:
        """Turn the upload into the blob `digest`; discard it and return False if its content differs."""
        if digest_of_file(upload.path, digest.partition(":")[0]) != digest:
            upload.discard()
            return False
        target = self.blobs.path(digest)
        target.parent.mkdir(parents=True, exist_ok=True)
        upload.path.replace(target)
        return True

    def mount(self, source: Repository, digest: str) -> bool:
        """Mount a blob of another repository without copying; return False if it does not exist."""
        return _link(source.blobs.path(digest), self.blobs.path(digest))

    # Manifests and tags

    def put_manifest(self, body: bytes, digest: str, tag: str | None) -> None:
        """Store a checked manifest, and tag it if `tag` is given."""
        if not self.blobs.path(digest).is_file():
            upload = self.start_upload()
            upload.path.write_bytes(body)
            self.finish_upload(upload, digest)
        _link(self.blobs.path(digest), self._manifests.path(digest))
        if tag is not None:
            self._tags.mkdir(parents=True, exist_ok=True)
            fresh = self.start_upload()
            fresh.path.write_text(digest)
            fresh.path.replace(self._tags / tag)

    def manifests(self) -> list[str]:
        """Return the digests of all manifests, sorted."""
        return self._manifests.digests()

    def has_manifest(self, digest: str) -> bool:
        """Tell whether `digest` was pushed here as a manifest."""
        return self._manifests.path(digest).is_file()

    def manifest(self, digest: str) -> tuple[bytes, Manifest]:
        """Return the bytes and the content of a manifest."""
        body = self._manifests.read(digest)
        return body, parse_manifest(body)

    def tags(self) -> list[str]:
        """Return all tags in byte order."""
        return sorted(path.name for path in self._tags.iterdir()) if self._tags.is_dir() else []

    def tagged(self, tag: str) -> str | None:
        """Return the digest of `tag`, or None."""
        return (self._tags / tag).read_text() if tag in self.tags() else None

    def image(self, digest: str) -> Image:
        """Return the image or index `digest`, to read its config and layers."""
        return Image(self.blobs, digest)


class RegistryStore:
    """All repositories under one folder, which is created with the first one."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def repository(self, project: str, slug: str) -> Repository:
        """Return a repository by its two names; raise `ValueError` if they are not valid path components."""
        if not (is_component(project) and is_component(slug)):
            raise ValueError(f"{project}/{slug} is not a repository name")
        return Repository(self.root, project, slug)

    def held(self) -> Iterator[tuple[str, str]]:
        """Yield repository and digest of every manifest, so that a caller can catch up after a crash."""
        for path in sorted(self.root.glob("*/*")):
            repository = self.repository(path.parent.name, path.name)
            yield from ((repository.name, digest) for digest in repository.manifests())


def manifest_digest(body: bytes, reference: str) -> str:
    """Compute the digest of a manifest, with the algorithm of `reference` if that is a digest."""
    algorithm, colon, __ = reference.partition(":")
    return digest_of(body, algorithm if colon else "sha256")


def _link(source: Path, target: Path) -> bool:
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source, target)
    except FileExistsError:
        return True
    except FileNotFoundError:
        return False
    return True
