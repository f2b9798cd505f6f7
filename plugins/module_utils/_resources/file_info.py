# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the files of a service: the entries of a directory, or the content of a file (Files)."""

from __future__ import annotations

import posixpath
from collections import deque
from dataclasses import dataclass
from typing import Any, ClassVar

from .._api.text import counted
from .files.manager import FileManager, as_result, expected_entry
from .files.paths import relative_path
from .services.on_service import OnServiceOptions, resolve_service
from .shared.identify import check_service_offers
from .shared.options import option
from .shared.plan import Plan, Resource, Task
from .shared.task_errors import Invalid, NoSuchItem


@dataclass(frozen=True, kw_only=True)
class FileInfoOptions(OnServiceOptions):
    path: str = option(".", selects=True)
    recurse: bool = False
    limit: int = 1000
    content: bool = False


class FileInfoResource(Resource[FileInfoOptions]):
    """A file or a directory of a service."""

    result_key = "files"
    rules: ClassVar[dict[str, Any]] = {"mutually_exclusive": [("recurse", "content")]}

    def plan(self, task: Task[FileInfoOptions]) -> Plan:
        path = relative_path("path", task.options.path)
        if task.options.limit < 1:
            raise Invalid(f"limit is {task.options.limit}; it must be 1 or more")
        service = resolve_service(task)
        check_service_offers(service, "files", "has no file manager")
        files = FileManager(service, task)
        if task.options.content:
            return Plan(result=[read_file(task, files, path)])
        return Plan(result=list_entries(task, files, path))


FILE_INFO = FileInfoResource()


def read_file(task: Task[FileInfoOptions], files: FileManager, path: str) -> dict[str, Any]:
    if not path:
        raise Invalid("content is for a file; name it in path")
    entry = files.entry(path)
    if entry is None:
        task.expect_created(NoSuchItem(f"there is no file {path!r} on {files.label}"), path)
        return {**expected_entry(path, size=None, directory=False), "content": None}
    if entry.directory:
        raise Invalid(f"{path!r} on {files.label} is a directory, so it has no content to read")
    return {**as_result(path, entry), "content": files.content(path, entry)}


def list_entries(task: Task[FileInfoOptions], files: FileManager, path: str) -> list[dict[str, Any]]:
    entry = files.entry(path) if path else None
    if path and entry is None:
        task.expect_created(NoSuchItem(f"there is no file or directory {path!r} on {files.label}"), path)
        return []
    if entry is not None and not entry.directory and not entry.symlink:
        return [as_result(path, entry)]
    found: list[dict[str, Any]] = []
    folders = deque([path])
    while folders:
        folder = folders.popleft()
        for item in sorted(files.entries(folder), key=lambda item: item.name):
            place = posixpath.join(folder, item.name)
            if len(found) == task.options.limit:
                task.warn(f"there are more than {counted(len(found), 'file')}; raise limit to see the others")
                return found
            found.append(as_result(place, item))
            if task.options.recurse and item.directory and not item.symlink:
                folders.append(place)
    return found
