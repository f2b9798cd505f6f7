# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Switches of roles and playbooks that are given as text: "false" must not count as true.

An argument spec checks values and converts none. A command line, an inventory in INI and a survey give text,
and Jinja takes every text but the empty one for true. A module converts what is passed to it as it is.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from jinja2 import Environment, nodes

from integration.ansible_run import REPOSITORY

ROLES = REPOSITORY / "roles"
PLAYBOOKS = REPOSITORY / "playbooks"
SHARED = "scheduled_plans"
"""The role that reads the variables of others under names of its own."""
CONDITIONS = frozenset({"when", "that", "failed_when", "changed_when", "until"})
"""Keys whose values are expressions without braces."""
VARIABLES = frozenset({"vars", "ansible.builtin.set_fact"})
"""Keys under which a value is not for a module that would convert it, but for other expressions."""


@dataclass(frozen=True)
class Switches:
    """The boolean options: names of variables, and keys of dictionaries such as a plan."""

    variables: frozenset[str]
    keys: frozenset[str]


def options_of(options: dict[str, Any], *, top: bool = True) -> Iterator[tuple[str, bool]]:
    """Yield each boolean option, and whether it is a variable of its own."""
    for name, option in options.items():
        if option.get("type") == "bool":
            yield name, top
        yield from options_of(option.get("options", {}), top=False)


def switches() -> Switches:
    """Return those that the argument specs of roles and the `vars` of plays declare."""
    found: set[tuple[str, bool]] = set()
    for path in ROLES.glob("*/meta/argument_specs.yml"):
        role = path.parts[-3]
        for spec in yaml.safe_load(path.read_text())["argument_specs"].values():
            found.update(options_of(spec.get("options", {})))
        found |= {(name.replace(role, SHARED, 1), top) for name, top in found if name.startswith(f"{role}_")}
    for path in PLAYBOOKS.glob("*.yml"):
        for play in yaml.safe_load(path.read_text()):
            declared = play.get("vars", {}) | {name: True for name in asked_for(path)}
            found |= {(name, True) for name, value in declared.items() if isinstance(value, bool)}
    return Switches(*(frozenset(name for name, top in found if top is kind) for kind in (True, False)))


def asked_for(path: Path) -> list[str]:
    """Return the variables of which the comment of a playbook says that they tell whether, or are true."""
    return re.findall(r"\b([a-z_]+)(?:=true\b|=false\b| +whether )", path.read_text())


def sources(path: Path) -> Iterator[tuple[str, bool]]:
    """Yield the templates of a file, and whether each is passed to a module, which converts it."""
    if path.suffix == ".j2":
        yield path.read_text(), False
    else:
        for document in yaml.safe_load_all(path.read_text()):
            yield from templates_in(document, "", for_module=path.parent.name not in ("vars", "defaults"))


def templates_in(value: object, key: str, *, for_module: bool) -> Iterator[tuple[str, bool]]:
    """Yield the templates below a key."""
    if isinstance(value, dict):
        for name, below in value.items():
            yield from templates_in(below, str(name), for_module=for_module and name not in VARIABLES)
    elif isinstance(value, list):
        for below in value:
            yield from templates_in(below, key, for_module=for_module)
    elif isinstance(value, str) and key in CONDITIONS and "{{" not in value:
        yield f"{{{{ ({value}) }}}}", False
    elif isinstance(value, str) and "{" in value:
        yield value, for_module


def unconverted(template: str, known: Switches, *, for_module: bool) -> set[str]:
    """Return the switches that a template uses as they were given."""
    with warnings.catch_warnings(action="ignore"):  # Ansible takes backslashes before any letter
        tree = Environment().parse(template)  # noqa: S701 # nothing is rendered
    parents = {id(child): node for node in tree.find_all(nodes.Node) for child in node.iter_child_nodes()}
    output = tree.body[0].nodes if len(tree.body) == 1 and isinstance(tree.body[0], nodes.Output) else []
    whole = output[0] if for_module and len(output) == 1 else None
    return {
        name
        for node in tree.find_all((nodes.Name, nodes.Getattr, nodes.Getitem))
        if (name := switch_of(node, known)) and not is_converted(node, parents, whole)
    }


def switch_of(node: nodes.Node, known: Switches) -> str | None:
    """Return the switch that a node reads, if it does."""
    if isinstance(node, nodes.Name):
        return node.name if node.name in known.variables else None
    if isinstance(node, nodes.Getattr):
        return node.attr if node.attr in known.keys else None
    key = node.arg.value if isinstance(node, nodes.Getitem) and isinstance(node.arg, nodes.Const) else None
    return key if key in known.keys else None


def is_converted(node: nodes.Node, parents: dict[int, nodes.Node], whole: nodes.Node | None) -> bool:
    """Tell whether `bool` follows, perhaps after a default; it is passed on alone; or only looked for."""
    above = parents[id(node)]
    if isinstance(above, nodes.Filter) and above.name == "default":
        if node is above.node and isinstance(above.args[0], nodes.Name) and above.args[0].name == "omit":
            return above is whole
        return is_converted(above, parents, None)
    if isinstance(above, nodes.Test):
        return above.name in ("defined", "undefined")
    is_call = isinstance(above, nodes.Call) and above.node is node  # such as text.replace()
    return is_call or node is whole or (isinstance(above, nodes.Filter) and above.name == "bool")


FILES = [
    path
    for folder in (ROLES, PLAYBOOKS)
    for path in sorted(folder.rglob("*"))
    if path.suffix in (".yml", ".j2") and not {"meta", "files"} & set(path.parts)
]
KNOWN = switches()


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_a_switch_is_converted_where_it_decides(path: Path) -> None:
    """Write `name | bool`, or pass `{{ name }}` alone to an option of a module."""
    used = {
        name
        for template, for_module in sources(path)
        for name in unconverted(template, KNOWN, for_module=for_module)
    }
    assert not used, f'{path}: "false" as text counts as true; write `| bool` after {", ".join(sorted(used))}'


def test_the_switches_are_known() -> None:
    """Of roles, of their plans, of the role that reads others' variables, and of playbooks."""
    assert {"fleet_resume", "backups_activate", "scheduled_plans_activate"} <= KNOWN.variables
    assert {"scheduled_plans_allow_no_plans", "drill_overwrites_it", "blueprint_prune"} <= KNOWN.variables
    assert {"allow_empty", "create", "replace"} <= KNOWN.keys


@pytest.mark.parametrize(
    ("text", "names"),
    {
        "m: {resume: '{{ fleet_resume and x }}'}": {"fleet_resume"},
        "m: {x: '{{ fleet_resume ~ x }}'}": {"fleet_resume"},
        "m: {x: 'it is {{ fleet_resume }}'}": {"fleet_resume"},
        "when: fleet_resume": {"fleet_resume"},
        "when: [a, not fleet_resume]": {"fleet_resume"},
        "m: {that: x or plan.allow_empty | default(false)}": {"allow_empty"},
        "when: plan['allow_empty']": {"allow_empty"},
        "m: {x: '{{ plan.allow_empty | default(false) }}'}": {"allow_empty"},
        "m: {replace: '{{ key.replace | default(fleet_resume) }}'}": {"replace", "fleet_resume"},
        "vars: {other: '{{ fleet_resume }}'}": {"fleet_resume"},
        "vars: {other: '{% if fleet_resume %}x{% endif %}'}": {"fleet_resume"},
        "m: {resume: '{{ fleet_resume | bool and x }}'}": set(),
        "m: {resume: '{{ fleet_resume }}'}": set(),
        "m: {resume: '{{ fleet_resume | default(omit) }}'}": set(),
        "m: {replace: '{{ key.replace | default(fleet_resume) | bool }}'}": set(),
        "when: [fleet_resume | bool, fleet_resume is defined]": set(),
        "m: {that: plan.allow_empty | default(false) | bool}": set(),
        "vars: {other: \"{{ text.replace('a', 'b') | replace('c', 'd') }}\"}": set(),
    }.items(),
)
def test_each_use_is_told(tmp_path: Path, text: str, names: set[str]) -> None:
    """So that the test above can fail, and only where there is something to mend."""
    path = tmp_path / "tasks.yml"
    path.write_text(text)
    found = [unconverted(template, KNOWN, for_module=module) for template, module in sources(path)]
    assert set().union(*found) == names
