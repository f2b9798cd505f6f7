# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What of the options of clones, recoveries and relocations is secret, is read, or must not be empty."""

from __future__ import annotations

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.clones.options import CloneOptions
from ansible_collections.hosted.services.plugins.module_utils._resources.recoveries.options import (
    RecoverOptions,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.relocations.options import (
    RelocateOptions,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.options import (
    Options,
    declarations_of,
)


@pytest.mark.parametrize(
    ("options", "selectors", "secrets"),
    [
        (CloneOptions, {"source", "project", "services", "host"}, {"secret_environments", "overrides"}),
        (RecoverOptions, {"copies", "project", "before", "host"}, {"overrides"}),
        (RelocateOptions, {"service", "new_project", "name"}, {"secret_environments"}),
    ],
)
def test_what_selects_what_is_secret_and_what_is_read(
    options: type[Options], selectors: set[str], secrets: set[str]
) -> None:
    """An empty value selects nothing; the path of a key or of a folder is no secret."""
    declared = declarations_of(options)
    assert declared.selectors >= selectors and declared.secrets >= secrets
    assert "private_key_file" in declared.sources and "known_hosts" not in declared.sources
    hidden = {name for name, entry in declared.spec.items() if entry.get("no_log")}
    assert not hidden & {"secret_environments", "private_key_file", "secrets_dir"}


def test_values_that_are_secret_are_not_shown() -> None:
    secret = {"web": {"KEY": "hunter2"}}
    shown = repr(CloneOptions(source="a", project="b", secret_environments=secret, overrides=secret))
    assert "hunter2" not in shown
