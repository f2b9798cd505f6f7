# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a relocation may be asked for."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.fleets.options import ProbeOptions
from ansible_collections.hosted.services.plugins.module_utils._resources.relocations.options import (
    RelocateOptions,
    check_options,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.options import declarations_of
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"keep_days": 0, "healthy_for": 0.0},
        {"keep_days": 3650, "healthy_for": 86400.0},
        {"health_checks": [ProbeOptions(tcp=True)], "environments": {"web": {}}},
        {"state": "returned", "copy_back": True},
        {"state": "finished", "delete_backups": True, "discard_newer": True},
        {"state": "relocated", "discard_newer": True},
    ],
)
def test_what_makes_sense_is_accepted(given: dict[str, Any]) -> None:
    check_options(RelocateOptions(service="survival", **given))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"new_project": "other"}, "new_project is 'other': the platform itself moves"),
        ({"wait": False}, "wait cannot be false"),
        ({"healthy_for": -1.0}, r"healthy_for is -1.0; it must be 0 to 86400"),
        ({"keep_days": 4000}, "keep_days is 4000; it must be 0 to 3650"),
        ({"health_checks": [ProbeOptions()]}, "either url or tcp: true"),
        ({"secret_environments": {"web": "x"}}, "secret_environments: 'web' must have a dictionary"),
        ({"copy_back": True}, "copy_back goes with state: returned alone, and state is relocated"),
        ({"state": "returned", "delete_backups": True}, "delete_backups goes with state: finished alone"),
        (
            {"state": "returned", "discard_newer": True},
            "discard_newer goes with state: relocated or finished alone, and state is returned",
        ),
    ],
)
def test_what_does_not_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(Invalid, match=message):
        check_options(RelocateOptions(service="survival", **given))


def test_nothing_is_overwritten_left_out_or_deleted_unless_that_is_said() -> None:
    options = RelocateOptions(service="survival")
    bold = ("without_data", "overwrite", "copy_back", "delete_backups", "discard_newer", "without_dependents")
    assert [getattr(options, name) for name in bold] == [*[False] * 5, []]
    assert (options.state, options.existing, options.checksum) == ("relocated", "refuse", False)


def test_what_selects_what_is_secret_and_what_is_read() -> None:
    """An empty name selects nothing; values of secrets are redacted, and the path of a key is not one."""
    declared = declarations_of(RelocateOptions)
    assert {"service", "new_project", "name"} <= declared.selectors
    assert declared.secrets >= {"secret_environments"}
    assert "private_key_file" in declared.sources and "known_hosts" not in declared.sources
    hidden = {name for name, entry in declared.spec.items() if entry.get("no_log")}
    assert not hidden & {"secret_environments", "private_key_file"}
