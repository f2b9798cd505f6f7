# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The progress of a transfer."""

from __future__ import annotations

from ansible_collections.hosted.services.plugins.module_utils._sftp.count import Count


def test_entries_and_bytes_are_told_as_they_come() -> None:
    told: list[str] = []
    count = Count("push", 2, 3_000_000, told.append)
    count.moved(1_000_000)
    count.moved(2_000_000)
    count.finish_one()
    assert [line.partition(",")[0] for line in told] == ["push: 0 of 2", "push: 0 of 2", "push: 1 of 2"]
    assert (count.finished, count.arrived) == (1, 3_000_000)
    assert told[-1].count("MB") == 2 and told[0] != told[1]


def test_without_bytes_there_are_entries_alone() -> None:
    told: list[str] = []
    Count("delete", 1, 0, told.append).finish_one()
    assert told == ["delete: 1 of 1"]
