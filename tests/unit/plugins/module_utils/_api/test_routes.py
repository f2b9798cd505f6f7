# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The routes page against the specification's Endpoints tables (tests/specification.py)."""

from __future__ import annotations

from collections import Counter

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import errors
from ansible_collections.hosted.services.plugins.module_utils._api.routes import (
    ROUTES,
    Idempotency,
    Undocumented,
)
from specification import HERE, SPECIFIED

CLASSES = {
    "r": Idempotency.READ,
    "i": Idempotency.IDEMPOTENT,
    "c": Idempotency.CREATE,
    "a": Idempotency.ACT,
    "l": Idempotency.LAST_WINS,
    "n": Idempotency.NEVER,
}


def test_the_page_has_the_routes_of_the_specification_and_no_other() -> None:
    """With what may be repeated; and exactly the answers that are shown have a model."""
    told = Counter((line.route, CLASSES[line.repeat], line.shown) for line in SPECIFIED)
    ours = Counter(
        (str(route), route.idempotency, not isinstance(route.answer, Undocumented))
        for route in ROUTES.values()
    )
    assert ours == told, f"compare with {HERE}"


def test_a_name_that_would_lead_to_another_path_is_refused() -> None:
    """HTTP clients resolve dots: deleting the snapshot ".." would be deleting the service."""
    delete = ROUTES["SNAPSHOT_DELETE"]
    assert delete.url({"id": "a", "name": "b/c"}) == "/api/resources/a/snapshots/b%2Fc"
    for name in ("", ".", ".."):
        with pytest.raises(errors.ConfigurationError, match="cannot be part of an address"):
            delete.url({"id": "a", "name": name})
