# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Exports: what they say of a project, that they change nothing, and that they make the same project again.

Accounts are made at random, on platforms that fill the gaps of the specification differently.
BLUEPRINT_EXPORTS=0-999 takes that many of them (stage release-histories).
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.hosted.services.plugins.module_utils._resources.blueprint import BLUEPRINT
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprint_info import BLUEPRINT_INFO
from hosted_sandbox.gaps import Profile
from hosted_sandbox.testing import NO_DELAYS, Sandbox
from unit.plugins.accounts import random_account
from unit.plugins.module_utils._resources.platform import run, writes
from unit.tiers import sample

FIRST, __, LAST = os.environ.get("BLUEPRINT_EXPORTS", "0-11").partition("-")
ACCOUNTS = range(int(FIRST), int(LAST or FIRST) + 1)
MADE_AGAIN = ACCOUNTS if "BLUEPRINT_EXPORTS" in os.environ else ACCOUNTS[::3]
"""To order everything takes longer than to look at it."""


@pytest.fixture(autouse=True)
def records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each test records of its own: a sandbox that was reset is another account."""
    monkeypatch.setenv("HOSTED_SERVICES_HOME", str(tmp_path))


def start(sandbox: Sandbox, number: int, seed: dict[str, Any]) -> None:
    """Start over with an account on one of the platforms."""
    profile = Profile.NAMES[number % len(Profile.NAMES)]
    sandbox.reset(profile=profile, delays=NO_DELAYS, seed=seed)


def export(sandbox: Sandbox, project: str | None = None) -> list[dict[str, Any]]:
    """Return the blueprints of all projects, or of one."""
    done = run(sandbox, BLUEPRINT_INFO, project=project)
    assert not done.get("failed"), done["msg"]
    found: list[dict[str, Any]] = done["blueprints"]
    return found


def apply(sandbox: Sandbox, folder: Path, text: str, check_mode: bool = False) -> dict[str, Any]:
    """Apply the text of a blueprint as a file."""
    file = folder / "exported.yml"
    file.write_text(text)
    done = run(sandbox, BLUEPRINT, check_mode, src=str(file), state_dir=str(folder), secrets_dir=str(folder))
    assert not done.get("failed"), done["msg"]
    return done


def comparable(blueprints: list[dict[str, Any]], undeployed: set[str]) -> dict[str, Any]:
    """Return blueprints by project, without what is not read of an application before its first deploy."""
    found = {each["project"]: each["blueprint"] for each in blueprints}
    for blueprint in found.values():
        for key, app in blueprint.get("applications", {}).items():
            if app.get("slug", key) in undeployed:
                app.pop("public", None)
    return found


@pytest.mark.parametrize("number", sample(ACCOUNTS, 2))
def test_an_export_changes_nothing(sandbox: Sandbox, tmp_path: Path, number: int) -> None:
    start(sandbox, number, random_account(number))
    blueprints = export(sandbox)
    sandbox.clear_journal()
    for each in blueprints:
        done = apply(sandbox, tmp_path, each["text"], check_mode=True)
        assert not done["changed"], (each["text"], done["actions"])
        assert yaml.safe_load(each["text"]) == each["blueprint"]
    assert writes(sandbox) == []
    assert {each["project"]: export(sandbox, each["project"]) for each in blueprints} == {
        each["project"]: [each] for each in blueprints
    }


@pytest.mark.parametrize("number", sample(MADE_AGAIN))
def test_an_export_makes_the_same_account_again(sandbox: Sandbox, tmp_path: Path, number: int) -> None:
    seed = random_account(number)
    start(sandbox, number, seed)
    before = export(sandbox)
    start(sandbox, number, {})
    for each in before:
        apply(sandbox, tmp_path, each["text"])
    slugs = {app["slug"] for app in seed["apps"]}
    assert comparable(export(sandbox), slugs) == comparable(before, slugs)


def test_a_project_that_is_not_there_is_refused(sandbox: Sandbox) -> None:
    """Outside check mode, where nothing is going to make it."""
    done = run(sandbox, BLUEPRINT_INFO, project="webb")
    assert done["failed"] and "did you mean 'web'?" in done["msg"]
