# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a mirror is going to do and has done, and what the server or the protocol cannot do of it (SFTP)."""

from __future__ import annotations

import getpass
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from ..._api.models import SftpAccess
from ..._api.text import counted, first_of
from ..._sftp.compare import Rules, TreeChanges, check_sizes, compare, describe_entry, without_stray_links
from ..._sftp.errors import TransferFailed
from ..._sftp.mirror import PUSH, Mirror, place_of
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

    @property
    def push(self) -> bool:
        return self.direction == PUSH

    def way(self, result: Mapping[str, Any]) -> str:
        """Say what is copied from where to where."""
        login = f"{result['username'] or getpass.getuser()}@{result['host']}:{result['port']}"
        where = login if result["host"] and not self.service else f"service {self.service!r}"
        if self.push:
            return f"push {self.src} to {self.dest} on {where}"
        return f"pull {self.src} on {where} to {self.dest}"

    def describe(self, result: Mapping[str, Any]) -> str:
        return f"{self.way(result)}: {describe_counts(result) or 'the content is not known yet'}"


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
        self.changes = compare(self.source, self.target, rules_of(self.task.options, self.equal))
        self.links = set(self.changes.links)

    async def _read(self, files: Mapping[str, TreeEntry]) -> None:
        self.equal |= await self.mirror.same_content(files, self.target.entries)
        self.mirror.compared = True

    def plan(self) -> Plan:
        """Return the plan. Where check mode, or having nothing to do, would hide a failure, it fails here."""
        self.mirror.check_room(self.changes)
        plan, unreadable = self._plan(lambda: self._run(plan)), self._unreadable()
        if unreadable and (self.task.check_mode or not self.changes):
            raise self._failed(unreadable, changed=bool(self.changes), sftp_sync=plan.result)
        plan.reread = lambda: self._plan().result
        return plan

    def _plan(self, run: Callable[[], None] = lambda: None) -> Plan:
        """Plan by what is known by now of what there is to do."""
        lost = set() if self.mirror.remote.features.links else self.links
        left_out = self.source.left_out.keys() | lost
        options, login = self.task.options, self.session.login
        return mirror_plan(options, login, self.changes, left_out=left_out, run=run)

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
        now = self._plan()
        plan.before, plan.after, effects.nothing_changed = now.before, now.after, not mirror.done
        effects.facts["actions"] = [self.task.options.describe(now.result)] if mirror.done else []

    def _failed(self, failures: Mapping[str, str], **details: Any) -> TransferFailed:
        rest = ", so nothing was deleted" if self.task.options.delete else ""
        return TransferFailed(
            f"{describe_failures(failures)}{rest}", failures=failures_as_list(failures), **details
        )

    def _warn(self) -> None:
        options, features, warn = self.task.options, self.mirror.remote.features, self.task.warn
        if not features.links and self.links:
            paths = first_paths(self.links)
            warn(f"the server does not support symbolic links, so these were left out: {paths}")
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


async def read_source(task: Task[SftpSyncOptions], side: Side, patterns: Patterns) -> Tree:
    source = without_stray_links(await side.tree(patterns))
    push = task.options.push
    if ROOT not in source:
        where = "this machine; a relative path is also looked for in files/ of the role and of the playbook"
        raise NoSuchItem(f"src {task.options.src!r} does not exist on {where if push else 'the server'}")
    check_sizes(source)
    for path, why in sorted(source.left_out.items()):
        task.warn(f"{printable_path(path)} was left out: {why}")
    return with_known_times(source) if push else source


def with_known_times(source: Tree) -> Tree:
    """Return a tree with times that the protocol has."""
    near = {
        path: replace(entry, mtime=min(max(entry.mtime, FIRST_TIME), LAST_TIME))
        for path, entry in source.entries.items()
        if not FIRST_TIME <= entry.mtime <= LAST_TIME
    }
    return replace(source, entries={**source.entries, **near})


def describe_unreadable(side: Side, tree: Tree) -> dict[str, str]:
    return {path: f"cannot read {place_of(side, path)}: {why}" for path, why in tree.unreadable.items()}


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


def rules_of(options: SftpSyncOptions, equal: Collection[str] = ()) -> Rules:
    """Return what the mirror is to be. ``equal`` are files whose content was compared and is the same."""
    modes = {name: parse_mode(name, getattr(options, name)) for name in ("file_mode", "directory_mode")}
    return Rules(equal, not options.checksum, options.delete, options.preserve_modes, **modes)


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
    task: Task[SftpSyncOptions], login: Login, side: Side, source: Tree, *, target: Tree | None = None
) -> Plan:
    """Plan for a service that shows nothing yet but its root, or ``target``: everything is created."""
    check_readable(side, source)
    target = Tree({ROOT: TreeEntry(Kind.DIRECTORY)}) if target is None else target
    changes = compare(source, target, rules_of(task.options))
    return mirror_plan(task.options, login, changes, left_out=source.left_out)


def mirror_plan(
    options: SftpSyncOptions,
    login: Login,
    changes: TreeChanges,
    *,
    left_out: Iterable[str] = (),
    run: Callable[[], None] = lambda: None,
) -> Plan:
    """Return what the task says about the mirror. Paths are relative to ``dest``; its own is a dot."""
    desired, deleted = changes.desired, {**changes.in_the_way, **changes.extra}
    replaced = {path: changes.there[path] for path in desired if path in changes.there}
    result = {
        "host": login.host,
        "port": login.port,
        "username": login.username,
        "direction": options.direction,
        "src": options.src,
        "dest": options.dest,
        "created": sorted_paths(desired.keys() - changes.there.keys()),
        "updated": sorted_paths(replaced),
        "deleted": sorted_paths({**deleted, **dict.fromkeys(changes.leftovers)}),
        "unchanged": changes.unchanged,
        "bytes": changes.bytes,
        "left_out": sorted_paths(left_out),
    }
    return Plan(
        result=result,
        steps=[Step(options.describe(result), run)] if changes else [],
        before=diff_entries({**replaced, **deleted}),
        after=diff_entries(desired),
        subject=options.way(result),
    )


def sorted_paths(paths: Iterable[str]) -> list[str]:
    return [printable_path(path) or "." for path in sorted(paths)]


def describe_counts(result: Mapping[str, Any]) -> str:
    words = (("create", "created"), ("update", "updated"), ("delete", "deleted"))
    counts = ", ".join(f"{word} {len(result[key])}" for word, key in words if result[key])
    return f"{counts} ({counted(result['bytes'], 'byte')})" if counts else ""


def diff_entries(entries: Mapping[str, TreeEntry]) -> dict[str, str]:
    return {printable_path(path) or ".": describe_entry(entries[path]) for path in sorted(entries)}
