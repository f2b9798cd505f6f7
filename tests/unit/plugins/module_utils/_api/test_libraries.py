# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is said where a library is missing."""

from __future__ import annotations

import sys

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import libraries
from ansible_collections.hosted.services.plugins.module_utils._api.errors import ConfigurationError


def test_what_is_missing_is_told_with_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    libraries.require()
    monkeypatch.setattr(libraries, "MISSING", ["pydantic>=2", "requests"])
    with pytest.raises(ConfigurationError) as error:
        libraries.require()
    assert f"{sys.executable} -m pip install 'pydantic>=2' 'requests'" in error.value.message


def test_what_only_some_tasks_need_is_missed_by_those_alone() -> None:
    libraries.require_for("SFTP", libraries, "asyncssh")
    with pytest.raises(ConfigurationError, match="SFTP needs the Python library asyncssh"):
        libraries.require_for("SFTP", None, "asyncssh")
