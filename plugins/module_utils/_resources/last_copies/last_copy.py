# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The last copy of a service before it is deleted: planned, made, verified, or else nothing is deleted."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, TypeAlias

from ..._api.errors import HostedError, Refused, TokenRejected
from ..._api.models import App, Settings, SftpAccess
from ..._api.text import counted, in_one_line
from ..._api.values import ContainerState, Family
from ..._sftp.compare import PERMISSIONS, Rules, check_sizes, compare, without_stray_links
from ..._sftp.errors import TransferFailed
from ..._sftp.library import require
from ..._sftp.local import Local, room_at
from ..._sftp.mirror import PULL, Mirror
from ..._sftp.remote import Remote
from ..._sftp.session import SftpSession
from ..._sftp.trees import ROOT, Kind, Patterns, Tree, TreeEntry, printable_path
from ..databases.dump import ENGINES, NoDumpError, Source, content_digest, dump_from, find_source
from ..databases.engine import connection_facts, find_connection
from ..databases.restore import as_failure
from ..files.mirror import describe_failures, describe_unreadable, first_paths, key_session
from ..services.options import ServiceOptions
from ..services.removal import Kept, own_copies_folder, uncopyable
from ..services.settings import carried
from ..services.view import View, read_settings, read_state
from ..shared.plan import Step, Task
from ..shared.store import atomic_file, one_at_a_time
from ..shared.task_errors import Invalid
from ..shared.yaml_text import as_yaml
from .folders import (
    FILES,
    MANIFEST,
    CopyFolder,
    Entry,
    Manifest,
    check_copy,
    check_folder,
    entry_on_disk,
    flush_tree,
    unwritable,
)

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
        changes = compare(self.source, await local.tree(Patterns()), Rules(shared))
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
    kind: ClassVar[str] = "dump"
    count: ClassVar[int] = 1
    left_out: ClassVar[Mapping[str, str]] = {}
    source: Source
    size: int | None = None
    """Only the copy tells."""

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
        entry = entry_on_disk(folder, engine.file)
        self.size = entry.size
        return [entry]


Content: TypeAlias = "FileContent | DumpContent"


# --- The copy: planned, made, verified, or else nothing is deleted ------------------------------------


DESCRIPTION = "service.yml"
"""What orders the service again."""
FILES_CAPABILITY = "files"
LONGEST_COPY = 24 * 3600.0
"""Seconds to wait for another task that copies the same service."""
INSIDE = "copy what you need from inside of the machine"
WAYS = {
    Family.BUCKET: "copy its objects with a client for object storage",
    Family.VIRTUAL_MACHINE: INSIDE,
    Family.DEDICATED: INSIDE,
}
"""How else to copy a service that has neither files nor a dump, by family."""


@dataclass
class LastCopy:
    task: Task[ServiceOptions]
    view: View
    folder: CopyFolder
    content: Content
    description: str
    made_at: float

    def facts(self, path: str, verified: bool) -> dict[str, Any]:
        content = self.content
        counts = {"kind": content.kind, "files": content.count, "bytes": content.size}
        return {"path": path, **counts, "verified": verified}

    def make(self) -> None:
        """Make the copy, verify it, and give it its name. If there is any doubt, it is removed."""
        try:
            with one_at_a_time(f"last copy {self.folder.path}", f"copying {self.view.label}", LONGEST_COPY):
                facts = self._make()
        except HostedError as error:
            del self.task.effects.facts["copy"]
            raise error.prepend(
                f"{self.view.label} was not deleted, as there is no last copy of it: "
            ) from None
        self.task.effects.facts["copy"] = facts

    def _make(self) -> dict[str, Any]:
        partial = self.folder.begin()
        try:
            self.content.write(partial, self.folder.newest_files())
            with atomic_file(os.path.join(partial, DESCRIPTION)) as file:
                file.write(self.description)
            flush_tree(partial)
            self._verify(partial)
            return self.facts(self.folder.place(partial, self.made_at), verified=True)
        except BaseException as error:
            shutil.rmtree(partial, ignore_errors=True)
            if isinstance(error, OSError):
                raise unwritable(partial, error) from None
            raise

    def _verify(self, partial: str) -> None:
        service = self.view.service
        manifest = Manifest(
            {"id": service.id, "name": service.name, "family": service.family},
            self.content.kind,
            stamp(self.made_at),
            [*self.content.verify(partial), entry_on_disk(partial, DESCRIPTION)],
            [{"path": path, "reason": why} for path, why in sorted(self.content.left_out.items())],
        )
        manifest.write(partial)
        flush_tree(partial)
        check_copy(partial, manifest)


def plan_last_copy(task: Task[ServiceOptions], view: View, path: str) -> Kept:
    """Plan the copy of a service before it is deleted, and check the folder, the login and the room."""
    service = view.service
    own = path == own_copies_folder(task.options.state_dir)
    folder = check_folder(path, service.name, service.id, own)
    settings = read_settings(task, service)
    content = read_content(task, view, settings)
    root, free = room_at(folder.root)
    if content.size is not None and content.size > free and folder.newest_files() is None:
        raise Invalid(
            f"the copy has {counted(content.size, 'byte')}, and {printable_path(root)} has room for "
            f"{free}; make room, or name a folder on another disk. Nothing was deleted"
        )
    for left, why in sorted(content.left_out.items()):
        task.warn(f"{printable_path(left)} is not in the last copy of {view.label}: {why}")
    made_at, app, state = time.time(), None, None
    if service.family == Family.APP and content.kind != DumpContent.kind:
        app = task.account.apps_by_id().get(service.id)
    with suppress(HostedError):  # the copy does without it
        state = read_state(task, service.id)
    description = describe_service(task, replace(view, state=state), settings, app, stamp(made_at))
    copy = LastCopy(task, view, folder, content, description, made_at)
    task.effects.facts["copy"] = copy.facts(folder.free_path(made_at), verified=False)
    what = content.describe()
    summary = f"copy {what} of {view.label} to {printable_path(folder.path)}, and verify the copy"
    return Kept(Step(summary, copy.make), {"last copy": folder.path, "content": what})


def read_content(task: Task[ServiceOptions], view: View, settings: Settings | None) -> Content:
    service = view.service
    if service.family == Family.APP and (dump := dump_content(task, view, settings)):
        return dump
    other = WAYS.get(service.family, "copy what you need in another way")
    offered = service.capabilities
    if offered is not None and FILES_CAPABILITY not in offered:
        raise uncopyable(view, f"it is of family {service.family} and offers no files", other)
    try:
        access = task.account.sftp(service.id)
    except TokenRejected:
        raise
    except Refused as error:
        raise uncopyable(view, f"it has no SFTP access: {error.message}", other) from None
    try:
        return FileContent.open(task, access)
    except HostedError as error:
        error.prepend(f"{view.label} cannot be copied, so it was not deleted: ")
        raise


def dump_content(task: Task[ServiceOptions], view: View, settings: Settings | None) -> DumpContent | None:
    try:
        connection = find_connection(task.account, view.service)
        return DumpContent(find_source(connection_facts(connection, settings))) if connection else None
    except Invalid as error:
        raise uncopyable(view, error.message, "run this again later, or dump the database by hand") from None
    except NoDumpError as error:
        other = "dump the database from where that is possible, or copy what you need in another way"
        raise uncopyable(view, str(error), other) from None


def is_last_copy(folder: str) -> bool:
    there, own = set(os.listdir(folder)), {MANIFEST, DESCRIPTION}
    return own < there and there - own <= {FILES, *(engine.file for engine in ENGINES.values())}


def stamp(moment: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment))


# --- What orders it again -------------------------------------------------------------------------------


def describe_service(
    task: Task[Any], view: View, settings: Settings | None, app: App | None, made_at: str
) -> str:
    """Return a file of tasks that orders a service again, without secrets. What it lacks is named in it."""
    service = view.service
    options: dict[str, Any] = {
        **({"slug": app.slug} if app else {"name": service.name}),
        "project": task.account.project_name(service.project_id) or service.project_id,
        "host": service.host.id if service.host else None,
    }
    if app is not None:
        options["dimensions"] = carried(service, None)["dimensions"]
    else:
        options |= {
            "family": service.family,
            "product": service.product.slug if service.product else None,
            "runtime": service.runtime.id if service.runtime else None,
            **carried(service, settings),
            "state": "stopped" if view.state == ContainerState.STOPPED else "present",
        }
    module = "app" if app else "service"
    known = {name: value for name, value in options.items() if value is not None}
    tasks = [{"name": f"Order service {service.name} again", f"hosted.services.{module}": known}]
    lines = heading(view, app, options, made_at)
    beside = {key: value for key, value in carried(service, settings).items() if app and key not in options}
    lines += [
        f"Once it is deployed, set {key}: {value!r} with hosted.services.service."
        for key, value in beside.items()
        if value
    ]
    head = "".join(f"# {in_one_line(line)}\n" for line in lines)
    return f"{head}---\n{as_yaml(tasks)}"


def heading(view: View, app: App | None, options: dict[str, Any], made_at: str) -> list[str]:
    lines = [
        f"The last copy of {view.label} was made at {made_at}, before it was deleted.",
        "This file of tasks orders it again; include it in a play with ansible.builtin.include_tasks.",
        "The platform does not show these, so they are not in it: the variables and options of the order,",
        "the values of the environment, and the secrets that were generated with the order.",
        "The backups and snapshots on the platform were destroyed with the service.",
    ]
    if app is not None:
        lines.append(
            f"It ran the image {app.image_ref or 'that the platform does not name'}; see app_deploy."
        )
    if options.get("state") == "stopped":
        lines.append("It was stopped, and so is the new one; with state: present, it would run.")
    missing = [name for name in ("product", "host", "dimensions") if name in options and not options[name]]
    if missing:
        lines.append(f"The platform did not tell {' and '.join(missing)} either; add what is missing.")
    return lines
