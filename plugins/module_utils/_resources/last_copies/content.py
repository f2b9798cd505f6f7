# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a last copy holds: the files of a service over SFTP, or the dump of a database.

Each is read a second time before it counts: what differs by then was changed in between, or was not copied.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, TypeAlias

from ..._api.models import SftpAccess
from ..._api.text import counted
from ..._sftp.compare import PERMISSIONS, Rules, check_sizes, compare, without_stray_links
from ..._sftp.errors import TransferFailed
from ..._sftp.library import require
from ..._sftp.local import Local
from ..._sftp.mirror import PULL, Mirror
from ..._sftp.patterns import Patterns
from ..._sftp.remote import Remote
from ..._sftp.session import SftpSession
from ..._sftp.trees import ROOT, Kind, Tree, TreeEntry
from ..databases.dump import Source, content_digest, dump_from
from ..databases.restore import as_failure
from ..files.mirror import describe_failures, describe_unreadable, first_paths, key_session
from ..services.options import ServiceOptions
from ..shared.plan import Task
from .folders import Entry, entry_on_disk

FILES = "files"
"""The folder of a copy that holds the files of the service, and the kind of such a copy."""
DUMP = "dump"
KNOWN_HOSTS = "~/.ssh/known_hosts"
READABLE, ENTERED = 0o600, 0o700
OWNER = 0o700


# --- Files ------------------------------------------------------------------------------------------


@dataclass
class FileContent:
    """The files of a service. Symbolic links are copied as links, and never followed."""

    kind: ClassVar[str] = FILES
    sftp_session: SftpSession
    remote: Remote
    task: Task[ServiceOptions]
    tree: Tree
    """What the service had when it was read first."""
    source: Tree = field(init=False)
    """What of it is copied."""
    left_out: dict[str, str] = field(init=False)
    """Links that lead out of the service, and what is no file, with the reason."""
    count: int = field(init=False)
    size: int = field(init=False)

    @classmethod
    def open(cls, task: Task[ServiceOptions], access: SftpAccess) -> FileContent:
        """Log in and read what there is. The connection stays open until the task ends."""
        require()
        session = key_session(task, access, task.options.known_hosts or KNOWN_HOSTS)
        task.closing.enter_context(session)
        remote = Remote(session.sftp, ".")
        tree = session.run(remote.tree(Patterns()))
        check_readable(remote, tree)
        return cls(session, remote, task, tree)

    def __post_init__(self) -> None:
        self.source = owned(without_stray_links(self.tree))
        broken = dict.fromkeys(self.tree.leftovers, "it is what a transfer that broke off has left")
        self.left_out = {**self.source.left_out, **broken}
        sizes = [entry.size for entry in self.source.entries.values() if entry.kind is Kind.FILE]
        self.count, self.size = len(sizes), sum(sizes)

    def describe(self) -> str:
        return f"{counted(self.count, 'file')} ({counted(self.size, 'byte')})"

    def write(self, folder: str, before: str | None) -> None:
        self.sftp_session.run(self._write(folder, before))

    async def _write(self, folder: str, before: str | None) -> None:
        mirror, local = self._mirror(folder)
        os.mkdir(local.root, ENTERED)
        shared = await self._share(local, before) if before else set()
        changes = compare(self.source, await local.tree(Patterns()), Rules(lambda path, *__: path in shared))
        mirror.check_room(changes)
        await mirror.apply(changes)
        if mirror.failures:
            raise TransferFailed(describe_failures(mirror.failures))

    def _mirror(self, folder: str) -> tuple[Mirror, Local]:
        local = Local(os.path.join(folder, FILES))
        return Mirror(local, self.remote, PULL, self.task.progress), local

    async def _share(self, local: Local, before: str) -> set[str]:
        """Link the files that the earlier copy has with the same content; return them."""
        mirror, earlier = self._mirror(before)
        there = (await earlier.tree(Patterns())).entries
        alike = {
            path: entry
            for path, entry in self.source.entries.items()
            if path in there and (entry.mode, entry.mtime) == (there[path].mode, there[path].mtime)
        }
        shared = set()
        for path in await mirror.same_content(alike, there):
            with suppress(OSError):  # it is copied then
                local.share(earlier, path)
                shared.add(path)
        return shared

    def verify(self, folder: str) -> Sequence[Entry]:
        """Compare every file with the service, and see that this is as it was; return what the copy holds."""
        return self.sftp_session.run(self._verify(folder))

    async def _verify(self, folder: str) -> Sequence[Entry]:
        mirror, local = self._mirror(folder)
        source, there = self.source.entries, (await local.tree(Patterns())).entries
        paths = source.keys() | there.keys()
        if wrong := [path for path in paths if outline(source.get(path)) != outline(there.get(path))]:
            raise TransferFailed(f"the copy does not have what the service has: {first_paths(wrong)}")
        if differing := await differing_files(mirror, self.source, there):
            raise TransferFailed(changed_message(f"these differ from their copies: {first_paths(differing)}"))
        await self._check_unchanged()
        entries = []
        for path in sorted(source):
            original = self.tree.entries[path]  # whose permissions and time the copy may not have
            copied = entry_on_disk(folder, os.path.join(FILES, path) if path else FILES)
            entries.append(replace(copied, mode=f"{original.mode or 0:04o}", mtime=original.mtime))
        return entries

    async def _check_unchanged(self) -> None:
        now = await self.remote.tree(Patterns())
        check_readable(self.remote, now)
        first, second = self.tree.entries, now.entries
        changed = {path for path in first.keys() | second.keys() if first.get(path) != second.get(path)}
        changed |= self.tree.left_out.keys() ^ now.left_out.keys()
        if changed:
            raise TransferFailed(changed_message(f"these are not as they were: {first_paths(changed)}"))


async def differing_files(mirror: Mirror, source: Tree, there: Mapping[str, TreeEntry]) -> list[str]:
    files = {path: entry for path, entry in source.entries.items() if entry.kind is Kind.FILE}
    return sorted(files.keys() - await mirror.same_content(files, there))


def check_readable(remote: Remote, tree: Tree) -> None:
    if tree.unreadable:
        said = describe_failures(describe_unreadable(remote, tree))
        raise TransferFailed(
            f"{said}. Make that readable to the service's own user, or remove it, then run this again"
        )
    if ROOT not in tree or tree.entries[ROOT].kind is not Kind.DIRECTORY:
        raise TransferFailed("the service shows no folder with its files over SFTP")
    hidden = [
        path for path, entry in tree.entries.items() if entry.kind is Kind.LINK and entry.target is None
    ]
    if hidden:
        raise TransferFailed(
            "the server does not show where these links lead, so no copy of them can be compared: "
            f"{first_paths(hidden)}. Remove them, or make them lead to what is inside, then run this again"
        )
    check_sizes(tree)


def owned(tree: Tree) -> Tree:
    """Return a tree whose entries belong to their owner alone, who can read all of them."""

    def private(entry: TreeEntry) -> TreeEntry:
        least = ENTERED if entry.kind is Kind.DIRECTORY else READABLE
        return replace(entry, mode=(entry.mode or 0) & PERMISSIONS & OWNER | least)

    return replace(tree, entries={path: private(entry) for path, entry in tree.entries.items()})


def outline(entry: TreeEntry | None) -> tuple[Any, ...]:
    if entry is None:
        return ()
    return entry.kind, entry.size if entry.kind is Kind.FILE else 0, entry.target


def changed_message(what: str) -> str:
    return (
        f"the service changed while it was copied; {what}. Stop what writes to it first, such as with "
        "state: stopped, and run this again"
    )


# --- Databases --------------------------------------------------------------------------------------


@dataclass
class DumpContent:
    """The dump of a database, by its engine's own program."""

    kind: ClassVar[str] = DUMP
    count: ClassVar[int] = 1
    size: ClassVar[None] = None
    """Only the copy tells."""
    left_out: ClassVar[Mapping[str, str]] = {}
    source: Source

    def describe(self) -> str:
        return f"a dump of database {self.source.login.database!r}"

    def write(self, folder: str, before: str | None) -> None:
        with as_failure():
            dump_from(Path(folder), self.source)

    def verify(self, folder: str) -> Sequence[Entry]:
        """Read the dump to its end, and see that a second dump has the same content."""
        engine = self.source.engine
        with as_failure(), TemporaryDirectory(dir=folder) as again:
            first = content_digest(Path(folder, engine.file), engine, elsewhere=False)
            second = content_digest(dump_from(Path(again), self.source), engine, elsewhere=False)
        if first != second:
            raise TransferFailed(changed_message("a second dump differs from the first one"))
        return [entry_on_disk(folder, engine.file)]


Content: TypeAlias = "FileContent | DumpContent"
