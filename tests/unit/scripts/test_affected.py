# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which tests a change is said to concern."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ansible_collections.hosted.services.scripts import affected

PROJECT = "plugins/module_utils/_resources/project.py"
TEST = "tests/unit/plugins/module_utils/_resources/test_project.py"


def test_the_targets_are_those_of_the_modules_that_import_the_file() -> None:
    assert affected.targets_of({"plugins/modules/quote.py"}) == {"quote"}
    assert "project" in affected.targets_of({PROJECT})
    assert "quote" not in affected.targets_of({PROJECT})


def test_a_changed_function_has_the_tests_that_call_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = tmp_path / "calls.json"
    monkeypatch.setattr(affected, "RECORD", record)
    named = {TEST, affected.PLANS}
    assert affected.callers(PROJECT, {"plan"}) == named, "without a record, the test of its name"
    record.write_text(json.dumps([[f"{TEST}::one", f"{TEST}::two"], {PROJECT: {"plan": [0], "find": [1]}}]))
    assert affected.callers(PROJECT, {"plan"}) == {f"{TEST}::one"}
    assert affected.callers(PROJECT, {affected.WHOLE_FILE}) == {f"{TEST}::one", f"{TEST}::two"}
    assert affected.callers("plugins/other.py", {"plan"}) == set()


def test_a_role_has_the_tests_that_name_it() -> None:
    assert "tests/integration/test_sftp_access.py" in affected.mentions({"sftp_access"})
    assert affected.mentions({"nothing_of_this_name"}) == set()
