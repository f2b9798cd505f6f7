# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The same sources give the same tarball, wherever, whenever and in whatever order they were written."""

from __future__ import annotations

import hashlib
import json
import os
import tarfile
from collections.abc import Iterable
from pathlib import Path

import pytest

from ansible_collections.hosted.services.scripts.build import build
from ansible_collections.hosted.services.scripts.sources import copy_sources, source_files, source_time

pytestmark = pytest.mark.night

GALAXY = """
namespace: hosted
name: services
version: 1.2.3
readme: README.md
authors: [somebody]
repository: https://example.com
"""
FILES = {
    "galaxy.yml": GALAXY,
    "README.md": "![A run](docs/run.svg) [guide](docs/a.md#b), [below](#c), [us](https://a.example)\n",
    "plugins/modules/b.py": "",
    "plugins/modules/a.py": "print()\n",
    "roles/web/tasks/main.yml": "[]\n",
}


def write(folder: Path, names: Iterable[str], modified: int) -> Path:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(FILES[name])
        os.utime(path, (modified, modified))
    return folder


def digest(tarball: Path) -> str:
    return hashlib.sha256(tarball.read_bytes()).hexdigest()


def test_the_same_sources_give_the_same_bytes(tmp_path: Path) -> None:
    """An empty folder is no source: git does not know it."""
    one = build(write(tmp_path / "one", FILES, 1_000_000_000), tmp_path / "1", 1_700_000_000)
    (tmp_path / "two" / "changelogs" / "fragments").mkdir(parents=True)
    two = build(write(tmp_path / "two", reversed(FILES), 1_600_000_000), tmp_path / "2", 1_700_000_000)
    assert digest(one) == digest(two)
    assert one.name == "hosted-services-1.2.3.tar.gz"


def test_another_file_gives_other_bytes_and_the_checksums_are_right(tmp_path: Path) -> None:
    sources = write(tmp_path / "one", FILES, 1_000_000_000)
    first = build(sources, tmp_path / "1", 1_700_000_000)
    (sources / "plugins/modules/a.py").write_text("print(2)\n")
    tarball = build(sources, tmp_path / "2", 1_700_000_000)
    assert digest(first) != digest(tarball)
    with tarfile.open(tarball) as archive:
        held = {member.name: member for member in archive.getmembers()}
        content = {name: archive.extractfile(name) for name in held if held[name].isfile()}
        data = {name: file.read() for name, file in content.items() if file}
    manifest, listed = json.loads(data["MANIFEST.json"]), json.loads(data["FILES.json"])["files"]
    assert manifest["file_manifest_file"]["chksum_sha256"] == hashlib.sha256(data["FILES.json"]).hexdigest()
    told = {entry["name"]: entry["chksum_sha256"] for entry in listed if entry["ftype"] == "file"}
    found = {name: hashlib.sha256(text).hexdigest() for name, text in data.items()}
    assert told == {name: found[name] for name in found if name not in ("MANIFEST.json", "FILES.json")}
    assert {member.mtime for member in held.values()} == {1_700_000_000}


def test_the_readme_of_the_tarball_leads_to_the_repository(tmp_path: Path) -> None:
    tarball = build(write(tmp_path / "one", FILES, 1_000_000_000), tmp_path / "1", 1_700_000_000)
    with tarfile.open(tarball) as archive:
        (page,) = [archive.extractfile(member) for member in archive if member.name == "README.md"]
        assert page
        text = page.read().decode()
    own = "https://example.com"
    assert text == (
        f"![A run]({own}/raw/main/docs/run.svg) [guide]({own}/blob/main/docs/a.md#b), [below](#c), "
        "[us](https://a.example)\n"
    )


def test_a_release_is_dated_by_its_changelog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is built before it is committed, and again from its commit."""
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    sources = write(tmp_path, FILES, 1_000_000_000)
    commit = source_time(sources)
    (sources / "changelogs").mkdir()
    for version, seconds in (("1.2.2", commit), ("1.2.3", 1_767_225_600)):
        changelog = {"releases": {version: {"release_date": "2026-01-01"}}}
        (sources / "changelogs" / "changelog.yaml").write_text(json.dumps(changelog))
        assert source_time(sources) == seconds
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "5")
    assert source_time(sources) == 5


def test_caches_and_ignored_files_are_no_sources(tmp_path: Path) -> None:
    names = source_files(untracked=True)
    assert {"galaxy.yml", "plugins/modules/service.py"} <= set(names)
    assert [name for name in names if "__pycache__" in name or name.startswith(".build/")] == []
    copy = copy_sources(tmp_path / "copy")
    assert (copy / "galaxy.yml").is_file() and not list(copy.rglob("__pycache__"))
