# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever a platform answers to any call, the outcome is a result or one of our own errors."""

from __future__ import annotations

import json
import random
import tracemalloc
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.hosted.services.plugins.module_utils._api import (
    client,
    errors,
    http_transport,
    responses,
)
from ansible_collections.hosted.services.plugins.module_utils._api import routes as r
from ansible_collections.hosted.services.plugins.module_utils._api.client import MAX_PAGES, Client
from ansible_collections.hosted.services.plugins.module_utils._api.http_transport import Response
from ansible_collections.hosted.services.plugins.module_utils._api.models import Dimensions, plain
from unit.plugins.calls import METHODS, bound, parameters_of
from unit.plugins.hostile import STRINGS, HostileClient, body_of
from unit.tiers import sample

ARGUMENTS: dict[str, Any] = {
    "str": "a",
    "int": 1,
    "bool": True,
    "Sequence[str]": ["a", "mc"],
    "dict[str, str]": {"A": "1"},
    "dict[str, Any]": {},
    "m.Dimensions": Dimensions(cpu_cores=1),
}
EVERY_CALL = pytest.mark.parametrize("name", METHODS)
A_FEW = settings(max_examples=max(settings.default.max_examples // 4, 1))  # type: ignore[union-attr]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(STRINGS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


class Answering(HostileClient):
    """Answers every call with one body."""

    def __init__(self, body: bytes, status: int = 200, retry_after: str | None = None) -> None:
        super().__init__(0)
        self.reply = Response(status, retry_after, body)
        self.called: r.Route[Any] | None = None

    def _attempt(self, route: r.Route[Any], url: str, body: Any, seconds: float, or_absent: bool) -> Any:
        self.attempts_of_call += 1
        self.called = route
        self.attempts_of_call += 1
        return responses.read_response(route, self.reply, self.redact)


def call(name: str, sender: Client) -> Any:
    """Make a typed call with arguments of its types; return what it returns, or the error of ours."""
    needed = [each.annotation for each in parameters_of(name) if each.default is each.empty]
    given = [None if " | None" in hint else ARGUMENTS[hint] for hint in needed]
    try:
        return bound(name, sender)(*given)
    except errors.HostedError as error:
        assert error.message.replace("\n", "").isprintable()
        assert len(error.message) <= 30_000
        return error


def check_usable(value: Any) -> None:
    """Check that a result can be made data, written and printed."""
    if not isinstance(value, errors.HostedError):
        json.dumps(plain(value), ensure_ascii=False).encode()


def test_every_route_is_called() -> None:
    called = set()
    for name in METHODS:
        sender = Answering(b"{}")
        call(name, sender)
        called.add(str(sender.called))
    assert called == {str(route) for route in r.ROUTES.values()}
    assert len(METHODS) == len(r.ROUTES)


@EVERY_CALL
@A_FEW
@given(seed=st.integers(0), wildness=st.sampled_from([0.0, 0.5, 0.9]))
def test_an_answer_that_is_almost_right(name: str, seed: int, wildness: float) -> None:
    sender = Answering(b"{}")
    call(name, sender)
    assert sender.called is not None
    body = body_of(sender.called, random.Random(seed), wildness)
    check_usable(call(name, Answering(body)))


@given(name=st.sampled_from(sorted(METHODS)), body=st.binary(max_size=100), status=st.integers(200, 599))
def test_an_answer_of_any_bytes_and_status(name: str, body: bytes, status: int) -> None:
    check_usable(call(name, Answering(body, status)))


@given(body=JSON | st.builds(lambda said: {"message": said}, JSON))
def test_an_error_of_any_json(body: Any) -> None:
    response = Response(400, None, json.dumps(body).encode())
    assert responses.error_for_response(r.SERVICES, response, str).message.isprintable()


MONSTERS = {
    "deep lists": b"[" * 100_000 + b"]" * 100_000,
    "lists a little too deep": b"[" * 101 + b"]" * 101,
    "deep objects": b'{"a":' * 5000 + b"1" + b"}" * 5000,
    "long number": b"9" * 1_000_000,
    "huge exponent": b'{"a": 1e999999999}',
    "half a character": b'{"id": "\\ud800", "name": "\\udfff", "slug": "\\ud83d"}',
    "half a character in bytes": b'{"id": "\xed\xa0\x80"}',
    "another encoding": '{"id": "a"}'.encode("utf-16"),
    "a mark before it": b'\xef\xbb\xbf{"id": "a"}',
    "nul": b'{"id": "a\\u0000b", "name": "\x00"}',
    "no numbers": b'{"a": NaN, "b": Infinity, "c": -Infinity}',
    "one key many times": b'{"id": "a"' + b',"id": "b"' * 10_000 + b"}",
    "many keys": ("{" + ",".join(f'"k{n}": {n}' for n in range(20_000)) + "}").encode(),
    "many objects": b'{"items": [' + b",".join([b"{}"] * 50_000) + b"]}",
    "one long string": b'{"id": "' + b"x" * 5_000_000 + b'"}',
    "one long key": b'{"id": {"' + b"y" * 5_000_000 + b'": 1}}',
}


@pytest.mark.parametrize(
    "name", sample(["services", "ORDER", "service", "metrics", "TRANSACTIONS", "POWER", "scan", "page"], 2)
)
@pytest.mark.parametrize("body", MONSTERS.values(), ids=MONSTERS)
def test_monsters(name: str, body: bytes) -> None:
    for status in (200, 400):
        check_usable(call(name, Answering(body, status)))


def test_memory_is_bounded_however_dense_the_answer_is() -> None:
    body = b"[" + b"[]," * (http_transport.MAX_BODY // 3 - 2) + b"[]]"
    tracemalloc.start()
    try:
        outcome = call("TRANSACTIONS", Answering(body))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert isinstance(outcome, errors.UnexpectedAnswer)
    assert "values" in outcome.message
    assert peak < 2 * http_transport.MAX_BODY


def test_a_list_that_never_ends_is_left() -> None:
    class Endless(Answering):
        """Has one more page after each."""

        turned = 0

        def _attempt(self, *arguments: Any) -> Any:
            self.turned += 1
            return {"items": [], "nextCursor": self.turned}

    sender = Endless(b"")
    outcome = call("events", sender)
    assert isinstance(outcome, errors.UnexpectedAnswer)
    assert f"does not end after {MAX_PAGES} pages" in outcome.message
    assert sender.turned == MAX_PAGES


@pytest.mark.parametrize(("bound", "value"), [("MAX_ENTRIES", 2500), ("MAX_LIST", 100_000)])
def test_a_list_that_grows_is_left(bound: str, value: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many pages within their own bounds may be too much together."""

    class Growing(Answering):
        """Has 1,000 entries on each page."""

        turned = 0

        def _attempt(self, *arguments: Any) -> Any:
            self.turned += 1
            self.received_bytes += 40_000
            return {"items": [{"id": "a", "type": "b", "at": "c"}] * 1000, "nextCursor": self.turned}

    monkeypatch.setattr(client, bound, value)
    sender = Growing(b"")
    outcome = call("events", sender)
    assert isinstance(outcome, errors.UnexpectedAnswer)
    assert "the list has more than" in outcome.message and sender.turned == 3
