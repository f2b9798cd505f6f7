# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The installed packages of an image, and the order of their versions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from debian.deb822 import Deb822
from debian.debian_support import NativeVersion

Format = Literal["dpkg", "apk"]

_DPKG = "var/lib/dpkg/status"
# Images without a package manager have one file per package here.
_DPKG_PARTS = "var/lib/dpkg/status.d/"
_APK = frozenset({"lib/apk/db/installed", "usr/lib/apk/db/installed"})
_SOURCE = re.compile(r"(\S+)(?:\s+\((\S+)\))?")
_APK_EARLY = re.compile(r"_(?=alpha|beta|pre|rc)")


# Versions of Alpine: numbers, a letter, suffixes, a commit that does not count, a revision of the packaging.
@dataclass(frozen=True)
class Package:
    """An installed package. `source` is its source package, which advisories name."""

    format: Format
    name: str
    version: str
    source: str
    source_version: str


def is_database(path: str) -> bool:
    """Tell whether `path` of an image is a package database."""
    parts = path.startswith(_DPKG_PARTS) and not path.endswith(".md5sums")
    return path == _DPKG or path in _APK or parts


def installed(files: Mapping[str, bytes]) -> list[Package]:
    """Return the packages of the databases among `files`, in their order."""
    return [
        package
        for path, content in files.items()
        for package in (_apk(content) if path in _APK else _dpkg(content))
    ]


def older(format: Format, version: str, other: str) -> bool:
    """Tell whether `version` is older than `other` in the order of its package format.

    A malformed version counts as newer than any, because it cannot match an advisory.
    """
    try:
        return bool(_key(format, version) < _key(format, other))
    except ValueError:
        return False


def _key(format: Format, version: str) -> NativeVersion:
    """Return a version to compare: one of Alpine in Debian's form, which has nearly the same order."""
    if format == "apk":
        version = _APK_EARLY.sub("~", version).replace("_", "+")
    return NativeVersion(version)


def _dpkg(content: bytes) -> list[Package]:
    found = []
    for entry in Deb822.iter_paragraphs(content, use_apt_pkg=False):
        name, version = entry.get("Package"), entry.get("Version")
        if name and version and entry.get("Status", "installed").endswith("installed"):
            source = _SOURCE.match(entry.get("Source", ""))
            built_from, built_version = source.groups() if source else (name, None)
            found.append(Package("dpkg", name, version, built_from, built_version or version))
    return found


def _apk(content: bytes) -> list[Package]:
    entries = Deb822.iter_paragraphs(content, use_apt_pkg=False)
    return [
        Package("apk", entry["P"], entry["V"], entry.get("o", entry["P"]), entry["V"])
        for entry in entries
        if "P" in entry and "V" in entry
    ]
