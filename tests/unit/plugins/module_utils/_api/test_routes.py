# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The routes page against the specification's Endpoints tables (tests/specification.py)."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import errors, models
from ansible_collections.hosted.services.plugins.module_utils._api.client import Client
from ansible_collections.hosted.services.plugins.module_utils._api.connection import Connection
from ansible_collections.hosted.services.plugins.module_utils._api.routes import (
    ROUTES,
    Idempotency,
    Route,
    Scope,
    Undocumented,
)
from specification import HERE, SPECIFIED, Line
from unit.plugins.calls import METHODS, bound, parameters_of

CLASSES = {
    "r": Idempotency.READ,
    "i": Idempotency.IDEMPOTENT,
    "c": Idempotency.CREATE,
    "a": Idempotency.ACT,
    "l": Idempotency.LAST_WINS,
    "n": Idempotency.NEVER,
}


def by_line() -> dict[str, Route[Any]]:
    return {str(route): route for route in ROUTES.values()}


def test_the_page_has_the_routes_of_the_specification_and_no_other() -> None:
    told = Counter(line.route for line in SPECIFIED)
    assert Counter(str(route) for route in ROUTES.values()) == told, f"compare with {HERE}"


@pytest.mark.parametrize("line", SPECIFIED, ids=lambda line: line.route)
def test_what_may_be_repeated(line: Line) -> None:
    assert by_line()[line.route].idempotency is CLASSES[line.repeat]


@pytest.mark.parametrize("route", ROUTES.values(), ids=str)
def test_the_scope_is_that_of_the_chapter_authentication(route: Route[Any]) -> None:
    small = route.path.startswith(("/api/apps", "/api/registry"))
    assert route.scope is (Scope.REGISTRY if small else Scope.FULL)


def test_exactly_the_answers_that_are_shown_have_a_model() -> None:
    told = {line.route for line in SPECIFIED if not line.shown}
    open_ones = {str(route) for route in ROUTES.values() if isinstance(route.answer, Undocumented)}
    assert open_ones == told, f"compare with {HERE}"


@pytest.mark.parametrize(
    ("repeat", "resendable"),
    [("r", True), ("i", True), ("l", True), ("c", False), ("a", False), ("n", False)],
)
def test_only_harmless_calls_are_sent_again_on_an_open_outcome(repeat: str, resendable: bool) -> None:
    assert CLASSES[repeat].resendable is resendable


def test_placeholders_are_quoted() -> None:
    assert ROUTES["SNAPSHOT_DELETE"].url({"id": "a", "name": "b/c"}) == ("/api/resources/a/snapshots/b%2Fc")


@pytest.mark.parametrize("name", ["", ".", ".."])
def test_a_name_that_would_lead_to_another_path_is_refused(name: str) -> None:
    # HTTP clients resolve dots: deleting the snapshot ".." would be deleting the service.
    with pytest.raises(errors.ConfigurationError, match="cannot be part of an address"):
        ROUTES["SNAPSHOT_DELETE"].url({"id": "a", "name": name})


# --- The client against the page ------------------------------------------------------------------------

ARGUMENTS: dict[str, Any] = {
    "ids": ["a"],
    "names": ["a"],
    "dimensions": models.Dimensions(cpu_cores=1, ram_gb=2, storage_gb=3),
    "is_public": True,
    "environment": {},
    "order": {},
    "lines": 5,
    "limit": 5,
    "days": 5,
    "page": 1,
    "query": {},
}


class Stop(Exception):
    """Raised in place of an answer: the route is all that the tests want to know."""


class Recorder(Client):
    """A client that notes the routes of the calls and answers none."""

    def __init__(self) -> None:
        super().__init__(Connection("https://api.example.com", "token"))
        self.calls: list[tuple[Route[Any], dict[str, Any]]] = []

    def call(
        self,
        route: Route[Any],
        ids: dict[str, Any],
        query: Any = None,
        body: Any = None,
        seconds: float | None = None,
    ) -> Any:
        self.calls.append((route, ids))
        raise Stop


def record(name: str) -> list[tuple[Route[Any], dict[str, Any]]]:
    """Make a call with invented arguments; return what it would have sent."""
    client = Recorder()
    arguments = {each.name: ARGUMENTS.get(each.name, f"some {each.name}") for each in parameters_of(name)}
    with pytest.raises(Stop):
        bound(name, client)(**arguments)
    return client.calls


@pytest.mark.parametrize("name", METHODS)
def test_a_method_makes_one_call_and_fills_its_path(name: str) -> None:
    calls = record(name)
    assert len(calls) == 1
    route, ids = calls[0]
    assert set(re.findall(r"{(\w+)}", route.path)) == set(ids)


def test_each_route_is_called_in_one_way() -> None:
    used = Counter(str(record(name)[0][0]) for name in METHODS)
    assert used == Counter(str(route) for route in ROUTES.values())
