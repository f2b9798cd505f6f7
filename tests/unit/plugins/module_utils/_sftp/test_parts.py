# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Patterns, folders, channels and blocks of a transfer."""

from __future__ import annotations

import pytest

from ansible_collections.hosted.services.plugins.module_utils._sftp.trees import Patterns


@pytest.mark.parametrize(
    ("pattern", "path", "directory", "matches"),
    [
        ("*.log", "a.log", False, True),
        ("*.log", "deep/er/a.log", False, True),
        ("*.log", "a.log.gz", False, False),
        ("*.log", "logs.log/inner", False, True),
        ("cache", "deep/cache/file", False, True),
        ("cache/", "cache", True, True),
        ("cache/", "cache", False, False),
        ("cache/", "deep/cache/x", False, True),
        ("/cache", "cache", False, True),
        ("/cache", "deep/cache", False, False),
        ("world/*.tmp", "world/a.tmp", False, True),
        ("world/*.tmp", "world/deep/a.tmp", False, False),
        ("world/*.tmp", "other/world/a.tmp", False, False),
        ("world/**/*.tmp", "world/a.tmp", False, True),
        ("world/**/*.tmp", "world/b/c/a.tmp", False, True),
        ("world/**", "world/b/c", False, True),
        ("world/**", "world", True, False),
        ("**/b", "a/b", False, True),
        ("**/b", "b", False, True),
        ("a?c", "abc", False, True),
        ("a?c", "a/c", False, False),
        ("[ab].txt", "b.txt", False, True),
        ("[!ab].txt", "b.txt", False, False),
        ("[!ab].txt", "c.txt", False, True),
        ("x[!a]y", "x/y", False, False),
        ("a.c", "abc", False, False),
        ("(a|b)", "a", False, False),
        ("*", "line\nbreak", False, True),
        ("*", ".hidden", False, True),
        ("./data.db", "data.db", False, True),
        ("./data.db", "deep/data.db", False, False),
        ("././deep/*.db", "deep/data.db", False, True),
        ("./cache/", "cache", True, True),
    ],
)
def test_pattern(pattern: str, path: str, directory: bool, matches: bool) -> None:
    assert Patterns(exclude=[pattern]).excludes(path, directory) is matches
    assert Patterns(include=[pattern]).includes(path, directory) is matches


def test_patterns_that_excluded_nothing_are_known() -> None:
    patterns = Patterns(exclude=["*.log", "./data.db", "*.lgo", "logs/", "logs/kept", "other/kept"])
    for path, directory in (("a.log", False), ("data.db", False), ("logs", True), ("b.txt", False)):
        patterns.excludes(path, directory)
    assert patterns.unused == ["*.lgo", "other/kept"], "what is below an excluded directory is not looked at"
