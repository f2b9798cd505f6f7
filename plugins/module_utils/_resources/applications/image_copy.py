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
from functools import partial
from typing import Any

from ..._api.registry import Repository
from ..shared.plan import Task
from ..shared.task_errors import Invalid, NoSuchItem
from .oci_layout import Part, is_first_visit
from .repository import each_part


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
        """Copy what the target lacks.

        :raises NoSuchItem: if the source lacks the image, or an image that it refers to.
        :raises Invalid: if a manifest of it is damaged.
        """
        self._copy_manifest(self.digest, set(), 0)

    def _copy_manifest(self, digest: str, visited: set[str], depth: int) -> None:
        """Copy all that a manifest refers to, each once, and then the manifest, which completes the image."""
        if not is_first_visit(visited, digest, depth):
            return
        if self.source.digest_of(digest) is None:
            raise NoSuchItem(f"{self.source.name} holds no image {digest}")
        content, media_type = self.source.manifest(digest)
        try:
            manifest = json.loads(content)
        except (ValueError, RecursionError):
            manifest = None
        if not isinstance(manifest, dict):
            raise Invalid(f"{self.source.name} holds {digest}, which is no manifest")
        for inner in Part.listed(manifest, "manifests"):
            self._copy_manifest(inner.digest, visited, depth + 1)
        config = [Part.read(manifest["config"])] if manifest.get("config") else []
        parts = {each.digest: each for each in [*config, *Part.listed(manifest, "layers")]}
        each_part(self.task, self._copy_part, [*parts.values()])
        self.target.put_manifest(content, media_type, digest)

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
