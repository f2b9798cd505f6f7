# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Releases in a report: what runs, the verdict on it, and what is blocked and why."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from ..._api.models import App, Release, ScanReport
from ..applications.releases import blocking
from ..shared.restore_points import parse_moment
from .reading import AppReleases, Facts

FLAW_FIELDS = ("id", "package", "version", "fix_version", "severity", "reason")


def releases_of(facts: Facts, as_of: datetime) -> list[dict[str, Any]]:
    """Return the applications with their releases, newest first."""
    return [app_of(facts, app, as_of) for app in facts.apps or ()]


def app_of(facts: Facts, app: App, as_of: datetime) -> dict[str, Any]:
    """Return an application: what runs, and its newest releases."""
    view, read = app.as_dict(), facts.releases.get(app.slug)
    settings = facts.settings.get(app.id)
    running = settings.source.tag if settings and settings.source else None
    releases = [] if read is None else releases_in(read, view["digest"], running, as_of)
    current = next((each for each in releases if each["in_service"]), None)
    return {
        "id": app.id,
        "slug": app.slug,
        "project_id": facts.project_of(app.id),
        "status": app.status,
        "platform": view["platform"],
        "digest": view["digest"],
        "tag": current["tag"] if current else running,
        "released_at": view["released_at"],
        "age_days": age_days(view["released_at"], as_of),
        "scan_status": view["scan_status"] or (current["scan_status"] if current else None),
        "releases": None if read is None else releases,
        "note": f"{read.not_scanned} older releases were not read" if read and read.not_scanned else None,
    }


def releases_in(
    read: AppReleases, digest: str | None, running: str | None, as_of: datetime
) -> list[dict[str, Any]]:
    """Return the releases that were read. One is in service, by its digest, or else by its tag."""
    found = [release_of(tag, scan, read.declared[tag], as_of) for tag, scan in read.scans.items()]
    by_digest = [each for each in found if digest is not None and each["digest"] == digest]
    preferred = [each for each in by_digest if each["tag"] == running] or by_digest
    in_service = preferred or [each for each in found if running is not None and each["tag"] == running]
    for each in in_service[:1]:
        each["in_service"] = True
    return found


def release_of(tag: str, scan: ScanReport, declared: Release, as_of: datetime) -> dict[str, Any]:
    """Return a release and the verdict on it."""
    verdict = scan.scan_verdict
    counts = (verdict.counts if verdict else None) or {}
    return {
        "tag": tag,
        "digest": declared.digest,
        "created_at": declared.created_at,
        "age_days": age_days(declared.created_at, as_of),
        "in_service": False,
        "scan_status": scan.scan_status,
        "scanned_at": scan.scanned_at,
        "counts": {name.lower(): count for name, count in sorted(counts.items()) if count is not None},
        "blocking": [{name: getattr(flaw, name) for name in FLAW_FIELDS} for flaw in blocking(scan)],
    }


def age_days(moment: str | None, as_of: datetime) -> int | None:
    """Return how many whole days ago something was; ``None`` if the platform does not show when."""
    then = parse_moment(moment)
    return None if then is None else max(0, (as_of - then) // timedelta(days=1))
