# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The file manager of a service: lists each directory once, and checks limits first (Files)."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..._api import routes as r
from ..._api.errors import NotFoundResponse, Refused, UnexpectedAnswer
from ..._api.models import FileEntry, Service
from ..._api.text import counted
from ..._sftp.trees import MOST_LEVELS, SHOWN
from ..shared.account import Account
from ..shared.change import Change, Gone, Shown
from ..shared.identify import label
from ..shared.options import Options
from ..shared.plan import Task
from ..shared.task_errors import Invalid, NoSuchItem

MAX_BYTES = 2_000_000
"""Where the platform's reader stops: at 2 MB (Limits)."""
FILES_PER_DELETE = 100
USE_SFTP_SYNC = "use hosted.services.sftp_sync"
ROOT = "/"
"""The root of a service, in calls."""


class FileManager:
    """The files of a service. Paths are relative to its root, whose path is empty."""

    def __init__(self, service: Service, task: Task[Options]) -> None:
        self.id, self.label, self.task = service.id, label(service), task
        self._seen: dict[str, list[FileEntry]] = {}

    def entries(self, directory: str) -> list[FileEntry]:
        """Return what the platform lists, but for the directory itself and the one above."""
        if directory not in self._seen:
            place = directory or ROOT
            found = [item for item in self.task.account.files(self.id, place) if item.name not in (".", "..")]
            odd = [item.name for item in found if not item.name or "/" in item.name or "\0" in item.name]
            if odd or place.count("/") >= MOST_LEVELS:
                why = f"{odd[0][:SHOWN]!r} is no file name" if odd else f"it is {MOST_LEVELS} levels deep"
                raise UnexpectedAnswer(f"{place[:SHOWN]!r} on {self.label} cannot be looked into: {why}")
            self._seen[directory] = found
        return self._seen[directory]

    def invalidate(self) -> None:
        self._seen.clear()

    def entry(self, path: str) -> FileEntry | None:
        parent, name = posixpath.split(path)
        if parent and not self.has_directory(parent):
            return None
        return next((item for item in self.entries(parent) if item.name == name), None)

    def has_directory(self, path: str) -> bool:
        """Tell whether there is one, or a link. A file in its place is refused."""
        entry = self.entry(path)
        if entry is not None and not entry.directory and not entry.symlink:
            raise Invalid(f"{path!r} on {self.label} is a file, so nothing can be below it")
        return entry is not None

    def content(self, path: str, entry: FileEntry) -> str:
        if is_large(entry):
            raise Invalid(
                f"{path!r} on {self.label} has {entry.size} bytes; the file manager reads up to "
                f"{MAX_BYTES}. To fetch it, {USE_SFTP_SYNC}"
            )
        try:
            text = self.task.account.read_file(self.id, path)
        except NotFoundResponse as error:
            raise NoSuchItem(f"{path!r} on {self.label} no longer exists, or leads nowhere") from error
        except Refused as error:
            error.append(
                f". The file manager reads text of up to {MAX_BYTES} bytes; for others, {USE_SFTP_SYNC}"
            )
            raise
        size = len(text.encode())
        if not entry.symlink and entry.size not in (None, size):  # it may have been written to meanwhile
            self.invalidate()
            entry = self.entry(path) or entry
        if not entry.symlink and entry.size not in (None, size):  # the size of a link is its own
            raise Invalid(
                f"what the file manager returned for {path!r} on {self.label} is not the whole file: it has "
                f"{counted(size, 'byte')}, and the directory has {counted(entry.size or 0, 'byte')}. It was "
                f"cut, or changed because it is not plain text in UTF-8. To fetch it, {USE_SFTP_SYNC}"
            )
        return text

    def writing(self, path: str, text: str, size: int) -> Change:
        """Return the change that creates or replaces a file. A platform that changes it is only told of."""
        shown = self._listed(*posixpath.split(path), size=size)
        body = {"path": path, "content": text}
        change = self._change(f"{path} with {counted(size, 'byte')}", r.FILE_WRITE, body, shown)
        return replace(change, harmless=True)

    def making(self, path: str) -> Change:
        root, name = posixpath.split(path)
        body = {"root": root or ROOT, "name": name}
        change = self._change(f"directory {path}", r.FILE_DIRECTORY, body, self._listed(root, name))
        return replace(change, unique=True)

    def renaming(self, path: str, name: str) -> Change:
        root, old = posixpath.split(path)
        body = {"root": root or ROOT, "from": old, "to": name}
        what = f"the renaming of {path} to {name}"
        return self._change(what, r.FILE_RENAME, body, self._listed(root, name))

    def removing(self, root: str, names: Sequence[str]) -> list[Change]:
        """Return the changes that delete entries of a directory permanently, each a hundred (Limits)."""
        changes = []
        for some in (names[at : at + FILES_PER_DELETE] for at in range(0, len(names), FILES_PER_DELETE)):
            several = f"{len(some)} entries of {root or 'the root'}"
            what = several if some[1:] else posixpath.join(root, some[0])
            body = {"root": root or ROOT, "files": list(some)}
            changes.append(self._change(what, r.FILE_DELETE, body, Gone(self._listed(root, *some))))
        return changes

    def _listed(self, directory: str, *names: str, size: int | None = None) -> InDirectory:
        return InDirectory(self.id, directory or ROOT, names, size)

    def _change(self, what: str, route: r.Route[Any], body: Mapping[str, Any], shown: Shown) -> Change:
        named = f"{what} on {self.label}"
        return Change(what=named, route=route, ids={"id": self.id}, body=body, shown=shown)


@dataclass(frozen=True)
class InDirectory:
    """A directory lists one of these names, with this size if one is given."""

    service_id: str
    directory: str
    names: tuple[str, ...]
    size: int | None = None

    def found(self, account: Account) -> list[FileEntry]:
        listed = account.files(self.service_id, self.directory)
        named = [entry for entry in listed if entry.name in self.names]
        return [entry for entry in named if self.size is None or entry.size in (None, self.size)]


def is_large(entry: FileEntry) -> bool:
    """Tell whether a file exceeds the platform's limit. The size of a link is not that of its target."""
    return entry.size is not None and entry.size > MAX_BYTES and not entry.symlink


def as_result(path: str, entry: FileEntry) -> dict[str, Any]:
    return {"path": path, **entry.as_dict()}


def expected_entry(path: str, size: int | None, directory: bool) -> dict[str, Any]:
    name = posixpath.basename(path)
    entry = FileEntry.model_construct(name=name, size=size, directory=directory, symlink=False)
    return as_result(path, entry)
