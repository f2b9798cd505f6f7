# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What keeps a mirror from deleting more than its user foresaw: an empty variable, an empty source, a slip.

Every refusal comes before anything is changed, and in check mode as well.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from ..._api.text import counted
from ..._sftp.compare import TreeChanges
from ..._sftp.mirror import PUSH
from ..._sftp.patterns import Patterns, why_no_match
from ..._sftp.trees import ROOT, Kind, Tree, printable_path
from ..services.on_service import SftpServerOptions
from ..shared.options import FilePath, option, required
from ..shared.plan import Task
from ..shared.store import PLAYBOOK_FOLDER
from ..shared.task_errors import Invalid
from .paths import ends_with_empty_variable, relative_path


@dataclass(frozen=True, kw_only=True)
class SftpSyncOptions(SftpServerOptions):
    """Which two trees, how to log in, and what to do with differences."""

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


def check_options(options: SftpSyncOptions) -> None:
    """Check what can be checked before anybody is asked.

    :raises Invalid: for a pattern that could match nothing, a limit below 0, ``delete_excluded`` without
        ``delete``, or with ``delete`` a target that an empty variable may have made.
    """
    for name, patterns in (("include", options.include), ("exclude", options.exclude)):
        for number, pattern in enumerate(patterns, 1):
            if why := why_no_match(pattern):  # it would protect nothing
                raise Invalid(f"item {number} of {name} is {pattern!r}, {why}")
    limit = options.max_delete
    if limit is not None and limit < 0:
        raise Invalid(f"max_delete is {limit}; it must be 0 or more")
    check_source(options.src, local=options.direction == PUSH, deletes=options.delete)
    if options.delete_excluded and not options.delete:
        raise Invalid("delete_excluded goes with delete: true alone, and delete is false")
    if options.delete:
        check_target(options.dest, local=options.direction != PUSH)


def check_source(src: str, *, local: bool, deletes: bool) -> None:
    """Refuse to copy what an empty variable leads to: the files of everybody, or this whole machine."""
    everything = ("/", os.path.realpath(os.path.expanduser("~")))
    try:
        is_everything = local and os.path.realpath(os.path.expanduser(src)) in everything
    except ValueError:  # no path at all, which is told when it is read
        is_everything = False
    if is_everything:
        raise Invalid(
            f"src is {src!r}, which is your home folder or the root of this machine; "
            "give src the folder to copy"
        )
    check_not_cut_short(src, deletes)


def check_not_cut_short(src: str, deletes: bool) -> None:
    """Refuse a source that looks like ``folder/{{ name }}`` with an empty variable.

    A slash at the end alone is how many write a folder, and counts only where something is to be deleted.
    """
    written = src if deletes else src.removesuffix("/")
    if ends_with_empty_variable(written) and src not in ("./", "/"):
        raise Invalid(
            f"src is {src!r}, which looks like a longer path with an empty variable; write "
            f"{os.path.normpath(src)!r} to copy all of that folder"
        )


def check_target(dest: str, local: bool) -> None:
    """Refuse to delete in a place that an empty variable leads to."""
    if local:
        check_local_target(dest)
        short = os.path.basename(dest) in ("", ".")
        plain = os.path.normpath(dest)
    else:
        plain = relative_path("dest", dest, rooted=False) or "."
        short = dest != "." and (plain == "." or ends_with_empty_variable(dest))
    if short:
        raise Invalid(
            f"dest is {dest!r}, which looks like a longer path with an empty variable, and delete is true; "
            f"write {plain!r} if you want to delete in that folder"
        )


def check_local_target(dest: str) -> None:
    """Refuse a folder of this machine that holds a project, a home or the whole machine."""
    target = os.path.realpath(os.path.expanduser(dest))
    for what, folder in protected_folders():
        if target == folder:
            found = f"is {what}"
        elif folder.startswith(target + "/"):
            found = f"is above {what}, {folder!r}"
        else:
            continue
        raise Invalid(
            f"dest is {dest!r}, which {found}: with delete: true, everything there that is not in src would "
            "be deleted. Give dest a folder of its own, or leave delete out"
        )


def protected_folders() -> Iterator[tuple[str, str]]:
    """Yield the folders that are nobody's copy, each with what it is."""
    yield "the root of this machine", "/"
    if playbook := os.environ.get(PLAYBOOK_FOLDER):
        yield "the folder of the playbook", os.path.realpath(playbook)
    yield "your home folder", os.path.realpath(os.path.expanduser("~"))
    try:
        yield "the current directory", os.path.realpath(os.getcwd())
    except FileNotFoundError:  # somebody has removed it
        return


def check_deletions(task: Task[SftpSyncOptions], source: Tree, changes: TreeChanges) -> None:
    """Refuse to delete everything for an empty source, or more than the user foresaw.

    What a broken transfer left behind is no one's file and does not count.
    """
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
    keeps_excluded = task.options.delete and not task.options.delete_excluded
    if keeps_excluded and patterns.unused and (changes.extra or changes.in_the_way):
        listed = ", ".join(repr(pattern) for pattern in patterns.unused)
        task.warn(
            f"exclude: {listed} matched nothing in src or in dest, and so protects nothing from delete: "
            "true; a pattern with a slash begins at the root of the tree, which is dest"
        )
