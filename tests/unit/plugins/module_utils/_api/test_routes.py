# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The routes page against the specification's Endpoints tables, copied here line by line."""

from __future__ import annotations

import inspect
import re
from collections import Counter
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import errors, models
from ansible_collections.hosted.services.plugins.module_utils._api.client import Client
from ansible_collections.hosted.services.plugins.module_utils._api.routes import (
    ROUTES,
    Idempotency,
    Route,
    Scope,
    Undocumented,
)

# The tables of the chapter Endpoints: method, path, and what may be done when it is sent twice.
# r: reads; i: twice is as good as once; c: creates; a: acts; l: the last one wins; n: never twice.
SPECIFICATION = """
GET    /api/apps/whoami                              r
GET    /api/apps                                     r
POST   /api/apps                                     c
POST   /api/apps/quote                               r
GET    /api/apps/nodes                               r
GET    /api/apps/projects                            r
GET    /api/registry/credentials                     r
POST   /api/apps/{slug}/releases                     c
GET    /api/apps/{slug}/releases                     r
GET    /api/apps/{slug}/releases/{tag}/scan          r
POST   /api/apps/{slug}/deploy                       a
PUT    /api/apps/{slug}/environment                  i
GET    /api/apps/{slug}/logs                         r
GET    /api/resources                                r
GET    /api/resources/{id}                           r
GET    /api/resources/metrics                        r
GET    /api/resources/{id}/settings                  r
PUT    /api/resources/{id}/network                   a
PUT    /api/resources/{id}/scale                     i
PUT    /api/resources/{id}/deploy                    i
PUT    /api/resources/{id}/project                   i
POST   /api/resources/{id}/power                     a
POST   /api/resources/{id}/suspend                   a
POST   /api/resources/{id}/resume                    a
DELETE /api/resources/{id}                           i
GET    /api/resources/{id}/files                     r
GET    /api/resources/{id}/files/contents            r
POST   /api/resources/{id}/files/write               i
POST   /api/resources/{id}/files/directory           a
PUT    /api/resources/{id}/files/rename              a
POST   /api/resources/{id}/files/delete              a
GET    /api/resources/{id}/backups                   r
POST   /api/resources/{id}/backups                   c
POST   /api/resources/{id}/backups/{backupId}/restore  a
DELETE /api/resources/{id}/backups/{backupId}        i
GET    /api/resources/{id}/snapshots                 r
POST   /api/resources/{id}/snapshots                 c
POST   /api/resources/{id}/snapshots/{name}/rollback a
DELETE /api/resources/{id}/snapshots/{name}          i
GET    /api/resources/{id}/logs                      r
GET    /api/resources/{id}/events                    r
GET    /api/resources/{id}/usage                     r
GET    /api/resources/{id}/billed-totals             r
GET    /api/billing/overview                         r
GET    /api/wallet                                   r
GET    /api/wallet/transactions                      r
GET    /api/billing/daily-spend                      r
GET    /api/billing/invoices                         r
GET    /api/billing/statements                       r
GET    /api/billing/statements/{period}              r
GET    /api/projects                                 r
POST   /api/projects                                 c
PATCH  /api/projects/{id}                            i
DELETE /api/projects/{id}                            i
GET    /api/projects/{id}                            r
GET    /api/projects/{id}/consommation               r
GET    /api/projects/{id}/graphe                     r
POST   /api/order/quote                              r
POST   /api/order                                    c
GET    /api/users/me/ssh-keys                        r
POST   /api/users/me/ssh-keys                        c
DELETE /api/users/me/ssh-keys/{id}                   i
GET    /api/resources/{id}/sftp                      r
POST   /api/resources/{id}/sftp/password             l
GET    /api/resources/{id}/database/connection       r
GET    /api/resources/{id}/database                  r
GET    /api/resources/{id}/database/rows             r
POST   /api/resources/{id}/database/query            n
"""
CLASSES = {
    "r": Idempotency.READ,
    "i": Idempotency.IDEMPOTENT,
    "c": Idempotency.CREATE,
    "a": Idempotency.ACT,
    "l": Idempotency.LAST_WINS,
    "n": Idempotency.NEVER,
}
LINES = [line.split() for line in SPECIFICATION.split("\n") if line]
# Routes whose answer the chapter's notes call not shown.
NO_SCHEMA = """
POST /api/apps, POST /api/apps/{slug}/releases, GET /api/apps/{slug}/releases, POST /api/apps/{slug}/deploy,
PUT /api/apps/{slug}/environment, GET /api/apps/{slug}/logs, GET /api/apps/nodes, GET /api/apps/projects,
PUT /api/resources/{id}/network, PUT /api/resources/{id}/scale, PUT /api/resources/{id}/deploy,
PUT /api/resources/{id}/project, POST /api/resources/{id}/suspend, POST /api/resources/{id}/resume,
DELETE /api/resources/{id}, POST /api/resources/{id}/files/write, POST /api/resources/{id}/files/directory,
PUT /api/resources/{id}/files/rename, POST /api/resources/{id}/files/delete, POST /api/resources/{id}/backups,
POST /api/resources/{id}/backups/{backup_id}/restore, DELETE /api/resources/{id}/backups/{backup_id},
POST /api/resources/{id}/snapshots, POST /api/resources/{id}/snapshots/{name}/rollback,
DELETE /api/resources/{id}/snapshots/{name}, GET /api/wallet/transactions, GET /api/billing/daily-spend,
GET /api/billing/invoices, GET /api/billing/statements, GET /api/billing/statements/{period},
POST /api/projects, PATCH /api/projects/{id}, DELETE /api/projects/{id}, POST /api/users/me/ssh-keys,
DELETE /api/users/me/ssh-keys/{id}
"""


def snake(path: str) -> str:
    """Spell the parameters of a path in snake_case: the names are free, their places are not."""
    return re.sub(r"[A-Z]", lambda match: "_" + match[0].lower(), path)


def by_line() -> dict[str, Route[Any]]:
    return {str(route): route for route in ROUTES.values()}


def test_the_page_has_the_68_routes_of_the_specification_and_no_other() -> None:
    specified = [f"{method} {snake(path)}" for method, path, _repeat in LINES]
    assert len(set(specified)) == 68
    assert Counter(str(route) for route in ROUTES.values()) == Counter(specified)


@pytest.mark.parametrize(("method", "path", "repeat"), LINES, ids=str)
def test_what_may_be_repeated(method: str, path: str, repeat: str) -> None:
    assert by_line()[f"{method} {snake(path)}"].idempotency is CLASSES[repeat]


@pytest.mark.parametrize("route", ROUTES.values(), ids=str)
def test_the_scope_is_that_of_the_chapter_authentication(route: Route[Any]) -> None:
    if route.path.startswith("/api/resources"):
        expected = Scope.FULL
    elif route.path.startswith(("/api/apps", "/api/registry")):
        expected = Scope.REGISTRY
    else:
        expected = Scope.OPEN
    assert route.scope is expected


def test_exactly_the_answers_that_are_shown_have_a_model() -> None:
    not_shown = {line.strip() for line in NO_SCHEMA.replace("\n", " ").split(",")}
    assert {str(route) for route in ROUTES.values() if isinstance(route.answer, Undocumented)} == not_shown


@pytest.mark.parametrize(
    ("repeat", "resendable"),
    [("r", True), ("i", True), ("l", True), ("c", False), ("a", False), ("n", False)],
)
def test_only_harmless_calls_are_sent_again_on_an_open_outcome(repeat: str, resendable: bool) -> None:
    assert CLASSES[repeat].resendable is resendable


def test_placeholders_are_quoted() -> None:
    assert ROUTES["SNAPSHOT_DELETE"].url(
        {"id": "a", "name": "b/c"}, lambda text: text.replace("/", "%2F")
    ) == ("/api/resources/a/snapshots/b%2Fc")


@pytest.mark.parametrize("name", ["", ".", ".."])
def test_a_name_that_would_lead_to_another_path_is_refused(name: str) -> None:
    # HTTP clients resolve dots: deleting the snapshot ".." would be deleting the service.
    with pytest.raises(errors.ConfigurationError, match="cannot be part of an address"):
        ROUTES["SNAPSHOT_DELETE"].url({"id": "a", "name": name}, str)


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


class Recorder:
    """A transport that notes the routes of the calls and answers none."""

    def __init__(self) -> None:
        self.calls: list[tuple[Route[Any], dict[str, Any]]] = []

    def send(
        self,
        route: Route[Any],
        ids: dict[str, Any],
        query: Any = None,
        body: Any = None,
        seconds: float | None = None,
    ) -> Any:
        self.calls.append((route, ids))
        raise Stop


def typed_calls() -> dict[str, Any]:
    return {
        name: method
        for name, method in inspect.getmembers(Client, inspect.isfunction)
        if not name.startswith("_") and name != "clone"
    }


def record(name: str) -> list[tuple[Route[Any], dict[str, Any]]]:
    """Call a method of the client with invented arguments; return what it would have sent."""
    session = Recorder()
    method = typed_calls()[name]
    parameters = list(inspect.signature(method).parameters)[1:]
    arguments = {parameter: ARGUMENTS.get(parameter, f"some {parameter}") for parameter in parameters}
    with pytest.raises(Stop):
        getattr(Client(session), name)(**arguments)  # type: ignore[arg-type]
    return session.calls


@pytest.mark.parametrize("name", typed_calls())
def test_a_method_of_the_client_makes_one_call_and_fills_its_path(name: str) -> None:
    calls = record(name)
    assert len(calls) == 1
    route, ids = calls[0]
    assert set(re.findall(r"{(\w+)}", route.path)) == set(ids)


def test_each_route_has_one_method_of_the_client() -> None:
    used = Counter(str(record(name)[0][0]) for name in typed_calls())
    assert used == Counter(str(route) for route in ROUTES.values())
