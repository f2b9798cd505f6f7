# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Images of recovered applications: an archive, or a registry that has them; nothing is ordered without."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.models import Entry
from ansible_collections.hosted.services.plugins.module_utils._resources import recover as module
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.contents import (
    Contents,
    read_contents,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.document import Document
from ansible_collections.hosted.services.plugins.module_utils._resources.recover import find_images
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Task
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import (
    Invalid,
    NoSuchItem,
)
from hosted_sandbox.testing import Sandbox
from unit.plugins.module_utils._resources.clones.platform import ids_of
from unit.plugins.module_utils._resources.recoveries.platform import Recover, member, options, recovering

APP = {"slug": "acme-web", "project": "old", "images": [{"tag": "v1"}], "deployed": "v1"}
DRILL: dict[str, Any] = {"project": "drill", "drill": True, "rename": {"suffix": "-drill"}}

DIGEST = f"sha256:{'1' * 64}"


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


# --- Which image ----------------------------------------------------------------------------------------


class Registry:
    """An account whose registry has one image of one application, which was declared as v1."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.told: list[str] = []
        self.warnings: list[str] = []
        monkeypatch.setattr(module, "open_repository", self.open)

    def open(self, task: Any, slug: str) -> Any:
        """Open a repository."""
        if slug != "acme-web":
            raise NoSuchItem("there is no such repository")
        return SimpleNamespace(digest_of=lambda digest: digest if digest == DIGEST else None)

    def pages(self, _releases: Any, slug: str) -> list[Entry]:
        """Return the declared releases."""
        return [Entry.model_validate({"tag": "v1", "digest": DIGEST})] if slug == "acme-web" else []

    def find(
        self, there: tuple[str, ...] = (), **applications: dict[str, Any]
    ) -> tuple[Contents, dict[str, str]]:
        """Find the images of applications, in a project where some are already."""
        file = read_contents(Document({"project": "shop", "applications": applications}, ""))
        own = options()
        task: Task[Any] = Task(cast(Any, self), own, warnings=self.warnings)
        task.progress = self.told.append
        return find_images(task, file, file, {key: member(key) for key in there})


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Registry:
    """A registry in memory."""
    return Registry(monkeypatch)


@pytest.mark.parametrize("image", [{"tag": "v1"}, {"tag": "v9", "digest": DIGEST}])
def test_an_image_is_named_by_its_digest_and_the_slug_that_has_it(
    image: dict[str, str], registry: Registry
) -> None:
    contents, sources = registry.find(web={"slug": "acme-web", "image": image})
    assert sources == {"web": "acme-web"}
    [web] = contents.applications
    assert web.values == {"slug": "acme-web", "image": {**image, "digest": DIGEST}}
    assert registry.warnings[0].startswith("the images of web come from the registry of the account")


def test_what_has_an_archive_or_no_image_or_is_there_needs_nothing(registry: Registry) -> None:
    described: dict[str, Any] = {
        "web": {"slug": "acme-web", "image": {"tag": "v7", "archive": "/srv/web.tar"}},
        "new": {"slug": "acme-new"},
        "old": {"slug": "acme-old", "image": {"tag": "v7"}},
    }
    contents, sources = registry.find(("old",), **described)
    assert [each.values for each in contents.applications] == list(described.values())
    assert sources == {} and registry.warnings == []


def test_all_images_that_are_nowhere_are_named_at_once(registry: Registry) -> None:
    """Because the digest is gone, the release was never declared, or there is no repository."""
    lacking: dict[str, Any] = {
        "one": {"slug": "acme-one", "image": {"tag": "v1"}},
        "two": {"slug": "acme-two", "image": {"tag": "v1", "digest": DIGEST}},
    }
    with pytest.raises(Invalid, match="no image of 'acme-one' with tag 'v1', 'acme-two' with tag 'v1', and"):
        registry.find(web={"slug": "acme-web", "image": {"tag": "v1"}}, **lacking)
    assert registry.told == ["the image of acme-two cannot be looked up: there is no such repository"]
    for image in ({"tag": "v1", "digest": f"sha256:{'2' * 64}"}, {"tag": "v2"}):
        with pytest.raises(Invalid, match="has no image of 'acme-web' with tag"):
            registry.find(web={"slug": "acme-web", "image": image})
