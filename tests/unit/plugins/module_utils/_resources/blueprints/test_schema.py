# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The form of blueprints, its JSON Schema for editors, and that of plans, compared with what roles take."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.schema import (
    BackupSection,
    BusySection,
    ExceptionSection,
    KeepSection,
    OffsiteSection,
    Section,
    SleepSection,
    WindowSection,
    fields_of,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.service import ServiceResource
from ansible_collections.hosted.services.plugins.module_utils._resources.services.options import (
    ServiceOptions,
)
from ansible_collections.hosted.services.scripts.schemas import of_blueprints
from ansible_collections.hosted.services.scripts.sources import ROOT

PUBLISHED = ROOT / "docs"
NOT_IN_A_FILE = {
    "backups": {"project", "family", "before", "after", "on_failure"},
    "sleep_schedule": {"project", "family"},
}
"""What a role takes and a blueprint does not say: the project is its own, and hooks may hold secrets."""


def test_the_published_schema_is_current() -> None:
    assert json.loads((PUBLISHED / "blueprint.schema.json").read_text()) == of_blueprints(), (
        "run: make documents"
    )


def test_every_key_is_described() -> None:
    schema = of_blueprints()
    for name, section in {"Blueprint": schema, **schema["$defs"]}.items():
        for key, value in section["properties"].items():
            assert value.get("description"), f"{name}.{key}"


def test_sections_refuse_other_keys() -> None:
    schema = of_blueprints()
    assert [each.get("additionalProperties") for each in (schema, *schema["$defs"].values())] == [False] * (
        len(schema["$defs"]) + 1
    )


def test_the_keys_of_a_service_are_options_of_its_module() -> None:
    keys = of_blueprints()["$defs"]["ServiceSection"]["properties"].keys()
    assert keys <= ServiceResource.options.keys()
    assert ServiceOptions.__dataclass_fields__.keys() > keys


# --- Plans ------------------------------------------------------------------------------------------


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
