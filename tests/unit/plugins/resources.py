# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The resource of every module, and its options as Ansible passes them on."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible_collections.hosted.services.plugins.module_utils._ansible.options import argument_spec
from ansible_collections.hosted.services.plugins.module_utils._resources import project
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Resource

PACKAGE = project.__name__.rpartition(".")[0]
MODULES = Path(project.__file__).parents[2] / "modules"


def resource_of(module: str) -> Resource:
    found = getattr(importlib.import_module(f"{PACKAGE}.{module}"), module.upper())
    assert isinstance(found, Resource)
    return found


RESOURCES = {
    path.stem: resource_of(path.stem) for path in sorted(MODULES.glob("*.py")) if path.stem != "__init__"
}
SETTINGS = {"base_url": "https://api.example.com", "token": "a-token", "retries": 0, "timeout": 5.0}


def all_options(resource: Resource, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return all options of a resource: those given, those of a connection, and defaults for the rest."""
    defaults = {name: option.get("default") for name, option in argument_spec(resource).items()}
    return {**defaults, **SETTINGS, **given}
