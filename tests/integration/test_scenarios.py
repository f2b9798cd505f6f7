# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Molecule's scenarios run on the platform that the tests were told to run on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import requests
import yaml

from integration import scenarios
from integration.ansible_run import REPOSITORY

MOLECULE = REPOSITORY / "extensions" / "molecule"
SCENARIOS = sorted(path.parent.name for path in MOLECULE.glob("*/molecule.yml"))
SHARED = "../shared/create.yml"
ASKED = "SANDBOX_PROFILE"


def test_a_sandbox_has_the_profile_that_was_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or each scenario passes under every profile, because it ran under none of them."""
    monkeypatch.setattr(scenarios, "PROFILE", "pairwise:2")
    try:
        scenarios.molecule("create", "relocate", tmp_path)
        facts = json.loads((tmp_path / "molecule" / "relocate" / "sandbox.json").read_text())
        profile = requests.get(f"{facts['control_url']}/profile", timeout=10).json()
    finally:
        scenarios.molecule("destroy", "relocate", tmp_path)
    assert profile["name"] == "pairwise:2"


@pytest.mark.parametrize("name", SCENARIOS)
def test_each_scenario_asks_for_it(name: str) -> None:
    """The one above is made like all others, except for one that says so itself."""
    text = (MOLECULE / name / "molecule.yml").read_text()
    made_by = yaml.safe_load(text)["provisioner"].get("playbooks", {}).get("create")
    assert made_by == SHARED or ASKED in text
    assert ASKED in (MOLECULE / name / SHARED).read_text()
