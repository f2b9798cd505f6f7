# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What still has the former name of a service that was relocated is led to the one in its place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.blueprint import BLUEPRINT
from ansible_collections.hosted.services.plugins.module_utils._resources.environment import ENVIRONMENT
from ansible_collections.hosted.services.plugins.module_utils._resources.fleets.health import Health
from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE
from hosted_sandbox.testing import Sandbox
from unit.plugins.module_utils._resources.clones.platform import environment
from unit.plugins.module_utils._resources.platform import run
from unit.plugins.module_utils._resources.relocations.platform import (
    ENVIRONMENTS,
    SECRETS,
    Relocate,
    commits,
    done,
    pair,
    relocating,
    status_of,
)


def shop(service: dict[str, Any] | None = None, **application: Any) -> dict[str, Any]:
    """Return a blueprint of a project."""
    game = {"survival": {"product": "minecraft", **service}} if service is not None else {}
    return {
        "project": "shop",
        "services": {**game, "db": {"product": "postgresql"}, "disk": {"product": "bucket"}},
        "applications": {"web": {"slug": "acme-web", "image": {"tag": "v1"}, **application}},
    }


REFERS: dict[str, Any] = {"environment": ENVIRONMENTS["acme-web"], "secret_environment": SECRETS["acme-web"]}


@pytest.fixture
def relocate(sandbox: Sandbox, key_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Relocate:
    """Return what relocates a service."""
    return relocating(sandbox, key_file, tmp_path, monkeypatch)


@pytest.fixture
def moved(sandbox: Sandbox, relocate: Relocate) -> Relocate:
    """Relocate a service by its former name; return what relocates it further."""
    done(relocate())
    sandbox.clear_journal()
    return relocate


@pytest.mark.parametrize("blueprint", [shop({"state": "started"}, **REFERS), shop(None, **REFERS)])
def test_a_former_name_leads_nothing_back(blueprint: dict[str, Any], sandbox: Sandbox, moved: Any) -> None:
    old, new = pair(sandbox)
    for given in ({"check_mode": True}, {}, {"prune": True, "delete_without_copy": True}):
        applied = done(run(sandbox, BLUEPRINT, blueprint=blueprint, **given))
        assert f"'survival-2' ({new}) is in its place" in " ".join(applied["warnings"])
    assert commits(sandbox) == [] and status_of(sandbox, old)[0] == "SUSPENDED"
    again = shop({"name": "survival-2", "state": "started"}, **REFERS)
    applied = done(run(sandbox, BLUEPRINT, blueprint=again))
    assert environment(sandbox, "acme-web")["GAME"] == "${survival-2.HOST}"


def test_an_environment_that_is_written_leads_nothing_back(sandbox: Sandbox, moved: Any) -> None:
    given = {"GAME": "${survival.HOST}:${survival.PORT}", "DB": "${db.URL}"}
    applied = done(run(sandbox, ENVIRONMENT, slug="acme-web", variables=given))
    assert "Write 'survival-2' in its references to 'survival'" in " ".join(applied["warnings"])
    wanted = {"GAME": "${survival-2.HOST}:${survival-2.PORT}", "DB": "${db.URL}"}
    assert environment(sandbox, "acme-web") == wanted


def test_after_a_way_back_the_new_name_leads_to_the_old_one(sandbox: Sandbox, moved: Any) -> None:
    done(moved(state="returned"))
    _old, new = pair(sandbox)
    done(run(sandbox, BLUEPRINT, blueprint=shop({"name": "survival-2", "state": "started"}, **REFERS)))
    assert environment(sandbox, "acme-web")["GAME"] == "${survival.HOST}"
    assert status_of(sandbox, new)[0] == "SUSPENDED"


def test_what_would_be_deleted_by_a_former_name_is_refused(sandbox: Sandbox, moved: Any) -> None:
    refused = run(sandbox, BLUEPRINT, blueprint=shop({}, **REFERS), state="absent", delete_backups=True)
    assert refused["failed"] and all(id in refused["msg"] for id in pair(sandbox))
    assert commits(sandbox) == []


def test_an_owner_who_went_back_by_hand_is_not_led(sandbox: Sandbox, moved: Any) -> None:
    old, new = pair(sandbox)
    done(run(sandbox, SERVICE, id=old, state="started"))
    sandbox.api("PUT", "/api/apps/acme-web/environment", {"environment": {}})
    done(run(sandbox, SERVICE, id=new, state="absent", delete_backups=True))
    done(run(sandbox, BLUEPRINT, blueprint=shop({"state": "started"}, **REFERS)))
    assert environment(sandbox, "acme-web")["GAME"] == "${survival.HOST}"
    assert status_of(sandbox, old) == ("ACTIVE", "running")


# --- On the way -------------------------------------------------------------------------------------


def test_what_is_stopped_before_the_switch_stays_so(
    sandbox: Sandbox, relocate: Relocate, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is written to the old service then is lost once the relocation is complete."""

    def be_killed(health: Health) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Health, "wait", be_killed)
        with pytest.raises(KeyboardInterrupt):
            relocate()
    sandbox.clear_journal()
    for refused in (
        run(sandbox, BLUEPRINT, blueprint=shop({"state": "started"}, **REFERS)),
        run(sandbox, SERVICE, name="survival", state="started"),
    ):
        assert refused["failed"] and "is under way" in refused["msg"] and "state: returned" in refused["msg"]
    assert commits(sandbox) == [] and status_of(sandbox, pair(sandbox)[0]) == ("ACTIVE", "stopped")
    done(run(sandbox, BLUEPRINT, blueprint=shop(None, **REFERS)))
    assert environment(sandbox, "acme-web")["GAME"] == "${survival.HOST}", "the new one is not in service yet"


def test_after_the_switch_the_new_service_is_meant(sandbox: Sandbox, relocate: Relocate) -> None:
    sandbox.fault("apps.deploy", "status", status=409)
    assert relocate()["failed"]
    sandbox.clear_faults()
    done(run(sandbox, BLUEPRINT, blueprint=shop({"state": "started"}, **REFERS)))
    assert environment(sandbox, "acme-web")["GAME"] == "${survival-2.HOST}"
    assert status_of(sandbox, pair(sandbox)[0]) == ("ACTIVE", "stopped")
