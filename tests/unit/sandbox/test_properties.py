# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever is sent: no server error, and no answer outside the OpenAPI document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis import checks
from schemathesis.specs.openapi import checks as openapi_checks

from hosted_sandbox.api.app import openapi
from hosted_sandbox.testing import Sandbox

schema = schemathesis.openapi.from_dict(openapi())
# The bounds of all parameters, which make 20 calls of each route, are the night's.
GATE = settings.get_current_profile_name() == "gate"
PHASES = [Phase.generate] if GATE else [Phase.explicit, Phase.generate]
CHECKS = [
    checks.not_a_server_error,
    openapi_checks.status_code_conformance,
    openapi_checks.response_schema_conformance,
]
SEED = {"services": [{"name": "mc", "product": "minecraft"}, {"name": "db", "product": "postgresql"}]}


@pytest.fixture(scope="module")
def world(server: Sandbox) -> Iterator[tuple[Sandbox, str]]:
    """A world with a game server and a database; half of all paths lead to one of them."""
    server.reset(profile="plain", delays={"scan_wait": 0.01, "query": 0.1})
    yield server, server.seed(SEED)["services"]["db"]


@schema.parametrize()
@settings(
    max_examples=3,
    deadline=None,
    derandomize=True,
    database=None,
    phases=PHASES,
    suppress_health_check=list(HealthCheck),
)
def test_nothing_sent_breaks_the_sandbox(world: tuple[Sandbox, str], case: Any) -> None:
    sandbox, key = world
    if "/resources/{id}" in case.path and len(str(case.path_parameters["id"])) % 2 == 0:
        case.path_parameters["id"] = key
    answer = case.call(base_url=sandbox.base_url, headers=sandbox.headers)
    case.validate_response(answer, checks=CHECKS)
