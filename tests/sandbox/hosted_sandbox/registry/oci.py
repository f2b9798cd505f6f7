# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names, digests and media types of the OCI image and distribution specifications."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

OCI_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
OCI_INDEX = "application/vnd.oci.image.index.v1+json"
OCI_CONFIG = "application/vnd.oci.image.config.v1+json"
OCI_LAYER = "application/vnd.oci.image.layer.v1.tar"
DOCKER_MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
DOCKER_INDEX = "application/vnd.docker.distribution.manifest.list.v2+json"

INDEX_TYPES = frozenset({OCI_INDEX, DOCKER_INDEX})
MANIFEST_TYPES = frozenset({OCI_MANIFEST, DOCKER_MANIFEST}) | INDEX_TYPES

# The second form is wider than the distribution specification: the platform's slugs may begin or end with a
# hyphen (spec, section Applications, rule 1).
_COMPONENT = re.compile(r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*|[a-z0-9-]+")
_TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128}")


class ManifestError(ValueError):
    """A manifest that is not a valid image; the message says why."""


def is_component(name: str) -> bool:
    """Tell whether `name` is a valid part of a repository path."""
    return _COMPONENT.fullmatch(name) is not None


def is_tag(name: str) -> bool:
    """Tell whether `name` is a valid tag."""
    return _TAG.fullmatch(name) is not None


def is_digest(text: str) -> bool:
    """Tell whether `text` is a digest of an algorithm that the registry computes (SHA-256 and SHA-512)."""
    return _DIGEST.fullmatch(text) is not None


def digest_of(content: bytes, algorithm: str = "sha256") -> str:
    """Compute the digest of bytes in memory."""
    return f"{algorithm}:{hashlib.new(algorithm, content).hexdigest()}"


def digest_of_file(path: Path, algorithm: str) -> str:
    """Compute the digest of a file, read in chunks."""
    with path.open("rb") as file:
        return f"{algorithm}:{hashlib.file_digest(file, algorithm).hexdigest()}"


@dataclass(frozen=True)
class Descriptor:
    """A manifest's reference to other content."""

    media_type: str
    digest: str
    size: int


@dataclass(frozen=True)
class Manifest:
    """A parsed manifest or index. `config` is None for an index, `children` is empty for an image."""

    media_type: str
    config: Descriptor | None
    layers: tuple[Descriptor, ...]
    children: tuple[Descriptor, ...]

    @property
    def is_index(self) -> bool:
        """Whether this lists manifests instead of layers."""
        return self.media_type in INDEX_TYPES

    @property
    def blobs(self) -> tuple[Descriptor, ...]:
        """The blobs that the repository must contain."""
        return (*([self.config] if self.config else ()), *self.layers)


def parse_manifest(body: bytes, content_type: str | None = None) -> Manifest:
    """Parse a manifest of one of the four types; raise `ManifestError` with the reason if it is invalid.

    The media type follows from the body, so that it need not be stored: the one it names, else
    the OCI type of its form. A different `content_type` is refused, as the specification requires.
    """
    data = _object(body)
    if data.get("schemaVersion") != 2:
        raise ManifestError("schemaVersion is not 2")
    media_type = data.get("mediaType") or (OCI_INDEX if "manifests" in data else OCI_MANIFEST)
    if media_type not in MANIFEST_TYPES:
        raise ManifestError(f"media type {media_type!r} is not supported")
    if content_type not in (None, media_type):
        raise ManifestError(f"Content-Type is {content_type} but the manifest is {media_type}")
    if media_type in INDEX_TYPES:
        return Manifest(media_type, None, (), _descriptors(data, "manifests"))
    return Manifest(media_type, _descriptor(data.get("config")), _descriptors(data, "layers"), ())


def platform_name(record: Any) -> str | None:
    """Return ``os/architecture`` of an image config or of a descriptor's platform; None if unknown."""
    if not isinstance(record, dict):
        return None
    system, architecture = record.get("os"), record.get("architecture")
    if not (isinstance(system, str) and isinstance(architecture, str)) or "unknown" in (system, architecture):
        # Build tools attach attestations to an index as manifests of the platform unknown/unknown.
        return None
    return f"{system}/{architecture}"


def _object(body: bytes) -> dict[str, Any]:
    try:
        data = json.loads(body)
    except ValueError as error:
        raise ManifestError("the manifest is not JSON") from error
    if not isinstance(data, dict):
        raise ManifestError("the manifest is not a JSON object")
    return data


def _descriptors(data: dict[str, Any], key: str) -> tuple[Descriptor, ...]:
    entries = data.get(key)
    if not isinstance(entries, list):
        raise ManifestError(f"{key} is not a list")
    return tuple(_descriptor(entry) for entry in entries)


def _descriptor(entry: Any) -> Descriptor:
    match entry:
        case {"digest": str() as digest, "size": int() as size, "mediaType": str() as media_type} if (
            is_digest(digest)
        ):
            return Descriptor(media_type, digest, size)
    raise ManifestError("a descriptor lacks a valid mediaType, digest or size")
