# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Blueprints that still have the former name of a service that was relocated."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.blueprint import BLUEPRINT
from hosted_sandbox.testing import Sandbox
from unit.plugins.module_utils._resources.clones.platform import environment, ids_of
from unit.plugins.module_utils._resources.platform import run
from unit.plugins.module_utils._resources.relocations.platform import (
    ENVIRONMENTS,
    SECRETS,
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
def moved(sandbox: Sandbox, key_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Relocate a service by its former name; return what relocates it further."""
    relocate = relocating(sandbox, key_file, tmp_path, monkeypatch)
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
