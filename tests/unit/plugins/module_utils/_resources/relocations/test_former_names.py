# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Blueprints that still have the former name of a service that was relocated."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.blueprint import BLUEPRINT
from ansible_collections.hosted.services.plugins.module_utils._resources.fleets.health import Health
from ansible_collections.hosted.services.plugins.module_utils._resources.relocations import former_names
from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from hosted_sandbox.testing import Sandbox
from unit.plugins.module_utils._resources.clones.platform import environment, ids_of
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


@pytest.mark.parametrize(
    ("blueprint", "reason"),
    [
        (shop({}, **REFERS), "application 'acme-web' would refer to it"),
        (shop(None, **REFERS), "application 'acme-web' would refer to it"),
        (shop({"state": "started"}), "service 'survival' would be resumed"),
    ],
)
def test_a_former_name_leads_nothing_back(
    blueprint: dict[str, Any], reason: str, sandbox: Sandbox, moved: Any
) -> None:
    old, new = pair(sandbox)
    for given in ({}, {"check_mode": True}, {"prune": True, "delete_without_copy": True}):
        refused = run(sandbox, BLUEPRINT, blueprint=blueprint, **given)
        assert refused["failed"] and f"names service 'survival' ({old})" in refused["msg"]
        assert reason in refused["msg"] and f"Write 'survival-2' ({new}) there" in refused["msg"]
    assert commits(sandbox) == [] and status_of(sandbox, old)[0] == "SUSPENDED"
    assert environment(sandbox, "acme-web")["GAME"] == "${survival-2.HOST}"


def test_what_does_no_harm_is_told(sandbox: Sandbox, moved: Any) -> None:
    """And the new name is written, as that says."""
    applied = done(run(sandbox, BLUEPRINT, blueprint=shop({})))
    assert "Write 'survival-2'" in " ".join(applied["warnings"]) and commits(sandbox) == []
    again = shop({"name": "survival-2", "state": "started"}, **REFERS)
    applied = done(run(sandbox, BLUEPRINT, blueprint=again))
    assert "a relocation put" not in " ".join(applied.get("warnings", []))
    assert environment(sandbox, "acme-web")["GAME"] == "${survival-2.HOST}"


def test_after_a_way_back_the_new_name_leads_nowhere(sandbox: Sandbox, moved: Any) -> None:
    done(moved(state="returned"))
    old, _new = pair(sandbox)
    refused = run(sandbox, BLUEPRINT, blueprint=shop({"name": "survival-2"}, **REFERS))
    assert f"Write 'survival' ({old}) there in its place" in refused["msg"]
    assert environment(sandbox, "acme-web")["GAME"] == "${survival.HOST}"
    done(run(sandbox, BLUEPRINT, blueprint=shop({}, **REFERS)))


def test_a_former_name_is_deleted_with_all_that_is_described(sandbox: Sandbox, moved: Any) -> None:
    old, new = pair(sandbox)
    done(run(sandbox, BLUEPRINT, blueprint=shop({}, **REFERS), state="absent", delete_backups=True))
    assert "survival" not in ids_of(sandbox, "shop") and status_of(sandbox, new)[0] == "ACTIVE"
    assert f"DELETE /api/resources/{old}" in " ".join(commits(sandbox))


def lead_back(sandbox: Sandbox) -> tuple[str, str]:
    """Resume the old service and lead the application back to it, as an owner does by hand; return both."""
    old, new = pair(sandbox)
    done(run(sandbox, SERVICE, id=old, state="started"))
    sandbox.api("PUT", "/api/apps/acme-web/environment", {"environment": {"GAME": "${survival.HOST}"}})
    return old, new


def delete(sandbox: Sandbox, id: str) -> None:
    """Delete a service, as its owner does by hand."""
    done(run(sandbox, SERVICE, id=id, state="absent", delete_backups=True))
    sandbox.clear_journal()


@pytest.mark.parametrize("blueprint", [shop({"state": "started"}, **REFERS), shop(None, **REFERS)])
def test_an_owner_who_went_back_by_hand_is_only_warned(
    blueprint: dict[str, Any], sandbox: Sandbox, moved: Any
) -> None:
    """The service in the record is gone: to write its name would order another one."""
    old, new = lead_back(sandbox)
    delete(sandbox, new)
    for given in ({"check_mode": True}, {}):
        warned = " ".join(done(run(sandbox, BLUEPRINT, blueprint=blueprint, **given))["warnings"])
        assert f"'survival-2' ({new}) does not exist anymore. Run hosted.services.relocate with" in warned
        assert "state: returned" in warned and "Write" not in warned
    assert environment(sandbox, "acme-web")["LOG_LEVEL"] == "debug" and status_of(sandbox, old)[0] == "ACTIVE"
    done(moved(state="returned"))
    assert "warnings" not in done(run(sandbox, BLUEPRINT, blueprint=blueprint))


def test_what_is_gone_is_not_to_be_written(sandbox: Sandbox, moved: Any) -> None:
    old, new = pair(sandbox)
    sandbox.api("PUT", "/api/apps/acme-web/environment", {"environment": {}})
    delete(sandbox, new)
    blueprint = shop({"state": "started"}, **REFERS)
    refused = run(sandbox, BLUEPRINT, blueprint=blueprint)
    assert refused["failed"] and "service 'survival' would be resumed" in refused["msg"]
    assert "state: returned" in refused["msg"] and "Write" not in refused["msg"]
    assert commits(sandbox) == [] and status_of(sandbox, old)[0] == "SUSPENDED"
    done(moved(state="returned"))
    done(run(sandbox, BLUEPRINT, blueprint=blueprint))
    assert status_of(sandbox, old) == ("ACTIVE", "running")


def test_a_record_that_no_way_back_settles_is_to_be_deleted(sandbox: Sandbox, moved: Any) -> None:
    """The owner used the new one again after a way back, and deleted the old one."""
    done(moved(state="returned"))
    old, new = pair(sandbox)
    sandbox.api("PUT", "/api/apps/acme-web/environment", {"environment": {}})
    delete(sandbox, old)
    blueprint = shop({"name": "survival-2", "state": "started"})
    refused = run(sandbox, BLUEPRINT, blueprint=blueprint)
    assert "so the record is outdated. Delete it: " in refused["msg"] and "Write" not in refused["msg"]
    assert commits(sandbox) == [] and status_of(sandbox, new)[0] == "SUSPENDED"
    Path(refused["msg"].rpartition("Delete it: ")[2].strip("'")).unlink()
    done(run(sandbox, BLUEPRINT, blueprint=blueprint))
    assert status_of(sandbox, new)[0] == "ACTIVE"


def test_both_may_be_in_service(sandbox: Sandbox, moved: Any) -> None:
    """To refuse the one would leave its owner no way to use it."""
    old, new = lead_back(sandbox)
    warned = " ".join(done(run(sandbox, BLUEPRINT, blueprint=shop({}, **REFERS)))["warnings"])
    assert f"names service 'survival' ({old})" in warned
    assert f"'survival-2' ({new}) is in service as well" in warned
    assert environment(sandbox, "acme-web")["LOG_LEVEL"] == "debug"
    assert status_of(sandbox, old)[0] == status_of(sandbox, new)[0] == "ACTIVE"


def test_what_cannot_be_read_is_not_taken_for_gone(
    sandbox: Sandbox, moved: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    _old, new = lead_back(sandbox)
    delete(sandbox, new)

    def refuse(client: Any, id: str) -> None:
        raise Invalid("a gateway refused it")

    monkeypatch.setattr(former_names, "find_staying", refuse)
    refused = run(sandbox, BLUEPRINT, blueprint=shop({}, **REFERS))
    assert refused["failed"] and "go back with state: returned" in refused["msg"]
    assert "anymore" not in refused["msg"] and commits(sandbox) == []


# --- On the way -------------------------------------------------------------------------------------


def stop_before_switch(sandbox: Sandbox, relocate: Relocate) -> None:
    """Kill a relocation while the old service is stopped and nothing refers to the new one."""

    def be_killed(health: Health) -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Health, "wait", be_killed)
        with pytest.raises(KeyboardInterrupt):
            relocate()


def stop_after_switch(sandbox: Sandbox, relocate: Relocate) -> None:
    """Let a relocation fail at the deploy, once the environment refers to the new service."""
    sandbox.fault("apps.deploy", "status", status=409)
    assert relocate()["failed"]
    sandbox.clear_faults()


@pytest.mark.parametrize(
    ("interrupt", "blueprint", "reason"),
    [
        (stop_before_switch, shop({"state": "started"}, **REFERS), "service 'survival' would be started"),
        (stop_after_switch, shop({"state": "started"}), "service 'survival' would be started"),
        (stop_after_switch, shop({}, **REFERS), "application 'acme-web' would refer to it"),
        (stop_after_switch, shop(None, **REFERS), "application 'acme-web' would refer to it"),
    ],
)
def test_nothing_is_led_back_while_a_relocation_is_under_way(
    interrupt: Any, blueprint: dict[str, Any], reason: str, sandbox: Sandbox, relocate: Relocate
) -> None:
    """What is written to the old service then is lost once the relocation is complete."""
    interrupt(sandbox, relocate)
    old, _new = pair(sandbox)
    before = environment(sandbox, "acme-web")
    sandbox.clear_journal()
    for given in ({"check_mode": True}, {}):
        refused = run(sandbox, BLUEPRINT, blueprint=blueprint, **given)
        assert refused["failed"] and f"'survival' ({old}), whose relocation to 'survival-2'" in refused["msg"]
        assert reason in refused["msg"] and "run it again" in refused["msg"]
        assert "state: returned" in refused["msg"]
    assert commits(sandbox) == [] and environment(sandbox, "acme-web") == before
    assert status_of(sandbox, old) == ("ACTIVE", "stopped")
    done(relocate(state="returned"))
    done(run(sandbox, BLUEPRINT, blueprint=blueprint))


def test_before_the_switch_it_is_right_to_refer_to_the_old_service(
    sandbox: Sandbox, relocate: Relocate
) -> None:
    stop_before_switch(sandbox, relocate)
    warned = done(run(sandbox, BLUEPRINT, blueprint=shop({}, **REFERS)))["warnings"]
    assert "is under way" in " ".join(warned)
    assert environment(sandbox, "acme-web")["GAME"] == "${survival.HOST}"
    assert status_of(sandbox, pair(sandbox)[0]) == ("ACTIVE", "stopped")
