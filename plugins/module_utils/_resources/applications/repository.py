# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The repository of an application in the platform's registry: its parts, and copies from another one.

The registry takes parts over by itself where it can (a cross-repository mount). It need not: then they go
through this machine in pieces, and are on none of its disks.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from ..._api.connection import UNCHECKED
from ..._api.models import DIGEST
from ..._api.registry import Repository, scheme_of
from ..shared.options import Options
from ..shared.plan import Task
from ..shared.task_errors import Invalid
from ..shared.waiting import run_parallel

R = TypeVar("R")

MAX_PARTS = 6
"""How many parts of an image are on their way at the same time, as docker and skopeo have it."""
NAME_ANNOTATION = "org.opencontainers.image.ref.name"
MAX_PART = 1024**4
"""The size of the largest part in bytes."""
MAX_MANIFESTS = 1_000_000
"""How many manifests an image may consist of."""
MAX_DEPTH = 64
"""How many indexes may lie within each other."""


@dataclass(frozen=True)
class Part:
    """A descriptor: refers to a manifest, a configuration or a layer. ``size`` is in bytes."""

    digest: str
    size: int
    media_type: str = ""
    platform: str | None = None
    name: str | None = None

    @property
    def path(self) -> str:
        return f"blobs/{self.digest.replace(':', '/')}"

    @classmethod
    def read(cls, entry: Any) -> Part:
        digest = entry.get("digest") if isinstance(entry, dict) else None
        size = entry.get("size") if isinstance(entry, dict) else None
        if not isinstance(digest, str) or not DIGEST.fullmatch(digest) or not isinstance(size, int):
            raise Invalid("the image is damaged: it refers to a part without a digest or a size")
        if not 0 <= size <= MAX_PART:
            raise Invalid(f"the image is damaged: the size of {digest} is not from 0 to {MAX_PART} bytes")
        platform, notes = entry.get("platform"), entry.get("annotations")
        name = notes.get(NAME_ANNOTATION) if isinstance(notes, dict) else None
        return cls(
            digest,
            size,
            str(entry.get("mediaType", "")),
            platform_of(platform) if isinstance(platform, dict) else None,
            name if isinstance(name, str) else None,
        )

    @classmethod
    def listed(cls, manifest: Mapping[str, Any], key: str) -> list[Part]:
        entries = manifest.get(key) or []
        if not isinstance(entries, list):
            raise Invalid(f"the image is damaged: its {key} are not a list")
        return [cls.read(entry) for entry in entries]


def platform_of(record: Mapping[str, Any]) -> str:
    return f"{record.get('os') or 'unknown'}/{record.get('architecture') or 'unknown'}"


def is_first_visit(visited: set[str], digest: str, depth: int) -> bool:
    """Tell whether a manifest was not met before, and note it: each is read once, however many name it.

    ``depth`` is how many indexes it lies within.
    """
    if depth > MAX_DEPTH or len(visited) > MAX_MANIFESTS:
        raise Invalid(
            f"the image has more than {MAX_DEPTH} levels of indexes within each other, or more than "
            f"{MAX_MANIFESTS} manifests, at {digest}"
        )
    is_new = digest not in visited
    visited.add(digest)
    return is_new


def open_repository(
    task: Task[Options], slug: str, sent: Callable[[int], None] = lambda count: None
) -> Repository:
    options, client = task.options, task.client
    credentials = task.account.registry_credentials()
    if not options.validate_certs and scheme_of(credentials.host) == "https":
        task.warn(UNCHECKED)
    return Repository(
        credentials,
        slug,
        options.timeout,
        options.validate_certs and (options.ca_path or True),
        sent,
        retries=options.retries,
        log=client.log,
        on_pause=task.progress,
    )


def each_part(task: Task[Any], work: Callable[[Part], R], parts: Sequence[Part]) -> list[R]:
    return run_parallel(task.client, parts, lambda _client, part: work(part), MAX_PARTS)


def copy_image(task: Task[Any], source: Repository, target: Repository, digest: str) -> dict[str, int]:
    """Copy an image to another repository, byte for byte (OCI distribution specification).

    Returns how many parts the registry took over by itself (``mounted``), and how many went through this
    machine (``sent``).
    """
    visited: set[str] = set()
    mounts: list[bool | None] = []

    def copy_part(part: Part) -> bool | None:
        if target.has_blob(part.digest):
            return None
        return target.send_blob(partial(source.open_blob, part.digest), part.digest, part.size, source.path)

    def copy_manifest(digest: str, depth: int) -> None:
        """Copy all that a manifest refers to, each once, and then the manifest, which completes the image."""
        if not is_first_visit(visited, digest, depth):
            return
        content, media_type = source.manifest(digest)
        try:
            manifest = json.loads(content)
        except (ValueError, RecursionError):
            manifest = None
        if not isinstance(manifest, dict):
            raise Invalid(f"{source.name} holds {digest}, which is no manifest")
        for inner in Part.listed(manifest, "manifests"):
            copy_manifest(inner.digest, depth + 1)
        config = [Part.read(manifest["config"])] if manifest.get("config") else []
        parts = {each.digest: each for each in [*config, *Part.listed(manifest, "layers")]}
        mounts.extend(each_part(task, copy_part, [*parts.values()]))
        target.put_manifest(content, media_type, digest)

    copy_manifest(digest, 0)
    return {"mounted": mounts.count(True), "sent": mounts.count(False)}
