# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads releases with their scan reports, and checks the verdict before a deploy (Scan report)."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

from ..._api.client import Client
from ..._api.errors import HostedError, Interrupted, Refused, TokenRejected
from ..._api.models import App, Flaw, ScanReport, Verdict, plain
from ..._api.text import clean
from ..._api.values import SEVERITIES, ScanStatus
from ..shared.options import Options, WaitOptions, option, required
from ..shared.parallel import run_parallel
from ..shared.plan import Task
from ..shared.task_errors import WaitEnded
from ..shared.waiting import wait_until
from .lookup import OnAppOptions
from .records import AppRecords
from .release_list import DeclaredReleases, read_declared

BELOW_LOW = frozenset({"negligible", "info", "informational"})
"""Severities of scanners that no limit covers, as all of them are lower than its lowest."""
BESIDE_SEVERITIES = frozenset({"cvss", "score", "severity", "v"})
"""Words that may stand beside a severity, as in ``CRITICAL (CVSS 9.8)``."""
REASONS = {"isolation": "the package isolates containers", "scope": "its impact leaves the component"}

NOT_SHOWN = "UNKNOWN"
"""The status of a scan where the platform shows only that of another image."""
QUICK_SCAN_SECONDS = 5.0
"""How long to wait for a scan report without waiting for its verdict, in seconds."""


class Blocked(HostedError):
    """The verdict on a release forbids its deploy."""


# --- One release ------------------------------------------------------------------------------------


def scan_of(client: Client, slug: str, tag: str, seconds: float | None = None) -> ScanReport | None:
    """Return the scan report of a release; ``None`` if there is no such release. The application must exist.

    The specification does not show the status for an undeclared tag, so any refusal except
    :class:`TokenRejected` counts as one.

    :raises Interrupted: if the platform does not respond within ``seconds``, as while the scan runs.
    """
    try:
        return client.scan(slug, tag, seconds)
    except TokenRejected:
        raise
    except Refused:
        return None


@dataclass(frozen=True, kw_only=True)
class ReleaseOptions(OnAppOptions, WaitOptions):
    """The options that name a release of an application."""

    tag: str = required(selects=True)
    digest: str | None = option(None, selects=True)


class FoundRelease(NamedTuple):
    """The scan report of a release, ``None`` if it is not declared, and the list that was read with it."""

    report: ScanReport | None
    declared: DeclaredReleases


def find_release(task: Task[ReleaseOptions], tag: str, recorded: str | None = None) -> FoundRelease:
    """Return the scan report of a declared release, and the list of releases as far as it was read.

    A platform may show the scan of an image that was pushed but not declared, and refuse to show that of a
    release while the scan runs. So this reads the list of releases, too. As that may be late to show a new
    release, and releases are kept, ``recorded`` counts as well: what the tag was declared as from here.

    :raises WaitEnded: if there is no report within the task's ``wait_timeout``.
    """
    slug = task.options.slug
    patience = task.options.wait_timeout if task.options.wait else QUICK_SCAN_SECONDS
    try:
        report = scan_of(task.client, slug, tag, patience)
    except Interrupted as error:
        declared = read_declared(task.client, slug)
        return FoundRelease(pending_report(task, tag, declared, error.message), declared)
    declared = read_declared(task.client, slug)
    if report is None and tag in declared.by_tag:
        report = pending_report(task, tag, declared, "the platform refuses to show it")
    if tag not in declared.by_tag and (report is None or recorded is None or report.digest != recorded):
        return FoundRelease(None, declared)
    return FoundRelease(report, declared)


def find_current(task: Task[ReleaseOptions], app: App) -> FoundRelease:
    """Find the release. If the list shows its tag for other images only, it has the digest of one of these.

    A platform may show the scan of the image that was pushed under the tag last, whatever is declared. The
    image is that of the task, or else that of the scan.
    """
    tag = task.options.tag
    found = find_release(task, tag, AppRecords.of(task, app.id).declared().get(tag))
    if found.report is None:
        return found
    image = task.options.digest or found.report.digest
    if image is None or may_name_image(task, found.declared, image):
        return found
    return found._replace(report=unseen_report(tag, found.declared.digests(tag)[0]))


def may_name_image(task: Task[ReleaseOptions], declared: DeclaredReleases, image: str) -> bool:
    """Tell whether a list shows the tag for the image, or no digest for the tag."""
    digests = declared.digests(task.options.tag)
    return not digests or image in digests


def lists_only(task: Task[ReleaseOptions], declared: DeclaredReleases, image: str) -> bool:
    """Tell whether the list shows the tag for the image, and for no other one."""
    return set(declared.digests(task.options.tag)) == {image}


def unseen_report(tag: str, digest: str) -> ScanReport:
    """Return the report of a release whose scan is not shown, because that of another image is."""
    return ScanReport.model_construct(tag=tag, digest=digest, scan_status=NOT_SHOWN)


def pending_report(task: Task[ReleaseOptions], tag: str, declared: DeclaredReleases, why: str) -> ScanReport:
    """Return a ``PENDING`` report with the digest in the list, or wait for the real report if there is none.

    :raises WaitEnded: if the list does not show the digest and the task does not wait, or waited in vain.
    """
    slug, digest = task.options.slug, declared.digest(tag)
    known = ScanReport.model_construct(tag=tag, digest=digest, scan_status=ScanStatus.PENDING)
    if digest is None and tag in declared.by_tag and task.options.wait:
        return await_verdict(task, known, tag, time.monotonic() + task.options.wait_timeout)
    if digest is None:
        raise WaitEnded(
            f"the platform holds back the scan of release {tag!r} of {slug!r}; its analysis probably still "
            f"runs ({why}). Leave wait at true and raise wait_timeout, or run this again later"
        )
    return known


def await_verdict(task: Task[ReleaseOptions], report: ScanReport, tag: str, until: float) -> ScanReport:
    """Wait until a release has a verdict and return its scan report. ``until`` is in monotonic time.

    :raises WaitEnded: if there is no verdict by then.
    """

    def left() -> float:
        return max(until - time.monotonic(), 1.0)

    def read() -> ScanReport:
        try:
            return scan_of(task.client, task.options.slug, tag, left()) or report
        except Interrupted:
            return report  # the platform responds only when it has a verdict

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

    A limit for a severity is not kept where the report has flaws and does not show their severity.
    """
    wanted = set(fail_on)
    found = [f"its verdict is {report.scan_status}"] if report.scan_status.lower() in wanted else []
    limits = [name for name in SEVERITIES if name in wanted]
    counts, untold = severities(report)
    for name in limits:
        if counts[name]:
            found.append(f"it has {counts[name]} {name} flaw{'s' if counts[name] > 1 else ''}")
    if limits and untold:
        found.append(
            f"its scan does not show the severity of {untold}, so {', '.join(limits)} cannot be checked"
        )
    return found


def severities(report: ScanReport) -> tuple[Counter[str], str]:
    """Return how many flaws there are of each severity, and in words those of which it is not told."""
    verdict = report.scan_verdict or Verdict()
    flaws = [*(verdict.blocking or ()), *(verdict.warnings or ())]
    counts = Counter(filter(None, (severity_of(flaw.severity) for flaw in flaws)))
    nameless = len(flaws) - counts.total()
    told, uncountable = told_counts(verdict.counts or {})
    for name, count in told.items():
        counts[name] = max(count, counts[name])
    all_of_them = max(len(flaws), (verdict.warning_count or 0) + len(verdict.blocking or ()))
    if verdict.counts and None not in verdict.counts.values():  # they are of all flaws, so of the nameless
        missing = max(min(nameless, len(flaws) - counts.total()), uncountable)
    elif not all_of_them and report.scan_status in (ScanStatus.WARNED, ScanStatus.BLOCKED):
        return counts, "its flaws"
    else:
        missing = max(all_of_them - counts.total(), uncountable)
    return counts, f"{missing} of its flaws{describe_unread(verdict, flaws)}" if missing > 0 else ""


def describe_unread(verdict: Verdict, flaws: Sequence[Flaw]) -> str:
    """Describe the first severity that a scan gives in a form that cannot be read; empty if there is none."""
    given = [
        *(flaw.severity for flaw in flaws),
        *(name for name, count in (verdict.counts or {}).items() if count),
    ]
    unread = next((text for text in given if text and severity_of(text) is None), None)
    return f" in words that can be read (it says {clean(unread)!r})" if unread else ""


def told_counts(counts: Mapping[str, int | None]) -> tuple[Counter[str], int]:
    """Return the counts of a scan by severity, and the sum of those under a name that cannot be read."""
    told, uncountable = Counter[str](), 0
    for name, count in counts.items():
        severity = severity_of(name)
        if severity is not None:
            told[severity] += count or 0
        elif name.lower() != "total":
            uncountable += count or 0
    return told, uncountable


def severity_of(text: str | None) -> str | None:
    """Return the severity in a text such as ``CRITICAL (9.8)``; nothing if it cannot be read.

    A number alone is not read: which severity it stands for depends on the version of CVSS.
    """
    words = set(re.findall(r"[^\W\d_]+", (text or "").lower())) - BESIDE_SEVERITIES
    if len(words) != 1:
        return None
    [word] = words
    return word if word in SEVERITIES or word in BELOW_LOW else None


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
    digest: str | None
    scan_status: str | None
    scanned_at: str | None
    created_at: str | None

    def as_dict(self) -> dict[str, Any]:
        """Return the release as JSON-serializable data."""
        return asdict(self)


def all_releases(task: Task[Options], slug: str, declared: DeclaredReleases | None = None) -> list[Release]:
    """Return the releases, oldest first, by declaration if the list shows when that was, else by scan.

    Reads each release's scan report for its digest, because the entries of the list are undocumented.
    """
    client = task.client
    tags = (declared or read_declared(client, slug)).by_tag

    def read(clone: Client, tag: str) -> Release:
        entered = tags[tag]
        try:
            report = scan_of(clone, slug, tag, QUICK_SCAN_SECONDS)
        except Interrupted:
            return Release(tag, entered.digest, ScanStatus.PENDING, None, entered.created_at)
        if report is None:
            return Release(tag, entered.digest, None, None, entered.created_at)
        return Release(tag, report.digest, report.scan_status, report.scanned_at, entered.created_at)

    found = [
        as_listed(release, DeclaredReleases(tags).digests(release.tag))
        for release in run_parallel(client, tags, read)
    ]
    by = "created_at" if all(release.created_at for release in found) else "scanned_at"
    return sorted(found, key=lambda release: getattr(release, by) or "9999")


def as_listed(release: Release, listed: Sequence[str]) -> Release:
    """Return a release with the digest in the list, if its scan shows another one.

    The scan is then that of an image which was pushed under the tag and not declared, and tells nothing of
    the release.
    """
    if not listed or release.digest is None or release.digest in listed:
        return release
    return replace(release, digest=listed[0], scan_status=None, scanned_at=None)


def previous_release(
    releases: Sequence[Release], before: str | None, undone: str | None, deployed_here: bool
) -> tuple[Release | None, str | None]:
    """Return the release to roll back to, or ``None`` and a note on why it is unknown.

    The list also has releases that were never deployed or did not start, so it cannot tell by itself.

    :param before: the digest that was in service before the current one; ``None`` if unknown.
    :param undone: the digest of the last deploy if it failed, and left in service what was there before.
    :param deployed_here: whether this controller has deployed what is in service.
    """
    if undone is not None:
        return None, (
            f"the deploy of {undone} failed, and what was in service before it is in service. To go further "
            "back, give the tag"
        )
    if before is None and deployed_here:
        return None, "this controller deployed what is in service, and knows of nothing before it"
    if before is None:
        return None, (
            "which image was in service before is not known on this controller: it has not deployed the one "
            "in service with hosted.services.app_deploy and the same state_dir"
        )
    for release in reversed(releases):
        if release.digest == before:
            return release, None
    return None, f"{before} was in service before, but no release names it any more; declare it again"
