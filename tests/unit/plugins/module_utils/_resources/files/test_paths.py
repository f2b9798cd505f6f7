# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths on a service."""

from __future__ import annotations

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.files.paths import (
    is_root,
    relative_path,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid


@pytest.mark.parametrize(
    ("path", "plain"),
    [
        ("a", "a"),
        ("./a//b/", "a/b"),
        (".", ""),
        ("", ""),
        ("a..b/..c", "a..b/..c"),
        ("~a", "~a"),
        ("100%", "100%"),
        ("a\nb", "a\nb"),
        ("/a/b", "a/b"),
    ],
)
def test_good_paths(path: str, plain: str) -> None:
    assert relative_path("path", path) == plain


@pytest.mark.parametrize(
    "path",
    ["..", "a/..", "../a", "a/../b", "..\\a", "a\\..\\b", "%2e%2e/a", "a/%2E./b", "..%2fa"],
)
def test_climbing_paths(path: str) -> None:
    with pytest.raises(Invalid, match=r"'\.\.'"):
        relative_path("path", path)


@pytest.mark.parametrize(
    ("path", "hint", "rooted"),
    [
        ("/a/b", "'a/b'", False),
        *((path, hint, True) for path, hint in (("//a", "'a'"), ("/", "'.'"), ("//", "'.'"))),
        *((path, hint, True) for path, hint in (("~/a", "'a'"), ("~", "'.'"), ("/~/a", "'a'"))),
    ],
)
def test_absolute_paths(path: str, hint: str, rooted: bool) -> None:
    with pytest.raises(Invalid, match="relative to the root") as caught:
        relative_path("path", path, rooted=rooted)
    assert hint in caught.value.message


@pytest.mark.parametrize(
    ("path", "root"),
    [
        *((path, True) for path in ("", ".", "/", "./", "//.", "~", "~/", "~/.")),
        *((path, False) for path in ("a", "~a", "~/a", "/a", "./a/.", "~/~")),
    ],
)
def test_the_root_is_known_however_it_is_written(path: str, root: bool) -> None:
    assert is_root(path) is root


def test_null_character() -> None:
    with pytest.raises(Invalid, match="null character"):
        relative_path("path", "a\0b")
