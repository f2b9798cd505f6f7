# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading applications, whatever the lists that are not shown look like."""

from __future__ import annotations

import pytest

from ansible_collections.hosted.services.plugins.module_utils.resources.app_deploy import APP_DEPLOY
from ansible_collections.hosted.services.plugins.module_utils.resources.app_info import APP_INFO
from ansible_collections.hosted.services.plugins.module_utils.resources.apps import entries, log_lines
from ansible_collections.hosted.services.plugins.module_utils.resources.releases import (
    Release,
    previous_release,
)
from unit.plugins.apps import Platform, platform, server

__all__ = ["platform", "server"]


def test_everything_is_read(platform: Platform) -> None:
    """Releases with what their tags name, logs as lines, nodes and projects as lists."""
    result = platform.run(APP_INFO, include=["releases", "logs", "nodes", "projects"], log_lines=1)
    (shop,) = result["apps"]
    assert {release["tag"]: release["digest"] for release in shop["releases"]} == platform.digests
    assert [release["tag"] for release in shop["releases"] if release["in_service"]] == ["v1"]
    assert all(isinstance(line, str) for line in shop["logs"]) and len(shop["logs"]) <= 1
    assert len(result["nodes"]) == 3 and len(result["projects"]) == 1
    assert platform.uses_only_application_routes()


def test_the_version_before_is_found(platform: Platform) -> None:
    """The newest one made before that in service which can be deployed."""
    assert platform.run(APP_INFO, include=["releases"])["apps"][0]["previous_release"] is None
    assert platform.run(APP_DEPLOY, tag="v2")["changed"]
    before = platform.run(APP_INFO, include=["releases"])["apps"][0]["previous_release"]
    assert before["tag"] == "v1"


def test_one_that_is_not_there_is_an_error(platform: Platform) -> None:
    """With the near miss."""
    result = platform.run(APP_INFO, slug="shpo")
    assert result["failed"] and "did you mean 'shop'?" in result["msg"]


def test_logs_are_read_whatever_they_look_like(platform: Platform) -> None:
    """As lines, an array, plain text or entries."""
    platform.run(APP_DEPLOY, tag="broken")
    lines = platform.run(APP_INFO, include=["logs"])["apps"][0]["logs"]
    assert any("exited with code 1" in line for line in lines)


@pytest.mark.parametrize(
    ("answer", "lines"),
    [
        (["a", "b"], ["a", "b"]),
        ("a\nb\n", ["a", "b"]),
        ({"lines": ["a", "b"]}, ["a", "b"]),
        ({"text": "a\nb"}, ["a", "b"]),
        ({"entries": [{"at": 1, "line": "a"}]}, ["1 a"]),
        (["x", "a", "b"], ["a", "b"]),
        ({}, []),
        (None, []),
    ],
)
def test_log_lines(answer: object, lines: list[str]) -> None:
    """The last two lines of any shape."""
    assert log_lines(answer, 2) == lines


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ([{"a": 1}], [{"a": 1}]),
        ({"items": [{"a": 1}]}, [{"a": 1}]),
        ({"data": [], "nextCursor": None}, []),
        ({"items": [{"a": 1}], "nextCursor": "more"}, None),
        ({"items": [], "others": []}, None),
        (["a"], None),
        ("a", None),
        (None, None),
    ],
)
def test_entries(answer: object, found: object) -> None:
    """A list is understood when there is one of objects, and all of it."""
    assert entries(answer) == found


def release(tag: str, status: str = "PASSED") -> Release:
    return Release(tag, f"sha256:{tag}", status, None, None)


@pytest.mark.parametrize(
    ("releases", "in_service", "expected"),
    [
        (["1", "2", "3"], "3", "2"),
        (["1", "2", "3"], "2", "1"),
        (["1", "2", "3"], "1", None),
        (["1", "2", "2b"], "9", "2b"),
        (["1", "2x", "3"], "3", "1"),
        (["1", "3", "3"], "3", "1"),
        ([], "1", None),
        (["1"], None, "1"),
    ],
)
def test_previous_release(releases: list[str], in_service: str | None, expected: str | None) -> None:
    """Not the one in service under another tag, none that is blocked (marked x)."""
    known = [release(tag, "BLOCKED" if tag.endswith("x") else "PASSED") for tag in releases]
    found = previous_release(known, in_service and f"sha256:{in_service}")
    assert (found.tag if found else None) == expected
