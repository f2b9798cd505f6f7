# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the documentation of filters and lookups says fits them, and their errors are Ansible's."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible.errors import AnsibleFilterError

from ansible_collections.hosted.services.plugins.doc_fragments.connection import ModuleDocFragment
from ansible_collections.hosted.services.plugins.module_utils._ansible.options import CONNECTION_SPEC
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from ansible_collections.hosted.services.plugins.plugin_utils._templating.filters import as_filter

PACKAGE = "ansible_collections.hosted.services.plugins.filter"
NAMES = sorted(path.stem for path in (Path(__file__).parents[3] / "plugins" / "filter").glob("*.py"))


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


LOOKUPS = "ansible_collections.hosted.services.plugins.lookup"
LOOKUP_NAMES = sorted(path.stem for path in (Path(__file__).parents[3] / "plugins" / "lookup").glob("*.py"))
VARIABLES = yaml.safe_load(ModuleDocFragment.LOOKUP_VARIABLES)["options"]


@pytest.mark.parametrize("name", LOOKUP_NAMES)
def test_the_name_is_that_of_the_file(name: str) -> None:
    documented = yaml.safe_load(importlib.import_module(f"{LOOKUPS}.{name}").DOCUMENTATION)
    assert documented["name"] == name
    fragments = [each.rpartition(".")[2] for each in documented["extends_documentation_fragment"]]
    assert fragments == ["connection", "environment", "lookup_variables"]


def test_every_option_of_the_connection_has_a_variable() -> None:
    assert NAMES == ["pick_services", "report_html", "report_prometheus", "sftp_url", "to_currency"]
    assert {option: [entry["name"] for entry in spec["vars"]] for option, spec in VARIABLES.items()} == {
        option: [name.lower() for name in spec["fallback"][1][:1]] for option, spec in CONNECTION_SPEC.items()
    }


def test_an_error_is_one_of_ansible() -> None:
    def example(value: Any, unit: str = "cents") -> str:
        if value is None:
            raise Invalid("the value is None")
        return f"{value} {unit}"

    call = as_filter("example", example)["example"]
    assert (call(5), call(5, unit="millicents")) == ("5 cents", "5 millicents")
    with pytest.raises(AnsibleFilterError, match=r"^the value is None$"):
        call(None)
