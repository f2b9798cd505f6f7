# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Releases: how they are declared, and the verdict of their scan, which decides on a deploy (Scan report)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..._api import routes as r
from ..._api.errors import HostedError
from ..._api.models import Flaw, Release, ScanReport, plain
from ..._api.values import ScanStatus
from ..shared.account import Account
from ..shared.change import Change
from ..shared.options import WaitOptions, option, required
from ..shared.plan import Task
from ..shared.waiting import wait_until
from .lookup import OnAppOptions

REASONS = {"isolation": "the package isolates containers", "scope": "its impact leaves the component"}


class Blocked(HostedError):
    """The verdict on a release forbids its deploy."""


@dataclass(frozen=True, kw_only=True)
class ReleaseOptions(OnAppOptions, WaitOptions):
    """The options that name a release of an application."""

    tag: str = required(selects=True)
    digest: str | None = option(None, selects=True)


@dataclass(frozen=True)
class Declared:
    """The list of releases has a tag for an image."""

    slug: str
    tag: str
    digest: str

    def found(self, account: Account) -> list[Release]:
        listed = account.releases(self.slug).get(self.tag)
        return [listed] if listed is not None and listed.digest == self.digest else []


def declaration(slug: str, tag: str, digest: str) -> Change:
    """Return the change that declares a pushed image as a release."""
    return Change(
        what=f"release {tag!r} of application {slug!r}",
        route=r.RELEASE_DECLARE,
        ids={"slug": slug},
        body={"tag": tag, "digest": digest},
        shown=Declared(slug, tag, digest),
        harmless=True,
    )


# --- The verdict ------------------------------------------------------------------------------------


def pending_scan(tag: str, digest: str | None) -> ScanReport:
    return ScanReport.model_construct(tag=tag, digest=digest, scan_status=ScanStatus.PENDING)


def await_verdict(task: Task[ReleaseOptions], report: ScanReport, seconds: float | None = None) -> ScanReport:
    """Wait until a release has a verdict, for so many seconds or ``wait_timeout``; return its scan report."""
    seconds = max(task.options.wait_timeout if seconds is None else seconds, 1.0)
    until = time.monotonic() + seconds
    release = Release(tag=str(report.tag), digest=str(report.digest))
    return wait_until(
        replace(task, options=replace(task.options, wait_timeout=seconds)),
        lambda: task.account.scan(release, task.options.slug, max(until - time.monotonic(), 1.0)),
        lambda seen: seen.scan_status != ScanStatus.PENDING,
        lambda seen: f"its scan is {seen.scan_status}",
        f"the verdict on release {release.tag!r}",
    )


def check_verdict(slug: str, report: ScanReport) -> None:
    """Check that the verdict on a release allows its deploy. The error has each flaw as data, too."""
    if report.scan_status == ScanStatus.BLOCKED:
        raise Blocked(
            f"release {report.tag!r} of application {slug!r} is blocked: {describe_blocking_flaws(report)}. "
            "Nothing was deployed. Push a corrected image, or ask the platform's team to lift the verdict",
            scan=scan_view(report),
            blocking=plain(blocking(report)),
        )


def blocking(report: ScanReport) -> Sequence[Flaw]:
    """Return the flaws that block a release; none if there is no verdict yet."""
    return report.scan_verdict.blocking or [] if report.scan_verdict else []


def describe_blocking_flaws(report: ScanReport) -> str:
    """Describe the flaws that block a release, in one line."""
    return "; ".join(map(describe_flaw, blocking(report))) or "its scan does not name the flaw"


def describe_flaw(flaw: Flaw) -> str:
    why = REASONS.get(flaw.reason or "", flaw.reason)
    fix = f"fixed in {flaw.fix_version}" if flaw.fix_version else "no fix is known"
    where = " ".join(filter(None, [flaw.package or "a package that is not named", flaw.version]))
    return f"{flaw.id or 'a flaw'} in {where}{f' ({why})' if why else ''}, {fix}"


def scan_view(report: ScanReport) -> dict[str, Any]:
    """Return a scan report on one level, with the same keys whatever it holds."""
    verdict = report.scan_verdict
    return {
        "tag": report.tag,
        "digest": report.digest,
        "scan_status": report.scan_status,
        "scanned_at": report.scanned_at,
        "counts": {name: count or 0 for name, count in ((verdict and verdict.counts) or {}).items()},
        "blocking": plain(blocking(report)),
        "warnings": plain(verdict.warnings if verdict else None) or [],
        "warning_count": verdict.warning_count if verdict else None,
        "scanner": verdict.scanner if verdict else None,
    }
