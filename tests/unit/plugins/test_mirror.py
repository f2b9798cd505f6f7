# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every helper has a test that mirrors its path, or is on a list that says where else it is tested."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.hosted.services.scripts.architecture import PLUGINS, sources

HERE = Path(__file__).resolve().parent
HELPERS = ("module_utils", "plugin_utils")
ELSEWHERE = {
    "module_utils/_api/values.py": "constants alone",
    "module_utils/_resources/account_events/observation.py": "test_changes.py",
    "module_utils/_resources/account_events/poll.py": "test_changes.py, test_of_services.py",
    "module_utils/_resources/applications/lookup.py": "test_app.py, test_app_info.py",
    "module_utils/_resources/applications/repository.py": "test_app_image.py, test_app_release.py",
    "module_utils/_resources/applications/rollout.py": "test_app_deploy.py",
    "module_utils/_resources/files/manager.py": "test_file.py, test_file_info.py",
    "module_utils/_resources/restore_points/resources.py": "test_backup.py, test_backup_info.py",
    "module_utils/_resources/restore_points/restore_watch.py": "test_backup.py, test_snapshot.py",
    "module_utils/_resources/shared/task_errors.py": "classes without code",
    "module_utils/_sftp/server_features.py": "test_sftp_sync.py, with several servers",
    "module_utils/_sftp/errors.py": "classes without code",
    "module_utils/_sftp/library.py": "an import alone",
    "module_utils/_sftp/mirror.py": "test_sftp_sync.py, with several servers",
    "module_utils/_sftp/session.py": "test_sftp_sync.py, with several servers",
    "module_utils/_sftp/shown_key.py": "test_sftp_host_key.py",
    "plugin_utils/_events/drift.py": "tests/integration/test_event_source.py",
    "plugin_utils/_templating/lookups.py": "tests/integration/test_lookups.py",
}
"""Helpers without a test named after them, and what tests them."""


def names() -> list[str]:
    """Return the helpers by their paths below plugins."""
    found = (path.relative_to(PLUGINS) for path in sources())
    return [path.as_posix() for path in found if path.parts[0] in HELPERS]


@pytest.mark.parametrize("name", names())
def test_a_helper_has_a_test_of_its_own(name: str) -> None:
    path = HERE / name
    has_test = (path.parent / f"test_{path.name}").is_file()
    if name in ELSEWHERE:
        assert not has_test, f"take {name} off the list in {Path(__file__).name}: it has a test now"
    else:
        assert has_test, f"write tests/unit/plugins/{path.parent.relative_to(HERE)}/test_{path.name}"


def test_the_list_of_others_names_what_is_there() -> None:
    assert ELSEWHERE.keys() <= set(names())
    files = {path.name for path in HERE.parents[1].rglob("test_*.py")}
    for name, reason in ELSEWHERE.items():
        named = [
            part.rpartition("/")[2].strip(",") for part in reason.split() if part.strip(",").endswith(".py")
        ]
        assert set(named) <= files, name
