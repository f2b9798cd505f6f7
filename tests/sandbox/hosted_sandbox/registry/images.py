# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Build small images from files, as OCI layouts and archives, for tests and demonstrations.

The same input gives the same bytes, and so the same digest, with the same compressors.

On the command line, an archive to push with any tool::

    python -m hosted_sandbox.registry.images shop.tar --file app/server=./server --package zlib=1:1.2.13
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import shutil
import tarfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import zstandard

from hosted_sandbox.registry.oci import OCI_CONFIG, OCI_INDEX, OCI_LAYER, OCI_MANIFEST, digest_of

Compression = Literal["gzip", "zstd"]

_EPOCH = "1970-01-01T00:00:00Z"
_COMPRESSORS: dict[Compression | None, tuple[str, Callable[[bytes], bytes]]] = {
    None: ("", bytes),
    "gzip": ("+gzip", lambda data: gzip.compress(data, mtime=0)),
    "zstd": ("+zstd", lambda data: zstandard.ZstdCompressor().compress(data)),
}


def build_image(
    dest: Path,
    files: Mapping[str, bytes] | None = None,
    command: Sequence[str] = ("/app/server",),
    architecture: str | Sequence[str] = "amd64",
    packages: Sequence[tuple[str, str]] = (),
    *,
    compression: Compression | None = "gzip",
    index: bool = False,
    environment: Mapping[str, str] | None = None,
    labels: Mapping[str, str] | None = None,
    ports: Sequence[int] = (),
    tag: str = "latest",
) -> str:
    """Write an image to `dest` and return the digest of its manifest, or of its index.

    `dest` ending in ``.tar`` becomes an OCI archive, anything else a folder in the OCI layout. `packages` go
    into a package database of Debian, in a layer below that of `files`. Several architectures, or `index`,
    make an index.
    """
    architectures = [architecture] if isinstance(architecture, str) else list(architecture)
    settings = {
        "Cmd": list(command),
        "Env": [f"{name}={value}" for name, value in (environment or {}).items()],
        "ExposedPorts": {f"{port}/tcp": {} for port in ports},
        "Labels": dict(labels or {}),
    }
    layout = _Layout()
    layers = [_database(packages, name) for name in architectures]
    images = [
        layout.add_image(name, settings, [layer for layer in (base, files) if layer], compression)
        for name, base in zip(architectures, layers, strict=True)
    ]
    top = layout.add_json(_index(images), OCI_INDEX) if index or len(images) > 1 else images[0]
    entry = {key: value for key, value in top.items() if key != "platform"}
    layout.index = _index([entry | {"annotations": {"org.opencontainers.image.ref.name": tag}}])
    layout.write(dest)
    return str(top["digest"])


@dataclass
class _Layout:
    """An OCI layout in memory."""

    blobs: dict[str, bytes] = field(default_factory=dict)
    index: dict[str, Any] = field(default_factory=dict)

    def add(self, content: bytes, media_type: str) -> dict[str, Any]:
        """Add a blob and return its descriptor."""
        digest = digest_of(content)
        self.blobs[digest] = content
        return {"mediaType": media_type, "digest": digest, "size": len(content)}

    def add_json(self, record: dict[str, Any], media_type: str) -> dict[str, Any]:
        """Add an object as canonical JSON and return its descriptor."""
        return self.add(_json(record), media_type)

    def add_image(
        self,
        architecture: str,
        settings: dict[str, Any],
        layers: Sequence[Mapping[str, bytes]],
        compression: Compression | None,
    ) -> dict[str, Any]:
        """Add an image with its layers, lowest first, and return its descriptor with its platform."""
        suffix, compress = _COMPRESSORS[compression]
        archives = [tar_of(files) for files in layers]
        platform = {"architecture": architecture, "os": "linux"}
        config = platform | {
            "created": _EPOCH,
            "config": settings,
            "rootfs": {"type": "layers", "diff_ids": [digest_of(archive) for archive in archives]},
        }
        manifest = {
            "schemaVersion": 2,
            "mediaType": OCI_MANIFEST,
            "config": self.add_json(config, OCI_CONFIG),
            "layers": [self.add(compress(archive), OCI_LAYER + suffix) for archive in archives],
        }
        return self.add_json(manifest, OCI_MANIFEST) | {"platform": platform}

    def files(self) -> dict[str, bytes]:
        """Return the files of the layout, by path."""
        blobs = {f"blobs/{digest.replace(':', '/')}": content for digest, content in self.blobs.items()}
        return {"index.json": _json(self.index), "oci-layout": _json({"imageLayoutVersion": "1.0.0"})} | blobs

    def write(self, dest: Path) -> None:
        """Write an archive or a folder, replacing any existing one."""
        if dest.suffix == ".tar":
            dest.parent.mkdir(parents=True, exist_ok=True)
            dest.write_bytes(tar_of(self.files()))
            return
        shutil.rmtree(dest, ignore_errors=True)
        for name, content in self.files().items():
            path = dest / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


def tar_of(files: Mapping[str, bytes]) -> bytes:
    """Build an archive of regular files, sorted by name, without times or owners."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in sorted(files):
            entry = tarfile.TarInfo(name)
            entry.size = len(files[name])
            entry.mode = 0o755
            archive.addfile(entry, io.BytesIO(files[name]))
    return buffer.getvalue()


def _database(packages: Sequence[tuple[str, str]], architecture: str) -> dict[str, bytes]:
    if not packages:
        return {}
    entries = [
        f"Package: {name}\nStatus: install ok installed\nArchitecture: {architecture}\nVersion: {version}\n"
        for name, version in packages
    ]
    return {"var/lib/dpkg/status": "\n".join(entries).encode()}


def _index(manifests: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {"schemaVersion": 2, "mediaType": OCI_INDEX, "manifests": list(manifests)}


def _json(record: dict[str, Any]) -> bytes:
    return json.dumps(record, sort_keys=True, separators=(",", ":")).encode()


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form NAME=VALUE")
    return name, value


def main(arguments: Sequence[str] | None = None) -> None:
    """Build an image from the command line and print its digest."""
    parser = argparse.ArgumentParser(
        prog="python -m hosted_sandbox.registry.images", description=main.__doc__
    )
    pairs: dict[str, Any] = {"type": _pair, "action": "append", "default": []}
    parser.add_argument("dest", type=Path, help="an archive when it ends in .tar, else a folder")
    parser.add_argument("--file", **pairs, metavar="PATH=LOCAL", help="a file of the image")
    parser.add_argument("--package", **pairs, metavar="NAME=VERSION", help="an installed package")
    parser.add_argument("--env", **pairs, metavar="NAME=VALUE", help="a variable of the image")
    parser.add_argument("--label", **pairs, metavar="NAME=VALUE", help="a label of the image")
    parser.add_argument("--port", type=int, action="append", default=[], help="an exposed port")
    parser.add_argument("--arch", action="append", help="an architecture; several make an index")
    parser.add_argument("--compression", choices=("gzip", "zstd", "none"), default="gzip")
    parser.add_argument("--tag", default="latest", help="the name that the layout gives the image")
    parser.add_argument("--command", nargs="+", default=["/app/server"], help="the command and its arguments")
    given = parser.parse_args(arguments)
    digest = build_image(
        given.dest,
        {path: Path(local).read_bytes() for path, local in given.file},
        given.command,
        given.arch or "amd64",
        given.package,
        compression=None if given.compression == "none" else given.compression,
        environment=dict(given.env),
        labels=dict(given.label),
        ports=given.port,
        tag=given.tag,
    )
    print(digest)


if __name__ == "__main__":
    main()
