# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The store: transactions, and what survives them."""

from __future__ import annotations

from pathlib import Path

import pytest

from hosted_sandbox.store import Store
from hosted_sandbox.store.records import Project


def test_a_transaction_is_whole_or_nothing() -> None:
    store = Store()
    project = Project("p", "a", "before")
    with store.transaction():
        store.put(project)
    with pytest.raises(ZeroDivisionError), store.transaction():
        project.name = "after"
        store.put(project)
        store.put(Project("q", "a", "new"))
        raise ZeroDivisionError
    assert store.get(Project, "p") is project
    assert project.name == "before"
    assert store.get(Project, "q") is None
    assert store.of(Project, "a") == [project]
    store.close()


def test_a_file_keeps_what_was_committed(tmp_path: Path) -> None:
    path = tmp_path / "records.sqlite"
    store = Store(path)
    with store.transaction():
        store.put(Project("p", "a", "kept"))
    store.put(Project("q", "a", "lost"))
    # Not closed: another process sees the committed part alone, as after a kill.
    other = Store(path)
    assert [project.name for project in other.all(Project)] == ["kept"]
    store.close()
    other.close()
