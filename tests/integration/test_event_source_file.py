# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The linters that Galaxy runs on the file of the event source."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from integration.ansible_run import REPOSITORY
from integration.rulebook_run import environment

EDA = REPOSITORY / "extensions" / "eda"
PLUGIN = EDA / "plugins" / "event_source" / "account.py"


def test_ruff_with_all_its_rules_has_nothing_to_say() -> None:
    """Galaxy's importer leaves out some of them (its `eda/tox.ini`), at first no more than this one."""
    rules = ["--isolated", "--select", "ALL", "--ignore", "INP001", "-q"]
    check = [sys.executable, "-m", "ruff", "check", *rules, str(EDA / "plugins")]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.stdout == ""
    assert done.returncode == 0


@pytest.fixture(scope="module")
def programs() -> Path:
    """The folder of the other linters."""
    return environment() / "bin"


@pytest.mark.night
def test_pylint_has_nothing_to_say(programs: Path) -> None:
    command = [str(programs / "pylint"), str(PLUGIN), "--rcfile", "/dev/null", "-sn", "--disable", "R0801"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == ""


@pytest.mark.night
def test_darglint_has_nothing_to_say(programs: Path) -> None:
    options = ["-v", "2", "-s", "numpy", "-z", "full"]
    command = [str(programs / "darglint"), *options, str(EDA / "plugins")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == ""
