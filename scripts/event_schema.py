# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write the JSON Schema of the events that the event source sends, next to it."""

from __future__ import annotations

import json
from pathlib import Path

from ansible_collections.hosted.services.plugins.module_utils._resources.account_events.events import (
    json_schema,
)

FILE = Path(__file__).resolve().parent.parent / "extensions/eda/plugins/event_source/account.schema.json"

if __name__ == "__main__":
    FILE.write_text(json.dumps(json_schema(), indent=2) + "\n", encoding="utf-8")
    print(f"Wrote {FILE.name}.")
