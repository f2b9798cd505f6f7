# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The wait for a copy that the platform accepted."""

from __future__ import annotations

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import models as m
from ansible_collections.hosted.services.plugins.module_utils._resources.backup import BACKUP
from ansible_collections.hosted.services.plugins.module_utils._resources.restore_points import names
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import WaitEnded
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.waiting import QUIET_SECONDS
from unit.plugins.fakes import Clock, FakeClient, task_of


def backups(*given: str) -> list[m.Backup]:
    """Return backups of these names."""
    return [m.Backup.model_construct(id=f"b_{name}", name=name, created_at=None) for name in given]


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
    with pytest.raises(
        WaitEnded, match=r"accepted backup 'rel' of service 'web', and 'backup-3' .b_backup-3. appeared"
    ):
        awaited([[], [], [other]], [[]])
    assert QUIET_SECONDS <= clock.now - 1000 < QUIET_SECONDS + 3
    assert awaited([[other], [other], [other, own]], [[], [], [own]]) == [own]
    with pytest.raises(WaitEnded, match=r"gave up waiting .* it is not on the list yet"):
        awaited([[]], [[]])
