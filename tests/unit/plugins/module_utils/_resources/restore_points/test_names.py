# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of copies that a platform may have written its own way."""

from __future__ import annotations

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import models as m
from ansible_collections.hosted.services.plugins.module_utils._api.errors import error_for_status
from ansible_collections.hosted.services.plugins.module_utils._resources.backup import BACKUP
from ansible_collections.hosted.services.plugins.module_utils._resources.restore_points import names
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import (
    Invalid,
    WaitEnded,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.waiting import QUIET_SECONDS
from unit.plugins.fakes import Clock, FakeClient, task_of

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
    exact, cut, other, form = backups("Before The Move", "before-the", "nightly", "before-the-move")
    for accepted in (True, False):
        found = names.new_copies_named("Before The Move", [cut, exact, other, form], accepted=accepted)
        assert found == [exact]
        found = names.new_copies_named("Before The Move", [cut, other], accepted=accepted)
        assert found == ([cut] if accepted else [])
        assert names.new_copies_named("Before The Move", backups("", "--"), accepted=accepted) == []


def awaited(seen: list[list[m.Backup]], found: list[list[m.Backup]]) -> list[m.Backup]:
    """Wait for a backup: what each look sees on the list, and what it finds by the name."""
    fresh: list[m.Backup] = []

    def look() -> list[m.Backup]:
        fresh[:] = seen.pop(0) if len(seen) > 1 else seen[0]
        return found.pop(0) if len(found) > 1 else found[0]

    task = task_of(BACKUP, FakeClient(), services=["web"], name="rel", wait_timeout=60.0)
    return names.await_listed(task, "backup 'rel' of service 'web'", look, fresh)


def test_a_copy_that_the_platform_named_otherwise_is_not_waited_for_to_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = Clock(monkeypatch)
    other, own = backups("backup-3", "rel")
    with pytest.raises(WaitEnded, match=r"accepted backup 'rel' of service 'web', and 'backup-3' appeared"):
        awaited([[], [], [other]], [[]])
    assert QUIET_SECONDS <= clock.now - 1000 < QUIET_SECONDS + 3
    assert awaited([[other], [other], [other, own]], [[], [], [own]]) == [own]
    with pytest.raises(WaitEnded, match=r"gave up waiting .* it is not on the list yet"):
        awaited([[]], [[]])


@pytest.mark.parametrize(
    ("length", "promise"),
    [(names.MIN_CUT, "are refused from now on"), (names.MIN_CUT - 1, "may make more backups of this name")],
)
def test_what_a_cut_name_means_for_others_is_told_as_it_is(length: int, promise: str) -> None:
    name = "n" * 40
    task = task_of(BACKUP, FakeClient(), services=["web"], name=name)
    names.warn_of_changed_name(task, "backup", SERVICE, name, backups(name[:length])[0])
    (warning,) = task.warnings
    assert f"It kept {length} of 40 characters: other names that begin with these {promise}, so" in warning


LONG = "before-upgrade-of-the-shop-to-v1"


@pytest.mark.parametrize(
    ("stored", "name", "cut"),
    [
        (["v1"], "v10", False),
        ([LONG], f"{LONG}0", True),
        ([LONG], "before-upgrade-of-the-shop-to-v2-of-it", False),
        ([LONG[:-1]], f"{LONG}0", False),  # too short for a limit
        ([f"{LONG[:-1]}-"], LONG, False),  # what is as long was not cut
        ([LONG, LONG + "9"], f"{LONG}0", True),  # a cut at 33, of which a dash was trimmed, tells no less
        ([LONG, LONG + "99"], f"{LONG}0", False),
        (["release-41", "release-41"], "release-41-hotfix", True),
        (["release-41"], "release-41-hotfix", False),
        (["release-4", "release-4"], "release-41-hotfix", False),
        ([LONG.replace("-", " ").upper()], f"{LONG}0", True),
    ],
)
def test_what_a_platform_may_have_cut(stored: list[str], name: str, cut: bool) -> None:
    there = backups(*stored)
    assert names.may_be_cut(stored[0], name, there) is cut
    assert names.possible_names(name, there) == ([stored[0]] if cut else [])


def test_a_new_copy_of_another_task_is_not_taken_for_a_cut() -> None:
    assert names.new_copies_named("v10", backups("v1"), accepted=True) == []
    lower, cut = backups("before the move", "before the")
    for accepted in (True, False):
        assert names.new_copies_named("Before The Move", [cut, lower], accepted=accepted) == [lower]


def test_no_second_copy_is_made_with_every_run() -> None:
    names.check_distinct_name("backup", SERVICE, "nightly", backups("nightly", "weekly"))
    with pytest.raises(Invalid, match="has no backup named 'Nightly 1', but 'nightly-1'"):
        names.check_distinct_name("backup", SERVICE, "Nightly 1", backups("nightly-1"))


@pytest.mark.parametrize(
    ("said", "there", "found"),
    [
        ("a backup of this name already exists", ["before-the", "before"], "before-the"),
        ("a backup of this name already exists", ["nightly"], None),
        ("at most 5 backups", ["before-the"], None),
    ],
)
def test_a_name_that_is_taken_may_be_that_of_a_copy_whose_name_was_cut(
    said: str, there: list[str], found: str | None
) -> None:
    error = error_for_status(said, 409)
    name = "before-the-move"
    if found is None:
        names.check_name_conflict(error, "backup", SERVICE, name, backups(*there))
        return
    with pytest.raises(Invalid, match=f"backup '{found}' may be the one.* may store {len(found)} characters"):
        names.check_name_conflict(error, "backup", SERVICE, name, backups(*there))


def test_another_name_than_the_one_asked_for_is_told() -> None:
    task = task_of(BACKUP, FakeClient(), services=["web"], name="Nightly 1")
    (made,) = backups("Nightly 1")
    names.warn_of_changed_name(task, "backup", SERVICE, "Nightly 1", made)
    assert task.warnings == []
    (made,) = backups("nightly-1")
    names.warn_of_changed_name(task, "backup", SERVICE, "Nightly 1", made)
    assert "named the backup of service 'web' (svc_1) 'nightly-1' in place of 'Nightly 1'" in task.warnings[0]


def test_a_name_that_the_next_run_finds_is_no_error() -> None:
    for name, stored in (("n", "n"), ("Nightly 1", "nightly-1"), (f"{LONG}0", LONG)):
        (made,) = backups(stored)
        names.check_found_again("backup", SERVICE, name, made, [made])
    (made,) = backups(LONG[:20])
    with pytest.raises(
        WaitEnded, match=f"named it '{LONG[:20]}' in place of '{LONG}'.*at most 20 characters"
    ):
        names.check_found_again("backup", SERVICE, LONG, made, [made])
