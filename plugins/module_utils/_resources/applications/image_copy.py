# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Copies an image between two repositories of the account, byte for byte (OCI distribution specification).

The registry takes parts over by itself where it can (a cross-repository mount). It need not: then they go
through this machine in pieces, and are on none of its disks.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ..._api.registry import Repository
from ..shared.plan import Task
from ..shared.task_errors import Invalid, NoSuchItem
from .oci_layout import Part, is_first_visit
from .repository import each_part


@dataclass(frozen=True)
class StoredManifest:
    """A manifest as a repository has it, with what it refers to."""

    digest: str
    content: bytes
    media_type: str
    parts: Sequence[Part]


def stored_manifests(
    source: Repository, digest: str, visited: set[str] | None = None, depth: int = 0
) -> Iterator[StoredManifest]:
    """Yield the manifest of an image, after all those that it refers to if it is an index, and each once."""
    visited = set() if visited is None else visited
    if not is_first_visit(visited, digest, depth):
        return
    if source.digest_of(digest) is None:
        raise NoSuchItem(f"{source.name} holds no image {digest}")
    content, media_type = source.manifest(digest)
    try:
        manifest = json.loads(content)
    except (ValueError, RecursionError):
        manifest = None
    if not isinstance(manifest, dict):
        raise Invalid(f"{source.name} holds {digest}, which is no manifest")
    for inner in Part.listed(manifest, "manifests"):
        yield from stored_manifests(source, inner.digest, visited, depth + 1)
    config = [Part.read(manifest["config"])] if manifest.get("config") else []
    yield StoredManifest(digest, content, media_type, [*config, *Part.listed(manifest, "layers")])


class ImageCopy:
    """The copy of one image between two repositories."""

    def __init__(self, task: Task[Any], source: Repository, target: Repository, digest: str) -> None:
        self.task = task
        self.source, self.target, self.digest = source, target, digest
        self.mounted = self.sent = 0
        """How many parts the registry took over by itself, and how many went through this machine."""
        self._counting = threading.Lock()

    def is_there(self) -> bool:
        """Tell whether the target has the image already."""
        return self.target.digest_of(self.digest) == self.digest

    def run(self) -> None:
        """Copy what the target lacks. The manifest comes last, and completes the image."""
        for manifest in stored_manifests(self.source, self.digest):
            parts = {each.digest: each for each in manifest.parts}
            each_part(self.task, self._copy_part, [*parts.values()])
            self.target.put_manifest(manifest.content, manifest.media_type, manifest.digest)

    def _copy_part(self, part: Part) -> None:
        """Copy a part that the target lacks."""
        if self.target.has_blob(part.digest):
            return
        mounted = self.target.mount_blob(part.digest, self.source.path)
        if not mounted:
            self.target.send_blob(partial(self.source.open_blob, part.digest), part.digest, part.size)
        with self._counting:
            self.mounted += mounted
            self.sent += not mounted
