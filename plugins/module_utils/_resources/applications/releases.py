# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads releases with their scan reports, and checks the verdict before a deploy (Scan report)."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from ..._api.errors import HostedError, Interrupted, UnexpectedAnswer
from ..._api.models import Flaw, ScanReport, plain
from ..._api.values import SEVERITIES, ScanStatus
from ..shared.account import Account
from ..shared.options import Options, WaitOptions, option, required
from ..shared.plan import Task
from ..shared.waiting import wait_until
from .lookup import OnAppOptions
from .records import AppRecords

REASONS = {"isolation": "the package isolates containers", "scope": "its impact leaves the component"}

QUICK_SCAN_SECONDS = 5.0
"""How long to wait for a scan report without waiting for its verdict, in seconds."""


class Blocked(HostedError):
    """The verdict on a release forbids its deploy."""


# --- One release ------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class ReleaseOptions(OnAppOptions, WaitOptions):
    """The options that name a release of an application."""

    tag: str = required(selects=True)
    digest: str | None = option(None, selects=True)


@dataclass(frozen=True)
class DeclaredRelease:
    """A release in the list: the image that its tag names now."""

    digest: str
    created_at: str | None = None


def read_declared(account: Account, slug: str) -> dict[str, DeclaredRelease]:
    """Return the declared releases by tag. Their fields are undocumented: each shows what it was declared as.

    :raises UnexpectedAnswer: if one does not.
    """
    found = {}
    for entry in account.releases(slug):
        tag, digest = entry.get("tag"), entry.get("digest")
        if not tag or not digest:
            raise UnexpectedAnswer(f"the list of releases of {slug!r} has an entry without a tag or a digest")
        found[str(tag)] = DeclaredRelease(str(digest), entry.get("createdAt"))
    return found


def scan_of(
    account: Account, slug: str, tag: str, digest: str, seconds: float = QUICK_SCAN_SECONDS
) -> ScanReport:
    """Return the scan report of a declared release; a ``PENDING`` one while the platform holds it back.

    :param seconds: how long to wait for its response, which comes once there is a verdict.
    """
    try:
        report = account.scan(slug, tag, seconds)
    except Interrupted:
        report = None
    report = report or ScanReport.model_construct(scan_status=ScanStatus.PENDING)
    return report.model_copy(update={"tag": tag, "digest": digest})


def find_release(task: Task[ReleaseOptions], tag: str) -> ScanReport | None:
    """Return the scan report of a release; ``None`` if it is not declared. The application must exist.

    The list of releases decides: an image is scanned once it is pushed, declared or not.
    """
    slug = task.options.slug
    declared = read_declared(task.account, slug).get(tag)
    return None if declared is None else scan_of(task.account, slug, tag, declared.digest)


def await_verdict(task: Task[ReleaseOptions], report: ScanReport, tag: str, until: float) -> ScanReport:
    """Wait until a release has a verdict and return its scan report. ``until`` is in monotonic time.

    :raises WaitEnded: if there is no verdict by then.
    """

    def left() -> float:
        return max(until - time.monotonic(), 1.0)

    def read() -> ScanReport:
        return scan_of(task.account, task.options.slug, tag, str(report.digest), left())

    hurried = replace(task, options=replace(task.options, wait_timeout=left()))
    return wait_until(
        hurried,
        read,
        lambda seen: seen.scan_status != ScanStatus.PENDING,
        lambda seen: f"its scan is {seen.scan_status}",
        f"the verdict on release {tag!r}",
    )


def check_verdict(slug: str, tag: str, report: ScanReport) -> None:
    """Check that the verdict on a release allows its deploy.

    :raises Blocked: with each flaw, its package and its fix version, as data and in the message.
    """
    if report.scan_status != ScanStatus.BLOCKED:
        return
    raise Blocked(
        f"release {tag!r} of application {slug!r} is blocked: {describe_blocking_flaws(report)}. "
        "Nothing was deployed. Push a corrected image, or ask the platform's team to lift the verdict on "
        "this version",
        scan=scan_view(report),
        blocking=plain(blocking(report)),
    )


def blocking(report: ScanReport) -> Sequence[Flaw]:
    """Return the flaws that block a release."""
    return report.scan_verdict.blocking or [] if report.scan_verdict else []


def describe_blocking_flaws(report: ScanReport) -> str:
    """Describe the flaws that block a release."""
    return "; ".join(describe_flaw(flaw) for flaw in blocking(report)) or "its scan does not name the flaw"


def describe_flaw(flaw: Flaw) -> str:
    """Describe a flaw: its id, package, version, reason and fix version."""
    why = REASONS.get(flaw.reason or "", flaw.reason)
    fix = f"fixed in {flaw.fix_version}" if flaw.fix_version else "no fix is known"
    where = " ".join(filter(None, [flaw.package or "a package that is not named", flaw.version]))
    return f"{flaw.id or 'a flaw'} in {where}{f' ({why})' if why else ''}, {fix}"


def objections(report: ScanReport, fail_on: Iterable[str]) -> list[str]:
    """Return what in a report the user does not want: verdicts, and severities that were found.

    A limit for a severity is not kept where a report with flaws does not count them.
    """
    wanted = set(fail_on)
    found = [f"its verdict is {report.scan_status}"] if report.scan_status.lower() in wanted else []
    limits = [name for name in SEVERITIES if name in wanted]
    counts = (report.scan_verdict and report.scan_verdict.counts) or {}
    for name in limits:
        count = counts.get(name.capitalize())
        if count:
            found.append(f"it has {count} {name} flaw{'s' if count > 1 else ''}")
        elif count is None and report.scan_status in (ScanStatus.WARNED, ScanStatus.BLOCKED):
            found.append(f"its scan does not count its {name} flaws")
    return found


def scan_view(report: ScanReport) -> dict[str, Any]:
    """Return a scan report on one level, with the same keys whatever it holds."""
    verdict = report.scan_verdict
    return {
        "tag": report.tag,
        "digest": report.digest,
        "scan_status": report.scan_status,
        "scanned_at": report.scanned_at,
        "counts": {name: count or 0 for name, count in ((verdict and verdict.counts) or {}).items()},
        "blocking": plain(verdict.blocking if verdict else None) or [],
        "warnings": plain(verdict.warnings if verdict else None) or [],
        "warning_count": verdict.warning_count if verdict else None,
        "scanner": verdict.scanner if verdict else None,
    }


# --- All releases -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Release:
    """A declared release: the image that its tag names now, and the status of its scan."""

    tag: str
    digest: str
    scan_status: str
    scanned_at: str | None
    created_at: str | None

    def as_dict(self) -> dict[str, Any]:
        """Return the release as JSON-serializable data."""
        return asdict(self)


def all_releases(task: Task[Options], slug: str, declared: Mapping[str, DeclaredRelease]) -> list[Release]:
    """Return the declared releases with their scans, oldest first, as far as the list shows when that was."""

    def read(account: Account, tag: str) -> Release:
        found = declared[tag]
        report = scan_of(account, slug, tag, found.digest)
        return Release(tag, found.digest, report.scan_status, report.scanned_at, found.created_at)

    return sorted(task.account.each(declared, read), key=lambda release: release.created_at or "")


def previous_release(
    releases: Sequence[Release], records: AppRecords, in_service: str | None
) -> tuple[Release | None, str | None]:
    """Return the release to roll back to, or ``None`` and a note on why it is unknown.

    The list also has releases that were never deployed or did not start, so it cannot tell by itself.
    """
    before, undone = records.before(in_service), records.undone(in_service)
    if undone is not None:
        return None, (
            f"the deploy of {undone} failed, and what was in service before it is in service. To go further "
            "back, give the tag"
        )
    if before is None and in_service in records.images()[-1:]:
        left = records.left()
        tag = next((release.tag for release in releases if release.digest == left), left)
        done = f"rolled back from {tag} to" if left else "deployed"
        return None, f"this controller {done} what is in service, and knows of nothing before it"
    if before is None:
        return None, (
            "which image was in service before is not known on this controller: it has not deployed the one "
            "in service with hosted.services.app_deploy and the same state_dir"
        )
    for release in reversed(releases):
        if release.digest == before:
            return release, None
    return None, f"{before} was in service before, but no release names it any more; declare it again"
