# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Switches of roles and playbooks that are given as text: "false" must not count as true.

An argument spec checks values and converts none. A command line, an inventory in INI and a survey give text,
and Jinja takes every text but the empty one for true. A module converts what is passed to it as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from integration.ansible_run import REPOSITORY

ROLES, PLAYBOOKS = REPOSITORY / "roles", REPOSITORY / "playbooks"
SHARED = "scheduled_plans"
"""The role that reads the variables of others under names of its own."""
CONDITIONS = frozenset({"when", "that", "failed_when", "changed_when", "until"})
"""Keys whose values are expressions without braces."""
VARIABLES = frozenset({"vars", "ansible.builtin.set_fact"})
"""Keys under which a value is not for a module that would convert it, but for other expressions."""
PASSED_ON = re.compile(r"\{\{ ?[\w.]+( \| default\(omit\))? ?\}\}")
"""A value that goes to the option of a module alone."""
USED = re.compile(
    r"(\.?)\b([a-z_]+)\b(?!(?:\s*\|\s*default\([^()]*\)|\s*\))*\s*(?:\|\s*bool\b|is (?:un)?defined|\())"
)
"""What is read, and is not converted then, perhaps after a default, and not only looked for or called."""


def options_of(options: dict[str, Any], dot: str = "") -> Iterator[str]:
    """Yield the boolean options: variables, and with a dot the keys of dictionaries such as a plan."""
    for name, option in options.items():
        if option.get("type") == "bool":
            yield dot + name
        yield from options_of(option.get("options", {}), ".")


def switches() -> set[str]:
    """Return those that argument specs declare, and the `vars` of plays and the comments above them."""
    found = set[str]()
    for path in ROLES.glob("*/meta/argument_specs.yml"):
        for spec in yaml.safe_load(path.read_text())["argument_specs"].values():
            found |= {*options_of(spec.get("options", {}))}
        found |= {
            name.replace(path.parts[-3], SHARED, 1) for name in found if name.startswith(path.parts[-3])
        }
    for path in PLAYBOOKS.glob("*.yml"):
        found |= {*re.findall(r"\b([a-z]+_[a-z_]+)(?:=true\b|=false\b| +whether )", path.read_text())}
        for play in yaml.safe_load(path.read_text()):
            found |= {name for name, value in play.get("vars", {}).items() if isinstance(value, bool)}
    return found


KNOWN = switches()


def unconverted(value: object, key: str = "", for_module: bool = True) -> Iterator[str]:
    """Yield the switches that the templates below a key use as they were given."""
    if isinstance(value, dict):
        for name, below in value.items():
            yield from unconverted(below, str(name), for_module and name not in VARIABLES)
    elif isinstance(value, list):
        for below in value:
            yield from unconverted(below, key, for_module)
    elif not isinstance(value, str) or (for_module and PASSED_ON.fullmatch(value)):
        return
    elif key in CONDITIONS or "{" in value:
        parts = re.findall(r"\{\{.*?\}\}|\{%.*?%\}", value, re.DOTALL) or [value]
        text = re.sub("'[^']*'", "''", re.sub(r"\['(\w+)'\]", r".\1", " ".join(parts)))
        yield from {dot + name for dot, name in USED.findall(text)} & KNOWN


def used_in(path: Path) -> set[str]:
    if path.suffix == ".j2":
        return {*unconverted(path.read_text(), for_module=False)}
    in_tasks = path.parent.name not in ("vars", "defaults")
    return {*unconverted([*yaml.safe_load_all(path.read_text())], for_module=in_tasks)}


FILES = [
    path
    for folder in (ROLES, PLAYBOOKS)
    for path in sorted(folder.rglob("*"))
    if path.suffix in (".yml", ".j2") and not {"meta", "files"} & set(path.parts)
]


def test_a_switch_is_converted_where_it_decides() -> None:
    """Write `name | bool`, or pass `{{ name }}` alone to an option of a module."""
    found = {str(path): used for path in FILES if (used := used_in(path))}
    assert not found, '"false" as text counts as true; write `| bool` after these'


def test_the_switches_are_known() -> None:
    """Of roles, of their plans, of the role that reads others' variables, and of playbooks."""
    assert {"fleet_resume", "backups_activate", "scheduled_plans_activate"} <= KNOWN
    assert {"scheduled_plans_allow_no_plans", "drill_overwrites_it", "blueprint_prune"} <= KNOWN
    assert {".allow_empty", ".create", ".replace"} <= KNOWN
