# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A release has the project's address in one place, and one version everywhere."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
import yaml

from ansible_collections.hosted.services.scripts import addresses, release
from ansible_collections.hosted.services.scripts.sources import ROOT

pytestmark = pytest.mark.night

NEW = "https://git.example.com/acme/hosted.services"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A copy of the files that carry addresses and versions."""
    for name in {*addresses.FILES, *release.VERSIONS}:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, tmp_path / name)
    return tmp_path


def fill_in(root: Path, address: str) -> None:
    """Change the one line that a maintainer changes."""
    galaxy = root / "galaxy.yml"
    old = addresses.addresses(root)[0]
    galaxy.write_text(galaxy.read_text().replace(f"repository: {old}\n", f"repository: {address}\n"))


def test_without_an_address_nothing_is_released(
    root: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fill_in(root, "https://example.invalid/hosted/services")
    monkeypatch.setattr(release, "ROOT", root)
    monkeypatch.setattr(sys, "argv", ["release.py", "1.0.0"])
    with pytest.raises(SystemExit) as refused:
        release.main()
    assert "galaxy.yml: repository is 'https://example.invalid/hosted/services'" in str(refused.value)
    assert "python scripts/addresses.py" in str(refused.value)
    assert not (root / ".build").exists()


def test_with_an_address_in_one_place_only_nothing_is_released(root: Path) -> None:
    fill_in(root, NEW)
    assert f"{', '.join(addresses.FILES)}: other addresses" in str(addresses.problem(root))


@pytest.mark.parametrize("moves", [[NEW], [NEW, "https://example.org/second"]], ids=["first", "moved"])
def test_one_line_fills_in_every_address(
    root: Path, moves: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(addresses, "ROOT", root)
    for address in moves:
        fill_in(root, address)
        addresses.main()
    assert addresses.problem(root) is None
    galaxy = yaml.safe_load((root / "galaxy.yml").read_text())
    written = [galaxy[name] for name in ("repository", "homepage", "issues", "documentation")]
    assert [text for text in written if not text.startswith(moves[-1])] == []
    for name in addresses.FILES:
        text = (root / name).read_text()
        assert moves[-1] in text
        assert [old for old in (addresses.NOWHERE, *moves[:-1]) if old in text] == []


def test_the_addresses_of_this_folder_agree() -> None:
    assert addresses.stale(ROOT) == {}


def test_every_file_gets_the_version(root: Path) -> None:
    release.set_version(root, "7.8.9")
    assert yaml.safe_load((root / "galaxy.yml").read_text())["version"] == "7.8.9"
    for name, line in release.VERSIONS.items():
        assert line.format("7.8.9") in (root / name).read_text().splitlines()
