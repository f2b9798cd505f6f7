# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lists of which no shape is shown: what they hold, whether that is all, and how the rest is asked for."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.errors import Refused, error_for_status
from ansible_collections.hosted.services.plugins.module_utils._resources.shared import pages

ONE, TWO, THREE = {"tag": "1"}, {"tag": "2"}, {"tag": "3"}


@pytest.mark.parametrize(
    ("answer", "entries"),
    [
        ([ONE, TWO], [ONE, TWO]),
        ([], []),
        ({"items": [ONE], "nextCursor": None}, [ONE]),
        ({"items": [ONE], "others": []}, None),
        ({"count": 3}, None),
        ([ONE, "2"], None),
        ("text", None),
        (None, None),
    ],
)
def test_the_entries_of_an_answer(answer: Any, entries: Any) -> None:
    assert pages.entries_in(answer) == entries


@pytest.mark.parametrize(
    ("signs", "cut"),
    [
        ({}, False),
        ({"nextCursor": None}, False),
        ({"nextCursor": "x"}, True),
        ({"next_page_token": "x"}, True),
        ({"links": {"next": "/api?page=2"}}, True),
        ({"hasMore": True}, True),
        ({"hasMore": False}, False),
        ({"total": 3}, True),
        ({"total": 2}, False),
        ({"total": True}, False),
        ({"meta": {"totalPages": 2}}, True),
        ({"meta": {"totalPages": 1}}, False),
    ],
)
def test_whether_a_list_goes_on(signs: dict[str, Any], cut: bool) -> None:
    answer = {"items": [ONE, TWO], **signs}
    assert pages.has_more(answer, seen=2) is cut
    assert pages.describes_paging(answer) is (bool(signs) and signs != {"total": True})
    assert not pages.has_more([ONE, TWO], seen=2) and not pages.describes_paging([ONE, TWO])


def test_the_last_of_several_pages_is_the_end() -> None:
    assert pages.has_more({"items": [], "totalPages": 3}, seen=9, page=2)
    assert not pages.has_more({"items": [], "totalPages": 3}, seen=9, page=3)


@pytest.mark.parametrize(
    ("signs", "query"),
    [
        ({"nextCursor": "x", "offset": 0}, {"cursor": "x"}),
        ({"offset": 0, "total": 9}, {"offset": 7}),
        ({"skip": 0}, {"skip": 7}),
        ({"page": 4}, {"page": 5}),
        ({"page": True}, {"page": 3}),
        ({}, {"page": 3}),
    ],
)
def test_how_the_next_page_is_asked_for(signs: dict[str, Any], query: dict[str, Any]) -> None:
    assert pages.next_query({"items": [], **signs}, seen=7, page=2) == query


class Platform:
    """Answers, one after the other, and the queries that asked for them."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.queries: list[dict[str, Any]] = []

    def __call__(self, query: dict[str, Any]) -> Any:
        self.queries.append(query)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def test_pages_are_read_to_the_end() -> None:
    platform = Platform({"items": [ONE], "nextCursor": "a"}, {"items": [TWO], "nextCursor": None})
    assert pages.read_list(platform) == pages.Listed([ONE, TWO], True)
    assert platform.queries == [{}, {"cursor": "a"}]


def test_a_list_ends_once_there_is_enough_of_it() -> None:
    platform = Platform({"items": [ONE], "total": 9}, {"items": [TWO], "total": 9})
    found = pages.read_list(platform, lambda entries: TWO in entries)
    assert found == pages.Listed([ONE, TWO], False, 9)


def test_a_platform_that_does_not_know_the_query_is_not_asked_for_ever() -> None:
    """It answers with the same page, and what is missing stays unknown."""
    platform = Platform(*[{"items": [ONE, TWO], "total": 3}] * 9)
    assert pages.read_list(platform) == pages.Listed([ONE, TWO], False, 3)
    assert len(platform.queries) == 2


@pytest.mark.parametrize("second", [error_for_status("no", 400), "text"])
def test_a_second_page_that_cannot_be_read_leaves_the_first(second: Any) -> None:
    assert pages.read_list(Platform({"items": [ONE], "total": 3}, second)) == pages.Listed([ONE], False)


def test_a_first_page_that_cannot_be_read_is_told() -> None:
    assert pages.read_list(Platform("text")) is None
    with pytest.raises(Refused):
        pages.read_list(Platform(error_for_status("no", 403)))


def test_pages_without_an_end_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "MAX_PAGES", 3)
    platform = Platform(*[{"items": [{"tag": str(number)}], "nextCursor": "x"} for number in range(9)])
    found = pages.read_list(platform)
    assert found is not None and not found.whole and len(found.entries) == len(platform.queries) == 3
