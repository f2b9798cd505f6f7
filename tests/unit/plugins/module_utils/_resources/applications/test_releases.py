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

from ansible_collections.hosted.services.plugins.module_utils._api.errors import Interrupted, UnexpectedAnswer
from ansible_collections.hosted.services.plugins.module_utils._api.models import ScanReport
from ansible_collections.hosted.services.plugins.module_utils._resources import app_deploy
from ansible_collections.hosted.services.plugins.module_utils._resources.app_deploy import APP_DEPLOY
from ansible_collections.hosted.services.plugins.module_utils._resources.app_image import APP_IMAGE
from ansible_collections.hosted.services.plugins.module_utils._resources.app_info import APP_INFO
from ansible_collections.hosted.services.plugins.module_utils._resources.app_release import APP_RELEASE
from ansible_collections.hosted.services.plugins.module_utils._resources.applications import (
    releases,
)
from hosted_sandbox.registry.images import build_image
from integration.proxy_server import ProxyServer, running
from unit.plugins.apps import Platform, plain, server
from unit.plugins.fakes import FakeClient, task_of

__all__ = ["plain", "server"]
DECLARE, DEPLOY = "releases.declare", "apps.deploy"
DIGEST = f"sha256:{'a' * 64}"


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


def test_a_scan_that_is_not_there_while_it_runs_is_pending(plain: Platform) -> None:
    """The release is on the list: it is waited for, never declared again, and never called undeclared."""
    plain.sandbox.profile("plain", **{"refusal.scan_unfinished": "404"})
    plain.sandbox.delays(scan_wait=0)
    pending(plain, "v2")
    wish: dict[str, Any] = {"tag": "v2", "digest": plain.digests["v2"]}
    for resource in (APP_RELEASE, APP_DEPLOY):
        result = plain.run(resource, **wish, wait_timeout=1)
        assert result["failed"] and not result["changed"]
        assert "gave up waiting" in result["msg"] and "not declared" not in result["msg"]
    hurried = plain.run(APP_RELEASE, **wish, wait=False)
    assert hurried["release"]["scan_status"] == "PENDING" and not hurried["changed"]
    assert plain.writes() == []


def test_a_verdict_that_comes_after_a_refusal_is_taken(plain: Platform) -> None:
    """The deploy is refused while the analysis runs, and so is the scan: both are asked again."""
    plain.sandbox.profile("plain", **{"refusal.scan_unfinished": "404"})
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
    said = "its scan does not count its critical flaws, its scan does not count its high flaws"
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


class Shop(FakeClient):
    """An application with these releases."""

    def __init__(self, **made: str | None) -> None:
        super().__init__()
        self.entries = [{"tag": tag, "digest": DIGEST, "createdAt": when} for tag, when in made.items()]

    def releases(self, slug: str) -> list[dict[str, Any]]:
        return self.entries

    def scan(self, slug: str, tag: str, seconds: float | None = None) -> ScanReport | None:
        """The scan of `running` is held back while it runs, that of `unknown` is not there."""
        if tag == "running":
            raise Interrupted("no response yet")
        return None if tag == "unknown" else ScanReport(digest="another", scan_status="PASSED")


@pytest.mark.parametrize(
    ("made", "order"),
    [
        ({"v1": "2026-01-03", "v2": "2026-01-01", "v3": "2026-01-02"}, ["v2", "v3", "v1"]),
        ({"v1": None, "v2": None, "running": None}, ["v1", "v2", "running"]),
    ],
)
def test_releases_are_in_the_order_of_their_declaration(
    made: dict[str, str | None], order: list[str]
) -> None:
    """Or else in that of the list."""
    client: Any = Shop(**made)
    declared = releases.read_declared(client, "shop")
    found = releases.all_releases(task_of(APP_INFO, client, slug="shop"), "shop", declared)
    assert [release.tag for release in found] == order


def test_a_release_whose_scan_is_not_shown_is_pending() -> None:
    """The digest is that of the list."""
    client: Any = Shop(running="2026-01-01", unknown="2026-01-02", v1="2026-01-03")
    declared = releases.read_declared(client, "shop")
    found = releases.all_releases(task_of(APP_INFO, client, slug="shop"), "shop", declared)
    assert [release.scan_status for release in found] == ["PENDING", "PENDING", "PASSED"]
    assert {release.digest for release in found} == {DIGEST}


@pytest.mark.parametrize("entry", [{"other": 1}, {"tag": "v1"}, {"digest": DIGEST}])
def test_a_list_without_tags_or_digests_is_not_taken_for_an_empty_one(entry: dict[str, Any]) -> None:
    client: Any = Shop(v1=None)
    client.entries.append(entry)
    with pytest.raises(UnexpectedAnswer, match="of 'shop' has an entry without a tag or a digest"):
        releases.read_declared(client, "shop")


def test_a_severity_is_limited_by_the_counts_of_the_scan() -> None:
    verdict = {"counts": {"Critical": 1, "High": 0, "Low": 2}}
    report = ScanReport.model_validate({"scanStatus": "WARNED", "scanVerdict": verdict})
    assert releases.objections(report, ["high"]) == []
    assert releases.objections(report, ["critical", "low"]) == [
        "it has 1 critical flaw",
        "it has 2 low flaws",
    ]
    assert releases.objections(report, ["medium"]) == ["its scan does not count its medium flaws"]
