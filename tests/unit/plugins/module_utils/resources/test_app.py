# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Applications: created once, quoted first, within the rules."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils.resources import waiting
from ansible_collections.hosted.services.plugins.module_utils.resources.app import APP
from unit.plugins.apps import Platform, plain, platform, server

__all__ = ["plain", "platform", "server"]
CREATE = "apps.create"


def test_an_application_is_created_once(platform: Platform) -> None:
    """Check mode writes nothing, the first run creates what it said, the second finds it."""
    wish: dict[str, Any] = {"slug": "blog", "host": "Paris 1", "project": "default", "max_monthly": "4"}
    planned = platform.run(APP, check_mode=True, **wish)
    assert platform.writes() == []
    created = platform.run(APP, **wish)
    again = platform.run(APP, **wish)
    assert [planned["changed"], created["changed"], again["changed"]] == [True, True, False]
    assert created["actions"] == planned["actions"]
    assert created["cost"]["monthly_after"] == "3.885"
    assert again["app"] == created["app"]
    assert created["app"]["digest"] is None and created["app"]["image_ref"] is None
    assert len(platform.writes()) == 1
    assert platform.uses_only_application_routes()


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        ({"slug": "ab"}, "2 characters"),
        ({"slug": "a" * 41}, "41 characters"),
        ({"slug": "Shop"}, "lowercase"),
        ({"slug": "shop_1"}, "hyphens"),
        ({"slug": "blog", "host": "node-paris-2"}, "did you mean 'node-paris-1'?"),
        ({"slug": "blog", "host": "node-metal-1"}, "unknown host"),
        ({"slug": "blog", "dimensions": {"cpu_cores": 1}}, "lacks ram_gb, storage_gb"),
        ({"slug": "blog", "max_monthly": "3"}, "over max_monthly 3.00"),
        ({"slug": "blog", "max_monthly": "cheap"}, "must be an amount"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_written(
    platform: Platform, wish: dict[str, Any], said: str
) -> None:
    """The same error in check mode and out of it."""
    planned = platform.run(APP, check_mode=True, **wish)
    refused = platform.run(APP, **wish)
    assert refused["failed"] and said in refused["msg"]
    assert planned["msg"] == refused["msg"]
    assert platform.writes() == []


def test_a_project_may_still_come_in_check_mode_alone(platform: Platform) -> None:
    wish: dict[str, Any] = {"slug": "blog", "project": "defualt"}
    planned = platform.run(APP, check_mode=True, **wish)
    assert planned["changed"] and planned["cost"]["monthly_after"] == "3.885"
    assert planned["diff"]["after"]
    [warning] = planned["warnings"]
    assert "did you mean 'default'?" in warning and "creates it before this task" in warning
    refused = platform.run(APP, **wish)
    assert refused["failed"] and refused["msg"] in warning
    assert platform.writes() == []


def test_a_slug_of_another_account_is_told(platform: Platform) -> None:
    """Whatever the status of the refusal is."""
    theirs = {"Authorization": "Bearer sandbox-other-token"}
    assert platform.sandbox.api("POST", "/api/apps", {"slug": "theirs"}, headers=theirs).ok
    result = platform.run(APP, slug="theirs")
    assert result["failed"] and not result["changed"]
    assert "'theirs'" in result["msg"] and "another" in result["msg"] and "slug" in result["msg"]


@pytest.mark.parametrize("kind", ["reset", "truncated", "html"])
def test_a_lost_answer_creates_no_second_one(plain: Platform, kind: str) -> None:
    """The application that appeared is adopted, and the call is never sent again."""
    options = {} if kind == "truncated" else {"when": "after"}
    plain.sandbox.fault(CREATE, kind, **options)
    result = plain.run(APP, slug="blog")
    assert result["changed"] and result["app"]["slug"] == "blog"
    assert len(plain.writes(CREATE)) == 1


def test_a_call_that_got_lost_is_not_repeated(plain: Platform, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing appears on the list, so the outcome is unknown."""
    monkeypatch.setattr(waiting, "QUIET_SECONDS", 0.0)
    plain.sandbox.fault(CREATE, "reset")
    result = plain.run(APP, slug="blog")
    assert result["failed"] and "is unknown" in result["msg"]
    assert plain.writes(CREATE) == [None]


@pytest.mark.parametrize("status", ["FAILED", "AWAITING_ADMIN"])
def test_a_creation_that_ended_badly_is_told(plain: Platform, status: str) -> None:
    """Waiting ends at once."""
    plain.sandbox.operator(f"services/{plain.app['id']}", status=status, reason="no disk")
    result = plain.run(APP)
    assert result["failed"] and status in result["msg"]


def test_a_creation_under_way_is_waited_for(plain: Platform) -> None:
    """Until it is over, or for as long as the user gave it."""
    plain.sandbox.operator(f"services/{plain.app['id']}", status="PROVISIONING")
    result = plain.run(APP, wait_timeout=0.3)
    assert result["failed"] and "PROVISIONING" in result["msg"]
    assert not plain.run(APP, wait=False).get("failed")
