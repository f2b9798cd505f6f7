# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is remembered of an application: what waits for a deploy, and what was in service before."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.applications.records import (
    AppRecords,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.environment import ENVIRONMENT
from ansible_collections.hosted.services.plugins.module_utils._resources.shared import pending
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from unit.plugins.fakes import FakeClient, task_of

A = f"sha256:{'a' * 64}"


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ANSIBLE_HOME", str(tmp_path / "home"))


def records(state_dir: Path | None = None, id: str | None = "app_1") -> AppRecords:
    """Return the records of an application as a task finds them."""
    given = {} if state_dir is None else {"state_dir": str(state_dir)}
    return AppRecords.of(task_of(ENVIRONMENT, FakeClient(), slug="shop", clear=True, **given), id)  # type: ignore[arg-type]


def test_the_folder_that_the_user_names_has_to_take_it(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Invalid):
        records(tmp_path / "file").note(pending.ENVIRONMENT)
    (tmp_path / "home").write_text("")
    records(tmp_path / "own").note(pending.ENVIRONMENT)
    assert records(tmp_path / "own").outstanding()


def test_another_application_has_records_of_its_own() -> None:
    records().note(pending.ENVIRONMENT)
    records().record_deploy(A)
    assert records(id="app_2").outstanding() == {} and records(id="app_2").history.images == ()
    assert records(id=None).outstanding() == {} and records(id=None).history.images == ()
