# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of recoveries that contradict each other, and moments."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.recoveries.options import (
    RecoverOptions,
    check_options,
    latest_of,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid


def options(**given: Any) -> RecoverOptions:
    """Return options with these."""
    own = {"base_url": "https://platform.example.com", "token": "x", **given}
    return RecoverOptions(**own)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"wait": False}, "wait cannot be false"),
        ({"drill": True, "overwrite": ["db"]}, "a drill overwrites nothing"),
        ({"drill": True, "existing": "keep"}, "a project of its own"),
        ({"overrides": {"db": "large"}}, "overrides: 'db' must have a dictionary"),
        ({"before": "yesterday"}, "before is 'yesterday', which is no moment"),
        ({"max_parallel": 0}, "max_parallel"),
    ],
)
def test_what_cannot_be_meant_is_refused(given: dict[str, Any], says: str) -> None:
    with pytest.raises(Invalid) as refused:
        check_options(options(**given))
    assert says in refused.value.message


def test_a_moment_is_in_utc_unless_it_says_otherwise() -> None:
    assert latest_of(options()) is None
    for text in ("2026-11-24T03:00:00Z", "2026-11-24T03:00:00", "2026-11-24T04:00:00+01:00"):
        found = latest_of(options(before=text))
        assert found is not None and found.timestamp() == 1795489200
