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
#: The rules that Galaxy's importer leaves out (its `eda/tox.ini`), as it is now and as it was at first.
IGNORED = ("D100,D104,INP001,FA102,UP001,UP010,I001,FA100,PLR0913,E501", "INP001")
PYLINT = ("R0801,E0401,C0103,R0913,R0902,R0903", "R0801")


@pytest.mark.parametrize("ignored", IGNORED)
def test_ruff_with_all_its_rules_has_nothing_to_say(ignored: str) -> None:
    rules = ["--isolated", "--select", "ALL", "--ignore", ignored, "-q"]
    check = [sys.executable, "-m", "ruff", "check", *rules, str(EDA / "plugins")]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.stdout == ""
    assert done.returncode == 0


@pytest.fixture(scope="module")
def programs() -> Path:
    """The folder of the other linters."""
    return environment() / "bin"


@pytest.mark.night
@pytest.mark.parametrize("disabled", PYLINT)
def test_pylint_has_nothing_to_say(programs: Path, disabled: str) -> None:
    command = [str(programs / "pylint"), str(PLUGIN), "--rcfile", "/dev/null", "-sn", "--disable", disabled]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == ""


@pytest.mark.night
def test_darglint_has_nothing_to_say(programs: Path) -> None:
    options = ["-v", "2", "-s", "numpy", "-z", "full"]
    command = [str(programs / "darglint"), *options, str(EDA / "plugins")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == ""
