# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a mirror is going to do and has done, and what the server or the protocol cannot do of it (SFTP)."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from ..._api.models import SftpAccess
from ..._api.text import counted, first_of
from ..._sftp.compare import (
    SPECIAL,
    Rules,
    TreeChanges,
    check_sizes,
    compare,
    describe_entry,
    without_stray_links,
)
from ..._sftp.errors import TransferFailed
from ..._sftp.mirror import PUSH, Mirror
from ..._sftp.remote import Side
from ..._sftp.session import ACCEPT_NEW, HostKeys, Login, SftpSession
from ..._sftp.trees import ROOT, Kind, Patterns, Tree, TreeEntry, printable_path
from ..services.on_service import SftpServerOptions
from ..shared.options import FilePath, option, required
from ..shared.plan import Plan, Step, Task
from ..shared.task_errors import Invalid, NoSuchItem

FIRST_TIME, LAST_TIME = 1, 2**32 - 1
"""The protocol counts seconds from 1970 in four bytes, and 0 is no time to Go's library."""
MAX_NAMED_PATHS = 5
"""How many paths a message names. The result has them all."""
HIGHEST_MODE = 0o7777


@dataclass(frozen=True, kw_only=True)
class SftpSyncOptions(SftpServerOptions):
    username: str | None = option(None, selects=True, host_variables=("ansible_user", "ansible_ssh_user"))
    private_key_file: FilePath | None = option(
        None,
        no_log=False,
        reads_file=True,
        host_variables=("ansible_ssh_private_key_file", "ansible_private_key_file"),
    )
    passphrase: str | None = option(None, no_log=True, filled=True)
    password: str | None = option(
        None,
        no_log=True,
        filled=True,
        host_variables=("ansible_password", "ansible_ssh_password", "ansible_ssh_pass"),
    )
    host_key_checking: Literal["accept_new", "strict", "off"] = "accept_new"
    direction: Literal["push", "pull"] = "push"
    src: str = required(selects=True)
    dest: str = required(selects=True)
    include: list[str] = option([], selects=True)
    exclude: list[str] = option([], selects=True)
    checksum: bool = False
    delete: bool = False
    delete_excluded: bool = False
    max_delete: int | None = option(None, selects=True)
    allow_empty_source: bool = False
    preserve_modes: bool = True
    file_mode: Any = None
    directory_mode: Any = None


@dataclass
class MirrorWork:
    """Two trees, what lies between them, and what becomes of it on this server."""

    task: Task[SftpSyncOptions]
    session: SftpSession
    mirror: Mirror
    source: Tree
    target: Tree
    equal: set[str] = field(default_factory=set)
    """Files whose content was compared and is the same."""
    changes: TreeChanges = field(default_factory=TreeChanges)
    links: set[str] = field(default_factory=set)

    async def compare(self) -> None:
        if self.task.options.checksum:
            await self._read(self.source.entries)
        self.changes = compare(self.source, self.target, rules_of(self.task, self.equal))
        self.links = set(self.changes.links)

    async def _read(self, files: Mapping[str, TreeEntry]) -> None:
        self.equal |= await self.mirror.same_content(files, self.target.entries)
        self.mirror.compared = True

    def plan(self) -> Plan:
        """Return the plan. Where check mode, or having nothing to do, would hide a failure, it fails here."""
        self.mirror.check_room(self.changes)
        result, unreadable = self._result(), self._unreadable()
        if unreadable and (self.task.check_mode or not self.changes):
            raise self._failed(unreadable, changed=bool(self.changes), sftp_sync=result)
        before, after = before_and_after(self.changes, self.target)
        steps = [Step(self.describe(), lambda: self._run(plan))] if self.changes else []
        way = describe_way(self.task, self.session.login)
        plan = Plan(result=result, steps=steps, reread=self._result, before=before, after=after, subject=way)
        return plan

    def _result(self) -> dict[str, Any]:
        lost = set() if self.mirror.remote.features.links else self.links
        left_out = self.source.left_out.keys() | lost
        return mirror_result(self.task, self.session.login, self.changes, self.target, left_out)

    def _unreadable(self) -> dict[str, str]:
        mirror = self.mirror
        there = describe_unreadable(mirror.target, self.target)
        return {**describe_unreadable(mirror.source, self.source), **there}

    def _run(self, plan: Plan) -> None:
        effects, mirror = self.task.effects, self.mirror
        mirror.failures.update(self._unreadable())
        try:
            self.session.run(mirror.apply(self.changes))
            if mirror.failures:
                raise self._failed(mirror.failures)
        except BaseException:
            finished = sorted_paths(set(mirror.done) - mirror.failures.keys())
            effects.facts.update(changed=bool(mirror.done), finished=finished)
            if mirror.failures:  # there may be some before the one that ended it
                effects.facts["failures"] = failures_as_list(mirror.failures)
            raise
        finally:
            self._warn()
        effects.nothing_changed = not mirror.done
        effects.facts["actions"] = [self.describe()] if mirror.done else []
        plan.before, plan.after = before_and_after(self.changes, self.target)

    def describe(self) -> str:
        return describe_step(self.task, self.session.login, self._result())

    def _failed(self, failures: Mapping[str, str], **details: Any) -> TransferFailed:
        rest = ", so nothing was deleted" if self.task.options.delete else ""
        return TransferFailed(
            f"{describe_failures(failures)}{rest}", failures=failures_as_list(failures), **details
        )

    def _warn(self) -> None:
        options, features, warn = self.task.options, self.mirror.remote.features, self.task.warn
        if not features.links and self.links:
            warn(
                "the server does not support symbolic links, so these were left out: "
                f"{first_paths(self.links)}"
            )
        if not features.times:
            warn(
                "the server does not keep modification times to the second, so files of the same size are "
                "compared by their content, as with checksum: true"
            )
        if not features.modes and any((options.preserve_modes, options.file_mode, options.directory_mode)):
            warn(
                "the server does not keep permissions that are set, and uses its own; set "
                "preserve_modes: false to accept that"
            )


def key_session(
    task: Task[Any], access: SftpAccess, known_hosts: str, beside: SftpSession | None = None
) -> SftpSession:
    key, timeout = task.options.private_key_file, task.options.timeout
    login = Login(access.host, access.port, access.username, key, timeout=timeout)
    keys = HostKeys(os.path.expanduser(known_hosts), ACCEPT_NEW, login.host, login.port, task.warn)
    return SftpSession(login, keys, remember=not task.check_mode, beside=beside)


def pushes(direction: str | None) -> bool:
    """Tell whether the files go to the server. A push is what happens when nothing is said."""
    return direction in (None, PUSH)


async def read_source(task: Task[SftpSyncOptions], side: Side, patterns: Patterns) -> Tree:
    source = without_stray_links(await side.tree(patterns))
    push = pushes(task.options.direction)
    if ROOT not in source:
        where = "this machine; a relative path is also looked for in files/ of the role and of the playbook"
        raise NoSuchItem(f"src {task.options.src!r} does not exist on {where if push else 'the server'}")
    check_sizes(source)
    for path, why in sorted(source.left_out.items()):
        task.warn(f"{printable_path(path)} was left out: {why}")
    warn_of_special_bits(task, source)
    return with_known_times(task, source) if push else source


def warn_of_special_bits(task: Task[SftpSyncOptions], source: Tree) -> None:
    options = task.options
    if not options.preserve_modes:
        return
    given = {Kind.FILE: options.file_mode, Kind.DIRECTORY: options.directory_mode}
    special = [
        path
        for path, entry in source.entries.items()
        if (entry.mode or 0) & SPECIAL and entry.kind in given and given[entry.kind] is None
    ]
    if special:
        task.warn(
            f"set-user-ID, set-group-ID and sticky bits are not copied: {first_paths(special)}. file_mode "
            "and directory_mode set them"
        )


def with_known_times(task: Task[SftpSyncOptions], source: Tree) -> Tree:
    """Return a tree with times that the protocol has, and warn of those that change for that."""
    near = {
        path: replace(entry, mtime=min(max(entry.mtime, FIRST_TIME), LAST_TIME))
        for path, entry in source.entries.items()
        if not FIRST_TIME <= entry.mtime <= LAST_TIME
    }
    files = [path for path, entry in near.items() if entry.kind is Kind.FILE and source.entries[path].mtime]
    if files:
        task.warn(
            "SFTP cannot store times before 1970 or after 2106, so these get the nearest one: "
            f"{first_paths(files)}"
        )
    return replace(source, entries={**source.entries, **near})


def describe_unreadable(side: Side, tree: Tree) -> dict[str, str]:
    return {
        path: f"cannot read {printable_path(side.at(path))} {side.where}: {why}"
        for path, why in tree.unreadable.items()
    }


def check_readable(side: Side, tree: Tree) -> None:
    if tree.unreadable:
        raise TransferFailed(describe_failures(describe_unreadable(side, tree)))


def describe_failures(failures: Mapping[str, str]) -> str:
    said = [failures[path] for path in sorted(failures)]
    more = f"; and {len(said) - MAX_NAMED_PATHS} more, see failures" if len(said) > MAX_NAMED_PATHS else ""
    return "; ".join(said[:MAX_NAMED_PATHS]) + more


def failures_as_list(failures: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"path": printable_path(path) or ".", "message": failures[path]} for path in sorted(failures)]


def first_paths(paths: Collection[str]) -> str:
    return first_of(sorted_paths(paths), MAX_NAMED_PATHS)


def rules_of(task: Task[SftpSyncOptions], equal: Collection[str]) -> Rules:
    """Return what the mirror is to be. ``equal`` are files whose content was compared and is the same."""
    options = task.options

    def same(path: str, wished: TreeEntry, there: TreeEntry) -> bool:
        alike = (wished.size, wished.mtime) == (there.size, there.mtime)
        return path in equal or (alike and not options.checksum)

    modes = {name: parse_mode(name, getattr(options, name)) for name in ("file_mode", "directory_mode")}
    return Rules(same, options.delete, options.preserve_modes, **modes)


def parse_mode(name: str, value: Any) -> int | None:
    """Parse permissions: octal digits, or the number that YAML made of them."""
    if value is None:
        return None
    try:
        number = value if isinstance(value, int) else int(str(value), 8)
    except ValueError:
        number = -1
    if isinstance(value, bool) or not 0 <= number <= HIGHEST_MODE:
        raise Invalid(f"{name} is {value!r}; give octal digits in quotes, such as '0640'")
    return number


def plan_expected(
    task: Task[SftpSyncOptions],
    login: Login,
    side: Side,
    source: Tree,
    describe: Callable[[Mapping[str, Any]], str],
    *,
    target: Tree | None = None,
) -> Plan:
    """Plan for a service that shows nothing yet but its root, or ``target``: everything is created."""
    check_readable(side, source)
    target = Tree({ROOT: TreeEntry(Kind.DIRECTORY)}) if target is None else target
    changes = compare(source, target, rules_of(task, set()))
    result = mirror_result(task, login, changes, target, source.left_out)
    before, after = before_and_after(changes, target)
    steps = [Step(describe(result), lambda: None)] if changes else []
    return Plan(result=result, steps=steps, before=before, after=after, subject=describe_way(task, login))


def before_and_after(changes: TreeChanges, target: Tree) -> tuple[dict[str, str], dict[str, str]]:
    there = {path: target.entries[path] for path in changes.desired if path in target}
    before = {**there, **changes.in_the_way, **changes.extra}
    return diff_entries(before), diff_entries(changes.desired)


def mirror_result(
    task: Task[SftpSyncOptions],
    login: Login,
    changes: TreeChanges,
    target: Tree,
    left_out: Iterable[str] = (),
) -> dict[str, Any]:
    """Return what the task says about the mirror. Paths are relative to ``dest``; its own is a dot."""
    removed = {**changes.in_the_way, **changes.extra, **dict.fromkeys(changes.leftovers)}
    return {
        "host": login.host,
        "port": login.port,
        "username": login.username,
        "direction": task.options.direction,
        "src": task.options.src,
        "dest": task.options.dest,
        "created": sorted_paths(path for path in changes.desired if path not in target),
        "updated": sorted_paths(path for path in changes.desired if path in target),
        "deleted": sorted_paths(removed),
        "unchanged": changes.unchanged,
        "bytes": changes.bytes,
        "left_out": sorted_paths(left_out),
    }


def sorted_paths(paths: Iterable[str]) -> list[str]:
    return [printable_path(path) or "." for path in sorted(paths)]


def describe_step(task: Task[SftpSyncOptions], login: Login, result: Mapping[str, Any]) -> str:
    told = describe_counts(result) or "the content is not known yet"
    return f"{describe_way(task, login)}: {told}"


def describe_way(task: Task[SftpSyncOptions], login: Login) -> str:
    src, dest, service = task.options.src, task.options.dest, task.options.service
    where = f"service {service!r}" if service or not login.host else str(login)
    push = pushes(task.options.direction)
    return f"push {src} to {dest} on {where}" if push else f"pull {src} on {where} to {dest}"


def describe_counts(result: Mapping[str, Any]) -> str:
    words = (("create", "created"), ("update", "updated"), ("delete", "deleted"))
    counts = ", ".join(f"{word} {len(result[key])}" for word, key in words if result[key])
    return f"{counts} ({counted(result['bytes'], 'byte')})" if counts else ""


def diff_entries(entries: Mapping[str, TreeEntry]) -> dict[str, str]:
    return {printable_path(path) or ".": describe_entry(entries[path]) for path in sorted(entries)}
