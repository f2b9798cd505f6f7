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


def test_an_application_is_created_once(platform: Platform) -> None:
    wish: dict[str, Any] = {"slug": "blog", "host": "Paris 1", "project": "default", "max_monthly": "4"}
    created = platform.run(APP, **wish)
    assert platform.uses_only_application_routes()
    again = platform.run(APP, **wish)
    assert [created["changed"], again["changed"]] == [True, False]
    assert again["app"] == created["app"]
    assert created["app"]["digest"] is None and created["app"]["image_ref"] is None
    assert len(platform.writes()) == 1
    asked = {line["template"] for line in platform.sandbox.journal()}
    assert not any(path.startswith("/api/resources") for path in asked)


def test_what_was_quoted_is_what_is_created(plain: Platform) -> None:
    """Left open, the platform would choose node and size again, and bill what it then finds."""
    assert plain.run(APP, slug="blog", max_monthly="4")["changed"]
    [quote] = [line for line in plain.sandbox.journal() if line["route"] == "apps.quote"]
    [create] = [line for line in plain.sandbox.journal() if line["route"] == CREATE]
    assert quote["body"] == {"hostId": None, "dimensions": None}
    priced = {name: quote["answer"][name] for name in ("hostId", "dimensions")}
    assert priced == {name: create["body"][name] for name in priced} and all(priced.values())


def test_a_slug_of_another_account_is_told(platform: Platform) -> None:
    """Whatever the status of the refusal is."""
    theirs = {"Authorization": "Bearer sandbox-other-token"}
    assert platform.sandbox.api("POST", "/api/apps", {"slug": "theirs"}, headers=theirs).ok
    result = platform.run(APP, slug="theirs")
    assert result["failed"] and not result["changed"]
    assert "'theirs'" in result["msg"] and "another" in result["msg"] and "slug" in result["msg"]


def test_a_slug_of_an_application_that_is_being_deleted_is_told(plain: Platform) -> None:
    """It is neither taken for one that is there, nor for one of another account."""
    plain.sandbox.profile("plain", **{"delay": "a second late"})
    plain.sandbox.delays(delete=600)
    assert plain.sandbox.api("DELETE", f"/api/resources/{plain.app['id']}").ok
    plain.sandbox.clock(advance=1)  # until the list of applications shows it
    result = plain.run(APP)
    assert result["failed"] and not result["changed"]
    assert "is still being deleted" in result["msg"] and "account" not in result["msg"]


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
