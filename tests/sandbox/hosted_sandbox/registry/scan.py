# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The vulnerability verdict of an image (spec, sections Scan report and Scan status of a release).

Compares the packages of the layers with a small table of known flaws, ``vulnerabilities.yaml``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal, cast

import yaml

from hosted_sandbox.registry.content import Image, ImageError
from hosted_sandbox.registry.packages import Format, Package, installed, is_database, older

Severity = Literal["Critical", "High", "Medium", "Low"]
Reason = Literal["isolation", "scope"]
Status = Literal["PASSED", "WARNED", "BLOCKED", "FAILED"]

SCANNER = "sandbox-scanner"
SEVERITIES: tuple[Severity, ...] = ("Critical", "High", "Medium", "Low")
_SERIOUS = SEVERITIES[:2]
Flaw = dict[str, str]
_TABLE = Path(__file__).with_name("vulnerabilities.yaml")


@dataclass(frozen=True)
class Vulnerability:
    """A known flaw of a source package, in versions from `since` (the first if None) to before `fixed`."""

    id: str
    format: Format
    package: str
    fixed: str
    severity: Severity
    since: str | None = None
    reason: Reason | None = None

    def concerns(self, package: Package) -> bool:
        """Tell whether an installed package has the flaw."""
        if package.format != self.format or self.package not in (package.name, package.source):
            return False
        version = package.source_version
        old_enough = self.since is None or not older(self.format, version, self.since)
        return old_enough and older(self.format, version, self.fixed)

    def found_in(self, package: Package) -> Flaw:
        """Return the flaw of an installed package as the report shows it; one with a `reason` blocks."""
        shown = {
            "id": self.id,
            "package": package.name,
            "version": package.version,
            "fixVersion": self.fixed,
            "severity": self.severity,
        }
        return shown | ({"reason": self.reason} if self.reason else {})


@dataclass(frozen=True)
class Verdict:
    """The result of the analysis; `failure` says why it did not complete."""

    flaws: list[Flaw] = field(default_factory=list)
    failure: str | None = None

    @property
    def blocking(self) -> list[Flaw]:
        """Flaws that let code leave the container."""
        return [flaw for flaw in self.flaws if "reason" in flaw]

    @property
    def warnings(self) -> list[Flaw]:
        """Serious flaws that concern the application alone."""
        return [flaw for flaw in self.flaws if "reason" not in flaw and flaw["severity"] in _SERIOUS]

    @property
    def status(self) -> Status:
        """The ``scanStatus`` that a release gets from this."""
        if self.failure is not None:
            return "FAILED"
        if self.blocking:
            return "BLOCKED"
        return "WARNED" if self.warnings else "PASSED"

    def report(self) -> dict[str, Any]:
        """Return the ``scanVerdict`` object."""
        found = [flaw["severity"] for flaw in self.flaws]
        return {
            "counts": {severity: found.count(severity) for severity in SEVERITIES},
            "blocking": self.blocking,
            "warnings": self.warnings,
            "warningCount": len(self.warnings),
            "scanner": SCANNER,
        }


def scan(image: Image, known: Sequence[Vulnerability]) -> Verdict:
    """Analyze an image, or all images of an index. Never raise for a defect of the image itself."""
    try:
        packages = [package for part in _runnable(image) for package in installed(part.files(is_database))]
    except ImageError as error:
        return Verdict(failure=str(error))
    return Verdict(_flaws(packages, known))


@cache
def default_table() -> tuple[Vulnerability, ...]:
    """Load the table next to this file, whose header describes its format."""
    return tuple(
        Vulnerability(
            id=entry["id"],
            format=cast(Format, format),
            package=package,
            fixed=str(fixed),
            severity=entry["severity"],
            since=entry.get("since", {}).get(format),
            reason=entry.get("reason"),
        )
        for entry in yaml.safe_load(_TABLE.read_text(encoding="utf-8"))
        for format, packages in entry["fixed"].items()
        for package, fixed in packages.items()
    )


def _runnable(image: Image) -> tuple[Image, ...]:
    images = image.images()
    if not images or not all(part.platforms for part in images):
        raise ImageError("this is not an image that runs on a platform")
    return images


def _flaws(packages: Iterable[Package], known: Sequence[Vulnerability]) -> list[Flaw]:
    """Return each flaw of each package once, the most severe first."""
    found = {
        (SEVERITIES.index(flaw.severity), flaw.id, package.name, package.version): flaw.found_in(package)
        for package in packages
        for flaw in known
        if flaw.concerns(package)
    }
    return [found[key] for key in sorted(found)]
