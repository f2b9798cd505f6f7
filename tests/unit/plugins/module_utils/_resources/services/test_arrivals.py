# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which service an order made is told by what came up with it, not by a number that others may have."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.errors import ServerFailure
from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import (
    EffectUnverified,
    Invalid,
)
from unit.plugins.fakes import Clock, FakeClient, carry_out, task_of

SIZE = {"cpu_cores": 2, "ram_gb": 4, "storage_gb": 20}
ORDER = {"name": "survival", "product": "nginx", "host": "nd_1", "dimensions": SIZE}
IN_GAMES = {**ORDER, "project": "games"}
HOME = {"projectId": "prj_games"}


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def ordered(client: FakeClient, **given: Any) -> Any:
    """Order a service and return it."""
    return carry_out(SERVICE.plan(task_of(SERVICE, client, **given)))


def account_with_arrivals(told: str, *services: dict[str, Any]) -> FakeClient:
    """Return an account in which these come up with an order that names ``told``."""
    client = FakeClient()
    client.add_project("prj_games", "games", createdAt="2024-01-01T00:00:00Z")
    client.project_records["prj_default"]["createdAt"] = "2020-01-01T00:00:00Z"
    client.order_answer = {"instanceId": told}

    def show() -> None:
        client.service_records.popitem()
        for facts in services:
            client.add_service(**facts)

    client.after["order"] = show
    return client


@pytest.mark.parametrize("told", ["7", "k5R"])
@pytest.mark.parametrize(
    ("facts", "is_ordered"),
    [
        ({}, True),
        ({"name": "Survival"}, False),
        ({"projectId": "prj_default"}, False),
        ({"product": {"slug": "redis"}}, False),
    ],
    ids=["as ordered", "another name", "in another project", "another product"],
)
def test_an_order_that_names_an_unlisted_service_made_it_only_if_that_is_as_ordered(
    monkeypatch: pytest.MonkeyPatch, told: str, facts: dict[str, Any], is_ordered: bool
) -> None:
    """The order is placed, and a list that is late is no reason to fail."""
    client = account_with_arrivals(told, {"id": told, "name": "survival", "projectId": "prj_games", **facts})
    listed = client.services
    monkeypatch.setattr(client, "services", lambda: [each for each in listed() if each.id != told])
    if is_ordered:
        assert ordered(client, **IN_GAMES)["id"] == told
    else:
        with pytest.raises(EffectUnverified, match=f"names '{told}', which is not the id of the new one"):
            ordered(client, **IN_GAMES)
    assert [call[0] for call in client.calls] == ["order"]


def test_what_has_the_very_name_was_ordered_and_not_what_the_order_names() -> None:
    client = account_with_arrivals(
        "17", {"id": "17", "name": "Survival", **HOME}, {"id": "18", "name": "survival", **HOME}
    )
    assert ordered(client, **IN_GAMES)["id"] == "18"


@pytest.mark.parametrize("lost", ["17", "19"])
def test_an_order_is_told_though_what_came_up_with_it_cannot_be_read(
    monkeypatch: pytest.MonkeyPatch, lost: str
) -> None:
    """It is placed; the next task reads it."""
    client = account_with_arrivals(
        "17",
        {"id": "17", "name": "cache", **HOME},
        {"id": "18", "name": "survival", **HOME},
        {"id": "19", **HOME},
    )
    read = client.service

    def fail(id: str) -> Any:
        if id == lost:
            raise ServerFailure("the server failed (503)", status=503)
        return read(id)

    monkeypatch.setattr(client, "service", fail)
    assert ordered(client, **IN_GAMES)["id"] == "18"


def test_an_order_without_a_project_made_what_is_in_the_default_one() -> None:
    client = account_with_arrivals(
        "17",
        {"id": "17", "name": "survival", "projectId": "prj_games"},
        {"id": "18", "name": "survival", "projectId": "prj_default"},
    )
    assert ordered(client, **ORDER, state="suspended")["id"] == "18"
    assert client.calls[1:] == [("suspend", "18")]


def test_a_name_that_the_platform_changed_counts_before_a_longer_one() -> None:
    client = account_with_arrivals(
        "17", {"id": "17", "name": "cafe", **HOME}, {"id": "18", "name": "cafe-bar", **HOME}
    )
    with pytest.raises(Invalid, match=r"named the new service 'cafe', not 'café'.* its id, 17,"):
        ordered(client, **{**IN_GAMES, "name": "café"})


@pytest.mark.parametrize("told", ["9001", "ord_9", "0f1e2d3c4b5a69788796"])
def test_an_order_whose_number_is_no_service_is_not_sent_again(told: str) -> None:
    """Though the platform added to the name."""
    client = account_with_arrivals(told, {"id": "501", "name": "survival-x", **HOME})
    for expected in (EffectUnverified, Invalid, Invalid):
        with pytest.raises(expected, match="'survival-x'"):
            ordered(client, **IN_GAMES)
    assert [call[0] for call in client.calls] == ["order"]
