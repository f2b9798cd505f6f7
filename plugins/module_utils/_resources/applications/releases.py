# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Releases: how they are declared, the verdict of their scan (Scan report), and records of their deploys.

The records are kept on the controller, as no route shows what they hold: what has not taken effect yet (an
environment that was written, a deploy that was not confirmed), and the history of the images in service.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from ..._api import routes as r
from ..._api.errors import HostedError
from ..._api.models import Flaw, Release, ScanReport, plain
from ..._api.values import ScanStatus
from ..shared.account import Account
from ..shared.change import Change
from ..shared.options import Options, WaitOptions, option, required
from ..shared.pending import AT_DEPLOY, DEPLOY, ENVIRONMENT, Kinds, Pending
from ..shared.plan import Task
from ..shared.store import Kind, Record
from ..shared.task_errors import Invalid
from ..shared.waiting import wait_until
from .lookup import OnAppOptions

T = TypeVar("T")
MAX_IMAGES = 50
OUTSTANDING = {
    ENVIRONMENT: "its environment was written at {since} and is not in effect yet",
    DEPLOY: "a deploy that began at {since} was not seen to succeed",
}
REASONS = {"isolation": "the package isolates containers", "scope": "its impact leaves the component"}


class Blocked(HostedError):
    """The verdict on a release forbids its deploy."""


@dataclass(frozen=True, kw_only=True)
class ReleaseOptions(OnAppOptions, WaitOptions):
    tag: str = required(selects=True)
    digest: str | None = option(None, selects=True)


@dataclass(frozen=True)
class Declared:
    slug: str
    tag: str
    digest: str

    def found(self, account: Account) -> list[Release]:
        listed = account.releases(self.slug).get(self.tag)
        return [listed] if listed is not None and listed.digest == self.digest else []


def declaration(slug: str, tag: str, digest: str) -> Change:
    return Change(
        what=f"release {tag!r} of application {slug!r}",
        route=r.RELEASE_DECLARE,
        ids={"slug": slug},
        body={"tag": tag, "digest": digest},
        shown=Declared(slug, tag, digest),
        harmless=True,
    )


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
    return report.scan_verdict.blocking or [] if report.scan_verdict else []


def describe_blocking_flaws(report: ScanReport) -> str:
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


@dataclass(frozen=True)
class History:
    """The digests that were in service, oldest first, and what became of the last deploy."""

    images: Sequence[str] = ()
    failed: str | None = None
    """The digest whose deploy has failed since."""
    left: str | None = None
    """The digest that the last deploy went back from."""
    id: str = ""
    """The id of the application."""


HISTORY = Kind("pending", History, "the history of an application", hint=True)


@dataclass(frozen=True)
class AppRecords:
    """The records of one application, in ``state_dir`` if it is set, and always in Ansible's home.

    Both are written, because ``state_dir`` may be set for one task and not for the next. Only the first of
    them has to be readable and writable.
    """

    pending: Sequence[Pending]
    now: Callable[[], float] = lambda: 0.0
    """Returns the time by the platform, in seconds since 1970, which each note holds."""

    @classmethod
    def of(cls, task: Task[Options], id: str | None) -> AppRecords:
        """Return the records of the application with this id; empty records if it does not exist yet."""
        if not id:
            return cls(())
        both = dict.fromkeys((Pending.of(task, id), Pending.of(task, id, own_folder=True)))
        return cls([*both], lambda: task.client.clock.now().timestamp())

    def _of_each(self, use: Callable[[Pending], T]) -> list[T]:
        done: list[T] = []
        for record in self.pending:
            with suppress(Invalid) if done else nullcontext():
                done.append(use(record))
        return done

    def outstanding(self) -> Kinds:
        found: Kinds = {}
        for kinds in reversed(self._of_each(Pending.outstanding)):
            found.update(kinds)
        return {kind: entry for kind, entry in found.items() if kind in AT_DEPLOY}

    def note(self, kind: str, **details: Any) -> Callable[[], object]:
        """Record a change before it is made; return what takes that back.

        Without a time, ``at``, nothing tells whether it took effect.
        """
        noted = self._of_each(lambda record: record.note(kind, **{"at": self.now(), **details}))
        return lambda: [take_back() for take_back in noted]

    def clearing(self, kinds: Iterable[str] | None = None) -> Callable[[], object]:
        """Return what clears the changes that are outstanding now, of these kinds or all, once in effect."""
        found = self._of_each(lambda record: record.clearing(kinds))
        return lambda: [clear() for clear in found]

    def reasons(self) -> list[str]:
        found = self.outstanding()
        return [
            phrase.format(since=found[kind].get("since", "a time not known"))
            for kind, phrase in OUTSTANDING.items()
            if kind in found
        ]

    def unconfirmed(self) -> str | None:
        digest: str | None = self.outstanding().get(DEPLOY, {}).get("digest")
        return digest

    def sent_at(self, digest: str) -> float | None:
        """Return when a deploy of an image was sent that nobody saw end, and that covers all that is noted.

        ``None`` if there is none, if it failed, or if the environment was written later.
        """
        found = self.outstanding()
        deploy, written = found.get(DEPLOY, {}), found.get(ENVIRONMENT, {"at": 0.0}).get("at")
        at: float | None = deploy.get("at")
        covers = at is not None and written is not None and written <= at
        return at if covers and self.history.failed != digest == deploy.get("digest") else None

    @property
    def history(self) -> History:
        for record in self.pending:
            found = history_of(record).read()
            if found.id == record.id:
                return found
        return History()

    def last_good(self, in_service: str | None) -> str | None:
        """Return the digest in service, or the one before it if the deploy of it failed or was not confirmed.

        While a deploy is not confirmed, the one before it may have failed, too: a rollback fails after it.
        """
        history, unconfirmed = self.history, self.unconfirmed()
        if in_service is None or unconfirmed is None or in_service not in (unconfirmed, history.failed):
            return in_service
        return next((digest for digest in reversed(history.images) if digest != in_service), None)

    def record_failure(self, digest: str) -> None:
        self._write(History(self.history.images, failed=digest))

    def record_in_service(self, in_service: str | None) -> None:
        """Record the image in service before a deploy. An unknown image restarts the history."""
        if in_service is not None and self.history.images[-1:] != [in_service]:
            self._write(History([in_service]))

    def record_deploy(self, digest: str) -> None:
        """Record that an image is in service. A return to the previous image removes the last entry."""
        images, left = [*self.history.images], None
        if images[-2:-1] == [digest]:
            left = images.pop()
        elif images[-1:] != [digest]:
            images.append(digest)
        self._write(History(images[-MAX_IMAGES:], left=left))

    def _write(self, history: History) -> None:
        for record in self.pending:
            with suppress(Invalid):  # the next task knows less
                history_of(record).write(replace(history, id=record.id))


def history_of(record: Pending) -> Record[History]:
    return Record(HISTORY, f"{record.record.path.removesuffix('.json')}.record_deploy")
