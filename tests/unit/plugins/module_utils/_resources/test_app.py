# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Applications: created once, and what another run creates meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import routes as r
from ansible_collections.hosted.services.plugins.module_utils._resources import app
from ansible_collections.hosted.services.plugins.module_utils._resources.app import APP
from unit.plugins.apps import Platform, plain, platform, server
from unit.plugins.module_utils._resources.platform import before_each

__all__ = ["plain", "platform", "server"]
CREATE = "apps.create"


def test_a_slug_of_another_account_is_told(platform: Platform) -> None:
    """Whatever the status of the refusal is."""
    theirs = {"Authorization": "Bearer sandbox-other-token"}
    assert platform.sandbox.api("POST", "/api/apps", {"slug": "theirs"}, headers=theirs).ok
    result = platform.run(APP, slug="theirs")
    assert result["failed"] and not result["changed"]
    assert "'theirs'" in result["msg"] and "another" in result["msg"] and "slug" in result["msg"]


@pytest.mark.parametrize("status", ["FAILED", "AWAITING_ADMIN"])
def test_a_creation_that_ended_badly_is_told(plain: Platform, status: str) -> None:
    """Waiting ends at once."""
    plain.sandbox.operator(f"services/{plain.app['id']}", status=status, reason="no disk")
    result = plain.run(APP)
    assert result["failed"] and status in result["msg"]


def test_an_application_may_stay_provisioning_until_its_first_deploy(plain: Platform) -> None:
    """It is not waited for for ever."""
    plain.sandbox.profile("plain", **{"app.first_status": "PROVISIONING"})
    result = plain.run(APP, slug="blog", wait_timeout=600)
    assert result["changed"] and result["app"]["status"] == "PROVISIONING"
    assert "warnings" not in result


# --- What another run creates in the meantime ---------------------------------------------------------


def outrun(monkeypatch: pytest.MonkeyPatch, platform: Platform, in_its_turn: bool) -> None:
    """Let another run create a big `blog` after this one has planned to create a small one."""
    size = {"cpuCores": 2, "ramGb": 4, "storageGb": 10}

    def create_other(*given: Any) -> None:
        options = {"slug": "blog", "hostId": "node-paris-1", "dimensions": size}
        if platform.sandbox.api("POST", "/api/apps", options).ok:
            platform.sandbox.clear_journal()

    @contextmanager
    def turn(*given: Any) -> Iterator[None]:
        create_other()
        yield

    if in_its_turn:
        before_each(monkeypatch, r.APP_CREATE, create_other)
    else:
        monkeypatch.setattr(app, "one_at_a_time", turn)


@pytest.mark.parametrize("in_its_turn", [False, True])
@pytest.mark.parametrize("wait", [True, False])
def test_an_application_of_another_run_is_no_change_of_this_one(
    plain: Platform, monkeypatch: pytest.MonkeyPatch, in_its_turn: bool, wait: bool
) -> None:
    """Nor does it cost anything that this task would have to tell. It is compared as one that was there."""
    outrun(monkeypatch, plain, in_its_turn)
    result = plain.run(APP, slug="blog", wait=wait, token=plain.sandbox.token, max_monthly="4")
    assert plain.writes(CREATE) == ([400] if in_its_turn else [])
    assert (result["changed"], result["actions"]) == (False, [])
    assert "cost" not in result and result["app"]["slug"] == "blog" and result["app"]["id"]
    assert result["diff"]["before"] == result["diff"]["after"]
    appeared, compared = result["warnings"]
    assert "used" in appeared and " EUR a month, over max_monthly 4.00 EUR" in compared
