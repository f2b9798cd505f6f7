# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The form of blueprints, and its JSON Schema for editors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.schema import (
    Blueprint,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.service import ServiceResource
from ansible_collections.hosted.services.plugins.module_utils._resources.services.options import (
    ServiceOptions,
)
from ansible_collections.hosted.services.scripts.blueprint_schema import json_schema

PUBLISHED = (
    next(parent for parent in Path(__file__).resolve().parents if (parent / "galaxy.yml").is_file()) / "docs"
)


def test_the_published_schema_is_current() -> None:
    assert json.loads((PUBLISHED / "blueprint.schema.json").read_text()) == json_schema(), (
        "run: make documents"
    )


def test_every_key_is_described() -> None:
    schema = json_schema()
    for name, section in {"Blueprint": schema, **schema["$defs"]}.items():
        for key, value in section["properties"].items():
            assert value.get("description"), f"{name}.{key}"


def test_sections_refuse_other_keys() -> None:
    schema = json_schema()
    assert [each.get("additionalProperties") for each in (schema, *schema["$defs"].values())] == [False] * (
        len(schema["$defs"]) + 1
    )


def test_the_keys_of_a_service_are_options_of_its_module() -> None:
    keys = json_schema()["$defs"]["ServiceSection"]["properties"].keys()
    assert keys <= ServiceResource.options.keys()
    assert ServiceOptions.__dataclass_fields__.keys() > keys


@pytest.mark.parametrize(("value", "shown"), [(12.5, "12.5"), (12, "12"), ("12.50", "12.50")])
def test_amounts_keep_their_digits(value: Any, shown: str) -> None:
    data = {"project": "a", "services": {"db": {"max_monthly": value}}}
    assert Blueprint.model_validate(data).services["db"].max_monthly == shown
