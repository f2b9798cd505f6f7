# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The routes page against the specification's Endpoints tables (tests/specification.py)."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import errors
from ansible_collections.hosted.services.plugins.module_utils._api.routes import (
    ROUTES,
    Idempotency,
    Route,
    Undocumented,
)
from specification import HERE, SPECIFIED, Line

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


def test_exactly_the_answers_that_are_shown_have_a_model() -> None:
    told = {line.route for line in SPECIFIED if not line.shown}
    open_ones = {str(route) for route in ROUTES.values() if isinstance(route.answer, Undocumented)}
    assert open_ones == told, f"compare with {HERE}"


def test_placeholders_are_quoted() -> None:
    assert ROUTES["SNAPSHOT_DELETE"].url({"id": "a", "name": "b/c"}) == ("/api/resources/a/snapshots/b%2Fc")


@pytest.mark.parametrize("name", ["", ".", ".."])
def test_a_name_that_would_lead_to_another_path_is_refused(name: str) -> None:
    # HTTP clients resolve dots: deleting the snapshot ".." would be deleting the service.
    with pytest.raises(errors.ConfigurationError, match="cannot be part of an address"):
        ROUTES["SNAPSHOT_DELETE"].url({"id": "a", "name": name})
