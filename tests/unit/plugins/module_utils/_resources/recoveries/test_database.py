# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Databases of recoveries without an engine; tests/integration/test_recover_databases.py has the rest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.recoveries.database import (
    RecoveredDatabase,
    address,
    addresses,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.recoveries.record import (
    RecoveryRecord,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.recoveries.target import Target
from hosted_sandbox.testing import Sandbox
from unit.plugins.module_utils._resources.clones.platform import home_of
from unit.plugins.module_utils._resources.platform import id_of, run
from unit.plugins.module_utils._resources.recoveries.platform import shelve


@pytest.fixture
def given(sandbox: Sandbox, tmp_path: Path) -> dict[str, Any]:
    """Restore a dump that was cut off into a database."""
    sandbox.seed({"services": [{"name": "db", "product": "postgresql"}]})
    sandbox.clear_journal()
    copy = shelve(tmp_path / "copies", "svc_1", {"database.dump": "half"})
    service = id_of(sandbox, "db")
    return {
        "key": "db",
        "name": "db",
        "dump": str(copy / "database.dump"),
        "service": service,
        "project_id": home_of(sandbox, service),
    }


def test_a_dump_that_was_cut_off_is_refused(sandbox: Sandbox, given: dict[str, Any], tmp_path: Path) -> None:
    """Before the service is there as well, so that nothing is ordered for it."""
    own = RecoveredDatabase(Target(RecoveryRecord(str(tmp_path / "record.json"))))
    for service in (None, given["service"]):
        refused = run(sandbox, own, check_mode=service is None, **{**given, "service": service})
        assert "database.dump is no whole dump" in refused["msg"] and "copies_of" in refused["msg"]
    assert sandbox.writes() == []


def test_an_address_needs_both_of_its_parts() -> None:
    facts = {"host": "db.internal", "port": 5432, "public_host": "203.0.113.1", "public_port": None}
    assert [*addresses(facts)] == [("db.internal", 5432)]
    assert address(facts, "public_host", "public_port") is None
