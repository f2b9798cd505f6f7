# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the client sends, and how it reads pages, batches and absences."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any
from unittest import mock

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import errors, text
from ansible_collections.hosted.services.plugins.module_utils._api import models as m
from ansible_collections.hosted.services.plugins.module_utils._api import routes as r
from ansible_collections.hosted.services.plugins.module_utils._api.client import Client
from ansible_collections.hosted.services.plugins.module_utils._api.connection import Connection
from ansible_collections.hosted.services.plugins.module_utils._api.http_transport import Response
from ansible_collections.hosted.services.plugins.module_utils._api.routes import Route
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.account import Account


def test_a_token_is_told_to_what_masks_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever it comes from: a file, a variable, the environment."""
    told: list[str] = []
    monkeypatch.setattr(text, "LISTENERS", [told.extend])
    Connection("https://api.example.com", "s3cret-token")
    assert told == ["s3cret-token"]


class Script(Client):
    """A client that notes what it would send and answers from a list; an exception in it is raised."""

    def __init__(self, answers: Iterable[Any]) -> None:
        super().__init__(Connection("https://api.example.com", "token"))
        self.answers = iter(answers)
        self.sent: list[tuple[str, Any, Any]] = []

    def call(
        self,
        route: Route[Any],
        ids: dict[str, str],
        query: Any = None,
        body: Any = None,
        seconds: float | None = None,
        *,
        or_absent: bool = False,
    ) -> Any:
        self.sent.append((f"{route.method} {route.url(ids)}", None if query is None else dict(query), body))
        answer = next(self.answers)
        if isinstance(answer, Exception):
            raise answer
        return answer


def client(*answers: Any) -> tuple[Client, Script]:
    script = Script(answers)
    return script, script


def event(id: str, second: int = 0) -> dict[str, str]:
    return {"id": id, "type": "POWER_START", "at": f"2026-11-01T10:00:{second:02}.000Z"}


BACKUP = {"id": "bk_1", "name": "nightly", "status": "COMPLETED"}


@pytest.mark.parametrize(
    ("pages", "queries"),
    [
        ([[BACKUP]], [{}]),
        ([{"items": [BACKUP]}], [{}]),
        ([{"items": [BACKUP], "nextCursor": None}], [{}]),
        ([{"items": [BACKUP], "nextCursor": "c2"}, {"items": []}], [{}, {"cursor": "c2"}]),
        ([{"items": [BACKUP], "nextCursor": 0}, []], [{}, {"cursor": "0"}]),
    ],
)
def test_a_list_is_an_array_or_an_object_with_items(pages: list[Any], queries: list[Any]) -> None:
    reader, script = client(*pages)
    assert [item.id for item in reader.pages(r.BACKUPS, id="s")] == ["bk_1"]
    assert [query for _line, query, _body in script.sent] == queries


@pytest.mark.parametrize(
    "answer", [None, "text", 5, {}, {"items": None}, {"items": {"a": BACKUP}}, {"data": []}]
)
def test_what_is_no_list_is_an_error_and_not_an_empty_list(answer: Any) -> None:
    reader, _script = client(answer)
    with pytest.raises(
        errors.UnexpectedAnswer, match=r"GET /api/resources/\{id\}/backups: expected a list of items"
    ):
        list(reader.pages(r.BACKUPS, id="s"))


def test_pages_are_followed_to_the_end() -> None:
    reader, script = client(
        {"items": [event("1")], "nextCursor": "a"},
        {"items": [], "nextCursor": "b"},
        {"items": [event("2")], "nextCursor": None},
    )
    assert [found.id for found in reader.events("s")] == ["1", "2"]
    assert [query for _line, query, _body in script.sent] == [{}, {"cursor": "a"}, {"cursor": "b"}]


def test_no_page_is_read_beyond_the_event_that_is_known() -> None:
    page = {"items": [event("4", 4), event("3", 3), event("2", 2)], "nextCursor": "a"}
    reader, script = client(page, {"items": [event("1", 1)], "nextCursor": None})
    assert [found.id for found in reader.events("s", since="3")] == ["4"]
    assert len(script.sent) == 1
    whole, _script = client({"items": page["items"]})
    assert [found.id for found in whole.events("s", since="gone")] == ["4", "3", "2"]


def test_a_cursor_that_comes_again_ends_in_an_error() -> None:
    pages = [{"items": [event("1")], "nextCursor": cursor} for cursor in ("a", "b", "a")]
    reader, script = client(*pages)
    with pytest.raises(errors.UnexpectedAnswer, match="repeats the cursor 'a'"):
        reader.events("s")
    assert len(script.sent) == 3


def test_metrics_that_are_missing_are_unknown() -> None:
    reader, script = client({"s0": {"state": "running"}, "s1": None, "stranger": {"state": "stopped"}})
    found = reader.metrics(["s0", "s1", "s2"])
    assert [query["ids"] for _line, query, _body in script.sent] == ["s0,s1,s2"]
    assert found == {"s0": m.Metrics(state="running"), "s1": None, "s2": None}


ABSENT: list[Callable[[Client], Any]] = [
    lambda c: Account(c).service("x"),
    lambda c: Account(c).page("x"),
    lambda c: c.scan("x", "v1"),
]


@pytest.mark.parametrize("call", ABSENT)
@pytest.mark.parametrize("status", [404, 410])
def test_404_means_absent_where_one_item_is_read_or_deleted(
    call: Callable[[Client], Any], status: int
) -> None:
    transport = mock.Mock(exchange=mock.Mock(return_value=Response(status, None, b"gone")))
    assert call(Client(Connection("https://api.example.com", "token"), transport=transport)) is None
    assert transport.exchange.call_count == 1


DOUBT = ". Whether it was carried out is unknown"


@pytest.mark.parametrize(
    ("call", "says_so"),
    [
        (lambda c: c.send(r.MOVE, id="x", body={}, commitment="move"), True),
        (lambda c: Account(c).service("x"), False),
    ],
)
def test_the_doubt_about_a_write_that_may_be_repeated_is_named(
    call: Callable[[Client], Any], says_so: bool
) -> None:
    """Nobody else speaks of it; whoever creates something finds out, and a read leaves no doubt."""
    with pytest.raises(errors.Interrupted) as caught:
        call(client(errors.Interrupted("no complete response"))[0])
    assert caught.value.message.endswith(DOUBT) == says_so
