# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Conventions: a module has one name everywhere, imports run one way, one package uses HTTP."""

from __future__ import annotations

import ast
import functools
import importlib
import re
from pathlib import Path

import pytest
import yaml

from ansible_collections.hosted.services.scripts.architecture import (
    PACKAGE,
    PLUGINS,
    imports,
    layer,
    module_name,
    sources,
)
from ansible_collections.hosted.services.scripts.new_module import files as module_files
from cases import KEYS, cases
from integration.ansible_run import REPOSITORY, TARGETS

SANDBOX = REPOSITORY / "tests" / "sandbox" / "hosted_sandbox"
ROLES = sorted(path for path in (REPOSITORY / "roles").iterdir() if path.is_dir())
MODULES = sorted(path.stem for path in (PLUGINS / "modules").glob("*.py"))
LAYERS = {
    "module_utils._api": 0,
    "module_utils._sftp": 1,
    "module_utils._resources.shared": 2,
    "module_utils._resources.services": 3,
    "module_utils._resources.applications": 4,
    "module_utils._resources.restore_points": 4,
    "module_utils._resources.databases": 4,
    "module_utils._resources.files": 4,
    "module_utils._resources.sleeping": 4,
    "module_utils._resources.account_events": 4,
    "module_utils._resources.last_copies": 5,
    "module_utils._resources.blueprints": 5,
    "module_utils._resources.fleets": 5,
    "module_utils._resources.reports": 5,
    "module_utils._resources.clones": 6,
    "module_utils._resources.recoveries": 7,
    "module_utils._resources.relocations": 7,
    "module_utils._resources": 8,
    "module_utils._ansible": 9,
    "plugin_utils._broker": 10,
    "plugin_utils._controller": 11,
    "plugin_utils._inventory": 12,
    "plugin_utils._templating": 12,
    "plugin_utils._cost": 12,
    "plugin_utils._events": 12,
    "plugin_utils._report": 12,
    "doc_fragments": 13,
    **dict.fromkeys(("modules", "action", "inventory", "lookup", "filter", "callback"), 13),
}
WITHOUT_ANSIBLE = ("module_utils._api", "module_utils._sftp", "module_utils._resources")
API = "module_utils._api"
BUILD_CLIENTS = {
    "module_utils._ansible.execution": "the module runner builds the client of a task",
    "plugin_utils._controller.in_process": "the action builds the client of a task",
    "plugin_utils._broker.": "passes the requests of other processes on",
    "plugin_utils._templating.lookups": "a lookup runs without a task, with a client of its own",
    "plugin_utils._events.source": "an event source runs without a task, with a client of its own",
    "inventory.inventory": "an inventory runs without a task, with a client of its own",
}
"""What may import the transport, outside its own package."""
SOURCES = sources()


@functools.cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@functools.cache
def imports_of(path: Path) -> list[str]:
    return [*imports(path)]


@functools.cache
def unit_tests() -> list[str]:
    return [path.read_text() for path in (REPOSITORY / "tests/unit").rglob("test_*.py")]


@pytest.mark.parametrize("module", MODULES)
def test_a_noun_has_one_name_everywhere(module: str) -> None:
    """Module, action, resource, unit test, target and action group know it by the same name."""
    has_tests = (REPOSITORY / "tests/unit/data" / module).exists() or any(
        f"._resources.{module} import" in text for text in unit_tests()
    )
    files = [path for path in module_files(module) if not (has_tests and path.startswith("tests/unit/"))]
    assert [path for path in files if not (REPOSITORY / path).is_file()] == []
    assert importlib.import_module(f"{PACKAGE}.action.{module}").ActionModule.resource.name == module


@pytest.mark.parametrize("module", MODULES)
def test_every_noun_has_its_test_data(module: str) -> None:
    """Tests that run every module take their tasks from there (`tests/cases.py`)."""
    file = (TARGETS / module / "cases.yml").relative_to(REPOSITORY)
    assert (data := cases(module)).get("sample_args"), f"{file}: sample_args is missing"
    assert data.keys() <= KEYS, f"{file}: known keys are {sorted(KEYS)}"


def test_nothing_is_left_to_write() -> None:
    """`make module` marks with TODO whatever only a person knows."""
    left = [
        f"{path}:{number}: {line.strip()}"
        for module in MODULES
        for path in module_files(module)
        if (REPOSITORY / path).is_file()
        for number, line in enumerate((REPOSITORY / path).read_text().splitlines(), 1)
        if "TODO" in line
    ]
    assert not left, "\n".join(["these lines are left to write:", *left])


def test_the_readme_lists_every_module_role_and_playbook() -> None:
    readme = (REPOSITORY / "README.md").read_text()
    assert [module for module in MODULES if f"`{module}`" not in readme] == []
    for kind, found in {"roles": "*/", "playbooks": "*.yml"}.items():
        listed = readme.partition(f"| {kind} | ")[2].partition("|")[0]
        assert set(re.findall(r"`(\w+)`", listed)) == {path.stem for path in (REPOSITORY / kind).glob(found)}


def test_what_stays_at_home_says_so() -> None:
    """Without an underscore it would be public API, and every change of it a breaking one."""
    folders = {PLUGINS / "module_utils", PLUGINS / "plugin_utils"}
    shared = [path.relative_to(PLUGINS) for path in SOURCES if folders & set(path.parents)]
    assert shared
    assert [str(path) for path in shared if not path.parts[1].startswith("_")] == []


def test_nothing_is_named_after_a_noun_that_is_not_there() -> None:
    """Actions, targets and the action group hold the modules and nothing else."""
    runtime = yaml.safe_load((REPOSITORY / "meta" / "runtime.yml").read_text())
    assert sorted(runtime["action_groups"]["all"]) == MODULES
    assert sorted(path.stem for path in (PLUGINS / "action").glob("*.py")) == MODULES
    assert sorted(path.name for path in TARGETS.iterdir()) == MODULES


@pytest.mark.parametrize("role", ROLES, ids=lambda path: path.name)
def test_a_role_says_what_it_takes(role: Path) -> None:
    """Every variable with a default is in the role's argument_specs, described and with the same default."""
    specs = yaml.safe_load((role / "meta" / "argument_specs.yml").read_text())["argument_specs"]
    defaults = yaml.safe_load((role / "defaults" / "main.yml").read_text())
    options = {name: option for spec in specs.values() for name, option in spec.get("options", {}).items()}
    assert sorted(defaults.keys() - options.keys()) == []
    assert [name for name, option in options.items() if not option.get("description")] == []
    # What is worked out from a template differs from machine to machine; the description says how.
    fixed = {name: value for name, value in defaults.items() if "{{" not in str(value)}
    told = {name: options[name].get("default") for name in fixed}
    assert told == fixed
    assert {name for name, option in options.items() if "default" in option} <= defaults.keys()
    for entry_point, spec in specs.items():
        assert (role / "tasks" / f"{entry_point}.yml").is_file()
        assert spec["short_description"]


def test_imports_run_one_way() -> None:
    """modules, action, inventory, lookup, filter -> ansible glue -> resources -> api; never the other way.

    Nor to a package of the same height, as from an action to a module.
    """
    wrong = [
        (short_name(path), name)
        for path in SOURCES
        for name in imports_of(path)
        if name.startswith(PACKAGE)
        and (there := layer(name)) != (here := layer(module_name(path)))
        and LAYERS[there] >= LAYERS[here]
    ]
    assert wrong == []


def test_each_layer_knows_what_it_may() -> None:
    """Below the glue nothing knows Ansible; above the api nothing knows HTTP."""
    for path in SOURCES:
        here = layer(module_name(path))
        roots = {name.partition(".")[0] for name in imports_of(path)}
        assert not (here.startswith(WITHOUT_ANSIBLE) and "ansible" in roots), path
        assert here == API or roots & {"requests", "urllib3", "http"} == set(), path


def short_name(path: Path) -> str:
    """Return the name of a module of the collection without that of the collection."""
    return module_name(path).removeprefix(f"{PACKAGE}.")


def builds_clients(path: Path) -> bool:
    """Tell whether a file makes clients, or imports what they send through."""
    made = [
        node.func if isinstance(node, ast.Call) else node.value
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Call | ast.AnnAssign)
    ]
    return any(isinstance(each, ast.Name) and each.id == "Client" for each in made) or any(
        name.startswith(f"{PACKAGE}.{API}.http_transport") for name in imports_of(path)
    )


def test_http_stays_in_one_package() -> None:
    """Others leave it to the account to read, and only who runs without a task makes a client."""
    for path in (path for path in SOURCES if layer(module_name(path)) != API):
        here, text = short_name(path), path.read_text(encoding="utf-8")
        reads = any(call in text for call in ("client.pages(", "client.one(", "client.if_any("))
        assert reads is here.endswith("shared.account"), here
        if not here.startswith(tuple(BUILD_CLIENTS)):
            assert not builds_clients(path), here


def test_no_exception_to_the_rule_is_left_over() -> None:
    """Who needs no exception any more has none."""
    by_name = {short_name(path): path for path in SOURCES}
    for builder in BUILD_CLIENTS:
        names = [name for name in by_name if name.startswith(builder)]
        assert any(builds_clients(by_name[name]) for name in names), builder


def test_the_sandbox_knows_nothing_of_the_plugins() -> None:
    """It is written from the specification alone, and runs without Ansible."""
    files = sources(SANDBOX)
    roots = {name.partition(".")[0] for path in files for name in imports(path, SANDBOX, SANDBOX.name)}
    assert roots & {"ansible", "ansible_collections"} == set()
    assert {"hosted_sandbox", "fastapi"} <= roots
