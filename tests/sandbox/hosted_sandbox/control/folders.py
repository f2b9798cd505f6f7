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
"""A folder has `mode` and `modified` (nanoseconds), a file also `content` (base64), a link `target`."""


def packed(folder: Path, names: tuple[str, ...]) -> dict[str, Entry]:
    """Return the contents of these subfolders by path, each folder before its contents.

    Paths are percent-encoded, because file names need not be text.
    """
    found = {}
    for name in names:
        if (folder / name).is_dir():
            found[name] = _folder((folder / name).stat())
            found |= {quote(os.fsencode(path)): entry for path, entry in _below(str(folder / name), name)}
    return found


def _below(folder: str, name: str) -> Iterator[tuple[str, Entry]]:
    with os.scandir(folder) as children:
        for child in sorted(children, key=lambda child: child.name):
            path, status = f"{name}/{child.name}", child.stat(follow_symlinks=False)
            if child.is_symlink():
                yield path, {"target": quote(os.fsencode(os.readlink(child.path)))}
            elif child.is_dir():
                yield path, _folder(status)
                yield from _below(child.path, path)
            elif stat.S_ISREG(status.st_mode):
                with open(child.path, "rb") as file:
                    yield path, {**_folder(status), "content": base64.b64encode(file.read()).decode()}


def _folder(status: os.stat_result) -> Entry:
    return {"mode": stat.S_IMODE(status.st_mode), "modified": status.st_mtime_ns}


def unpack(folder: Path, names: tuple[str, ...], entries: Mapping[str, Entry]) -> None:
    """Replace the contents of these subfolders by what was packed.

    :raises ValueError: if a path leads outside of them.
    """
    paths = {path: os.fsdecode(unquote_to_bytes(path)) for path in entries}
    for path in paths.values():
        if path.split("/")[0] not in names or ".." in path.split("/"):
            raise ValueError(f"{path!r} is no path of a saved state")
    for name in names:
        shutil.rmtree(folder / name, ignore_errors=True)
    for path, entry in entries.items():
        _put(folder / paths[path], entry)
    # Set the time of a folder last: adding files to it changes it.
    for path, entry in reversed(list(entries.items())):
        if "target" not in entry:
            os.utime(folder / paths[path], ns=(entry["modified"], entry["modified"]))


def _put(place: Path, entry: Entry) -> None:
    if "target" in entry:
        place.symlink_to(os.fsdecode(unquote_to_bytes(entry["target"])))
        return
    if "content" in entry:
        place.write_bytes(base64.b64decode(entry["content"]))
    else:
        place.mkdir()
    place.chmod(entry["mode"])
