# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Images of recovered applications: an archive, or a registry that has them; nothing is ordered without."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hosted_sandbox.testing import Sandbox
from unit.plugins.module_utils._resources.clones.platform import ids_of
from unit.plugins.module_utils._resources.recoveries.platform import Recover, recovering

APP = {"slug": "acme-web", "project": "old", "images": [{"tag": "v1"}], "deployed": "v1"}
DRILL: dict[str, Any] = {"project": "drill", "drill": True, "rename": {"suffix": "-drill"}}


def blueprint(**image: str) -> dict[str, Any]:
    """Return a project with an application."""
    return {"project": "shop", "applications": {"web": {"slug": "acme-web", "image": image}}}


@pytest.fixture
def recover(sandbox: Sandbox, key_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Recover:
    """Recover a project whose application another one has by now."""
    return recovering(sandbox, key_file, tmp_path, monkeypatch, apps=[APP])


def test_a_registry_that_still_has_the_image_gives_it(sandbox: Sandbox, recover: Recover) -> None:
    """By its digest, and by the tag of a release."""
    [app] = sandbox.api("GET", "/api/apps").json()["items"]
    digest = app["imageRef"].partition("@")[2]
    for number, image in enumerate(({"tag": "v1"}, {"tag": "v2", "digest": digest})):
        own = {"project": f"drill-{number}", "drill": True, "rename": {"suffix": f"-drill-{number}"}}
        made = recover(blueprint=blueprint(**image), without_data=["web"], **own)
        assert not made.get("failed"), made["msg"]
        assert "which is gone with the account" in " ".join(made["warnings"])
        apps = {each["slug"]: each["imageRef"] for each in sandbox.api("GET", "/api/apps").json()["items"]}
        assert apps[f"acme-web-drill-{number}"].partition("@")[2] == digest
    assert set(ids_of(sandbox, "old")) == {"acme-web"}


def test_an_image_that_is_nowhere_is_told_before_anything_is_ordered(
    sandbox: Sandbox, recover: Recover
) -> None:
    for image in ({"tag": "v9"}, {"tag": "v1", "digest": f"sha256:{'0' * 64}"}):
        refused = recover(blueprint=blueprint(**image), without_data=["web"], **DRILL)
        assert f"the registry has no image of 'acme-web' with tag '{image['tag']}'" in refused["msg"]
    refused = recover(blueprint=blueprint(tag="v1", archive="/nowhere.tar"), without_data=["web"], **DRILL)
    assert "/nowhere.tar" in refused["msg"]
    assert [each for each in sandbox.writes() if "quote" not in each] == []
