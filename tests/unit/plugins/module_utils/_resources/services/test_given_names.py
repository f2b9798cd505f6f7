# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the platform named a service is remembered on the controller, by the order's name and project."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.models import Project, Service
from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE
from ansible_collections.hosted.services.plugins.module_utils._resources.services.given_names import (
    GivenNames,
)
from unit.plugins.fakes import FakeClient, task_of

OTHER = Service(id="svc_1", name="server 1", family="GAME", status="ACTIVE")
GAMES = Project(id="prj_1", name="games")


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep what is remembered apart."""
    monkeypatch.setenv("HOSTED_SERVICES_HOME", str(tmp_path))


def given(name: str = "web", project: Project | None = None, allowed: bool = False) -> GivenNames:
    """Return the record of an order."""
    return GivenNames.of(task_of(SERVICE, FakeClient(), name=name, allow_duplicate_name=allowed), project)


def test_a_record_is_that_of_one_name_in_one_project() -> None:
    given().remember(OTHER)
    assert given().read() == {"svc_1": "server 1"}
    assert given("Web").read() == given("web", GAMES).read() == {}


def test_what_is_remembered_adds_up() -> None:
    given().remember(OTHER)
    given().remember(OTHER.model_copy(update={"id": "svc_2"}))
    assert given().read() == {"svc_1": "server 1", "svc_2": "server 1"}


def test_an_allowed_duplicate_counts_for_all_and_others_not_for_it() -> None:
    """So the option orders another one than was there without it, and that one once."""
    other = OTHER.model_copy(update={"id": "svc_2"})
    given().remember(OTHER)
    assert given(allowed=True).read() == {}
    given(allowed=True).remember(other)
    assert given(allowed=True).read() == {"svc_2": "server 1"}
    assert given().read() == {"svc_1": "server 1", "svc_2": "server 1"}


@pytest.mark.parametrize("content", ["", "[1]", "{"])
def test_a_damaged_record_holds_nothing_and_is_replaced(content: str) -> None:
    given().remember(OTHER)
    Path(given().path).write_text(content)
    assert given().read() == {}
    given().remember(OTHER)
    assert given().read() == {"svc_1": "server 1"}


def test_a_record_that_cannot_be_written_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "given-names").write_text("no folder")
    record = given()
    record.remember(OTHER)
    (warning,) = record.task.warnings
    assert "what an order became cannot be kept in" in warning
    assert warning.endswith("Without that, a later run may order another service")
