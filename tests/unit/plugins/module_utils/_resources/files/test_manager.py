# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""By which path calls name the root of a service, of which none is shown (Files), and what is found there."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.errors import (
    NotFoundResponse,
    error_for_status,
)
from ansible_collections.hosted.services.plugins.module_utils._api.models import FileEntry, Service
from ansible_collections.hosted.services.plugins.module_utils._resources.file import FILE
from ansible_collections.hosted.services.plugins.module_utils._resources.files.manager import (
    ROOT,
    FileManager,
    is_full_text,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.change import apply
from unit.plugins.fakes import FakeClient, task_of

SERVICE = Service(id="s", name="web", family="GAME", status="ACTIVE")
NOTES = [FileEntry(name="notes", directory=False, size=1)]


def manager_of(
    roots: Mapping[str, list[FileEntry]], failing: Mapping[str, int] | None = None
) -> tuple[FileManager, list[str]]:
    """Return the files of a service that shows these entries under these paths, and the paths asked for.

    The first request for one of ``failing`` is refused with its status.
    """
    listed: list[str] = []
    once = dict(failing or {})

    class Files(FakeClient):
        def files(self, id: str, path: str) -> list[FileEntry]:
            listed.append(path)
            if path in once:
                raise error_for_status("try again", once.pop(path))
            if path not in roots:
                raise error_for_status("no such directory", 404)
            return roots[path]

    return FileManager(SERVICE, task_of(FILE, Files())), listed


# --- Looking ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("directory", [True, False])
def test_a_directory_that_is_shown_and_not_found_hides_what_is_in_it(directory: bool) -> None:
    """A link that leads nowhere, too."""
    mods = FileEntry(name="mods", directory=directory, symlink=not directory)
    files, _listed = manager_of({ROOT: [mods]})
    with pytest.raises(NotFoundResponse):
        files.entry("mods/notes")


@pytest.mark.parametrize(
    ("text", "fields", "whole"),
    [
        ("\u00fc", {"size": 2}, True),
        ("\u00fc", {"size": 1}, False),
        ("a", {"size": 9, "symlink": True}, True),
        ("a", {"size": None}, True),
    ],
)
def test_a_text_is_whole_if_it_has_the_size_of_its_file(
    text: str, fields: dict[str, Any], whole: bool
) -> None:
    """That of a link is not the size of what it leads to."""
    assert is_full_text(FileEntry(name="a", directory=False, **fields), text) is whole


def test_a_rename_is_done_when_only_the_new_name_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory may show both for a moment, and the next task would find the old one."""
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    root, new = [FileEntry(name="mods", directory=True)], FileEntry(name="new", directory=False, size=1)
    shown = [NOTES, [*NOTES, new], [], [new]]

    class Files(FakeClient):
        def files(self, id: str, path: str) -> list[FileEntry]:
            return shown.pop(0) if path == "mods" else root

        def rename_file(self, *call: str) -> None:
            self.calls.append(call)

    client = Files()
    task = task_of(FILE, client)
    task.reads.kept = False
    assert apply(task, FileManager(SERVICE, task).renaming("mods/notes", "new")).own
    assert client.calls == [("s", "mods", "notes", "new")] and shown == []
