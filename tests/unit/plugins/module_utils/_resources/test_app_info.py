# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading applications, whatever the lists that are not shown look like."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.app_deploy import APP_DEPLOY
from ansible_collections.hosted.services.plugins.module_utils._resources.app_info import APP_INFO
from unit.plugins.apps import Platform, plain, platform, server

__all__ = ["plain", "platform", "server"]


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
