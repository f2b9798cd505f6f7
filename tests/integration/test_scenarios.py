# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Molecule's scenarios in extensions/molecule, where each role is told, on the platform of the tests."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
import requests
import yaml

from integration.ansible_run import COLLECTIONS, PROFILE, REPOSITORY
from integration.database_servers import free_port

MOLECULE = REPOSITORY / "extensions" / "molecule"
SCENARIOS = sorted(path.parent.name for path in MOLECULE.glob("*/molecule.yml"))
LONG = ("backups", "drift_schedule", "sleep_schedule")
"""Weeks of scheduled runs: the gate has a story of each of these roles in tests/stories."""
SHARED = "../shared/create.yml"
ASKED = "SANDBOX_PROFILE"
SECONDS = 1800


def molecule(command: str, name: str, home: Path, profile: str = PROFILE) -> None:
    """Run a command of molecule for a scenario, in a home of its own. All of its output is in the error."""
    done = subprocess.run(
        ["molecule", command, "-s", name],
        cwd=REPOSITORY,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "LANG": "C.UTF-8",
            "ANSIBLE_HOME": str(home / ".ansible"),
            "ANSIBLE_COLLECTIONS_PATH": COLLECTIONS,
            "MOLECULE_EPHEMERAL_DIRECTORY": str(home / "molecule"),
            "SANDBOX_PORTS": " ".join(str(free_port()) for __ in range(4)),
            ASKED: profile,
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.night) if name in LONG else name for name in SCENARIOS]
)
def test_scenario(name: str, tmp_path: Path) -> None:
    molecule("test", name, tmp_path)


def test_a_sandbox_has_the_profile_that_was_asked_for(tmp_path: Path) -> None:
    """Or each scenario passes under every profile, because it ran under none of them."""
    try:
        molecule("create", "relocate", tmp_path, "terse")
        facts = json.loads((tmp_path / "molecule" / "relocate" / "sandbox.json").read_text())
        profile = requests.get(f"{facts['control_url']}/profile", timeout=10).json()
    finally:
        molecule("destroy", "relocate", tmp_path)
    assert profile["name"] == "terse"


@pytest.mark.parametrize("name", SCENARIOS)
def test_each_scenario_asks_for_it(name: str) -> None:
    """The one above is made like all others, except for one that says so itself."""
    text = (MOLECULE / name / "molecule.yml").read_text()
    made_by = yaml.safe_load(text)["provisioner"].get("playbooks", {}).get("create")
    assert made_by == SHARED or ASKED in text
    assert ASKED in (MOLECULE / name / SHARED).read_text()
