# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write the JSON Schemas from the models: of blueprints, for editors, and of what the event source sends."""

from __future__ import annotations

import json
from typing import Any

from ansible_collections.hosted.services.plugins.module_utils._resources.account_events.events import (
    KINDS,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.schema import Blueprint
from ansible_collections.hosted.services.scripts.sources import ROOT

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def of_blueprints() -> dict[str, Any]:
    """Return the schema of a blueprint."""
    schema: dict[str, Any] = without_null(Blueprint.model_json_schema())
    return {"$schema": DIALECT, **schema, "title": "Blueprint of hosted.services"}


def without_null(schema: Any) -> Any:
    """Return a schema without defaults of null: what is left out is not written at all."""
    if isinstance(schema, list):
        return [without_null(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: without_null(value) for key, value in schema.items() if (key, value) != ("default", None)}


def of_events() -> dict[str, Any]:
    """Return the schema of all events, without what ansible-rulebook adds to them."""
    schemas = [kind.model_json_schema(mode="serialization") for kind in KINDS.values()]
    definitions: dict[str, Any] = {}
    for kind, schema in zip(KINDS.values(), schemas, strict=True):
        definitions.update(schema.pop("$defs", {}))
        # ansible-rulebook adds `meta`, with the source and the time at which it received the event.
        schema["properties"]["meta"] = {"type": "object", "description": "Added by ansible-rulebook."}
        definitions[kind.__name__] = schema
    return {
        "$schema": DIALECT,
        "title": "Events of hosted.services.account",
        "oneOf": [{"$ref": f"#/$defs/{kind.__name__}"} for kind in KINDS.values()],
        "$defs": dict(sorted(definitions.items())),
    }


SCHEMAS = {
    ROOT / "docs/blueprint.schema.json": of_blueprints,
    ROOT / "extensions/eda/plugins/event_source/account.schema.json": of_events,
}

if __name__ == "__main__":
    for path, schema in SCHEMAS.items():
        path.write_text(json.dumps(schema(), indent=2) + "\n", encoding="utf-8")
