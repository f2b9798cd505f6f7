# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Applications and their releases: what a plan does not show; tests/unit/data has the rest."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import routes as r
from ansible_collections.hosted.services.plugins.module_utils._api.errors import (
    ConnectionFailed,
)
from ansible_collections.hosted.services.plugins.module_utils._resources import app, app_release
from ansible_collections.hosted.services.plugins.module_utils._resources.app import APP
from ansible_collections.hosted.services.plugins.module_utils._resources.app_deploy import APP_DEPLOY
from ansible_collections.hosted.services.plugins.module_utils._resources.app_info import APP_INFO
from ansible_collections.hosted.services.plugins.module_utils._resources.app_release import APP_RELEASE
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


def previous(platform: Platform, **options: Any) -> tuple[str | None, str | None]:
    """Return the tag of the release before, and the note."""
    (shop,) = platform.run(APP_INFO, include=["releases"], **options)["apps"]
    release = shop["previous_release"]
    return (release["tag"] if release else None), shop["previous_release_note"]


def test_the_version_before_is_the_one_that_was_in_service(platform: Platform) -> None:
    """By digest. One that was declared in between and never deployed is none, nor one that did not start."""
    tag, note = previous(platform)
    assert tag is None and note and "is not known on this controller" in note
    assert platform.run(APP_DEPLOY, tag="broken", rollback=True)["failed"]
    assert platform.run(APP_DEPLOY, tag="v2")["changed"]
    assert previous(platform) == ("v1", None)
    assert not platform.run(APP_DEPLOY, tag="v2")["changed"]
    assert previous(platform) == ("v1", None)


@pytest.mark.parametrize(
    ("tag", "rollback", "values"),
    [
        ("broken", True, {}),
        ("broken", False, {"deploy.failed": "the previous version runs again"}),
        ("blocked", False, {}),
    ],
)
def test_a_deploy_that_failed_and_is_undone_leaves_nothing_to_go_back_from(
    tag: str, rollback: bool, values: dict[str, str], plain: Platform
) -> None:
    """Whoever rolls back then wants what is in service already, not the one before that."""
    plain.sandbox.profile("plain", **values)
    assert plain.run(APP_DEPLOY, tag="v2")["changed"]
    assert plain.run(APP_DEPLOY, tag=tag, rollback=rollback)["failed"]
    assert plain.in_service == plain.digests["v2"]
    before, note = previous(plain)
    assert before is None and note and f"the deploy of {plain.digests[tag]} failed" in note
    assert plain.run(APP_DEPLOY, tag="v2", force=True)["changed"]
    assert previous(plain) == ("v1", None), "the next one that succeeds begins anew"


def test_after_a_deploy_from_elsewhere_nobody_knows(plain: Platform, tmp_path: Path) -> None:
    """Its controller has its own records; a state_dir that both use tells."""
    shared: dict[str, Any] = {"state_dir": str(tmp_path / "shared")}
    assert plain.run(APP_DEPLOY, tag="v2", **shared)["changed"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ANSIBLE_HOME", str(tmp_path / "elsewhere"))
        assert previous(plain, **shared) == ("v1", None)
        assert plain.run(APP_DEPLOY, tag="v1")["changed"]
        assert previous(plain) == ("v2", None)
    tag, note = previous(plain)
    assert tag is None and note


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
