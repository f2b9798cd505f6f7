# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The file manager of a service: lists each directory once, and checks limits first (Files)."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from typing import Any

from ..._api.client import FILES_PER_DELETE
from ..._api.errors import NotFoundResponse, Refused, TokenRejected, UnexpectedAnswer
from ..._api.models import FileEntry, Service
from ..._api.text import counted
from ..._sftp.trees import MOST_LEVELS, SHOWN
from ..shared.identify import label
from ..shared.names import same_name
from ..shared.options import Options
from ..shared.plan import Task
from ..shared.task_errors import Invalid, NoSuchItem
from ..shared.waiting import act, await_removal, poll_for

MAX_BYTES = 2_000_000
"""Where the platform's reader stops: at 2 MB (Limits)."""
USE_SFTP_SYNC = "use hosted.services.sftp_sync"
ROOT = "/"
"""The root of a service, in calls."""


class FileManager:
    """The files of a service. Paths are relative to its root, whose path is empty."""

    def __init__(self, service: Service, task: Task[Options]) -> None:
        self.id = service.id
        self.label = label(service)
        self.task = task
        self._seen: dict[str, list[FileEntry]] = {}

    # --- Looking ----------------------------------------------------------------------------------

    def entries(self, directory: str) -> list[FileEntry]:
        """Return the entries of a directory, as first read."""
        if directory not in self._seen:
            self._seen[directory] = self._list(directory) if directory else self._list_root()
        return self._seen[directory]

    def _list_root(self) -> list[FileEntry]:
        """Return what the root holds.

        :raises UnexpectedAnswer: if it is said to be missing: it is there, so nothing in it can be.
        """
        try:
            return self._list(ROOT)
        except NotFoundResponse as error:
            what = f"the root of {self.label} cannot be listed, so nothing is known of its files"
            raise UnexpectedAnswer(f"{what}: {error.message}") from error

    def _list(self, directory: str) -> list[FileEntry]:
        """Return what the platform lists, but for the directory itself and the one above.

        :raises UnexpectedAnswer: for what is no name, as it would lead elsewhere, and for an endless tree.
        """
        found = [item for item in self.task.account.files(self.id, directory) if item.name not in (".", "..")]
        odd = [item.name for item in found if not item.name or "/" in item.name or "\0" in item.name]
        if odd or directory.count("/") >= MOST_LEVELS:
            why = f"{odd[0][:SHOWN]!r} is no file name" if odd else f"it is over {MOST_LEVELS} levels deep"
            raise UnexpectedAnswer(f"{directory[:SHOWN]!r} on {self.label} cannot be looked into: {why}")
        return found

    def invalidate(self) -> None:
        """Discard what was read, so that the next access reads again."""
        self._seen.clear()

    def entry(self, path: str) -> FileEntry | None:
        """Return the entry at a path; ``None`` if there is none.

        :raises Invalid: if a parent is not a directory, or a name that looks the same is listed instead.
        """
        parent, name = posixpath.split(path)
        if parent:
            if self.entry(parent) is None:
                return None
            self.check_directory(parent)
        found = self.entries(parent)
        entry = next((item for item in found if item.name == name), None)
        if entry is None:
            self.check_spelling(path, [item.name for item in found])
        return entry

    def check_spelling(self, path: str, listed: Sequence[str]) -> None:
        """Check that a path that is not listed does not differ in its accents alone (NFC and NFD in Unicode).

        :raises Invalid: if it does: the platform may store each name in one form, or keep the two apart.
        """
        name = posixpath.basename(path)
        for other in listed:
            if same_name(name, other):
                raise Invalid(
                    f"{path!r} is not listed on {self.label}; {other!r} is, which looks the same but has "
                    f"other characters ({other!a}, not {name!a}). Write the path with those that are listed"
                )

    def check_directory(self, path: str) -> None:
        """Check that a path is a directory, or a link that may lead to one.

        :raises Invalid: if it is a file.
        """
        entry = self.entry(path)
        if entry is not None and not entry.directory and not entry.symlink:
            raise Invalid(f"{path!r} on {self.label} is a file, so nothing can be below it")

    def content(self, path: str, entry: FileEntry) -> str:
        """Return the text of a file.

        :raises Invalid: if it is too large for the platform to return.
        """
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
        if not is_full_text(entry, text):  # or the file was replaced since it was listed
            self.invalidate()
            self.check_full_text(path, text)
        return text

    def check_full_text(self, path: str, text: str) -> None:
        """Check that the returned text has the size of the file in a new listing.

        :raises Invalid: with both sizes.
        """
        entry = self.entry(path)
        if entry is None or not is_full_text(entry, text):
            size = counted(entry.size or 0, "byte") if entry else "no such file"
            raise Invalid(
                f"what the file manager returned for {path!r} on {self.label} is not the whole file: it has "
                f"{counted(len(text.encode()), 'byte')}, and the directory has {size}. It was cut, or "
                f"changed because it is not plain text in UTF-8. To fetch it, {USE_SFTP_SYNC}"
            )

    def text_or_note(self, path: str, entry: FileEntry) -> str | dict[str, Any]:
        """Return the text of a file that is going to be compared; facts about it where it has none."""
        note = {"size": entry.size, "modified_at": entry.modified_at}
        if is_large(entry):
            return note
        try:
            text = self.task.account.read_file(self.id, path)
        except TokenRejected:
            raise
        except Refused:
            return {**note, "text": False}
        if is_full_text(entry, text):
            return text
        self.invalidate()
        now = self.entry(path)  # one that was written to meanwhile
        return text if now is not None and is_full_text(now, text) else {**note, "text": False}

    # --- Changing ---------------------------------------------------------------------------------

    def write(self, path: str, text: str) -> None:
        """Create or replace a file."""
        self.task.client.write_file(self.id, path, text)

    def make_directory(self, path: str) -> None:
        """Create a directory in an existing one."""
        parent, name = posixpath.split(path)

        def there() -> bool:
            self.invalidate()
            return self.entry(path) is not None

        try:
            act(
                self.task,
                lambda: self.task.client.create_directory(self.id, parent or ROOT, name),
                there,
                f"the making of {path}",
            )
        except Refused:
            if not there():
                raise

    def rename(self, path: str, name: str) -> None:
        """Rename an entry within its directory."""
        root, old = posixpath.split(path)

        def done() -> bool:
            self.invalidate()
            return self.entry(path) is None and self.entry(posixpath.join(root, name)) is not None

        act(
            self.task,
            lambda: self.task.client.rename_file(self.id, root or ROOT, old, name),
            done,
            f"the renaming of {path} to {name}",
        )
        poll_for(done)  # the next task would find both names

    def remove(self, root: str, names: Sequence[str]) -> None:
        """Permanently delete entries of a directory; directories with their content."""
        for begin in range(0, len(names), FILES_PER_DELETE):
            self._remove_batch(root, names[begin : begin + FILES_PER_DELETE])
            self.task.progress(f"removed {min(begin + FILES_PER_DELETE, len(names))} of {len(names)}")

    def _remove_batch(self, root: str, names: Sequence[str]) -> None:
        """Remove up to a hundred names."""

        def left() -> list[str]:
            self.invalidate()
            there = {item.name for item in self.task.account.files(self.id, root or ROOT)}
            return [name for name in names if name in there]

        def delete() -> None:
            if remaining := left():
                self.task.client.delete_files(self.id, root or ROOT, remaining)

        what = f"the removal of {len(names)} entries of {root or 'the root'}"
        act(self.task, delete, lambda: not left(), what)
        await_removal(self.task, lambda: bool(left()), f"{names[0]!r}")


def is_large(entry: FileEntry) -> bool:
    """Tell whether a file exceeds the platform's limit. The size of a link is not that of its target."""
    return entry.size is not None and entry.size > MAX_BYTES and not entry.symlink


def is_full_text(entry: FileEntry, text: str) -> bool:
    """Tell whether a text has the size of its file. A link's is not that of its target."""
    return entry.size is None or entry.symlink is True or len(text.encode()) == entry.size


def as_result(path: str, entry: FileEntry) -> dict[str, Any]:
    """Return an entry for results, with its full path."""
    return {"path": path, **entry.as_dict()}


def expected_entry(path: str, size: int | None, directory: bool) -> dict[str, Any]:
    """Return an entry as expected after the task, as far as known."""
    name = posixpath.basename(path)
    entry = FileEntry.model_construct(name=name, size=size, directory=directory, symlink=False)
    return as_result(path, entry)
