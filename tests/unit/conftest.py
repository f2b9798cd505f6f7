# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What all unit tests have in common.

Hypothesis takes the same examples every time, so that a change is judged by what it changed: a few in the
gate, more in the night. New ones are looked for on purpose: `pytest --hypothesis-profile=search`.
"""

from __future__ import annotations

import gc
import os

import pytest
from hypothesis import settings

# No deadline: a busy machine is not a defect.
settings.register_profile("gate", max_examples=25, derandomize=True, deadline=None)
settings.register_profile("night", max_examples=100, derandomize=True, deadline=None)
settings.register_profile("search", max_examples=5000, deadline=None)
settings.load_profile("gate")


def pytest_collection() -> None:
    """Look for no circles in what stays until the end: modules and thousands of items."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Look for them in what tests make."""
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True)
def usual_umask() -> None:
    """Let each test create files with the usual modes, whatever the ones before it have left."""
    os.umask(0o022)


@pytest.fixture(autouse=True)
def own_records(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep what tasks remember out of the home of whoever runs the tests, and of other processes."""
    monkeypatch.setenv("ANSIBLE_HOME", str(tmp_path_factory.getbasetemp() / f"ansible-{os.getpid()}"))
    monkeypatch.delenv("HOSTED_SERVICES_HOME", raising=False)
