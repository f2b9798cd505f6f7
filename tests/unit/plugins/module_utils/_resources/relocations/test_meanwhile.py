# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What somebody else orders by the next number while a relocation goes on is not taken for its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import routes as r
from ansible_collections.hosted.services.plugins.module_utils._api.errors import Interrupted
from ansible_collections.hosted.services.plugins.module_utils._resources import relocate as module
from ansible_collections.hosted.services.plugins.module_utils._resources.services.order import Ordering
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.options import StateDirOptions
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.relocation_record import (
    Relocation,
)
from hosted_sandbox.testing import Sandbox
from unit.plugins.module_utils._resources.clones.platform import ids_of, plain_files
from unit.plugins.module_utils._resources.platform import before_each, before_first_call, id_of
from unit.plugins.module_utils._resources.relocations.platform import (
    FILES,
    NODE,
    SEED,
    Relocate,
    done,
    orders,
    pair,
    relocating,
    status_of,
)

THEIRS = {"/precious.txt": "mine"}


@pytest.fixture
def relocate(sandbox: Sandbox, key_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Relocate:
    """Relocate a game server."""
    return relocating(sandbox, key_file, tmp_path, monkeypatch)


def before_the_order(monkeypatch: pytest.MonkeyPatch, first: Callable[[], object]) -> None:
    """Let something happen between the plan and the order."""
    before_first_call(monkeypatch, Ordering, "place", first)


def while_the_source_is_listed(monkeypatch: pytest.MonkeyPatch, first: Callable[[], object]) -> None:
    """Let something happen between the choice of the name and the plan of the order."""
    before_first_call(monkeypatch, module, "check_readable", first)


def order_another(sandbox: Sandbox, host: str = NODE, **given: Any) -> None:
    """Order a service of the next number, as somebody else does."""
    own = {"name": "survival-2", "host": host, "files": {"precious.txt": "mine"}, **given}
    sandbox.seed({"services": [{**SEED["services"][0], **own}]})
    sandbox.clear_journal()


def record_of(sandbox: Sandbox, id: str) -> Relocation:
    """Return what is remembered of the relocation of a service."""
    return Relocation.of(StateDirOptions(base_url=sandbox.base_url, token="x"), id)


@pytest.mark.parametrize("moment", [while_the_source_is_listed, before_the_order])
@pytest.mark.parametrize("host", [NODE, "node-paris-1"])
def test_a_service_that_somebody_orders_meanwhile_is_left_alone(
    sandbox: Sandbox,
    relocate: Relocate,
    monkeypatch: pytest.MonkeyPatch,
    host: str,
    moment: Callable[..., None],
) -> None:
    """Also by the way back. The next run takes the next number."""
    moment(monkeypatch, lambda: order_another(sandbox, host))
    found = relocate()
    old, theirs = pair(sandbox)
    before = status_of(sandbox, theirs)
    said = f"service 'survival-2' ({theirs}) appeared meanwhile, and this relocation did not order it"
    assert found.get("failed") and said in found["msg"]
    assert record_of(sandbox, old).new_id is None
    assert [each for each in sandbox.writes() if theirs in each] == []
    if moment is before_the_order:
        done(relocate(state="returned"))
    again = done(relocate())
    assert again["relocation"]["new_name"] == "survival-3"
    assert plain_files(sandbox, theirs) == THEIRS and status_of(sandbox, theirs) == before
    new = ids_of(sandbox, "shop")["survival-3"]
    assert plain_files(sandbox, new) == {f"/{name}": text for name, text in FILES.items()}


def test_one_of_the_given_name_is_refused_until_it_is_to_be_adopted(
    sandbox: Sandbox, relocate: Relocate, monkeypatch: pytest.MonkeyPatch
) -> None:
    before_the_order(monkeypatch, lambda: order_another(sandbox))
    for said in ("appeared meanwhile", "no relocation is known to have made it"):
        found = relocate(name="survival-2")
        assert found.get("failed") and said in found["msg"] and "existing: adopt" in found["msg"]
    _old, theirs = pair(sandbox)
    assert plain_files(sandbox, theirs) == THEIRS
    done(relocate(name="survival-2", existing="adopt"))
    assert plain_files(sandbox, theirs) == {f"/{name}": text for name, text in FILES.items()}


def test_one_that_appears_is_adopted_if_that_is_said(
    sandbox: Sandbox, relocate: Relocate, monkeypatch: pytest.MonkeyPatch
) -> None:
    before_the_order(monkeypatch, lambda: order_another(sandbox))
    done(relocate(existing="adopt"))
    _old, theirs = pair(sandbox)
    assert plain_files(sandbox, theirs) == {f"/{name}": text for name, text in FILES.items()}


def test_one_that_is_moved_there_while_the_order_is_planned_is_adopted_by_the_next_run(
    sandbox: Sandbox, relocate: Relocate, monkeypatch: pytest.MonkeyPatch
) -> None:
    order_another(sandbox, project="other")
    theirs = id_of(sandbox, "survival-2")
    home = next(each["id"] for each in sandbox.api("GET", "/api/projects").json() if each["name"] == "shop")

    def move() -> None:
        assert sandbox.api("PUT", f"/api/resources/{theirs}/project", {"projectId": home}).ok
        sandbox.clear_journal()

    while_the_source_is_listed(monkeypatch, move)
    found = relocate(name="survival-2", existing="adopt")
    assert found.get("failed") and "appeared while this was planned. Nothing was done" in found["msg"]
    assert sandbox.writes() == []
    assert done(relocate(name="survival-2", existing="adopt"))["relocation"]["new_id"] == theirs


@pytest.mark.parametrize("narrowed", [{}, {"project": "shop"}])
def test_an_old_service_that_is_resumed_before_its_turn_is_not_deleted(
    sandbox: Sandbox, relocate: Relocate, monkeypatch: pytest.MonkeyPatch, narrowed: dict[str, Any]
) -> None:
    """Another run may hold the lock for minutes, and what was read before that is not how it is."""
    done(relocate(keep_days=0))
    old, _new = pair(sandbox)
    resume = f"/api/resources/{old}/resume"
    before_first_call(monkeypatch, module, "one_at_a_time", lambda: sandbox.api("POST", resume))
    found = relocate(state="finished", **narrowed)
    assert found.get("failed") and "somebody may use it" in found["msg"]
    assert sandbox.api("GET", f"/api/resources/{old}").json()["status"] == "ACTIVE"


def test_what_an_order_of_a_killed_run_made_late_is_the_new_service(
    sandbox: Sandbox, relocate: Relocate, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not ordered again."""

    def lost(_ids: dict[str, str], _body: Any) -> None:
        raise Interrupted("killed")

    with monkeypatch.context() as patch:
        before_each(patch, r.ORDER, lost)
        assert relocate().get("failed")
    before_the_order(monkeypatch, lambda: order_another(sandbox))
    found = done(relocate())
    _old, new = pair(sandbox)
    assert found["relocation"]["new_id"] == new and orders(sandbox) == 0
    assert plain_files(sandbox, new) == {f"/{name}": text for name, text in FILES.items()}
