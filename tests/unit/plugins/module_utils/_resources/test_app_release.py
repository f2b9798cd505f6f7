# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Releases: whether their image was pushed, and what becomes of a declaration."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.errors import (
    ConnectionFailed,
    ServerFailure,
    error_for_status,
    leaves_open,
)
from ansible_collections.hosted.services.plugins.module_utils._api.registry import Repository
from ansible_collections.hosted.services.plugins.module_utils._resources import app_release
from ansible_collections.hosted.services.plugins.module_utils._resources.app_deploy import APP_DEPLOY
from ansible_collections.hosted.services.plugins.module_utils._resources.app_release import APP_RELEASE
from unit.plugins.apps import Platform, plain, platform, server

__all__ = ["plain", "platform", "server"]
DECLARE = "releases.declare"
NOT_PUSHED = f"sha256:{'0' * 64}"


def test_an_image_that_was_not_pushed_is_told(platform: Platform) -> None:
    """With what to do; before anything is sent if it should be there, and by check mode."""
    wish: dict[str, Any] = {"tag": "new", "digest": NOT_PUSHED}
    result = platform.run(APP_RELEASE, pushed=True, **wish)
    assert result["failed"] and not result["changed"]
    assert "was not declared" in result["msg"] and "app_image" in result["msg"]
    planned = platform.run(APP_RELEASE, check_mode=True, **wish)
    assert planned["changed"] and planned["warnings"][0].startswith(result["msg"])
    assert platform.run(APP_RELEASE, check_mode=True, pushed=True, **wish)["msg"] == result["msg"]
    assert platform.writes() == []
    refused = platform.run(APP_RELEASE, **wish)
    assert refused["failed"] and not refused["changed"] and "app_image" in refused["msg"]
    assert platform.uses_only_application_routes()


@pytest.mark.parametrize(("status", "refused"), [(401, True), (403, True), (500, False)])
def test_a_registry_that_denies_an_unknown_repository_has_no_image_in_it(
    plain: Platform, monkeypatch: pytest.MonkeyPatch, status: int, refused: bool
) -> None:
    """It need not say 404. One that is out of order tells nothing, and the check is left to the platform."""

    def deny(self: Repository, reference: str) -> str | None:
        raise ServerFailure("denied") if leaves_open(status) else error_for_status("denied", status)

    monkeypatch.setattr(Repository, "digest_of", deny)
    wish: dict[str, Any] = {"tag": "new", "digest": plain.digests["v1"], "pushed": True}
    assert bool(plain.run(APP_RELEASE, check_mode=True, slug="sshop", **wish).get("failed")) is refused
    assert plain.run(APP_RELEASE, check_mode=True, **wish)["changed"]  # here it says nothing


def test_a_registry_that_cannot_be_asked_keeps_nobody_from_declaring(
    plain: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The platform checks the digest then, and its refusal says as much."""

    def unreachable(task: Any, slug: str) -> Any:
        raise ConnectionFailed("the registry cannot be reached")

    monkeypatch.setattr(app_release, "open_repository", unreachable)
    assert plain.run(APP_RELEASE, tag="new", digest=plain.digests["v1"], pushed=True)["changed"]
    result = plain.run(APP_RELEASE, tag="other", digest=NOT_PUSHED, pushed=True)
    assert result["failed"] and not result["changed"]
    assert "was not declared" in result["msg"] and "app_image" in result["msg"]
    assert len(plain.writes(DECLARE)) == 2


def test_a_tag_that_is_listed_late_as_moved_is_declared_once(plain: Platform) -> None:
    """Until then the list shows the image before."""
    plain.sandbox.profile("plain", **{"delay": "one read late"})
    wish: dict[str, Any] = {"tag": "v1", "digest": plain.digests["v2"]}
    assert [plain.run(APP_RELEASE, **wish)["changed"] for _run in range(2)] == [True, False]
    assert len(plain.writes(DECLARE)) == 1
    assert plain.run(APP_DEPLOY, tag="v1")["changed"] and plain.in_service == plain.digests["v2"]
