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
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.options import declarations_of
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


def test_nothing_is_overwritten_or_left_out_unless_that_is_said() -> None:
    own = options()
    assert (own.state, own.drill, own.existing, own.delete) == ("present", False, "refuse", True)
    assert own.overwrite == [] and own.without_data == []


def test_what_selects_what_is_secret_and_what_is_read() -> None:
    """An empty value selects nothing; the path of a key or of a folder is no secret."""
    declared = declarations_of(RecoverOptions)
    assert {"copies", "project", "before", "host"} <= declared.selectors
    assert declared.secrets >= {"overrides"}
    assert "private_key_file" in declared.sources and "secrets_dir" in declared.filled
    hidden = {name for name, entry in declared.spec.items() if entry.get("no_log")}
    assert not hidden & {"private_key_file", "secrets_dir"}


def test_a_drill_alone_overwrites_nothing() -> None:
    check_options(options(overwrite=["db"], existing="keep", overrides={"db": {}}))
    check_options(options(drill=True))
