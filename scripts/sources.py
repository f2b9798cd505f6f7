# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files of the project: what git tracks, and copies of it.

Whatever else is in a working tree, such as caches and notes, is no part of a release or a check.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent


def source_files(untracked: bool = False) -> list[str]:
    """List the files that git tracks and that are here; with ``untracked``, also those that it would add."""
    added = ["--others", "--exclude-standard"] if untracked else []
    command = ["git", "ls-files", "--cached", *added, "-z"]
    listed = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    return sorted({name for name in listed.split("\0") if name and (ROOT / name).is_file()})


def copy_sources(copy: Path, untracked: bool = False) -> Path:
    """Copy the files into an empty folder, and return it."""
    for name in source_files(untracked):
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, copy / name, follow_symlinks=False)
    return copy


def checkout(folder: Path) -> Path:
    """Copy the files, with those that git would add, into a folder that is a repository of its own.

    Without that, the copy would count as an ignored part of this one: no files.
    """
    copy_sources(folder, untracked=True)
    subprocess.run(["git", "init", "--quiet", str(folder)], check=True)
    return folder


def source_time(root: Path) -> int:
    """Return when the sources in a folder were released, or else when they were committed, in seconds.

    A release is dated by its changelog, because it is built before it is committed. ``SOURCE_DATE_EPOCH``
    takes precedence.
    """
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given:
        return int(given)
    if released := release_date(root):
        return int(released.timestamp())
    command = ["git", "log", "-1", "--format=%ct"]
    return int(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout)


def release_date(root: Path) -> datetime | None:
    """Return the date that the changelog has for the version in galaxy.yml."""
    changelog = root / "changelogs" / "changelog.yaml"
    if not changelog.is_file():
        return None
    version = yaml.safe_load((root / "galaxy.yml").read_text(encoding="utf-8"))["version"]
    releases = yaml.safe_load(changelog.read_text(encoding="utf-8"))["releases"]
    if version not in releases:
        return None
    return datetime.fromisoformat(str(releases[version]["release_date"])).replace(tzinfo=UTC)
