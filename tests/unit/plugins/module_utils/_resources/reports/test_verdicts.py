# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Releases: what runs, and what is blocked."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from ansible_collections.hosted.services.plugins.module_utils._api.models import App, ScanReport
from ansible_collections.hosted.services.plugins.module_utils._resources.applications.releases import (
    DeclaredRelease,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.reports.reading import (
    AppReleases,
    Facts,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.reports.verdicts import releases_of

AS_OF = datetime(2026, 11, 19, 9, 30, tzinfo=UTC)
ONE, TWO = ("sha256:" + digit * 64 for digit in "12")
FLAW = {"id": "CVE-1", "package": "runc", "version": "1.0", "fixVersion": "1.1", "severity": "High"}


def app(**fields: Any) -> App:
    """Return an application that runs the first image."""
    given = {"id": "a", "slug": "web", "status": "ACTIVE", "imageRef": f"r/web@{ONE}", **fields}
    return App.model_validate(given)


def scan(tag: str, status: str, *flaws: dict[str, Any]) -> ScanReport:
    """Return a scan report."""
    verdict = {"counts": {"High": len(flaws), "Low": None}, "blocking": list(flaws)}
    return ScanReport.model_validate({"tag": tag, "scanStatus": status, "scanVerdict": verdict})


def account(*, left_out: int = 0, **digests: str) -> Facts:
    """Return an account with one application and these releases."""
    listed = {tag: DeclaredRelease(digest, "2026-11-09T09:30:00.000Z") for tag, digest in digests.items()}
    read = AppReleases(listed, {tag: scan(tag, "PASSED") for tag in listed}, left_out)
    return Facts(apps=[app()], releases={"web": read})


def test_the_release_in_service_is_that_of_its_digest() -> None:
    [found] = releases_of(account(v2=TWO, v1=ONE), AS_OF)
    assert found["tag"] == "v1"
    assert [(each["tag"], each["in_service"]) for each in found["releases"]] == [("v2", False), ("v1", True)]
    assert [each["age_days"] for each in found["releases"]] == [10, 10]
    assert found["note"] is None and found["age_days"] is None


def test_one_release_is_in_service_though_two_have_its_digest() -> None:
    [found] = releases_of(account(v2=ONE, v1=ONE), AS_OF)
    assert [each["in_service"] for each in found["releases"]] == [True, False]


def test_a_release_that_does_not_run_is_not_in_service() -> None:
    """Another image runs, under a tag that is not declared."""
    facts = account(v2=TWO)
    facts.apps = [app(imageRef="r/web:v3")]
    [found] = releases_of(facts, AS_OF)
    assert [each["in_service"] for each in found["releases"]] == [False]


def test_flaws_that_block_are_kept() -> None:
    facts = account(v2=TWO, v1=ONE)
    facts.releases["web"].scans["v2"] = scan("v2", "BLOCKED", FLAW)
    [found] = releases_of(facts, AS_OF)
    [blocked] = [each for each in found["releases"] if each["blocking"]]
    assert blocked["scan_status"] == "BLOCKED" and blocked["counts"] == {"high": 1}
    assert blocked["blocking"] == [
        {"id": "CVE-1", "package": "runc", "version": "1.0", "fix_version": "1.1", "severity": "High",
         "reason": None}
    ]  # fmt: skip


def test_the_verdict_on_the_release_stands_in_for_that_of_the_list() -> None:
    facts = account(v1=ONE)
    facts.releases["web"].scans["v1"] = scan("v1", "WARNED")
    assert releases_of(facts, AS_OF)[0]["scan_status"] == "WARNED"
    facts.apps = [app(scanStatus="PASSED")]
    assert releases_of(facts, AS_OF)[0]["scan_status"] == "PASSED"


def test_releases_that_could_not_be_read_are_null() -> None:
    [found] = releases_of(Facts(apps=[app()]), AS_OF)
    assert found["releases"] is None and found["note"] is None


def test_what_was_left_out_is_told() -> None:
    assert releases_of(account(left_out=3, v1=ONE), AS_OF)[0]["note"] == "3 older releases were not read"
