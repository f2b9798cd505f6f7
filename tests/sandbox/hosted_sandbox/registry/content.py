# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read images: blobs by digest, manifests, configs, and the files of all layers together."""

from __future__ import annotations

import gzip
import json
import posixpath
import tarfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO, Any, cast

import zstandard

from hosted_sandbox.registry import oci
from hosted_sandbox.registry.oci import Descriptor, Manifest, ManifestError, parse_manifest, platform_name

GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"


class ImageError(Exception):
    """An image that cannot be read: its content is missing, truncated or malformed."""


class Blobs:
    """A folder of content by digest, ``<algorithm>/<hex>``, of an OCI layout or of a repository."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, digest: str) -> Path:
        """Return the path of the content of `digest`, whether it exists or not; never for no digest."""
        return self.root / (digest.replace(":", "/") if oci.is_digest(digest) else "none")

    def read(self, digest: str) -> bytes:
        """Return the content; raise `FileNotFoundError` if it is missing."""
        return self.path(digest).read_bytes()

    def digests(self) -> list[str]:
        """Return the digests of all content, sorted."""
        return sorted(f"{path.parent.name}:{path.name}" for path in self.root.glob("*/*"))


@dataclass(frozen=True)
class ImageConfig:
    """The run configuration of an image. `command` is entrypoint and arguments; `ports` are numbers."""

    platform: str
    command: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=dict)
    ports: tuple[int, ...] = ()
    labels: dict[str, str] = field(default_factory=dict)

    @property
    def architecture(self) -> str:
        """The part of `platform` after the slash."""
        return self.platform.partition("/")[2]


class Image:
    """An image, or an index of images, by the digest of its manifest. Reading raises `ImageError`."""

    def __init__(self, blobs: Blobs, digest: str) -> None:
        self.blobs = blobs
        self.digest = digest

    @cached_property
    def manifest(self) -> Manifest:
        """The parsed manifest."""
        try:
            return parse_manifest(self.blobs.read(self.digest))
        except (OSError, ManifestError) as error:
            raise ImageError(f"manifest {self.digest}: {error}") from error

    @property
    def platforms(self) -> tuple[str, ...]:
        """The platforms it can run on, ``os/architecture``."""
        if self.manifest.is_index:
            return tuple(dict.fromkeys(name for image in self.images() for name in image.platforms))
        platform = platform_name(self._config_record())
        return (platform,) if platform else ()

    def images(self) -> tuple[Image, ...]:
        """Return the images of an index that name a platform, or the image itself."""
        if not self.manifest.is_index:
            return (self,)
        children = [Image(self.blobs, child.digest) for child in self.manifest.children]
        return tuple(image for child in children for image in child.images() if image.platforms)

    def for_platform(self, platform: str) -> Image:
        """Return the image of an index for `platform`, else its first one; for an image, itself."""
        images = self.images()
        if not images:
            raise ImageError("the index holds no image")
        return next((image for image in images if platform in image.platforms), images[0])

    def config(self, platform: str = "linux/amd64") -> ImageConfig:
        """Return the run configuration of the image, or of an index's image for `platform`."""
        if self.manifest.is_index:
            return self.for_platform(platform).config()
        try:
            return _image_config(self._config_record())
        except (AttributeError, TypeError, ValueError) as error:
            raise ImageError(f"config of {self.digest}: {error}") from error

    def files(self, wanted: Callable[[str], bool]) -> dict[str, bytes]:
        """Return the regular files of all layers that `wanted` accepts, by path; upper layers replace lower.

        What an upper layer only removes is still returned.
        """
        layers = self.manifest.layers
        return {path: content for layer in layers for path, content in self._entries(layer, wanted)}

    def _entries(self, layer: Descriptor, wanted: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
        try:
            with _open_layer(self.blobs.path(layer.digest)) as archive:
                for entry in archive:
                    path = posixpath.normpath(entry.name).lstrip("/")
                    if entry.isreg() and wanted(path):
                        yield path, cast(IO[bytes], archive.extractfile(entry)).read()
        except (OSError, EOFError, tarfile.TarError, zlib.error, zstandard.ZstdError) as error:
            raise ImageError(f"layer {layer.digest}: {error}") from error

    def _config_record(self) -> dict[str, Any]:
        config = self.manifest.config
        try:
            record = json.loads(self.blobs.read(config.digest)) if config else None
        except (OSError, ValueError) as error:
            raise ImageError(f"config of {self.digest}: {error}") from error
        return record if isinstance(record, dict) else {}


def _image_config(record: dict[str, Any]) -> ImageConfig:
    settings = record.get("config") or {}
    return ImageConfig(
        platform=platform_name(record) or "",
        command=(*(settings.get("Entrypoint") or ()), *(settings.get("Cmd") or ())),
        environment=dict(entry.partition("=")[::2] for entry in settings.get("Env") or ()),
        ports=tuple(sorted(int(port.partition("/")[0]) for port in settings.get("ExposedPorts") or ())),
        labels=dict(settings.get("Labels") or {}),
    )


@contextmanager
def _open_layer(path: Path) -> Iterator[tarfile.TarFile]:
    """Open a layer's archive. Detect its compression by the first bytes, because media types can be wrong."""
    with path.open("rb") as file:
        magic = file.read(len(ZSTD_MAGIC))
        file.seek(0)
        stream: Any = file
        if magic.startswith(GZIP_MAGIC):
            stream = gzip.GzipFile(fileobj=file)
        elif magic == ZSTD_MAGIC:
            stream = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)
        with tarfile.open(fileobj=stream, mode="r|") as archive:
            yield archive
