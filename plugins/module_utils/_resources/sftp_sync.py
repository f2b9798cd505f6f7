# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Mirrors a directory or a file to or from a service over SFTP (SFTP).

What keeps a mirror from deleting more than its user foresaw (an empty variable, an empty source, a slip) is
refused before anything is changed, and in check mode as well.
"""

from __future__ import annotations

import asyncio
import os
import posixpath
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from .._api.text import counted
from .._sftp.compare import TreeChanges
from .._sftp.errors import LoginRefused
from .._sftp.library import require
from .._sftp.local import Local
from .._sftp.mirror import PUSH, Mirror
from .._sftp.remote import Remote
from .._sftp.session import STANDARD_PORT, HostKeys, Login, SftpSession
from .._sftp.trees import ROOT, Kind, Patterns, Tree, printable_path, why_no_match
from .files.mirror import (
    MirrorWork,
    SftpSyncOptions,
    mirror_plan,
    plan_expected,
    read_source,
    rules_of,
)
from .files.paths import ends_with_empty_variable, relative_path
from .services.on_service import BY_SERVICE_OR_HOST, access_of, check_not_left_over, known_id
from .shared.plan import Plan, Resource, Step, Task
from .shared.run_memory import first_said
from .shared.store import PLAYBOOK_FOLDER, state_key
from .shared.task_errors import Invalid, NoSuchItem

NO = ("none", "false", "no", "off", "n", "f", "0", "0.0")
"""What Ansible takes for no, where an option is still as it was written."""


class SftpSyncResource(Resource[SftpSyncOptions]):
    """A local tree and one on a service, one of which follows the other."""

    result_key = "sftp_sync"
    rules: ClassVar[dict[str, Any]] = BY_SERVICE_OR_HOST
    api_option = "service"

    def local_paths(self, arguments: Mapping[str, Any]) -> Mapping[str, bool]:
        """Return the paths, with the end of the mirror that is on this machine.

        A relative source is checked here, before it is found, which takes its slash away.
        """
        if arguments.get("direction") not in (None, PUSH):
            return {**self.paths, "dest": False}
        src = arguments.get("src")
        if isinstance(src, str) and not src.startswith(("/", "~")):
            check_not_cut_short(src, str(arguments.get("delete")).lower() not in NO)
        return {**self.paths, "src": True}

    def plan(self, task: Task[SftpSyncOptions]) -> Plan:
        require()
        options = task.options
        check_options(options)
        rules_of(options)  # which refuses permissions that are none
        login = resolve_login(task)
        if not login.host:
            return plan_for_expected_service(task, login)
        path = os.path.expanduser(options.known_hosts)
        keys = HostKeys(path, options.host_key_checking, login.host, login.port, task.warn)
        try:
            session = task.closing.enter_context(SftpSession(login, keys, remember=not task.check_mode))
        except LoginRefused as error:
            if "a new ssh_key" not in task.foreseen:
                raise
            task.warn(
                f"{error.message}. An earlier task is to register a key; what is there was not looked at"
            )
            return plan_for_expected_service(task, login)
        return session.run(plan_mirror(task, session))


SFTP_SYNC = SftpSyncResource()


def resolve_login(task: Task[SftpSyncOptions]) -> Login:
    options = task.options
    host, port, username = options.host or "", STANDARD_PORT, options.username
    if options.service:
        id = known_id(task)
        if options.delete:
            check_not_left_over(task, id, options.service)
        access = access_of(task, id)
        host, port, username = access.host, access.port, username or access.username
    port = port if options.port is None else options.port
    key, passphrase = options.private_key_file, options.passphrase or ""
    return Login(host, port, username, key, passphrase, options.password, options.timeout)


async def plan_mirror(task: Task[SftpSyncOptions], session: SftpSession) -> Plan:
    options = task.options
    mirror = await open_mirror(task, session)
    patterns = Patterns(options.include, options.exclude)
    try:
        source = await read_source(task, mirror.source, patterns)
    except NoSuchItem as error:
        if options.push:
            raise
        task.expect_created(error, options.src)
        return plan_unknown_pull(task, session.login)
    target = await mirror.target.tree(Patterns(options.include) if options.delete_excluded else patterns)
    work = MirrorWork(task, session, mirror, source, target)
    await work.compare()
    warn_of_idle_patterns(task, patterns, work.changes)
    check_deletions(task, work.source, work.changes)
    if options.delete:
        warn_of_another_source(work, session.login)
    return work.plan()


def plan_for_expected_service(task: Task[SftpSyncOptions], login: Login) -> Plan:
    """Plan for a service that does not exist yet: a push creates everything, a pull is unknown."""
    options, remote = task.options, remote_path(task.options)
    if not options.push:
        return plan_unknown_pull(task, login)
    local = Local(os.path.realpath(os.path.expanduser(options.src)))
    source = asyncio.run(read_source(task, local, Patterns(options.include, options.exclude)))
    return plan_expected(task, login, local, source, target=Tree() if remote else None)


def plan_unknown_pull(task: Task[SftpSyncOptions], login: Login) -> Plan:
    """Plan a pull whose content an earlier task of the play would create, so that it is unknown."""
    result = mirror_plan(task.options, login, TreeChanges()).result
    return Plan(result=result, steps=[Step(task.options.describe(result), lambda: None)])


def remote_path(options: SftpSyncOptions) -> str:
    option = "dest" if options.push else "src"
    return relative_path(option, getattr(options, option), rooted=not options.delete)


async def open_mirror(task: Task[SftpSyncOptions], session: SftpSession) -> Mirror:
    """Return both sides. A single file is placed in an existing directory under its own name."""
    options = task.options
    push = options.push
    local = os.path.abspath(os.path.expanduser(options.src if push else options.dest))
    remote = remote_path(options) or "."
    place = Local(os.path.realpath(local) if push else local)  # what is written replaces a link to a file
    here, there = await place.look(ROOT), await Remote(session.sftp, remote).base()
    source, target = (here, there) if push else (there, here)
    into = options.dest.endswith("/") or (target is not None and target.kind is Kind.DIRECTORY)
    if source is not None and source.kind is not Kind.DIRECTORY and into:
        if push:
            remote = posixpath.join(remote, os.path.basename(local))
        else:
            place = Local(os.path.join(local, posixpath.basename(remote)))
    return Mirror(place, Remote(session.sftp, remote), options.direction, task.progress)


# --- What is refused or told before anything is changed ---------------------------------------------------


def check_options(options: SftpSyncOptions) -> None:
    for name in ("include", "exclude"):
        for number, pattern in enumerate(getattr(options, name), 1):
            if why := why_no_match(pattern):  # it would protect nothing
                raise Invalid(f"item {number} of {name} is {pattern!r}, {why}")
    limit, push = options.max_delete, options.push
    if limit is not None and limit < 0:
        raise Invalid(f"max_delete is {limit}; it must be 0 or more")
    if push and real_path(options.src) in ("/", real_path("~")):
        raise Invalid(
            f"src is {options.src!r}, which is your home folder or the root of this machine; "
            "give src the folder to copy"
        )
    check_not_cut_short(options.src, options.delete)
    if options.delete_excluded and not options.delete:
        raise Invalid("delete_excluded goes with delete: true alone, and delete is false")
    if options.delete:
        check_target(options.dest, local=not push)


def real_path(path: str) -> str:
    """Return where a path of this machine leads; nothing for what is none, which is told when it is read."""
    try:
        return os.path.realpath(os.path.expanduser(path))
    except ValueError:
        return ""


def check_not_cut_short(src: str, deletes: bool) -> None:
    """Refuse ``folder/{{ name }}`` without a name. A slash alone counts where something is to be deleted."""
    written = src if deletes else src.removesuffix("/")
    if ends_with_empty_variable(written) and src not in ("./", "/"):
        raise Invalid(
            f"src is {src!r}, which looks like a longer path with an empty variable; write "
            f"{os.path.normpath(src)!r} to copy all of that folder"
        )


def check_target(dest: str, local: bool) -> None:
    """Refuse to delete in a place that an empty variable leads to, or that is nobody's copy."""
    if local:
        check_local_target(dest)
        short, plain = os.path.basename(dest) in ("", "."), os.path.normpath(dest)
    else:
        plain = relative_path("dest", dest, rooted=False) or "."
        short = dest != "." and (plain == "." or ends_with_empty_variable(dest))
    if short:
        raise Invalid(
            f"dest is {dest!r}, which looks like a longer path with an empty variable, and delete is true; "
            f"write {plain!r} if you want to delete in that folder"
        )


def check_local_target(dest: str) -> None:
    target = os.path.realpath(os.path.expanduser(dest))
    for what, folder in protected_folders():
        if target == folder or folder.startswith(target + "/"):
            found = f"is {what}" if target == folder else f"is above {what}, {folder!r}"
            raise Invalid(
                f"dest is {dest!r}, which {found}: with delete: true, everything there that is not in src "
                "would be deleted. Give dest a folder of its own, or leave delete out"
            )


def protected_folders() -> Iterator[tuple[str, str]]:
    yield "the root of this machine", "/"
    if playbook := os.environ.get(PLAYBOOK_FOLDER):
        yield "the folder of the playbook", os.path.realpath(playbook)
    yield "your home folder", os.path.realpath(os.path.expanduser("~"))
    try:
        yield "the current directory", os.path.realpath(os.getcwd())
    except FileNotFoundError:  # somebody has removed it
        return


def check_deletions(task: Task[SftpSyncOptions], source: Tree, changes: TreeChanges) -> None:
    """Refuse to delete everything for an empty source, or more than the user foresaw."""
    options = task.options
    doomed = [printable_path(path) for path in sorted({**changes.in_the_way, **changes.extra})]
    entries = counted(len(doomed), "entry")
    is_empty = set(source.entries) == {ROOT} and source.entries[ROOT].kind is Kind.DIRECTORY
    if doomed and is_empty and not options.allow_empty_source:
        part = " after include and exclude" if options.include or options.exclude else ""
        raise Invalid(
            f"src {options.src!r} is empty{part}, and delete: true would delete {entries} of "
            f"dest {options.dest!r}; nothing was deleted. Check that src is the right folder. To empty "
            "dest, set allow_empty_source: true",
            would_delete=doomed,
        )
    limit = options.max_delete
    if limit is not None and len(doomed) > limit:
        raise Invalid(
            f"this would delete {entries} of dest {options.dest!r}, and max_delete is "
            f"{limit}; nothing was changed. To delete that many, raise max_delete to {len(doomed)}",
            would_delete=doomed,
        )


def warn_of_idle_patterns(task: Task[SftpSyncOptions], patterns: Patterns, changes: TreeChanges) -> None:
    """Warn of patterns that keep nothing from being deleted, if anything is deleted."""
    deletes = task.options.delete and (changes.extra or changes.in_the_way)
    if deletes and patterns.unused and not task.options.delete_excluded:
        listed = ", ".join(repr(pattern) for pattern in patterns.unused)
        task.warn(
            f"exclude: {listed} matched nothing in src or in dest, and so protects nothing from delete: "
            "true; a pattern with a slash begins at the root of the tree, which is dest"
        )


def warn_of_another_source(work: MirrorWork, login: Login) -> None:
    options, root = work.task.options, work.mirror.target.root
    place = f"{login.username}@{login.host}:{login.port}/{root}" if options.push else root
    first = first_said(f"mirror.{state_key(None, place)}", lambda: options.src)
    if work.changes.extra and first not in (None, options.src):
        work.task.warn(
            f"an earlier task made dest {options.dest!r} like {first!r}, and this one makes it like "
            f"{options.src!r}: with delete: true, each deletes what the other copied. Give each a dest of "
            "its own, or leave delete out"
        )
