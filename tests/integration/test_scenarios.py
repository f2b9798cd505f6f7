# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Molecule's scenarios in extensions/molecule, where each role is told, on the platform of the tests."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
import yaml

from integration.ansible_run import COLLECTIONS, PROFILE, REPOSITORY
from integration.database_servers import free_port
from integration.warm import WHOLE, programs

MOLECULE = REPOSITORY / "extensions" / "molecule"
SCENARIOS = sorted(path.parent.name for path in MOLECULE.glob("*/molecule.yml"))
SHARED = "../shared/create.yml"
ASKED = "SANDBOX_PROFILE"
SECONDS = 1800
# Molecule asks for the version before each playbook, and hides a warning of a library that nobody gives.
PLAYBOOK = '#!/bin/sh\nunset PYTHONWARNINGS\nexec {program} "$@"\n'


@pytest.mark.night
@pytest.mark.parametrize("name", SCENARIOS)
def test_scenario(name: str, tmp_path: Path) -> None:
    """Each role has a faster story in the gate: in tests/stories, test_recover.py or test_sandbox_role.py."""
    program = tmp_path / "bin" / "ansible-playbook"
    program.parent.mkdir()
    program.write_text(PLAYBOOK.format(program=programs().local_playbook))
    program.chmod(0o755)
    done = subprocess.run(
        ["molecule", "test", "-s", name],
        cwd=REPOSITORY,
        env={
            "PATH": f"{program.parent}:{os.environ['PATH']}",
            "HOME": str(tmp_path),
            "LANG": "C.UTF-8",
            "ANSIBLE_HOME": str(tmp_path / ".ansible"),
            "ANSIBLE_COLLECTIONS_PATH": WHOLE if name == "sandbox" else COLLECTIONS,  # it installs the rest
            "MOLECULE_EPHEMERAL_DIRECTORY": str(tmp_path / "molecule"),
            "SANDBOX_PORTS": " ".join(str(free_port()) for __ in range(4)),
            ASKED: PROFILE,
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", SCENARIOS)
def test_each_scenario_asks_for_it(name: str) -> None:
    """Or it passes under every profile, because it runs under none of them."""
    text = (MOLECULE / name / "molecule.yml").read_text()
    made_by = yaml.safe_load(text)["provisioner"].get("playbooks", {}).get("create")
    assert made_by == SHARED or ASKED in text
    assert ASKED in (MOLECULE / name / SHARED).read_text()
