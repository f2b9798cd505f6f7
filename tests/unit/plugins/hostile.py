# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A platform that answers anything: what its models promise, with strange values, and worse."""

from __future__ import annotations

import json
import random
import types
import typing
from decimal import Decimal
from typing import Any

from ansible_collections.hosted.services.plugins.module_utils._api import errors
from ansible_collections.hosted.services.plugins.module_utils._api import routes as r
from ansible_collections.hosted.services.plugins.module_utils._api.client import Client
from ansible_collections.hosted.services.plugins.module_utils._api.connection import Connection
from ansible_collections.hosted.services.plugins.module_utils._api.http_transport import Response
from ansible_collections.hosted.services.plugins.module_utils._api.models import Model
from ansible_collections.hosted.services.plugins.module_utils._api.responses import read_response

TEMPLATE = "{{ 7 * 7 }}{% raw %}"
STRINGS = [
    "", " ", "a", "games", "mc", "ACTIVE", "SUSPENDED", "COMPLETED", "PASSED", "running", "stopped",
    "files", "backups", "snapshots", "suspension", "powerSignals", "GAME", "APP", "1", "-1",
    "2026-01-01T00:00:00.000Z", "2026-02-30", "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59.999Z",
    "..", ".", "../../etc/passwd", "/", "a/b", "-rf", "nul\0inside", "\x1b[31mred\x1b]0;title\x07", "\x9b2J",
    "line\r\nbreak", "\u202eright", "\ud800 half", "\U0001f600", "x" * 5000, TEMPLATE, "sha256:" + "a" * 64,
    "postgresql", "127.0.0.1:25565", "[::1]:1", "\ufffe",
]  # fmt: skip
OFFERED = ["powerSignals", "suspension", "files", "logs", "backups", "snapshots", "snapshotRollback"]
WHEN = ["2026-01-01T00:00:00.000Z", "2026-01-02T00:00:00.000Z"]
LIKELY: dict[str, list[Any]] = {
    "id": ["a", "b", "mc"],
    "name": ["mc", "mc", "a", "games", "nightly-1"],
    "slug": ["games"],
    "family": ["GAME", "APP"],
    "status": ["ACTIVE", "ACTIVE", "ACTIVE", "SUSPENDED", "COMPLETED", "COMPLETED"],
    "state": ["running", "stopped"],
    "capabilities": [OFFERED],
    "project_id": ["a"],
    "instance_id": ["a", "b"],
    "engine": ["postgresql", "mariadb"],
    "supported": [True],
    "truncated": [False],
    "editable": [True],
    "deletable": [True],
    "directory": [True, False],
    "covers_first_day": [True],
    "scan_status": ["PASSED", "WARNED"],
    "digest": ["sha256:" + "a" * 64],
    "created_at": WHEN,
    "completed_at": WHEN,
}
"""What lets a task go on, by field."""
NUMBERS = [0, 1, 2, 50, 99, 100, 1000, 65536, -1, 2**31, 2**63, 10**40, 10**300, 0.5, -0.0, 1e308, 1e-320]
ODD: list[Any] = [
    None, True, False, [], {}, [[]], [None], {"": None}, {"message": {"a": [1]}}, float("inf"), float("nan")
]  # fmt: skip


def anything(draw: random.Random) -> Any:
    return draw.choice([draw.choice(STRINGS), draw.choice(NUMBERS), draw.choice(ODD)])


def sample(kind: Any, draw: random.Random) -> Any:
    """Return a value that answers to a type of the models, as JSON has it."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return None if draw.random() < 0.15 else sample(inner[0], draw)
    if origin is list:
        return [sample(inner[0], draw) for _number in range(draw.choice([0, 1, 1, 2, 3]))]
    if origin is dict:
        return {draw.choice(STRINGS): sample(inner[1], draw) for _number in range(draw.randrange(3))}
    if isinstance(kind, type) and issubclass(kind, Model):
        return of_model(kind, draw)
    if kind is bool:
        return draw.random() < 0.5
    if kind in (int, float, Decimal):
        return draw.choice(NUMBERS[:6] if draw.random() < 0.8 else NUMBERS)
    return draw.choice(STRINGS) if kind is str else anything(draw)


def likely(name: str, kind: Any, draw: random.Random) -> Any:
    """Return a value for a field. Mostly one that leads on: what is told nonsense at once stops at once."""
    if name in LIKELY and draw.random() < 0.85:
        return draw.choice(LIKELY[name])
    return sample(kind, draw)


def of_model(model: type[Model], draw: random.Random) -> dict[str, Any]:
    found = {
        field.alias or name: likely(name, field.annotation, draw)
        for name, field in model.model_fields.items()
    }
    return {**found, draw.choice(STRINGS): anything(draw)}


def spoilt(value: Any, draw: random.Random) -> Any:
    """Return ``value`` with something in it replaced by something else."""
    if isinstance(value, dict) and value and draw.random() < 0.9:
        key = draw.choice(list(value))
        if draw.random() < 0.2:
            return {name: item for name, item in value.items() if name != key}
        return {**value, key: spoilt(value[key], draw)}
    if isinstance(value, list) and value and draw.random() < 0.9:
        at = draw.randrange(len(value))
        return [*value[:at], spoilt(value[at], draw), *value[at + 1 :]]
    return anything(draw)


def answer_of(route: r.Route[Any], draw: random.Random) -> Any:
    """Return what a route answers when it keeps to its model."""
    answer = route.answer
    if isinstance(answer, r.One):
        return of_model(answer.model, draw)
    if isinstance(answer, r.Many):
        items = [of_model(answer.model, draw) for _number in range(draw.choice([0, 1, 2, 3]))]
        return (
            items if draw.random() < 0.5 else {"items": items, "nextCursor": draw.choice([None, "next", 1])}
        )
    if isinstance(answer, r.Keyed):
        return {draw.choice(STRINGS): of_model(answer.model, draw) for _number in range(3)}
    return draw.choice([None, {}, [], {"id": "a"}, [of_model(Model, draw)], {"items": [{"tag": "v1"}]}])


def body_of(route: r.Route[Any], draw: random.Random, wildness: float) -> bytes:
    """Return the body of an answer; the wilder, the less it keeps to anything."""
    value = answer_of(route, draw)
    while draw.random() < wildness:
        value = spoilt(value, draw)
    body = json.dumps(value).encode()
    if draw.random() < wildness / 4:
        at = draw.randrange(len(body) + 1)
        body = draw.choice([body[:at], body[:at] + b"\xff\xfe\x00" + body[at:], b"<html>", b"", body * 2])
    return body


class HostileClient(Client):
    """Answers instead of a server. The same seed and the same calls get the same answers."""

    def __init__(self, seed: int, wildness: float = 0.3, calls: int = 2000) -> None:
        super().__init__(Connection("https://api.example.com", "token", retries=0))
        self.seed, self.wildness, self.left = seed, wildness, calls
        self.ids: list[str] = []
        self.times: dict[str, int] = {}

    def clone(self) -> Client:
        return self

    def _attempt(self, route: r.Route[Any], url: str, body: Any, seconds: float, or_absent: bool) -> Any:
        self.left -= 1
        self.attempts_of_call += 1  # or the call would be made again until its deadline
        assert self.left > 0, "it would go on for ever"
        call = f"{route} {url}"
        self.times[call] = self.times.get(call, 0) + 1
        draw = random.Random(f"{self.seed} {call} {min(self.times[call], 5)}")
        status = (
            200 if draw.random() > self.wildness / 4 else draw.choice([204, 301, 400, 404, 409, 429, 500])
        )
        content = b"" if status == 204 else body_of(route, draw, self.wildness)
        try:
            response = Response(status, draw.choice([None, *map(str, NUMBERS), *STRINGS]), content)
            return read_response(route, response, self.redact)
        except errors.HostedError as error:
            error.message = f"{route}: {self.redact(error.message)}"
            raise
