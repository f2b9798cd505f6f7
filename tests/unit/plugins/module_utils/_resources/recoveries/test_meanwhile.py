# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What somebody else makes while a recovery goes on is never taken for what it made."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import routes as r
from ansible_collections.hosted.services.plugins.module_utils._api.client import Client
from ansible_collections.hosted.services.plugins.module_utils._resources.services.order import Ordering
from hosted_sandbox.testing import Sandbox
from unit.plugins.module_utils._resources.clones.platform import ids_of, plain_files
from unit.plugins.module_utils._resources.recoveries.platform import Recover, record_of, recovering

THEIRS = {"/precious.txt": "mine"}
DRILL: dict[str, Any] = {"project": "shop-drill", "drill": True}


@pytest.fixture
def recover(sandbox: Sandbox, key_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Recover:
    """Recover a project of which nothing is left."""
    return recovering(sandbox, key_file, tmp_path, monkeypatch)


def rebuild(sandbox: Sandbox, project: str) -> None:
    """Make the game server by hand, as somebody else does in the same outage."""
    size = {"cpuCores": 1, "ramGb": 2, "storageGb": 10}
    theirs = {"name": "Survival", "product": "minecraft", "host": "node-paris-1", "dimensions": size}
    own = {"project": project, "files": {"precious.txt": "mine"}}
    sandbox.seed({"services": [{**theirs, **own}]})
    sandbox.clear_journal()


def once_the_project_is_made(monkeypatch: pytest.MonkeyPatch, then: Callable[[], object]) -> None:
    """Let something happen before what the project needs is planned in its turn."""
    send = Client.send

    def made(client: Client, route: r.Route[Any], **given: Any) -> Any:
        answer = send(client, route, **given)
        if route is r.PROJECT_CREATE:
            then()
        return answer

    monkeypatch.setattr(Client, "send", made)


def before_the_order(monkeypatch: pytest.MonkeyPatch, then: Callable[[], object]) -> None:
    """Let something happen between the plan and the order of the game server."""
    place = Ordering.place

    def placing(self: Ordering) -> Any:
        if self.name == "Survival":
            then()
        return place(self)

    monkeypatch.setattr(Ordering, "place", placing)


def writes(sandbox: Sandbox, id: str) -> list[str]:
    """Return the calls that change a service."""
    return [each for each in sandbox.writes() if id in each]


@pytest.mark.parametrize("moment", [once_the_project_is_made, before_the_order])
@pytest.mark.parametrize("given", [{}, {"existing": "keep"}, DRILL], ids=["refuse", "keep", "drill"])
def test_a_service_that_somebody_makes_meanwhile_is_left_alone(
    sandbox: Sandbox,
    recover: Recover,
    monkeypatch: pytest.MonkeyPatch,
    given: dict[str, Any],
    moment: Callable[..., None],
) -> None:
    """It is neither noted, filled nor changed; the other services are recovered."""
    project = given.get("project", "shop")
    moment(monkeypatch, lambda: rebuild(sandbox, project))
    found = recover(**given)
    ids = ids_of(sandbox, project)
    theirs = ids["Survival"]
    said = f"service 'Survival' ({theirs}) appeared meanwhile, and this recovery did not make it"
    assert found.get("failed") and said in found["msg"]
    assert plain_files(sandbox, theirs) == THEIRS and writes(sandbox, theirs) == []
    assert record_of(sandbox, project).ids == {"lobby": ids["lobby"]}
    assert plain_files(sandbox, ids["lobby"]) == {"/a": "b"}


def test_a_drill_does_not_delete_what_somebody_made_meanwhile(
    sandbox: Sandbox, recover: Recover, monkeypatch: pytest.MonkeyPatch
) -> None:
    once_the_project_is_made(monkeypatch, lambda: rebuild(sandbox, "shop-drill"))
    assert recover(**DRILL)["failed"]
    gone = recover(state="absent", **DRILL)
    assert "project 'shop-drill' stays" in " ".join(gone["warnings"])
    left = ids_of(sandbox, "shop-drill")
    assert [*left] == ["Survival"] and plain_files(sandbox, left["Survival"]) == THEIRS
