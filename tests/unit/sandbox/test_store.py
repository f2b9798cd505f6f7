# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The store: transactions, and what survives them."""

from __future__ import annotations

from pathlib import Path

import pytest

from hosted_sandbox.store import Store
from hosted_sandbox.store.records import Backup, Project


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


def test_records_are_found_by_owner_in_their_order() -> None:
    store = Store()
    for number in range(3):
        store.put(Backup(f"b{number}", f"s{number % 2}"))
    assert [backup.id for backup in store.of(Backup, "s0")] == ["b0", "b2"]
    store.drop(store.need(Backup, "b0"))
    assert [backup.id for backup in store.of(Backup, "s0")] == ["b2"]
    assert [backup.id for backup in store.all(Backup)] == ["b1", "b2"]
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


def test_a_dump_is_taken_back() -> None:
    store = Store()
    store.put(Project("p", "a", "one"))
    dump = store.dump()
    store.put(Project("q", "a", "two"))
    store.load(dump)
    assert [project.name for project in store.all(Project)] == ["one"]
    store.close()
