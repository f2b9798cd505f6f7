# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files and directories of a service: writes, renames and deletes them (Files)."""

from __future__ import annotations

import json
import os
import posixpath
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from .._api.errors import Refused, TokenRejected
from .._api.models import FileEntry
from .._api.text import counted
from .files.manager import MAX_BYTES, USE_SFTP_SYNC, FileManager, as_result, expected_entry, is_large
from .files.paths import ends_with_empty_variable, is_root, relative_path
from .services.on_service import OnServiceOptions, check_not_left_over, resolve_service, service_if_there
from .shared.change import step_of
from .shared.identify import check_service_offers
from .shared.options import FilePath, option
from .shared.plan import Plan, Resource, Step, Task
from .shared.task_errors import Invalid, NoSuchItem


@dataclass(frozen=True, kw_only=True)
class FileOptions(OnServiceOptions):
    path: str | None = option(None, selects=True)
    paths: list[str] | None = option(None, selects=True)
    new_name: str | None = option(None, selects=True)
    state: Literal["present", "directory", "renamed", "absent"] = "present"
    content: Any = option(None, secret=True)
    src: FilePath | None = option(None, reads_file=True)
    create_parents: bool = True
    allow_empty: bool = False


class FileResource(Resource[FileOptions]):
    """A file or a directory, by service and path; several for deletion."""

    result_key = "file"
    rules: ClassVar[dict[str, Any]] = {
        "required_one_of": [("path", "paths")],
        "mutually_exclusive": [("path", "paths"), ("content", "src")],
        "required_if": [
            ("state", "present", ("content", "src"), True),
            ("state", "renamed", ("path", "new_name")),
        ],
    }

    def plan(self, task: Task[FileOptions]) -> Plan:
        options = task.options
        for name, state in STATE_OF.items():  # the state may be a mistake
            if getattr(options, name) is not None and options.state != state:
                raise Invalid(
                    f"{name} is for state: {state}, and state is {options.state}; nothing was sent. Remove "
                    f"{name}, or correct the state"
                )
        paths = requested_paths(options)
        new_name = requested_name(options)
        text = requested_text(options) if options.state == "present" else ""
        service = service_if_there(task) if options.state == "absent" else resolve_service(task)
        if service is None:
            return Plan(result=None)
        if options.state == "absent":
            check_not_left_over(task, service.id, options.service)
        check_service_offers(service, "files", "has no file manager")
        files = FileManager(service, task)
        plan = {
            "absent": lambda: plan_absent(files, paths),
            "directory": lambda: plan_directory(task, files, paths[0]),
            "renamed": lambda: plan_rename(files, paths[0], new_name),
            "present": lambda: plan_present(task, files, paths[0], text),
        }[options.state]()
        plan.subject = f"{service.name}: {', '.join(paths)}"
        return plan


FILE = FileResource()
STATE_OF = {"content": "present", "src": "present", "new_name": "renamed", "paths": "absent"}
"""The options that only one state uses."""


def requested_paths(options: FileOptions) -> list[str]:
    """Return the checked paths of the task. The root can neither be created nor deleted."""
    given = {f"item {number} of paths": path for number, path in enumerate(options.paths or (), 1)}
    if options.path is not None:
        given = {"path": options.path}
    takes_all, found = options.state in ("absent", "renamed"), dict[str, None]()
    for label, path in given.items():
        if is_root(path):  # before the check that would advise to write the root as '.'
            raise Invalid(
                f"{label} is {path!r}, the root of the service, which always exists and cannot be removed"
            )
        plain = relative_path(label, path, rooted=options.state != "absent")
        if takes_all and ends_with_empty_variable(path):
            raise Invalid(
                f"{label} is {path!r}, which looks like a longer path with an empty variable; write "
                f"{plain!r} to delete or rename all of it"
            )
        if options.state == "present" and path.endswith("/"):
            raise Invalid(f"{label} is {path!r}; a file cannot end with a slash")
        found[plain] = None
    return list(found)


def requested_name(options: FileOptions) -> str:
    """Return the new name; a path is refused, as the specification does not say that a rename can move."""
    given = options.new_name
    if given is not None and (relative_path("new_name", given) != given or not given or "/" in given):
        raise Invalid(f"new_name is {given!r}; it must be a name, without a slash: a file stays where it is")
    return given or ""


def requested_text(options: FileOptions) -> str:
    content, src = options.content, options.src
    what, size = "content" if src is None else f"src {src!r}", 0
    try:
        if src is None:
            text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
        else:
            with open(os.path.expanduser(src), encoding="utf-8", newline="") as file:
                size, text = os.fstat(file.fileno()).st_size, file.read(MAX_BYTES + 1)
        size = max(size, len(text.encode()))
    except UnicodeError:
        text_only = "is not text in UTF-8, which is all that the file manager takes"
        raise Invalid(f"{what} {text_only}; {USE_SFTP_SYNC}") from None
    except (OSError, ValueError) as error:
        raise NoSuchItem(f"{what} cannot be read: {getattr(error, 'strerror', error)}") from None
    if size > MAX_BYTES:
        raise Invalid(
            f"{what} has {size} bytes; the platform reads text of up to {MAX_BYTES} bytes only, so what was "
            f"written could not be read back and compared. For larger files {USE_SFTP_SYNC}"
        )
    if "\0" in text:
        raise Invalid(f"{what} contains a NUL byte, which the file manager does not take; {USE_SFTP_SYNC}")
    return text


def plan_present(task: Task[FileOptions], files: FileManager, path: str, text: str) -> Plan:
    parents = missing_parents(task, files, path)
    entry = None if parents else entry_of_kind(files, path, directory=False)
    if not text and entry is not None and entry.size and not task.options.allow_empty:
        given = "content" if task.options.src is None else f"src {task.options.src!r}"
        raise Invalid(
            f"{given} is empty, and {path!r} on {files.label} holds {counted(entry.size, 'byte')}; nothing "
            "was sent. Set allow_empty: true to empty the file, or state: absent to remove it"
        )
    before = text_or_note(files, path, entry) if entry is not None else ""
    if entry is not None and before == text:
        return Plan(result=as_result(path, entry), before=text, after=text)
    size = len(text.encode())
    summary = f"{'replace' if entry else 'write'} {path} ({counted(size, 'byte')}) on {files.label}"
    return Plan(
        result=expected_entry(path, size=size, directory=False),
        steps=[*directory_steps(files, parents), step_of(summary, task, files.writing(path, text, size))],
        reread=lambda: read_entry(files, path),
        before=before,
        after=text,
    )


def text_or_note(files: FileManager, path: str, entry: FileEntry) -> str | dict[str, Any]:
    """Return the text of a file that is going to be compared; facts about it where it has none."""
    note = {"size": entry.size, "modified_at": entry.modified_at}
    try:
        return note if is_large(entry) else files.content(path, entry)
    except TokenRejected:
        raise
    except (Refused, Invalid, NoSuchItem):
        return {**note, "text": False}


def plan_directory(task: Task[FileOptions], files: FileManager, path: str) -> Plan:
    parents = missing_parents(task, files, path)
    entry = None if parents else entry_of_kind(files, path, directory=True)
    state = {"path": path, "directory": True}
    if entry is not None:
        return Plan(result=as_result(path, entry), before=state, after=state)
    return Plan(
        result=expected_entry(path, size=None, directory=True),
        steps=directory_steps(files, [*parents, path]),
        reread=lambda: read_entry(files, path),
        after=state,
    )


def plan_rename(files: FileManager, path: str, name: str) -> Plan:
    """Plan the rename of an entry. It counts as done if only the new name exists."""
    target = posixpath.join(posixpath.dirname(path), name)
    entry, other = files.entry(path), files.entry(target)
    state = {"path": target}
    if other is not None and (path == target or entry is None):
        return Plan(result=as_result(target, other), before=state, after=state)
    if entry is None:
        missing = NoSuchItem(f"neither {path!r} nor {target!r} exists on {files.label}")
        files.task.expect_created(missing, path)
        entry = FileEntry.model_construct(name=posixpath.basename(path))
    if other is not None:
        raise Invalid(
            f"{path!r} cannot be renamed: {target!r} also exists on {files.label}; remove one of them first "
            "with state: absent"
        )
    return Plan(
        result=as_result(target, entry.model_copy(update={"name": name, "mime": None})),
        steps=[step_of(f"rename {path} to {name} on {files.label}", files.task, files.renaming(path, name))],
        reread=lambda: read_entry(files, target),
        before={"path": path},
        after=state,
    )


def plan_absent(files: FileManager, paths: Sequence[str]) -> Plan:
    there = {path: entry for path in paths if (entry := files.entry(path)) is not None}
    outermost = [path for path in there if not any(path.startswith(f"{other}/") for other in there)]
    groups: dict[str, list[str]] = {}
    for path in outermost:
        groups.setdefault(posixpath.dirname(path), []).append(posixpath.basename(path))
    return Plan(
        result=None,
        steps=[
            step_of(f"remove {change.what}", files.task, change)
            for root, names in groups.items()
            for change in files.removing(root, names)
        ],
        before={path: as_result(path, there[path]) for path in outermost},
    )


def missing_parents(task: Task[FileOptions], files: FileManager, path: str) -> list[str]:
    """Return the missing parent directories, outermost first."""
    missing: list[str] = []
    parent = posixpath.dirname(path)
    while parent and not files.has_directory(parent):
        missing.insert(0, parent)
        parent = posixpath.dirname(parent)
    if missing and not task.options.create_parents:
        refusal = f"the directory {missing[0]!r} does not exist on {files.label}, and create_parents is false"
        task.expect_created(Invalid(refusal), missing[0])
        return []
    return missing


def entry_of_kind(files: FileManager, path: str, *, directory: bool) -> FileEntry | None:
    """Return the entry at a path, if any. What a write through a link does is not documented."""
    entry = files.entry(path)
    if entry is not None and entry.symlink:
        raise Invalid(
            f"{path!r} on {files.label} is a symbolic link; set path to its "
            "target, or remove the link first with state: absent, which does not touch the target"
        )
    if entry is not None and bool(entry.directory) is not directory:
        kinds = ("a file", "a directory")
        raise Invalid(
            f"{path!r} on {files.label} is {kinds[not directory]}, but the task asks for {kinds[directory]}; "
            "remove it first with state: absent"
        )
    return entry


def directory_steps(files: FileManager, paths: Sequence[str]) -> list[Step]:
    return [step_of(f"make {change.what}", files.task, change) for change in map(files.making, paths)]


def read_entry(files: FileManager, path: str) -> dict[str, Any]:
    files.invalidate()
    entry = files.entry(path)
    if entry is None:
        raise NoSuchItem(f"the platform accepted the call, but {files.label} has no {path!r} any more")
    return as_result(path, entry)
