# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each filter is called and takes what its documentation says; the rest is held by tests of the resources."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path

import pytest
import yaml

PACKAGE = "ansible_collections.hosted.services.plugins.filter"
NAMES = sorted(path.stem for path in (Path(__file__).parents[4] / "plugins" / "filter").glob("*.py"))


def test_there_are_filters() -> None:
    """Without any, the tests below would hold nothing."""
    assert NAMES == ["pick_services", "report_html", "report_prometheus", "sftp_url", "to_currency"]


@pytest.mark.parametrize("name", NAMES)
def test_documentation_fits_the_filter(name: str) -> None:
    plugin = importlib.import_module(f"{PACKAGE}.{name}")
    documented = yaml.safe_load(plugin.DOCUMENTATION)
    (found, function), *others = plugin.FilterModule().filters().items()
    assert (documented["name"], found, others) == (name, name, [])
    parameters = list(inspect.signature(function).parameters.values())
    assert ["_input", *(p.name for p in parameters[1:])] == list(documented["options"])
    required = [p.name for p in parameters[1:] if p.default is inspect.Parameter.empty]
    options = documented["options"].items()
    assert required == [option for option, entry in options if entry.get("required") and option != "_input"]
    positional = [p.name for p in parameters[1:] if p.kind is not inspect.Parameter.KEYWORD_ONLY]
    assert positional == documented.get("positional", "").split()
