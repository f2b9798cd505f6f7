# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Images of clones, on a real registry."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.clone import IMAGE
from hosted_sandbox.testing import Sandbox
from unit.plugins.module_utils._resources.platform import run

SHOP = {"slug": "acme-shop", "images": [{"tag": "v1"}], "deployed": "v1"}


@pytest.fixture
def digest(sandbox: Sandbox) -> str:
    """The digest that an application runs, beside one that runs nothing."""
    sandbox.seed({"apps": [SHOP, {"slug": "acme-copy"}]})
    apps = sandbox.api("GET", "/api/apps").json()["items"]
    return str(next(app["imageRef"] for app in apps if app["slug"] == "acme-shop").partition("@")[2])


def test_an_image_is_copied_once(sandbox: Sandbox, digest: str) -> None:
    given: dict[str, Any] = {"source_slug": "acme-shop", "slug": "acme-copy", "digest": digest}
    planned = run(sandbox, IMAGE, check_mode=True, **given)
    assert planned["actions"][0].startswith(f"copy image {digest} from ")
    assert (planned["image"]["mounted"], planned["image"]["sent"]) == (0, 0), "nothing was copied"
    done = run(sandbox, IMAGE, **given)
    assert done["changed"] and done["image"]["mounted"] and not done["image"]["sent"]
    assert not run(sandbox, IMAGE, **given)["changed"]


def test_a_repository_that_is_not_there_yet_lacks_it(sandbox: Sandbox, digest: str) -> None:
    """It is created with the application."""
    given = {"source_slug": "acme-shop", "slug": "acme-later", "digest": digest, "exists": False}
    assert run(sandbox, IMAGE, check_mode=True, **given)["changed"]


def test_an_image_that_is_gone_is_refused(sandbox: Sandbox, digest: str) -> None:
    gone = f"sha256:{'0' * 64}"
    refused = run(sandbox, IMAGE, source_slug="acme-shop", slug="acme-copy", digest=gone)
    assert f"no longer has the image {gone} that 'acme-shop' runs" in refused["msg"]
