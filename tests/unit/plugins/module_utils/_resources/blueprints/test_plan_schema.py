# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The form of plans, compared with what the roles take."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.plan_schema import (
    BackupSection,
    BusySection,
    ExceptionSection,
    KeepSection,
    OffsiteSection,
    SleepSection,
    WindowSection,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.sections import (
    Section,
    fields_of,
)
from ansible_collections.hosted.services.scripts.sources import ROOT

NOT_IN_A_FILE = {
    "backups": {"project", "family", "before", "after", "on_failure"},
    "sleep_schedule": {"project", "family"},
}
"""What a role takes and a blueprint does not say: the project is its own, and hooks may hold secrets."""


def options_of(role: str) -> dict[str, Any]:
    """Return the options of a plan of a role."""
    spec = yaml.safe_load((ROOT / "roles" / role / "meta" / "argument_specs.yml").read_text())
    found: dict[str, Any] = spec["argument_specs"]["main"]["options"][f"{role}_plans"]["options"]
    return found


@pytest.mark.parametrize(("role", "section"), [("backups", BackupSection), ("sleep_schedule", SleepSection)])
def test_a_plan_has_what_its_role_takes(role: str, section: type[Section]) -> None:
    assert set(fields_of(section)) == set(options_of(role)) - NOT_IN_A_FILE[role]


@pytest.mark.parametrize(
    ("role", "option", "section"),
    [
        ("backups", "keep", KeepSection),
        ("backups", "offsite", OffsiteSection),
        ("sleep_schedule", "awake", WindowSection),
        ("sleep_schedule", "exceptions", ExceptionSection),
        ("sleep_schedule", "not_while_busy", BusySection),
    ],
)
def test_so_have_its_parts(role: str, option: str, section: type[Section]) -> None:
    assert set(fields_of(section)) == set(options_of(role)[option]["options"])
