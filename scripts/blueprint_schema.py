# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write docs/blueprint.schema.json, by which editors complete and check blueprints, from the models."""

from __future__ import annotations

import json
from pathlib import Path

from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.schema import json_schema

PATH = Path(__file__).resolve().parent.parent / "docs" / "blueprint.schema.json"


def main() -> None:
    """Write the file."""
    PATH.write_text(json.dumps(json_schema(), indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
