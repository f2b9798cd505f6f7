# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Releases on platforms that refuse a scan that is not ready, or show little of it."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.errors import Interrupted
from ansible_collections.hosted.services.plugins.module_utils._api.models import ScanReport
from ansible_collections.hosted.services.plugins.module_utils._resources import app_deploy
from ansible_collections.hosted.services.plugins.module_utils._resources.app_deploy import APP_DEPLOY
from ansible_collections.hosted.services.plugins.module_utils._resources.app_image import APP_IMAGE
from ansible_collections.hosted.services.plugins.module_utils._resources.app_info import APP_INFO
from ansible_collections.hosted.services.plugins.module_utils._resources.app_release import APP_RELEASE
from ansible_collections.hosted.services.plugins.module_utils._resources.applications import (
    release_list,
    releases,
)
from hosted_sandbox.gaps import POINTS
from hosted_sandbox.registry.images import build_image
from integration.proxy_server import ProxyServer, running
from unit.plugins.apps import Platform, plain, server
from unit.plugins.fakes import FakeClient, task_of

__all__ = ["plain", "server"]
DECLARE, DEPLOY = "releases.declare", "apps.deploy"
REFUSALS = POINTS["refusal.scan_unfinished"].values[1:]


def fill(platform: Platform, **points: str) -> None:
    """Fill single points in another way than the likeliest."""
    platform.sandbox.profile("plain", **{name.replace("__", "."): value for name, value in points.items()})


def push_new(platform: Platform, tag: str) -> str:
    """Push an image that the platform has not analyzed yet."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "new.tar"
        digest = build_image(path, {"app/server": tag.encode()})
        assert platform.run(APP_IMAGE, path=str(path), tag=tag)["changed"]
    return digest


def pending(platform: Platform, tag: str) -> None:
    """Let the analysis of an image run for ever."""
    platform.sandbox.operator("scans/shop", digest=platform.digests[tag], status="PENDING")


@pytest.mark.parametrize(
    ("status", "fields"),
    [*zip(REFUSALS, ["flat", "image object", "tag only"], strict=True), (REFUSALS[0], "tag only")],
)
def test_a_scan_that_is_refused_while_it_runs_is_pending(plain: Platform, status: str, fields: str) -> None:
    """The release is on the list: it is waited for, never declared again, and never called undeclared."""
    fill(plain, scan__wait="1 s", refusal__scan_unfinished=status, release__fields=fields)
    pending(plain, "v2")
    wish: dict[str, Any] = {"tag": "v2", "digest": plain.digests["v2"]}
    for resource in (APP_RELEASE, APP_DEPLOY):
        result = plain.run(resource, **wish, wait_timeout=1)
        assert result["failed"] and not result["changed"]
        assert "gave up waiting" in result["msg"] and "not declared" not in result["msg"]
    hurried = plain.run(APP_RELEASE, **wish, wait=False)
    if fields == "tag only":
        assert hurried["failed"] and "analysis probably still runs" in hurried["msg"]
    else:
        assert hurried["release"]["scan_status"] == "PENDING"
    assert not hurried["changed"]
    assert plain.writes() == []


def test_a_verdict_that_comes_after_a_refusal_is_taken(plain: Platform) -> None:
    """The deploy is refused while the analysis runs, and so is the scan: both are asked again."""
    fill(plain, scan__wait="1 s", refusal__scan_unfinished="409")
    plain.sandbox.delays(scan_wait=0.1, scan=5)
    digest = push_new(plain, "v3")
    assert plain.run(APP_RELEASE, tag="v3", digest=digest, wait=False)["release"]["scan_status"] == "PENDING"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            app_deploy, "await_verdict", lambda task, report, *rest: report
        )  # straight to the deploy
        assert plain.run(APP_DEPLOY, tag="v3")["changed"]
    assert plain.in_service == digest
    assert len(plain.writes(DECLARE)) == 1 and len(plain.writes(DEPLOY)) > 1


@pytest.mark.parametrize("verdict", POINTS["scan.verdict"].values)
@pytest.mark.parametrize(("tag", "status"), [("v1", "PASSED"), ("v2", "WARNED"), ("blocked", "BLOCKED")])
def test_a_scan_may_hold_nulls(plain: Platform, verdict: str, tag: str, status: str) -> None:
    """It is read all the same: the result has the same keys, and words for what is not known."""
    fill(plain, scan__verdict=verdict)
    result = plain.run(APP_RELEASE, tag=tag, digest=plain.digests[tag], fail_on=[])
    release = result["release"]
    assert release["scan_status"] == status and isinstance(release["counts"], dict)
    assert isinstance(release["blocking"], list) and isinstance(release["warnings"], list)
    refused = plain.run(APP_RELEASE, tag=tag, digest=plain.digests[tag])
    assert bool(refused.get("failed")) is (status == "BLOCKED")
    assert "None" not in refused.get("msg", "")


@pytest.mark.parametrize("verdict", POINTS["scan.verdict"].values)
def test_a_severity_that_is_not_told_is_not_taken_for_none(plain: Platform, verdict: str) -> None:
    """A limit that nobody can check is not kept; a release with nothing in it keeps every limit."""
    fill(plain, scan__verdict=verdict)
    wish: dict[str, Any] = {"tag": "v2", "digest": plain.digests["v2"]}
    told = plain.run(APP_RELEASE, **wish, fail_on=[])["release"]["counts"]
    every = ["critical", "high", "medium", "low"]
    found = plain.run(APP_RELEASE, **wish, fail_on=every)
    assert found["failed"] and found["scan"]["warning_count"]
    if verdict == "nulls, and no severities":
        assert not told and "does not show the severity" in found["msg"]
    else:
        assert "flaw" in found["msg"]
        clean = [name for name in every if not told.get(name.capitalize())]
        assert clean and not plain.run(APP_RELEASE, **wish, fail_on=clean).get("failed")
    assert not plain.run(APP_RELEASE, tag="v1", digest=plain.digests["v1"], fail_on=every).get("failed")


@pytest.mark.parametrize("shown", ["null", "absent"])
@pytest.mark.parametrize(("tag", "fails"), [("v1", False), ("v2", True), ("blocked", True)])
def test_a_scan_that_shows_no_verdict_keeps_no_limit_of_a_release_with_flaws(
    plain: Platform, shown: str, tag: str, fails: bool
) -> None:
    """Its status says that it has some, and nothing how severe they are."""

    def change(content: bytes) -> bytes:
        if b'"scanVerdict"' not in content:
            return content
        report = {name: value for name, value in json.loads(content).items() if name != "scanVerdict"}
        return json.dumps(report if shown == "absent" else {**report, "scanVerdict": None}).encode()

    with running(ProxyServer(plain.sandbox, change=change)) as proxy:
        options: dict[str, Any] = {"tag": tag, "digest": plain.digests[tag], "base_url": proxy.url}
        limited = plain.run(APP_RELEASE, **options, fail_on=["critical", "high"])
        unlimited = plain.run(APP_RELEASE, **options, fail_on=[])
    assert bool(limited.get("failed")) is fails and not unlimited.get("failed")
    said = "its scan does not show the severity of its flaws, so critical, high cannot be checked"
    assert (said in limited.get("msg", "")) is fails
    assert plain.writes() == []


def test_an_analysis_that_did_not_complete_is_told(plain: Platform) -> None:
    """Its counts say nothing. The platform deploys it, so that is a warning, unless `failed` is a limit."""
    plain.sandbox.operator("scans/shop", digest=plain.digests["v1"], status="FAILED")
    wish: dict[str, Any] = {"tag": "v1", "digest": plain.digests["v1"]}
    told = plain.run(APP_RELEASE, **wish, fail_on=["critical"])
    assert not told.get("failed") and "severity critical is not known" in told["warnings"][0]
    assert plain.run(APP_RELEASE, **wish, fail_on=["critical", "failed"])["failed"]
    assert "warnings" not in plain.run(APP_RELEASE, **wish)


@pytest.mark.parametrize(
    ("declared", "order"),
    [
        ({"v1": "2026-01-03", "v2": "2026-01-01", "v3": "2026-01-02"}, ["v2", "v3", "v1"]),
        ({"v1": "2026-01-03", "v2": None, "v3": "2026-01-02"}, ["v3", "v1", "v2"]),
    ],
)
def test_releases_are_in_the_order_of_their_declaration_or_else_of_their_scan(
    monkeypatch: pytest.MonkeyPatch, declared: dict[str, str | None], order: list[str]
) -> None:
    """One that was not scanned yet comes last."""
    scanned = {"v1": "2026-02-02", "v2": None, "v3": "2026-02-01"}

    def scan_of(client: Any, slug: str, tag: str, seconds: float) -> ScanReport:
        return ScanReport.model_construct(tag=tag, digest=None, scan_status="PASSED", scanned_at=scanned[tag])

    monkeypatch.setattr(releases, "scan_of", scan_of)
    listed = {tag: release_list.ListedRelease(None, made) for tag, made in declared.items()}
    task = task_of(APP_INFO, FakeClient(), slug="shop")
    found = releases.all_releases(task, "shop", release_list.DeclaredReleases(listed))
    assert [release.tag for release in found] == order


def test_a_release_whose_scan_runs_or_is_gone_is_shown_as_far_as_the_list_tells(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The response to the question for a report that is not ready is not waited for."""

    def scan_of(client: Any, slug: str, tag: str, seconds: float) -> ScanReport | None:
        if tag == "running":
            raise Interrupted("no response yet")
        return None

    monkeypatch.setattr(releases, "scan_of", scan_of)
    listed = {tag: release_list.ListedRelease("sha256:1", "2026-01-01") for tag in ("running", "unknown")}
    task = task_of(APP_INFO, FakeClient(), slug="shop")
    found = releases.all_releases(task, "shop", release_list.DeclaredReleases(listed))
    assert {release.tag: release.as_dict() for release in found} == {
        tag: {
            "tag": tag,
            "digest": "sha256:1",
            "scan_status": status,
            "scanned_at": None,
            "created_at": "2026-01-01",
        }
        for tag, status in (("running", "PENDING"), ("unknown", None))
    }


# --- Severities in other forms ------------------------------------------------------------------------------


def report_of(counts: dict[str, int | None] | None, *severities: str | None) -> ScanReport:
    warnings = [{"id": "CVE-1", "package": "zlib", "severity": severity} for severity in severities]
    verdict = {"counts": counts, "blocking": [], "warnings": warnings, "warningCount": len(warnings)}
    return ScanReport.model_validate({"tag": "v1", "scanStatus": "WARNED", "scanVerdict": verdict})


ZEROS: dict[str, int | None] = {"Critical": 0, "High": 0, "Medium": 0, "Low": 0}


@pytest.mark.parametrize(
    "said", ["9.8", "CVSS:3.1/AV:N/AC:L/C:H", "unknown", "none", "non-critical", "medium to high"]
)
@pytest.mark.parametrize("counts", [None, {}, ZEROS, {"High": None}])
def test_a_severity_that_cannot_be_read_keeps_no_limit(
    counts: dict[str, int | None] | None, said: str
) -> None:
    """It may be any of them, whatever the counts leave out."""
    [found] = releases.objections(report_of(counts, said), ["critical"])
    assert (
        f"does not show the severity of 1 of its flaws in words that can be read (it says {said!r})" in found
    )
    assert "critical cannot be checked" in found
    assert releases.objections(report_of(counts, said), ["blocked"]) == []


@pytest.mark.parametrize(
    "said",
    [
        "critical",
        "CRITICAL",
        "CRITICAL (9.8)",
        "9.8 (Critical)",
        "Critical (CVSS v3: 9.8)",
        "severity_critical",
    ],
)
@pytest.mark.parametrize("counts", [None, {}, ZEROS])
def test_a_severity_is_read_with_its_score(counts: dict[str, int | None] | None, said: str) -> None:
    report = report_of(counts, said)
    assert releases.objections(report, ["critical"]) == ["it has 1 critical flaw"]
    assert releases.objections(report, ["high"]) == []


@pytest.mark.parametrize(("said", "fails"), [("negligible", False), ("INFO", False), ("low", True)])
def test_what_is_lower_than_low_is_no_flaw_of_a_limit(said: str, fails: bool) -> None:
    assert bool(releases.objections(report_of({}, said), ["low"])) is fails


@pytest.mark.parametrize(
    ("counts", "found"),
    [
        ({"Critical": 0, "Unknown": 2}, ["its scan does not show the severity of 2 of its flaws"]),
        ({"CRITICAL (9.8)": 2}, ["it has 2 critical flaws"]),
        ({"Critical": 0, "Unknown": 0}, []),
        ({"Critical": 0, "Low": 2, "Total": 2}, []),
        ({"Critical": 0, "Low": 1}, []),
    ],
)
def test_the_names_of_counts_are_read_alike(counts: dict[str, int | None], found: list[str]) -> None:
    told = releases.objections(report_of(counts), ["critical"])
    assert len(told) == len(found) and all(
        text.startswith(start) for text, start in zip(told, found, strict=True)
    )


def test_flaws_that_are_counted_and_not_listed_are_missed() -> None:
    """Two warnings are counted and none is listed; what blocks is."""
    verdict = {
        "counts": None,
        "blocking": [{"id": "CVE-1", "package": "zlib", "severity": "High"}],
        "warnings": None,
        "warningCount": 2,
    }
    report = ScanReport.model_validate({"tag": "v1", "scanStatus": "BLOCKED", "scanVerdict": verdict})
    assert releases.severities(report) == ({"high": 1}, "2 of its flaws")


def test_counts_of_all_flaws_stand_for_those_whose_severity_cannot_be_read() -> None:
    counts: dict[str, int | None] = {"Critical": 0, "High": 1, "Medium": 0, "Low": 0}
    assert releases.objections(report_of(counts, "7.5"), ["critical"]) == []
    assert releases.objections(report_of(counts, "7.5", "9.8"), ["critical"])
