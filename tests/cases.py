# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The test data of each module, from `cases.yml` in the folder of its target.

Tests that run every module read it here, so a new module needs no line in any of them:

- `seed`: what is on the sandbox when the module's own target begins; or the module whose seed that is;
- `sample_args`: arguments for a platform that answers anything; the first ones also serve wherever some task
  of the module is needed;
- `selectors`: for a module that writes, well-formed tasks by title, at least one for each state. They run
  again with each selector empty, misspelt or contradicted;
- `faults`: tasks to run under faults, on the account of `faults.scenarios`. `creates` names the route that
  must not be called twice. `before` lists tasks (`module`, `options`) that come first, without a fault.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

REPOSITORY = Path(__file__).resolve().parents[1]
TARGETS = REPOSITORY / "tests" / "integration" / "targets"
MODULES = REPOSITORY / "plugins" / "modules"
NAMES = sorted(path.stem for path in MODULES.glob("*.py") if path.stem != "__init__")
KEYS = {"seed", "sample_args", "selectors", "faults"}


def cases(module: str) -> dict[str, Any]:
    """Return the test data of a module; empty if its file is missing (`test_conventions.py` reports that)."""
    path = TARGETS / module / "cases.yml"
    return (yaml.safe_load(path.read_text(encoding="utf-8")) or {}) if path.is_file() else {}


def by_module(key: str) -> dict[str, Any]:
    """Return one kind of test data for all modules that have it."""
    found = {module: cases(module).get(key) for module in NAMES}
    return {module: data for module, data in found.items() if data}
