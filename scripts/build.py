# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Build the tarball of the collection, the same bytes for the same files: `python scripts/build.py FOLDER`.

`ansible-galaxy collection build` packs the files in the order of the file system, with the time of the
checkout and of the build. This packs again what that has built: sorted by name, with the time of the release
or of the commit, and without empty folders, which git does not know. It builds from a copy of the files that
git tracks or would add, in which the links of the README to files lead to the repository: Galaxy and
Automation Hub show that page alone.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import yaml

from ansible_collections.hosted.services.scripts.sources import copy_sources, source_time

LIST, MANIFEST = "FILES.json", "MANIFEST.json"
OWN_LINK = re.compile(r"(!?)(\[[^]]*\])\((?!https?:|#)([^)\s]+)\)")
"""A link or a picture of a page that leads to a file of the repository."""


def build(sources: Path, output: Path, seconds: int) -> Path:
    """Build the collection in ``sources``, a copy, and return the tarball in the folder ``output``."""
    output.mkdir(parents=True, exist_ok=True)
    galaxy = yaml.safe_load((sources / "galaxy.yml").read_text(encoding="utf-8"))
    readme = sources / galaxy["readme"]
    page = with_whole_links(readme.read_text(encoding="utf-8"), galaxy["repository"])
    readme.write_text(page, encoding="utf-8")
    with tempfile.TemporaryDirectory(prefix="hosted-services-build-") as folder:
        command = ["ansible-galaxy", "collection", "build", "--output-path", folder]
        done = subprocess.run(command, cwd=sources, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"ansible-galaxy could not build the collection:\n{done.stdout}{done.stderr}")
        (built,) = Path(folder).iterdir()
        packed = pack_again(built.read_bytes(), seconds)
    tarball = output / built.name
    tarball.write_bytes(packed)
    return tarball


def with_whole_links(page: str, repository: str) -> str:
    """Return a page whose links and pictures lead to the repository, wherever the page is shown."""

    def whole(found: re.Match[str]) -> str:
        picture, text, path = found.groups()
        return f"{picture}{text}({repository.rstrip('/')}/{'raw' if picture else 'blob'}/main/{path})"

    return OWN_LINK.sub(whole, page)


def pack_again(tarball: bytes, seconds: int) -> bytes:
    """Return a tarball with the same files, whose bytes depend on nothing but these and the time."""
    with tarfile.open(fileobj=io.BytesIO(tarball)) as archive:
        held = {member.name: (member, content(archive, member)) for member in archive.getmembers()}
    filled = {
        str(parent)
        for name, (member, _data) in held.items()
        if not member.isdir()
        for parent in Path(name).parents
    }
    held = {name: kept for name, kept in held.items() if not kept[0].isdir() or name in filled}
    listed = json.loads(held[LIST][1])
    listed["files"] = [entry for entry in listed["files"] if entry["name"] in {".", *held}]
    listed["files"].sort(key=lambda entry: str(entry["name"]))
    manifest = json.loads(held[MANIFEST][1])
    contents = {name: data for name, (_member, data) in held.items()}
    contents[LIST] = json.dumps(listed, indent=True).encode()
    manifest["file_manifest_file"]["chksum_sha256"] = hashlib.sha256(contents[LIST]).hexdigest()
    contents[MANIFEST] = json.dumps(manifest, indent=True).encode()
    packed = io.BytesIO()
    with (
        gzip.GzipFile(filename="", mode="wb", fileobj=packed, mtime=seconds) as compressed,
        tarfile.open(fileobj=compressed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        # The manifest comes first, as ansible-galaxy writes it: readers find it without unpacking the rest.
        for name in sorted(contents, key=lambda name: (name not in (MANIFEST, LIST), name)):
            member = held[name][0]
            member.mtime, member.size, member.pax_headers = seconds, len(contents[name]), {}
            archive.addfile(member, io.BytesIO(contents[name]) if member.isfile() else None)
    return packed.getvalue()


def content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    """Return the bytes of a file in an archive; none for a folder or a link."""
    opened = archive.extractfile(member) if member.isfile() else None
    return opened.read() if opened else b""


def main() -> int:
    """Build the collection from this folder."""
    with tempfile.TemporaryDirectory(prefix="hosted-services-sources-") as folder:
        sources = copy_sources(Path(folder), untracked=True)
        tarball = build(sources, Path(sys.argv[1]), source_time(sources))
    print(f"{tarball}\nsha256 {hashlib.sha256(tarball.read_bytes()).hexdigest()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
