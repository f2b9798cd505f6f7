# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of a clone that contradict each other, or cannot be meant."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.clones.options import (
    CloneOptions,
    check_options,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.options import declarations_of
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid


def options(**given: Any) -> CloneOptions:
    """Return the options of a task."""
    return CloneOptions(source="shop", project="copy", **given)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"copy_secrets": True}, "from the blueprint of the source; set src"),
        ({"wait": False}, "wait cannot be false"),
        ({"max_parallel": 0}, "max_parallel is 0"),
        ({"environments": {"web": "A=b"}}, "environments: 'web' must have a dictionary"),
        ({"secret_environments": {"web": None}}, "secret_environments: 'web' must have a dictionary"),
        ({"overrides": {"web": []}}, "overrides: 'web' must have a dictionary"),
    ],
)
def test_what_cannot_be_meant_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(Invalid, match=said):
        check_options(options(**given))


def test_secrets_may_come_from_a_blueprint_that_is_data() -> None:
    check_options(options(copy_secrets=True, blueprint={"project": "shop"}))


def test_secrets_may_come_from_a_blueprint_in_a_file() -> None:
    check_options(options(copy_secrets=True, src="shop.yml"))


def test_nothing_is_taken_over_or_left_out_unless_that_is_said() -> None:
    """All that the clone did not get from its source is deleted there, as documented."""
    own = options()
    assert (own.existing, own.copy_secrets, own.delete, own.checksum) == ("refuse", False, True, False)
    assert own.without_environment == [] and own.without_data == []


def test_what_selects_what_is_secret_and_what_is_read() -> None:
    """An empty value selects nothing; the path of a key or of a folder is no secret."""
    declared = declarations_of(CloneOptions)
    assert {"source", "project", "services", "host"} <= declared.selectors
    assert declared.secrets >= {"secret_environments", "overrides"}
    assert "private_key_file" in declared.sources and "secrets_dir" in declared.filled
    hidden = {name for name, entry in declared.spec.items() if entry.get("no_log")}
    assert not hidden & {"secret_environments", "private_key_file", "secrets_dir"}


def test_values_that_are_secret_are_not_shown() -> None:
    shown = repr(
        options(secret_environments={"web": {"KEY": "hunter2"}}, overrides={"web": {"a": "hunter2"}})
    )
    assert "hunter2" not in shown
