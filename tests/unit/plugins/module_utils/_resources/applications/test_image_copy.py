# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Copies of images between repositories of one registry, byte for byte."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.models import RegistryCredentials
from ansible_collections.hosted.services.plugins.module_utils._api.registry import Repository
from ansible_collections.hosted.services.plugins.module_utils._resources.app_image import APP_IMAGE
from ansible_collections.hosted.services.plugins.module_utils._resources.applications.image_copy import (
    ImageCopy,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import NoSuchItem
from hosted_sandbox.registry.images import build_image
from hosted_sandbox.testing import Sandbox
from unit.plugins.module_utils._resources.platform import run

INDEX = "application/vnd.oci.image.index.v1+json"


@pytest.fixture
def repositories(sandbox: Sandbox, tmp_path: Path) -> tuple[Repository, Repository, str]:
    """The repository of an application with an image, that of another one, and the digest."""
    sandbox.seed({"apps": [{"slug": "acme-shop"}, {"slug": "acme-shop-staging"}]})
    digest = build_image(tmp_path / "image.tar", files={"app/server": b"x" * 100_000})
    run(sandbox, APP_IMAGE, slug="acme-shop", path=str(tmp_path / "image.tar"))
    credentials = RegistryCredentials(**sandbox.api("GET", "/api/registry/credentials").json())
    return Repository(credentials, "acme-shop"), Repository(credentials, "acme-shop-staging"), digest


def test_the_registry_takes_over_what_it_has(repositories: tuple[Repository, Repository, str]) -> None:
    source, target, digest = repositories
    copy = ImageCopy(task_of(), source, target, digest)
    assert not copy.is_there()
    copy.run()
    assert copy.is_there() and copy.sent == 0 and copy.mounted
    assert target.manifest(digest) == source.manifest(digest)


def test_a_registry_that_takes_nothing_over_is_sent_everything(
    repositories: tuple[Repository, Repository, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target, digest = repositories
    monkeypatch.setattr(target, "mount_blob", lambda digest, source: False)
    copy = ImageCopy(task_of(), source, target, digest)
    copy.run()
    assert copy.is_there() and copy.sent and copy.mounted == 0
    again = ImageCopy(task_of(), source, target, digest)
    again.run()
    assert (again.sent, again.mounted) == (0, 0)


def test_an_index_comes_with_all_of_its_images(repositories: tuple[Repository, Repository, str]) -> None:
    source, target, image = repositories
    content, media_type = source.manifest(image)
    entry = {"mediaType": media_type, "digest": image, "size": len(content)}
    index = json.dumps({"schemaVersion": 2, "mediaType": INDEX, "manifests": [entry]}).encode()
    source.put_manifest(index, INDEX, "all")
    digest = source.digest_of("all")
    assert digest
    ImageCopy(task_of(), source, target, digest).run()
    assert target.digest_of(digest) == digest and target.digest_of(image) == image


def test_an_image_that_is_gone_is_named(repositories: tuple[Repository, Repository, str]) -> None:
    source, target, _digest = repositories
    gone = f"sha256:{'0' * 64}"
    with pytest.raises(NoSuchItem, match=f"acme-shop holds no image {gone}"):
        ImageCopy(task_of(), source, target, gone).run()


def task_of() -> Any:
    """Return as much of a task as a copy needs: what its threads get is not used."""
    client = SimpleNamespace(close=lambda: None, set_pace=lambda *given: None)
    client.clone = lambda: client
    return SimpleNamespace(client=client)
