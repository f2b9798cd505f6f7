# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of copies that a platform may have written its own way."""

from __future__ import annotations

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import models as m
from ansible_collections.hosted.services.plugins.module_utils._resources.backup import BACKUP
from ansible_collections.hosted.services.plugins.module_utils._resources.restore_points import names
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from unit.plugins.fakes import FakeClient, task_of

SERVICE = m.Service.model_construct(id="svc_1", name="web")


def backups(*given: str) -> list[m.Backup]:
    """Return backups of these names."""
    return [m.Backup.model_construct(id=f"b_{name}", name=name, created_at=None) for name in given]


def test_what_a_platform_may_have_made_of_a_name() -> None:
    there = backups("before-the-move", "Before The Move", "after the move")
    assert names.possible_names("Before The Move", there) == ["before-the-move"]
    assert names.name_hint("Before The Move", there).count("'before-the-move'") == 1
    assert names.name_hint("else", there) == ""


def test_a_new_copy_is_known_by_its_name_or_by_what_is_left_of_it() -> None:
    exact, cut, other = backups("Before The Move", "before-the", "nightly")
    assert names.new_copies_named("Before The Move", [cut, exact, other]) == [exact]
    assert names.new_copies_named("Before The Move", [cut, other]) == [cut]
    assert names.new_copies_named("Before The Move", backups("", "--")) == []


def test_no_second_copy_is_made_with_every_run() -> None:
    names.check_distinct_name("backup", SERVICE, "nightly", backups("nightly", "weekly"))
    with pytest.raises(Invalid, match="has no backup named 'Nightly 1', but 'nightly-1'"):
        names.check_distinct_name("backup", SERVICE, "Nightly 1", backups("nightly-1"))


def test_another_name_than_the_one_asked_for_is_told() -> None:
    task = task_of(BACKUP, FakeClient(), services=["web"], name="Nightly 1")
    (made,) = backups("Nightly 1")
    names.warn_of_changed_name(task, "backup", SERVICE, "Nightly 1", made)
    assert task.warnings == []
    (made,) = backups("nightly-1")
    names.warn_of_changed_name(task, "backup", SERVICE, "Nightly 1", made)
    assert "named the backup of service 'web' (svc_1) 'nightly-1' in place of 'Nightly 1'" in task.warnings[0]
