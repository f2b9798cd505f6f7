# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The folder that takes last copies, and the list of what each holds.

Each service has a folder of its own in it, with one folder for each copy::

    PATH/survival-svc_8c1d/20261123T021500Z/

A copy is made in a folder whose name begins with a dot, and gets its own name once it is verified and on the
disk. So whatever ends a run, a folder with the name of a copy is a whole one.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ..._api.private_folder import PRIVATE_FOLDER, make_folder_of, refuse_strangers
from ..._sftp.errors import TransferFailed
from ..._sftp.trees import printable_path
from ..files.mirror import first_paths
from ..shared.store import atomic_file
from ..shared.task_errors import Invalid

PARTIAL = ".partial-"
"""What the name of a folder begins with until its copy is verified."""
COPY_NAME = re.compile(r"[0-9]{8}T[0-9]{6}Z(?:-[0-9]+)?")
UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
MAX_NAME = 60
MANIFEST = "manifest.json"
FORMAT = 1
FILES = "files"
"""The folder of a copy that holds the files of the service, and the kind of such a copy."""
FILE, DIRECTORY, LINK = "file", "directory", "link"


@dataclass(frozen=True)
class CopyFolder:
    root: str
    """What the user named, without links."""
    path: str
    """The folder of the service in it."""
    own: bool = False
    """Whether it is the collection's own, which is made with the folders above it."""

    def begin(self) -> str:
        """Make the folder for a new copy, and remove what runs that were cut off have left."""
        try:
            if self.own:
                make_folder_of(self.root)
            for folder in (self.root, self.path):
                with suppress(FileExistsError):
                    os.mkdir(folder, PRIVATE_FOLDER)
                refuse_strangers(folder)
            for name in os.listdir(self.path):
                if name.startswith(PARTIAL):
                    shutil.rmtree(os.path.join(self.path, name), ignore_errors=True)
            return tempfile.mkdtemp(prefix=PARTIAL, dir=self.path)
        except OSError as error:
            raise unwritable(self.path, error) from None

    def place(self, partial: str, made_at: float) -> str:
        final = self.free_path(made_at)
        try:
            os.rename(partial, final)
            for folder in (self.path, self.root, os.path.dirname(self.root)):
                flush_entry(folder)
        except OSError as error:
            raise unwritable(final, error) from None
        return final

    def free_path(self, made_at: float) -> str:
        """Return the path of a copy that was made at this time; a number tells it from another."""
        first = os.path.join(self.path, time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(made_at)))
        path, number = first, 2
        while os.path.lexists(path):
            path, number = f"{first}-{number}", number + 1
        return path

    def newest_files(self) -> str | None:
        """Return the newest copy that has files: the next one shares those that turn out to be the same."""
        with suppress(FileNotFoundError):
            for name in sorted(os.listdir(self.path), reverse=True):
                path = os.path.join(self.path, name)
                if COPY_NAME.fullmatch(name) and is_folder(path) and is_folder(os.path.join(path, FILES)):
                    return path
        return None


def check_folder(path: str, name: str, id: str, own: bool = False) -> CopyFolder:
    """Return where copies go, writing nothing. The folders above the collection's ``own`` are made later."""
    given = os.path.abspath(os.path.expanduser(path))
    root = place = os.path.realpath(given)
    if not os.path.lexists(given):  # a link that leads nowhere may be one to a disk that is not mounted
        place = os.path.dirname(given if own else root)
        while own and not os.path.lexists(place):
            place = os.path.dirname(place)
    if not os.path.isdir(place):
        problem = "is no folder" if os.path.exists(place) else "does not exist"
        raise Invalid(
            f"keep_copy is {path!r}, and {place!r} {problem}. Is a disk not mounted? Create it, or name "
            "another folder. Nothing was deleted"
        )
    if not os.access(place, os.W_OK | os.X_OK):
        raise Invalid(
            f"keep_copy is {path!r}, and {place!r} cannot be written to by this user; change its "
            "permissions, or name another folder. Nothing was deleted"
        )
    folder = CopyFolder(root, os.path.join(root, folder_name(name, id)), own)
    with suppress(OSError):
        there = os.lstat(folder.path)
        if not stat.S_ISDIR(there.st_mode) or there.st_uid != os.geteuid():
            raise Invalid(
                f"the copy would go to {folder.path!r}, which is there and is not a folder of this user; "
                "remove it, or name another folder. Nothing was deleted"
            )
    return folder


def is_folder(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)


def folder_name(name: str, id: str) -> str:
    readable = UNSAFE.sub("_", name).strip("._-")[:MAX_NAME] or "service"
    if UNSAFE.search(id) or len(id) > MAX_NAME or ".." in id:
        id = hashlib.sha256(id.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{readable}-{id}"


def flush_tree(root: str) -> None:
    """Have everything below a folder on the disk, the folder itself included; a full disk may say so here."""
    for folder, __, files in os.walk(root):
        for path in (os.path.join(folder, name) for name in files):
            if not os.path.islink(path):
                flush_entry(path)
        flush_entry(folder)


def flush_entry(path: str) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def unwritable(path: str, error: OSError) -> TransferFailed:
    place = printable_path(os.fsdecode(error.filename or path))
    return TransferFailed(f"cannot write {place}: {error.strerror or error}")


@dataclass(frozen=True)
class Entry:
    """One entry of a copy. ``mode`` and ``mtime`` are those on the service, which the copy may not have."""

    path: str
    kind: str
    size: int = 0
    sha256: str | None = None
    target: str | None = None
    mode: str | None = None
    mtime: int | None = None


@dataclass(frozen=True)
class Manifest:
    """What a copy holds, by path relative to it. ``left_out`` has what has no content, or leads elsewhere."""

    service: Mapping[str, Any]
    kind: str
    made_at: str
    entries: Sequence[Entry]
    left_out: Sequence[Mapping[str, str]] = ()

    def text(self) -> str:
        sizes = [entry.size for entry in self.entries if entry.kind == FILE]
        sums = {"format": FORMAT, "files": len(sizes), "bytes": sum(sizes)}
        return json.dumps({**asdict(self), **sums}, indent=2)

    def write(self, folder: str) -> None:
        with atomic_file(os.path.join(folder, MANIFEST)) as file:
            file.write(self.text())


def check_copy(folder: str, expected: Manifest) -> None:
    """Compare what is on the disk with the list of what was written, and with the one that is there."""
    if Path(folder, MANIFEST).read_bytes() != expected.text().encode():
        raise TransferFailed(f"the list {MANIFEST} of the copy is not the one that was written")
    wanted = {entry.path: replace(entry, mode=None, mtime=None) for entry in expected.entries}
    there = {entry.path: entry for entry in entries_on_disk(folder) if entry.path != MANIFEST}
    if wrong := [path for path in wanted.keys() | there.keys() if wanted.get(path) != there.get(path)]:
        raise TransferFailed(f"the copy on the disk is not what was written: {first_paths(wrong)}")


def entries_on_disk(root: str, below: str = "") -> Iterator[Entry]:
    """Yield everything below a folder, with checksums. Links are not followed."""
    try:
        for name in os.listdir(os.path.join(root, below)):
            entry = entry_on_disk(root, os.path.join(below, name))
            yield entry
            if entry.kind == DIRECTORY:
                yield from entries_on_disk(root, entry.path)
    except OSError as error:
        place = printable_path(os.fsdecode(error.filename or below))
        raise TransferFailed(f"cannot read {place} of the copy back: {error.strerror}") from None


def entry_on_disk(root: str, path: str) -> Entry:
    place = os.path.join(root, path)
    info = os.lstat(place)
    if stat.S_ISDIR(info.st_mode):
        return Entry(path, DIRECTORY)
    if stat.S_ISLNK(info.st_mode):
        return Entry(path, LINK, target=os.readlink(place))
    with open(os.open(place, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
        return Entry(path, FILE, info.st_size, hashlib.file_digest(file, "sha256").hexdigest())
