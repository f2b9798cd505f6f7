# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The file manager (section Endpoints / Files). Every path stays below the root of its service."""

from __future__ import annotations

import mimetypes
import os
import shutil
import stat
import uuid
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from hosted_sandbox.clock import stamp
from hosted_sandbox.domain import lifecycle
from hosted_sandbox.domain.errors import AbsentError, RefusedError
from hosted_sandbox.domain.world import World
from hosted_sandbox.store.records import Service

#: The largest file that the reader returns; larger ones need SFTP.
MOST_BYTES = 2_000_000
MOST_DELETES = 100


def has_dot_dot(path: str) -> bool:
    """Tell whether a path contains `..`: plain, with backslashes, or percent-encoded any number of times."""
    seen = None
    while seen != path:
        if ".." in path.replace("\\", "/").split("/"):
            return True
        seen, path = path, unquote(path)
    return False


def locate(world: World, service: Service, *parts: str) -> Path:
    """Resolve a path below a service's root. Links that lead out of the root are broken."""
    if any(has_dot_dot(part) for part in parts):
        raise RefusedError("a path may not contain ..")
    if any("\0" in part for part in parts):
        raise RefusedError("a path may not contain a null character")
    home = lifecycle.root(world, service).resolve()
    place = home.joinpath(*(part.strip("/") for part in parts))
    if not place.parent.resolve().is_relative_to(home) and place != home:
        raise AbsentError("File or directory")
    return place


def _follow(world: World, service: Service, place: Path) -> Path:
    """Follow the last link of a path, which must not lead out either."""
    target = place.resolve()
    if not target.is_relative_to(lifecycle.root(world, service).resolve()):
        raise AbsentError("File or directory")
    return target


def _plain_name(name: str) -> str:
    if name in ("", ".") or "/" in name:
        raise RefusedError("a name may not be empty or contain a slash")
    return name


def entries(world: World, service: Service, directory: str) -> list[dict[str, Any]]:
    """List a directory by name, in the form of the API."""
    place = _follow(world, service, locate(world, service, directory))
    if not place.is_dir():
        raise AbsentError("File or directory")
    return [_entry(Path(item.path)) for item in sorted(os.scandir(place), key=lambda item: item.name)]


def _entry(path: Path) -> dict[str, Any]:
    info = path.lstat()
    directory = stat.S_ISDIR(info.st_mode)
    mime = "inode/directory" if directory else mimetypes.guess_type(path.name)[0]
    return {
        "name": path.name.encode("utf-8", "surrogateescape").decode("utf-8", "replace"),
        "size": 0 if directory else info.st_size,
        "directory": directory,
        "symlink": stat.S_ISLNK(info.st_mode),
        "mime": mime or "text/plain",
        "modeBits": f"{info.st_mode & 0o777:03o}",
        "modifiedAt": stamp(info.st_mtime_ns // 1_000_000),
    }


def read(world: World, service: Service, path: str) -> str:
    """Return the text of a file of at most 2 MB."""
    place = _follow(world, service, locate(world, service, path))
    if not place.is_file():
        raise AbsentError("File or directory")
    content = place.read_bytes()
    if len(content) > MOST_BYTES:
        raise RefusedError("the file is larger than 2 MB; use SFTP")
    try:
        text = content.decode()
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise RefusedError("the file is binary; use SFTP")
    return text


def write(world: World, service: Service, path: str, content: str) -> Path:
    """Create or replace a file atomically."""
    place = _follow(world, service, locate(world, service, path))
    if place == lifecycle.root(world, service).resolve() or place.is_dir():
        raise RefusedError("a directory is in the way")
    _make_parents(place)
    fresh = place.with_name(f".{uuid.uuid4().hex}.part")
    try:
        with fresh.open("xb") as file:  # Nothing that a client may have put there.
            file.write(content.encode())
        fresh.replace(place)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise RefusedError(f"cannot write: {error.strerror}") from None
    return place


def _make_parents(place: Path) -> None:
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise RefusedError("a file is in the way") from None


def make_directory(world: World, service: Service, root: str, name: str) -> Path:
    """Create a directory below `root`."""
    place = locate(world, service, root, _plain_name(name))
    if os.path.lexists(place):
        raise RefusedError(f"{name} exists already")
    _make_parents(place)
    place.mkdir()
    return place


def rename(world: World, service: Service, root: str, old: str, new: str) -> Path:
    """Rename or move a file or folder below `root`; never replace an existing one."""
    origin = locate(world, service, root, old)
    target = locate(world, service, root, new)
    home = lifecycle.root(world, service).resolve()
    if not os.path.lexists(origin) or home in (origin, target):
        raise AbsentError("File or directory")
    if os.path.lexists(target) or target.is_relative_to(origin):
        raise RefusedError(f"{new} is in the way")
    _make_parents(target)
    origin.rename(target)
    return target


def delete(world: World, service: Service, root: str, names: list[str]) -> None:
    """Delete up to 100 names below `root` permanently, directories with their contents."""
    if len(names) > MOST_DELETES:
        raise RefusedError(f"at most {MOST_DELETES} names in one call")
    home = lifecycle.root(world, service).resolve()
    places = [locate(world, service, root, name) for name in names]
    if home in places:
        raise RefusedError("the root itself cannot be deleted")
    for place in places:
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        else:
            place.unlink(missing_ok=True)


def size_of(folder: Path) -> int:
    """Return the total size of all files below a folder."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir())
