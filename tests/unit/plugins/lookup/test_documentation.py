# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the documentation of lookups says. All else is held by tests/integration/test_lookups.py."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest
import yaml

from ansible_collections.hosted.services.plugins.doc_fragments.connection import ModuleDocFragment
from ansible_collections.hosted.services.plugins.module_utils._ansible.options import CONNECTION_SPEC

PACKAGE = "ansible_collections.hosted.services.plugins.lookup"
NAMES = sorted(path.stem for path in (Path(__file__).parents[4] / "plugins" / "lookup").glob("*.py"))
VARIABLES = yaml.safe_load(ModuleDocFragment.LOOKUP_VARIABLES)["options"]


@pytest.mark.parametrize("name", NAMES)
def test_the_name_is_that_of_the_file(name: str) -> None:
    documented = yaml.safe_load(importlib.import_module(f"{PACKAGE}.{name}").DOCUMENTATION)
    assert documented["name"] == name
    fragments = documented["extends_documentation_fragment"]
    assert [fragment.rpartition(".")[2] for fragment in fragments] == [
        "connection",
        "environment",
        "lookup_variables",
    ]


def test_every_option_of_the_connection_has_a_variable() -> None:
    """It is called as the environment variable, in lower case."""
    assert {option: [entry["name"] for entry in spec["vars"]] for option, spec in VARIABLES.items()} == {
        option: [name.lower() for name in spec["fallback"][1][:1]] for option, spec in CONNECTION_SPEC.items()
    }
