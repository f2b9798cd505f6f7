# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Databases of clones without an engine; tests/integration/test_clone_databases.py has the rest."""

from __future__ import annotations

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.clones.database import DATABASE
from hosted_sandbox.testing import Sandbox
from unit.plugins.module_utils._resources.clones.platform import home_of
from unit.plugins.module_utils._resources.platform import id_of, run


@pytest.fixture
def source(sandbox: Sandbox) -> str:
    """A database, and another one."""
    sandbox.seed({"services": [{"name": name, "product": "postgresql"} for name in ("db", "copy")]})
    return id_of(sandbox, "db")


def test_a_database_that_cannot_be_reached_is_refused(sandbox: Sandbox, source: str) -> None:
    for service in (None, id_of(sandbox, "copy")):
        refused = run(
            sandbox, DATABASE, source_id=source, service=service, project_id=home_of(sandbox, source)
        )
        assert "the database of service 'db'" in refused["msg"]
        assert "without_data lists services to clone without what they hold" in refused["msg"]
    assert sandbox.writes() == []
