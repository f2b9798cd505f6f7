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

from .._api.models import FileEntry
from .._api.text import counted
from .files.manager import MAX_BYTES, USE_SFTP_SYNC, FileManager, as_result, expected_entry
from .files.paths import ends_with_empty_variable, is_root, relative_path
from .services.on_service import (
    OnServiceOptions,
    check_not_left_over,
    resolve_service,
    service_if_there,
)
from .shared.change import step_of
from .shared.identify import check_service_offers
from .shared.options import FilePath, names_given, option
from .shared.plan import Plan, Resource, Step, Task
from .shared.task_errors import Invalid, NoSuchItem
from .shared.waiting import QUIET_SECONDS, poll_for


@dataclass(frozen=True, kw_only=True)
class FileOptions(OnServiceOptions):
    """The options of module file."""

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
        """Write, make, rename or remove, on difference only."""
        check_text_is_used(task)
        paths = requested_paths(task)
        name = requested_name(task)
        text = requested_text(task) if task.options.state == "present" else ""
        service = service_if_there(task) if task.options.state == "absent" else resolve_service(task)
        if service is None:
            return Plan(result=None)
        if task.options.state == "absent":
            check_not_left_over(task, service.id, task.options.service)
        check_service_offers(service, "files", "has no file manager")
        files = FileManager(service, task)
        plan = {
            "absent": lambda: plan_absent(files, paths),
            "directory": lambda: plan_directory(task, files, paths[0]),
            "renamed": lambda: plan_rename(files, paths[0], name),
            "present": lambda: plan_present(task, files, paths[0], text),
        }[task.options.state]()
        plan.subject = f"{service.name}: {', '.join(paths)}"
        return plan


FILE = FileResource()


def requested_paths(task: Task[FileOptions]) -> list[str]:
    """Return the checked paths of the task. The root can neither be created nor deleted."""
    options = task.options
    if options.paths is not None and options.state != "absent":
        raise Invalid("paths is for state: absent; name one path")
    name = "path" if options.path is not None else "paths"
    given = [options.path] if options.path is not None else options.paths
    if given is None:
        raise Invalid("neither path nor paths is given")
    for path in given:  # before the check that would advise to write the root as '.'
        if is_root(path):
            raise Invalid(
                f"{name} is {path!r}, the root of the service, which always exists and cannot be removed"
            )
    paths = [relative_path(name, path, rooted=options.state != "absent") for path in given]
    if options.path and options.path.endswith("/") and options.state == "present":
        raise Invalid(f"path is {options.path!r}; a file cannot end with a slash")
    if options.state in ("absent", "renamed"):
        check_full_path(options.path, options.paths)
    return list(dict.fromkeys(paths))


def check_text_is_used(task: Task[FileOptions]) -> None:
    """Check that no content is given for a state that does not use it.

    :raises Invalid: if it is, because the state may be a mistake.
    """
    state = task.options.state
    given = names_given(content=task.options.content, src=task.options.src)
    if given and state != "present":
        raise Invalid(
            f"{given[0]} is for state: present, and state is {state}; nothing was sent. Remove {given[0]}, "
            "or correct the state"
        )


def check_not_emptied(
    task: Task[FileOptions], files: FileManager, path: str, entry: FileEntry | None, text: str
) -> None:
    """Check that the task allows an existing file to be emptied: a variable may be empty.

    :raises Invalid: if it does not.
    """
    if not text and entry is not None and entry.size and not task.options.allow_empty:
        given = "content" if task.options.src is None else f"src {task.options.src!r}"
        raise Invalid(
            f"{given} is empty, and {path!r} on {files.label} holds {counted(entry.size, 'byte')}; nothing "
            "was sent. Set allow_empty: true to empty the file, or state: absent to remove it"
        )


def check_full_path(path: str | None, paths: Sequence[str] | None) -> None:
    """Check that a path to delete or rename does not end with an empty variable.

    :raises Invalid: if it may.
    """
    given = {"path": path} if path is not None else {}
    given |= {f"item {number} of paths": item for number, item in enumerate(paths or (), 1)}
    for label, item in given.items():
        if ends_with_empty_variable(item):
            raise Invalid(
                f"{label} is {item!r}, which looks like a longer path with an empty variable; write "
                f"{relative_path(label, item)!r} to delete or rename all of it"
            )


def requested_name(task: Task[FileOptions]) -> str:
    """Return the new name within the directory; empty if nothing is to be renamed.

    The platform does not say whether a rename can move to another directory, so a path is rejected.
    """
    given = task.options.new_name
    if task.options.state != "renamed":
        if given is not None:
            raise Invalid(f"new_name is {given!r}; it is for state: renamed")
        return ""
    name = relative_path("new_name", given or "")
    if not name or name != given or "/" in name:
        raise Invalid(f"new_name is {given!r}; it must be a name, without a slash: a file stays where it is")
    return name


def requested_text(task: Task[FileOptions]) -> str:
    """Return the desired content of the file.

    :raises Invalid: if it is not text, or too large to be read back.
    """
    content, src = task.options.content, task.options.src
    if content is not None:
        text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
        return checked_text("content", text)
    if src is None:
        raise Invalid("neither content nor src is given")
    try:
        with open(os.path.expanduser(src), encoding="utf-8", newline="") as file:
            size = os.fstat(file.fileno()).st_size
            if size > MAX_BYTES:
                raise too_large_error(f"src {src!r}", size)
            return checked_text(f"src {src!r}", file.read())
    except UnicodeDecodeError:
        raise not_text_error(f"src {src!r}") from None
    except OSError as error:
        raise NoSuchItem(f"src {src!r} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise NoSuchItem(f"src {src!r} cannot be read: {error}") from None


def checked_text(what: str, text: str) -> str:
    """Return a text that the file manager accepts, and can return.

    :raises Invalid: for others.
    """
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise not_text_error(what) from None
    if size > MAX_BYTES:
        raise too_large_error(what, size)
    if "\0" in text:
        raise Invalid(f"{what} contains a NUL byte, which the file manager does not take; {USE_SFTP_SYNC}")
    return text


def too_large_error(what: str, size: int) -> Invalid:
    """Return the error for content that the platform's reader would not return (Limits)."""
    return Invalid(
        f"{what} has {size} bytes; the platform reads text of up to {MAX_BYTES} bytes only, so what was "
        f"written could not be read back and compared. For larger files {USE_SFTP_SYNC}"
    )


def not_text_error(what: str) -> Invalid:
    """Return the error for binary content."""
    return Invalid(f"{what} is not text in UTF-8, which is all that the file manager takes; {USE_SFTP_SYNC}")


def plan_present(task: Task[FileOptions], files: FileManager, path: str, text: str) -> Plan:
    """Plan a file with this content."""
    parents = missing_parents(task, files, path)
    entry = None if parents else files.entry(path)
    refuse_link(files, path, entry)
    if entry is not None and entry.directory:
        raise Invalid(
            f"{path!r} on {files.label} is a directory, but the task asks for a file; remove it first with "
            "state: absent"
        )
    check_not_emptied(task, files, path, entry, text)
    before = files.text_or_note(path, entry) if entry is not None else ""
    if entry is not None and before == text:
        return Plan(result=as_result(path, entry), before=text, after=text)
    size = len(text.encode())
    summary = f"{'replace' if entry else 'write'} {path} ({counted(size, 'byte')}) on {files.label}"
    return Plan(
        result=expected_entry(path, size=size, directory=False),
        steps=[
            *directory_steps(files, parents),
            step_of(summary, task, files.writing(path, text)),
        ],
        reread=lambda: read_written_file(files, path, size),
        before=before,
        after=text,
    )


def plan_directory(task: Task[FileOptions], files: FileManager, path: str) -> Plan:
    """Plan an existing directory."""
    parents = missing_parents(task, files, path)
    entry = None if parents else files.entry(path)
    refuse_link(files, path, entry)
    if entry is not None and not entry.directory:
        raise Invalid(
            f"{path!r} on {files.label} is a file, but the task asks for a directory; remove it first with "
            "state: absent"
        )
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
    """Plan the rename of an entry. It counts as done if only the new name exists.

    :raises Invalid: if both exist: the effect is not documented.
    :raises NoSuchItem: if neither exists.
    """
    target = posixpath.join(posixpath.dirname(path), name)
    entry, other = files.entry(path), files.entry(target)
    state = {"path": target}
    if path == target and entry is not None:
        return Plan(result=as_result(path, entry), before=state, after=state)
    if entry is None and other is not None:
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
    """Plan the deletion of these paths, with up to a hundred names of one directory per call."""
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
    """Return the missing parent directories, outermost first.

    :raises Invalid: if some are missing and may not be created, or one is a file.
    """
    missing: list[str] = []
    parent = posixpath.dirname(path)
    while parent and files.entry(parent) is None:
        missing.insert(0, parent)
        parent = posixpath.dirname(parent)
    if parent:
        files.check_directory(parent)
    if missing and not task.options.create_parents:
        refusal = f"the directory {missing[0]!r} does not exist on {files.label}, and create_parents is false"
        task.expect_created(Invalid(refusal), missing[0])
        return []
    return missing


def refuse_link(files: FileManager, path: str, entry: FileEntry | None) -> None:
    """Check that the path is not a symbolic link: the effect of a write through it is not documented.

    :raises Invalid: if it is.
    """
    if entry is not None and entry.symlink:
        raise Invalid(
            f"{path!r} on {files.label} is a symbolic link; set path to its "
            "target, or remove the link first with state: absent, which does not touch the target"
        )


def directory_steps(files: FileManager, paths: Sequence[str]) -> list[Step]:
    """Return the steps that create directories, outermost first."""
    return [step_of(f"make {change.what}", files.task, change) for change in map(files.making, paths)]


def read_written_file(files: FileManager, path: str, size: int) -> dict[str, Any]:
    """Return a file as listed after the write; warn if it differs from what was sent.

    The list of a directory need not show at once what was written to it.
    """
    found = read_entry(files, path)

    def is_as_sent() -> bool:
        return found["size"] in (None, size)

    def look() -> bool:
        found.update(read_entry(files, path))
        return is_as_sent()

    if not is_as_sent() and not poll_for(look, QUIET_SECONDS / 2):
        files.task.warn(
            f"{path!r} on {files.label} has {counted(found['size'], 'byte')} though {size} were "
            "written: the platform or the service has changed it. Until that stops, every run writes it again"
        )
    return found


def read_entry(files: FileManager, path: str) -> dict[str, Any]:
    """Return an entry as listed after a write that showed it."""
    files.invalidate()
    entry = files.entry(path)
    if entry is None:
        raise NoSuchItem(
            f"the platform accepted the call, but there is no {path!r} on {files.label} any more"
        )
    return as_result(path, entry)
