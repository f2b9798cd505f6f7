# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Convert folders to JSON and back."""

from __future__ import annotations

import base64
import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote_to_bytes

Entry = dict[str, Any]
"""A folder has `mode` and `modified` (nanoseconds), a file also `content` (base64), a link `target`.

An absolute target begins at the root of the service or copy that the link is in, as SFTP clients see it.
"""
ROOT = 2
"""How many parts the path of such a root has: `files/<id>`."""
FOLLOWED = 40  # The machine follows no more links than these.


def packed(folder: Path, names: tuple[str, ...]) -> dict[str, Entry]:
    """Return the contents of these subfolders by path, each folder before its contents.

    Paths are percent-encoded, because file names need not be text.
    """
    found = {}
    for name in names:
        if (folder / name).is_dir():
            found[name] = _folder((folder / name).stat())
            found |= {quote(os.fsencode(path)): entry for path, entry in _below(folder, name)}
    return found


def _below(folder: Path, name: str) -> Iterator[tuple[str, Entry]]:
    with os.scandir(folder / name) as children:
        for child in sorted(children, key=lambda child: child.name):
            path, status = f"{name}/{child.name}", child.stat(follow_symlinks=False)
            if child.is_symlink():
                target = os.readlink(child.path)
                if target.startswith(f"{folder}/"):
                    target = "/" + "/".join(target.removeprefix(f"{folder}/").split("/")[ROOT:])
                yield path, {"target": quote(os.fsencode(target))}
            elif child.is_dir():
                yield path, _folder(status)
                yield from _below(folder, path)
            elif stat.S_ISREG(status.st_mode):
                with open(child.path, "rb") as file:
                    yield path, {**_folder(status), "content": base64.b64encode(file.read()).decode()}


def _folder(status: os.stat_result) -> Entry:
    return {"mode": stat.S_IMODE(status.st_mode), "modified": status.st_mtime_ns}


def unpack(folder: Path, names: tuple[str, ...], entries: Mapping[str, Entry]) -> None:
    """Replace the contents of these subfolders by checked entries."""
    for name in names:
        shutil.rmtree(folder / name, ignore_errors=True)
    for path, entry in entries.items():
        _put(folder, path, entry)
    # Set the time of a folder last: adding files to it changes it.
    for path, entry in reversed(list(entries.items())):
        if "target" not in entry:
            (folder / path).chmod(entry["mode"] & 0o777)
            os.utime(folder / path, ns=(entry["modified"], entry["modified"]))


def checked(names: tuple[str, ...], entries: Mapping[str, Entry]) -> dict[str, Entry]:
    """Return what was packed by plain path, each folder before its contents.

    :raises ValueError: if a path or a link leads out of these subfolders, or of its root in them.
    """
    found: dict[str, Entry] = {}
    links: dict[str, str] = {}
    folders = set()
    for spelled, entry in entries.items():
        path = os.fsdecode(unquote_to_bytes(spelled))
        above, __, name = path.rpartition("/")
        placed = above in folders if above else path in names
        if not placed or path in found or name in ("", ".", "..") or "\0" in name:
            raise ValueError(f"{path!r} is no path of a saved state")
        found[path] = dict(entry)
        if "target" in entry:
            links[path] = found[path]["target"] = os.fsdecode(unquote_to_bytes(entry["target"]))
        elif "content" not in entry:
            folders.add(path)
    for path in links:
        if path.startswith("registry/") or not _stays(path, links):
            raise ValueError(f"the link {path!r} of this saved state leads elsewhere")
    return found


def _stays(path: str, links: Mapping[str, str]) -> bool:
    """Follow a link through all others, as the machine would, and tell whether it stays in its root."""
    at: list[str] = []
    rest, followed = path.split("/")[::-1], 0
    while rest and followed <= FOLLOWED:
        part = rest.pop()
        target = links.get("/".join([*at, part]))
        if (len(at) < ROOT and target is not None) or (len(at) == ROOT and part == ".."):
            return False
        if target is not None:
            at = at[:ROOT] if target.startswith("/") else at
            rest += target.split("/")[::-1]
            followed += 1
        elif part == "..":
            at.pop()
        elif part not in ("", "."):
            at.append(part)
    return True


def _put(folder: Path, path: str, entry: Entry) -> None:
    place = folder / path
    if "target" in entry:
        target, root = entry["target"], "/".join(path.split("/")[:ROOT])
        place.symlink_to(f"{folder}/{root}{target}" if target.startswith("/") else target)
    elif "content" in entry:
        with place.open("xb") as file:
            file.write(base64.b64decode(entry["content"]))
    else:
        place.mkdir()
