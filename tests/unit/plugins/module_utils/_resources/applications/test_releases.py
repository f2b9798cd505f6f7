# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Releases on platforms that refuse a scan that is not ready, or show little of it."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources import app_deploy
from ansible_collections.hosted.services.plugins.module_utils._resources.app_deploy import APP_DEPLOY
from ansible_collections.hosted.services.plugins.module_utils._resources.app_image import APP_IMAGE
from ansible_collections.hosted.services.plugins.module_utils._resources.app_release import APP_RELEASE
from hosted_sandbox.registry.images import build_image
from unit.plugins.apps import Platform, plain, server

__all__ = ["plain", "server"]
DECLARE, DEPLOY = "releases.declare", "apps.deploy"


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
