# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write docs/blueprint.schema.json, by which editors complete and check blueprints, from the models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.schema import Blueprint

SCHEMA_DIALECT = "https://json-schema.org/draft/2020-12/schema"
PATH = Path(__file__).resolve().parent.parent / "docs" / "blueprint.schema.json"


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a blueprint, for editors."""
    schema: dict[str, Any] = without_null(Blueprint.model_json_schema())
    return {"$schema": SCHEMA_DIALECT, **schema, "title": "Blueprint of hosted.services"}


def without_null(schema: Any) -> Any:
    """Return a schema in which nothing may be null: what is left out is not written at all."""
    if isinstance(schema, list):
        return [without_null(each) for each in schema if each != {"type": "null"}]
    if not isinstance(schema, dict):
        return schema
    found = {key: without_null(value) for key, value in schema.items() if (key, value) != ("default", None)}
    choices = found.get("anyOf")
    if choices and len(choices) == 1:
        found = {**{key: value for key, value in found.items() if key != "anyOf"}, **choices[0]}
    return found


def main() -> None:
    """Write the file."""
    PATH.write_text(json.dumps(json_schema(), indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
