# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of releases, of which no form is shown: what it tells, and what it leaves open."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.applications.release_list import (
    DeclaredReleases,
    ListedRelease,
    read_declared,
)
from unit.plugins.fakes import FakeClient

DIGEST = "sha256:" + "a" * 64


class Account(FakeClient):
    """An application with a list of releases."""

    def __init__(self, *answers: Any) -> None:
        super().__init__()
        self.answers = list(answers)

    def releases(self, slug: str, query: dict[str, Any]) -> Any:
        return self.answers.pop(0)


def declared(*answers: Any, tag: str | None = None) -> DeclaredReleases:
    """Read the list."""
    return read_declared(Account(*answers), "shop", tag)  # type: ignore[arg-type]


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
    assert found.has("v1") is True and found.has("v2") is False


def test_all_images_that_a_tag_is_listed_for_are_read() -> None:
    other = DIGEST.replace("a", "b")
    found = declared([{"tag": "v1", "digest": other}, {"tag": "v1"}, {"tag": "v1", "digest": DIGEST}])
    assert found.digest("v1") == DIGEST and found.digests("v1") == [DIGEST, other]
    assert declared([{"tag": "v1"}]).digests("v1") == found.digests("v2") == []


@pytest.mark.parametrize("answer", ["text", [{"tag": "v1"}, {"other": 1}], {"count": 1}])
def test_a_list_that_cannot_be_read_says_of_no_tag_that_it_is_not_declared(answer: Any) -> None:
    found = declared(answer)
    assert found.has("v1") is None and found.note is not None and "cannot be read" in found.note
    assert found.leaves_out("v1")


@pytest.mark.parametrize(("total", "count"), [(3, "1 of 3"), (None, "only 1")])
def test_a_list_that_is_not_whole_says_so(total: int | None, count: str) -> None:
    signs = {"hasMore": True} if total is None else {"total": total}
    found = declared(*[{"items": [{"tag": "v1"}], **signs}] * 2)
    assert found.has("v1") is True and found.has("v2") is None
    assert found.note is not None and f"shows {count}, and not how" in found.note


def test_no_more_pages_are_read_than_it_takes() -> None:
    page = {"items": [{"tag": "v1"}], "hasMore": True}
    assert declared(page, tag="v1").has("v1") is True
