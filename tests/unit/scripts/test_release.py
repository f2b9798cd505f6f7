# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A release has the project's address, and one version everywhere."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
import yaml

from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.export import SCHEMA_URL
from ansible_collections.hosted.services.scripts import release
from ansible_collections.hosted.services.scripts.sources import ROOT

pytestmark = pytest.mark.night

NOWHERE = f"https://{release.NOWHERE}/hosted"
GALAXY = yaml.safe_load((ROOT / "galaxy.yml").read_text())


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A copy of the files that carry versions."""
    for name in release.VERSIONS:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, tmp_path / name)
    return tmp_path


def test_without_an_address_nothing_is_released(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    galaxy = root / "galaxy.yml"
    galaxy.write_text(galaxy.read_text().replace(GALAXY["repository"], NOWHERE))
    monkeypatch.setattr(release, "ROOT", root)
    monkeypatch.setattr(sys, "argv", ["release.py", "1.0.0"])
    with pytest.raises(SystemExit) as refused:
        release.main()
    assert f"galaxy.yml: repository is '{NOWHERE}'" in str(refused.value)
    assert f"git grep -lF {NOWHERE} | xargs sed -i" in str(refused.value)
    assert not (root / ".build").exists()


def test_the_addresses_of_this_folder_agree() -> None:
    address = GALAXY["repository"]
    texts = [SCHEMA_URL, *(GALAXY[name] for name in ("homepage", "issues", "documentation"))]
    assert [text for text in texts if not text.startswith(address)] == []
    files = ("README.md", "SECURITY.md", "docs/guides/blueprints.md", "docs/guides/clicks-to-file.md",
             "playbooks/files/quickstart.yml")  # fmt: skip
    assert [name for name in files if f"{address}/" not in (ROOT / name).read_text()] == []


def test_every_file_gets_the_version(root: Path) -> None:
    release.set_version(root, "7.8.9")
    assert yaml.safe_load((root / "galaxy.yml").read_text())["version"] == "7.8.9"
    for name, line in release.VERSIONS.items():
        assert line.format("7.8.9") in (root / name).read_text().splitlines()
