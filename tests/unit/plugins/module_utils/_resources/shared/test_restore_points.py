# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Backups and snapshots as copies: which of them count, and when they were made."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.shared import (
    restore_points as points,
)

MOMENT = datetime(2026, 3, 1, 4, 5, 6, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-03-01T04:05:06.000Z", MOMENT),
        ("2026-03-01T05:05:06+01:00", MOMENT),
        ("2026-03-01T04:05:06", MOMENT),
        ("yesterday", None),
        ("", None),
        (None, None),
        ("0001-01-01T00:00:00Z", None),
        ("9999-12-31T23:59:59Z", None),
    ],
)
def test_a_moment_that_cannot_be_read_is_none(text: str | None, moment: datetime | None) -> None:
    assert points.parse_moment(text) == moment
    found = points.parse_moment(text)
    assert found is None or found.tzinfo is not None
