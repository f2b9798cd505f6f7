# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which tests a change is said to concern."""

from __future__ import annotations

from ansible_collections.hosted.services.scripts import affected

PROJECT = "plugins/module_utils/_resources/project.py"


def test_the_targets_are_those_of_the_modules_that_import_the_file() -> None:
    assert affected.targets_of({"plugins/modules/quote.py"}) == {"quote"}
    assert "project" in affected.targets_of({PROJECT})
    assert "quote" not in affected.targets_of({PROJECT})


def test_a_changed_file_has_the_test_of_its_name_and_those_that_import_it() -> None:
    tests = affected.unit_tests(PROJECT)
    assert "tests/unit/plugins/module_utils/_resources/test_project.py" in tests
    registry = affected.unit_tests("plugins/module_utils/_api/registry.py")
    assert "tests/unit/plugins/module_utils/_resources/applications/test_images.py" in registry
    assert "tests/unit/plugins/module_utils/_api/test_routes.py" not in registry


def test_a_role_has_the_tests_that_name_it() -> None:
    assert "tests/integration/test_sftp_access.py" in affected.mentions({"sftp_access"})
    assert affected.mentions({"nothing_of_this_name"}) == set()
