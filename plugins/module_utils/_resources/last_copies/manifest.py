# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of what a copy holds: written with it, and compared with the disk before it counts."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Annotated, Any, ClassVar

from ..._api.libraries import ConfigDict, Field
from ..._api.text import first_of
from ..._sftp.errors import TransferFailed
from ..._sftp.trees import printable_path
from ..shared import store
from ..shared.task_errors import Invalid

MANIFEST = "manifest.json"
FORMAT = 1
FILE, DIRECTORY, LINK = "file", "directory", "link"
MAX_NAMED = 5
Exact = Annotated[int, Field(strict=True)]
"""A number that no text is taken for."""


@dataclass(frozen=True)
class Entry:
    """One entry of a copy. ``mode`` and ``mtime`` are those on the service, which the copy may not have."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")
    path: str
    kind: str
    size: Exact = 0
    sha256: str | None = None
    target: str | None = None
    mode: str | None = None
    mtime: Exact | None = None


@dataclass(frozen=True)
class Manifest:
    """What a copy holds, by path relative to it. ``left_out`` has what has no content, or leads elsewhere."""

    service: Mapping[str, Any] = field(default_factory=dict)
    kind: str = ""
    made_at: str = ""
    entries: Sequence[Entry] = ()
    left_out: Sequence[Mapping[str, str]] = ()
    format: Exact = 0
    files: Exact = -1
    bytes: Exact = -1
    """How many are in the files. A list has no value that is a default here: one that lacks any is none."""

    def complete(self) -> Manifest:
        """Return it as a whole list of this format: with what its entries add up to."""
        sizes = [entry.size for entry in self.entries if entry.kind == FILE]
        return replace(self, format=FORMAT, files=len(sizes), bytes=sum(sizes))

    def write(self, folder: str) -> None:
        """Write the list into the folder of its copy, with mode 0600.

        :raises OSError: if that fails.
        """
        with store.atomic_file(os.path.join(folder, MANIFEST)) as file:
            json.dump(asdict(self), file, indent=2)


MANIFESTS = store.Kind("", Manifest, "The list of a copy", "A copy of another format is not read")


def read_manifest(folder: str) -> Manifest:
    """Read the list of a copy back.

    :raises TransferFailed: if it is damaged, or of another format.
    """
    try:
        found = store.Record(MANIFESTS, os.path.join(folder, MANIFEST)).read()
    except Invalid as error:
        raise TransferFailed(error.message) from None
    if found.format != FORMAT:
        raise TransferFailed(f"the copy has no list {MANIFEST} of format {FORMAT}")
    lacking = {name for name, value in vars(Manifest()).items() if getattr(found, name) == value}
    if lacking or found != found.complete():
        raise TransferFailed(f"the list {MANIFEST} of the copy does not add up")
    return found


def check_copy(folder: str, expected: Manifest) -> None:
    """Read a copy back from the disk, list included, and compare it with what it is to hold."""
    if read_manifest(folder) != expected:
        raise TransferFailed(f"the list {MANIFEST} of the copy is not the one that was written")
    wanted = {entry.path: replace(entry, mode=None, mtime=None) for entry in expected.entries}
    there = dict(entries_on_disk(folder))
    there.pop(MANIFEST, None)
    wrong = sorted(path for path in wanted.keys() | there.keys() if wanted.get(path) != there.get(path))
    if wrong:
        raise TransferFailed(f"the copy on the disk is not what was written: {name_some(wrong)}")


def name_some(paths: Sequence[str]) -> str:
    """Return the first of these paths, for a message."""
    return first_of([printable_path(path) or "." for path in paths], MAX_NAMED)


def entries_on_disk(root: str, below: str = "") -> Iterator[tuple[str, Entry]]:
    """Yield everything below a folder, with checksums. Links are not followed."""
    try:
        for name in os.listdir(os.path.join(root, below)):
            path = os.path.join(below, name)
            entry = entry_on_disk(root, path)
            yield path, entry
            if entry.kind == DIRECTORY:
                yield from entries_on_disk(root, path)
    except OSError as error:
        place = printable_path(os.fsdecode(error.filename or below))
        raise TransferFailed(f"cannot read {place} of the copy back: {error.strerror}") from None


def entry_on_disk(root: str, path: str) -> Entry:
    """Return one entry as the disk has it."""
    place = os.path.join(root, path)
    info = os.lstat(place)
    if stat.S_ISDIR(info.st_mode):
        return Entry(path, DIRECTORY)
    if stat.S_ISLNK(info.st_mode):
        return Entry(path, LINK, target=os.readlink(place))
    with open(os.open(place, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
        return Entry(path, FILE, info.st_size, hashlib.file_digest(file, "sha256").hexdigest())
