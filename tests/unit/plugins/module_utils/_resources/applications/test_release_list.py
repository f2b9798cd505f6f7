# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of releases, of which no field is shown."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.errors import UnexpectedAnswer
from ansible_collections.hosted.services.plugins.module_utils._resources.applications.release_list import (
    DeclaredReleases,
    ListedRelease,
    read_declared,
)
from unit.plugins.fakes import FakeClient

DIGEST = "sha256:" + "a" * 64


class Account(FakeClient):
    """An application with a list of releases."""

    def __init__(self, entries: list[dict[str, Any]]) -> None:
        super().__init__()
        self.entries = entries

    def releases(self, slug: str) -> list[dict[str, Any]]:
        return self.entries


def declared(entries: list[dict[str, Any]]) -> DeclaredReleases:
    """Read the list."""
    return read_declared(Account(entries), "shop")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "entry",
    [
        {"tag": "v1", "digest": DIGEST, "createdAt": "then"},
        {"name": "v1", "image": {"digest": DIGEST}, "declaredAt": "then"},
        {"tag": "v1", "imageDigest": DIGEST, "releasedAt": "then"},
    ],
)
def test_a_release_is_read_in_any_form(entry: dict[str, Any]) -> None:
    found = declared([entry])
    assert found == DeclaredReleases({"v1": ListedRelease(DIGEST, "then")})
    assert found.digest("v1") == DIGEST and found.digest("v2") is None


def test_all_images_that_a_tag_is_listed_for_are_read() -> None:
    other = DIGEST.replace("a", "b")
    found = declared([{"tag": "v1", "digest": other}, {"tag": "v1"}, {"tag": "v1", "digest": DIGEST}])
    assert found.digest("v1") == DIGEST and found.digests("v1") == [DIGEST, other]
    assert declared([{"tag": "v1"}]).digests("v1") == found.digests("v2") == []


def test_a_list_without_tags_is_not_taken_for_an_empty_one() -> None:
    with pytest.raises(UnexpectedAnswer, match="list of releases of 'shop' has an entry without a tag"):
        declared([{"tag": "v1"}, {"other": 1}])
