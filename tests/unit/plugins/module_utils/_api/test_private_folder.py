# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Private folders at the edges; tests/integration/test_private_files.py has what users see."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.private_folder import make_private_folder


def test_what_is_no_folder_is_no_place_for_one(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError):
        make_private_folder(str(tmp_path / "file"))
    (tmp_path / "nowhere").symlink_to(tmp_path / "missing")
    with pytest.raises(FileNotFoundError):
        make_private_folder(str(tmp_path / "nowhere" / "below"))


def test_a_link_of_ones_own_is_followed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    make_private_folder(str(tmp_path / "link" / "made"))
    assert (tmp_path / "made").is_dir()
