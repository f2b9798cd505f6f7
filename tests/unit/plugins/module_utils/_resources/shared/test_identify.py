# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hints at what may be meant, and whether a service came up with an order."""

from __future__ import annotations

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.shared import identify


@pytest.mark.parametrize(
    ("created", "sent", "is_it"),
    [
        ("2026-11-20T03:00:05.000Z", "2026-11-20T03:00:00+00:00", True),
        ("2026-11-20T02:59:00Z", "2026-11-20T03:00:00+00:00", True),
        ("2026-11-20T02:58:59Z", "2026-11-20T03:00:00+00:00", False),
        ("2026-11-20T03:10:00Z", "2026-11-20T03:00:00+00:00", True),
        ("2026-11-20T03:10:01Z", "2026-11-20T03:00:00+00:00", False),
        (None, "2026-11-20T03:00:00+00:00", True),
        ("yesterday", "2026-11-20T03:00:00+00:00", True),
        ("2026-11-20T03:00:00Z", None, False),
    ],
)
def test_a_service_came_up_with_an_order(created: str | None, sent: str | None, is_it: bool) -> None:
    """The clocks of two of its machines may differ, and it may not say when a service was created."""
    assert identify.came_up(created, sent) is is_it
