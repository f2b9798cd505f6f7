# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Aliases that several services of a project have: told before they come about and where they are used."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import models as m
from ansible_collections.hosted.services.plugins.module_utils._resources.environment import ENVIRONMENT
from ansible_collections.hosted.services.plugins.module_utils._resources.project import PROJECT
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.aliases import (
    aliases_of,
    duplicate_aliases,
    warn_of_clashes,
)
from unit.plugins.apps import Platform, plain, platform, server
from unit.plugins.fakes import FakeClient, task_of

__all__ = ["plain", "platform", "server"]
GRAPH = m.ProjectGraph.model_validate(
    {
        "nodes": [
            {"id": "a", "alias": "db"},
            {"id": "b", "alias": "db"},
            {"id": "c", "alias": "web"},
            {"id": "d"},
        ]
    }
)


def test_aliases_of_a_project() -> None:
    assert aliases_of(GRAPH) == {"a": "db", "b": "db", "c": "web"}
    assert duplicate_aliases(GRAPH) == {"db"}


@pytest.mark.parametrize(
    ("joining", "said"),
    [
        ({"x": "db"}, "the alias 'db' is taken in project 'p'"),
        ({"x": "db", "y": "web", "z": "new"}, "the aliases 'db', 'web' are taken in project 'p'"),
        ({"a": "db"}, "the alias 'db' is taken"),
        ({"c": "web"}, ""),
        ({"x": "new"}, ""),
    ],
)
def test_a_clash_is_told_with_every_alias(joining: dict[str, str], said: str) -> None:
    """A service that is there already does not clash with itself."""
    task = task_of(PROJECT, FakeClient(), name="p")
    warn_of_clashes(task, joining, aliases_of(GRAPH), "project 'p'")
    assert bool(task.warnings) is bool(said)
    assert all(warning.startswith(said) for warning in task.warnings)


def test_a_reference_to_an_alias_that_two_have_is_told(plain: Platform) -> None:
    """A move may have brought a second one; the platform decides which of them is meant."""
    sandbox = plain.sandbox
    sandbox.api("POST", "/api/projects", {"name": "games"})
    projects = {one["name"]: one["id"] for one in sandbox.api("GET", "/api/projects").json()}
    sandbox.api("POST", "/api/apps", {"slug": "shop"})
    size = {"cpuCores": 1, "ramGb": 1, "storageGb": 10}
    order: dict[str, Any] = {"productSlug": "postgresql", "hostId": "node-paris-1", "dimensions": size}
    for project in ("default", "games"):
        body = {**order, "name": "db", "projectId": projects[project]}
        last = sandbox.api("POST", "/api/order", body).json()["instanceId"]
    given = {"variables": {"A": "${db.URL}"}, "token": sandbox.token}
    alone = plain.run(ENVIRONMENT, check_mode=True, **given)
    assert not any("have the alias" in warning for warning in alone.get("warnings", []))
    sandbox.api("PUT", f"/api/resources/{last}/project", {"projectId": projects["default"]})
    doubled_now = plain.run(ENVIRONMENT, check_mode=True, **given)
    assert any(
        "several services of the project have the alias 'db'" in told for told in doubled_now["warnings"]
    )
