# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Molecule's scenarios in extensions/molecule, each run in a home directory of its own."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from integration.ansible_run import COLLECTIONS, PROFILE, REPOSITORY

SCENARIO_SECONDS = 600


def run_scenario(name: str, home: Path, **environment: str) -> None:
    """Run ``molecule test`` for a scenario. It fails like the test, with all of the output."""
    molecule("test", name, home, **environment)


def molecule(command: str, name: str, home: Path, **environment: str) -> None:
    """Run a command of molecule for a scenario, whose sandbox has the profile of the tests."""
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
            "SANDBOX_PROFILE": PROFILE,
            **environment,
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SCENARIO_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
