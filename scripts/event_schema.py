# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write the JSON Schema of the events that the event source sends, next to it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ansible_collections.hosted.services.plugins.module_utils._resources.account_events.events import (
    KINDS,
)

FILE = Path(__file__).resolve().parent.parent / "extensions/eda/plugins/event_source/account.schema.json"


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of all events, without what ansible-rulebook adds to them."""
    schemas = [kind.model_json_schema(mode="serialization") for kind in KINDS]
    definitions: dict[str, Any] = {}
    for kind, schema in zip(KINDS, schemas, strict=True):
        definitions.update(schema.pop("$defs", {}))
        # ansible-rulebook adds `meta`, with the source and the time at which it received the event.
        schema["properties"]["meta"] = {"type": "object", "description": "Added by ansible-rulebook."}
        definitions[kind.__name__] = schema
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Events of hosted.services.account",
        "oneOf": [{"$ref": f"#/$defs/{kind.__name__}"} for kind in KINDS],
        "$defs": dict(sorted(definitions.items())),
    }


if __name__ == "__main__":
    FILE.write_text(json.dumps(json_schema(), indent=2) + "\n", encoding="utf-8")
    print(f"Wrote {FILE.name}.")
