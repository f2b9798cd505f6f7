# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Mirrors a directory or a file to or from a service over SFTP (SFTP)."""

from __future__ import annotations

import asyncio
import os
import posixpath
from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

from .._sftp.compare import TreeChanges
from .._sftp.errors import LoginRefused
from .._sftp.host_keys import STANDARD_PORT, HostKeys
from .._sftp.library import require
from .._sftp.local import Local
from .._sftp.mirror import PUSH, Mirror
from .._sftp.patterns import Patterns
from .._sftp.remote import Remote
from .._sftp.session import Login, SftpSession
from .._sftp.trees import ROOT, Kind, Tree
from .files.guards import (
    SftpSyncOptions,
    check_deletions,
    check_not_cut_short,
    check_options,
    warn_of_idle_patterns,
)
from .files.mirror import (
    MirrorWork,
    describe_step,
    mirror_result,
    plan_expected,
    pushes,
    read_source,
)
from .files.paths import relative_path
from .services.on_service import BY_SERVICE_OR_HOST, access_of, check_not_left_over, known_id
from .shared.plan import Plan, Resource, Step, Task
from .shared.run_memory import first_said
from .shared.store import state_key
from .shared.task_errors import Invalid, NoSuchItem

HIGHEST_MODE = 0o7777
NO = ("none", "false", "no", "off", "n", "f", "0", "0.0")
"""What Ansible takes for no, where an option is still as it was written."""


class SftpSyncResource(Resource[SftpSyncOptions]):
    """A local tree and one on a service, one of which follows the other."""

    result_key = "sftp_sync"
    rules: ClassVar[dict[str, Any]] = BY_SERVICE_OR_HOST
    api_option = "service"

    def check_written(self, arguments: Mapping[str, Any]) -> None:
        """Check a relative source on this machine before it is found, which takes its slash away."""
        src = arguments.get("src")
        if isinstance(src, str) and pushes(arguments.get("direction")) and not src.startswith(("/", "~")):
            check_not_cut_short(src, str(arguments.get("delete")).lower() not in NO)

    def local_paths(self, arguments: Mapping[str, Any]) -> Mapping[str, bool]:
        """Return the paths, with the end of the mirror that is on this machine."""
        end = {"src": True} if pushes(arguments.get("direction")) else {"dest": False}
        return {**self.paths, **end}

    def plan(self, task: Task[SftpSyncOptions]) -> Plan:
        """Read both trees and plan the changes that make one like the other."""
        require()
        options = task.options
        check_options(options)
        rules = {
            "file_mode": mode("file_mode", options.file_mode),
            "directory_mode": mode("directory_mode", options.directory_mode),
        }
        login = resolve_login(task)
        if not login.host:
            return plan_for_expected_service(task, login, rules)
        keys = HostKeys(
            os.path.expanduser(options.known_hosts),
            options.host_key_checking,
            login.host,
            login.port,
            task.warn,
        )
        try:
            session = task.closing.enter_context(SftpSession(login, keys, remember=not task.check_mode))
        except LoginRefused as error:
            if "a new ssh_key" not in task.foreseen:
                raise
            task.warn(
                f"{error.message}. An earlier task is to register a key; what is there was not looked at"
            )
            return plan_for_expected_service(task, login, rules)
        return session.run(plan_mirror(task, session, rules))


SFTP_SYNC = SftpSyncResource()


def resolve_login(task: Task[SftpSyncOptions]) -> Login:
    """Return the login: from the platform for a service, else from the options."""
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


def mode(name: str, value: Any) -> int | None:
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


async def plan_mirror(
    task: Task[SftpSyncOptions], session: SftpSession, modes: Mapping[str, int | None]
) -> Plan:
    """Read both trees, compare them, and return the plan."""
    options = task.options
    mirror = await open_mirror(task, session)
    patterns = Patterns(options.include, options.exclude)
    try:
        source = await read_source(task, mirror.source, patterns)
    except NoSuchItem as error:
        if pushes(options.direction):
            raise
        task.expect_created(error, options.src)
        return plan_unknown_pull(task, session.login)
    there = Patterns(options.include) if options.delete_excluded else patterns
    target = await mirror.target.tree(there, lambda path, why: None)
    work = MirrorWork(task, session, mirror, source, target, modes)
    await work.compare()
    warn_of_idle_patterns(task, patterns, work.changes)
    check_deletions(task, work.source, work.changes)
    if options.delete:
        warn_of_another_source(work, session.login)
    return work.plan()


def warn_of_another_source(work: MirrorWork, login: Login) -> None:
    """Warn if an earlier task of the run made the same folder like another one, which this one deletes."""
    options, root = work.task.options, work.mirror.target.root
    place = f"{login.username}@{login.host}:{login.port}/{root}" if pushes(options.direction) else root
    first = first_said(f"mirror.{state_key(None, place)}", lambda: options.src)
    if work.changes.extra and first not in (None, options.src):
        work.task.warn(
            f"an earlier task made dest {options.dest!r} like {first!r}, and this one makes it like "
            f"{options.src!r}: with delete: true, each deletes what the other copied. Give each a dest of "
            "its own, or leave delete out"
        )


def plan_for_expected_service(
    task: Task[SftpSyncOptions], login: Login, modes: Mapping[str, int | None]
) -> Plan:
    """Plan for a service that does not exist yet: a push creates everything, a pull is unknown."""
    options = task.options
    on_service = "dest" if pushes(options.direction) else "src"
    given = options.dest if pushes(options.direction) else options.src
    remote = relative_path(on_service, given, rooted=not options.delete)
    if not pushes(options.direction):
        return plan_unknown_pull(task, login)
    local = Local(os.path.realpath(os.path.expanduser(options.src)))
    patterns = Patterns(options.include, options.exclude)
    source = asyncio.run(read_source(task, local, patterns))
    describe = partial(describe_step, task, login)
    return plan_expected(task, login, local, source, describe, modes=modes, target=Tree() if remote else None)


def plan_unknown_pull(task: Task[SftpSyncOptions], login: Login) -> Plan:
    """Plan a pull whose content an earlier task of the play would create, so that it is unknown."""
    result = mirror_result(task, login, TreeChanges(), Tree())
    return Plan(result=result, steps=[Step(describe_step(task, login, result), lambda: None)])


async def open_mirror(task: Task[SftpSyncOptions], session: SftpSession) -> Mirror:
    """Return both sides. A single file is placed in an existing directory under its own name."""
    options = task.options
    push = options.direction == PUSH
    local = os.path.abspath(os.path.expanduser(options.src if push else options.dest))
    given = options.dest if push else options.src
    remote = relative_path("dest" if push else "src", given, rooted=not options.delete) or "."
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
