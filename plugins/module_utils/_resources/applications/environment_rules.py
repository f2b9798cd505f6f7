# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rules of environments that need no call (Applications, rule 7; Cross-service references)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..shared.task_errors import Invalid

VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
REFERENCE = re.compile(r"\$\{([a-z0-9][a-z0-9-]*)\.([A-Z][A-Z0-9_]*)\}")
"""Matches a reference: an alias, and a field in capitals. Only the platform looks at others in braces."""
MAX_VARIABLES = 100
RESERVED_VARIABLE = "PORT"
KINDS = {bool: "a boolean", int: "a number", float: "a number", list: "a list", dict: "a dictionary"}


def merged(variables: Mapping[str, Any], secret: Mapping[str, Any]) -> dict[str, str]:
    """Merge plain and secret variables, and check all rules that need no call. Errors never quote a value.

    Only the user knows which text a value is that is none: whether ``yes`` or ``True`` is right.
    """
    both = sorted(variables.keys() & secret.keys())
    if both:
        raise Invalid(f"{', '.join(both)}: in variables and in secret_variables; give each variable once")
    empty = sorted(name for name, value in secret.items() if isinstance(value, str) and not value.strip())
    if empty:
        raise Invalid(
            f"{', '.join(empty)}: empty among the secret variables, as from a variable that is not set; give "
            "a value. One that is empty on purpose is no secret: write it with the plain variables"
        )
    environment = {**variables, **secret}
    if len(environment) > MAX_VARIABLES:
        raise Invalid(
            f"the environment has {len(environment)} variables; at most {MAX_VARIABLES} are allowed"
        )
    for name, value in environment.items():
        check_name(name)
        if not isinstance(value, str):
            kind = "empty" if value is None else KINDS.get(type(value), f"of type {type(value).__name__}")
            raise Invalid(
                f"the value of the variable {name} is {kind}; it must be a string: put it in quotes in the "
                "playbook"
            )
    return environment


def check_name(name: Any) -> None:
    """Check the name of a variable."""
    if not isinstance(name, str) or not VARIABLE_NAME.fullmatch(name):
        raise Invalid(
            f"{name!r} is not a valid variable name: use only ASCII letters, digits and underscores, and do "
            "not begin with a digit"
        )
    if name == RESERVED_VARIABLE:
        raise Invalid(
            f"the variable {RESERVED_VARIABLE} is reserved: the platform sets it from the published port"
        )


def references(environment: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield each reference as ``(variable, alias, field)``."""
    for name, value in environment.items():
        for alias, field in REFERENCE.findall(value):
            yield name, alias, field


def aliases_used(environment: Mapping[str, str]) -> set[str]:
    """Return the aliases that an environment refers to."""
    return {alias for _variable, alias, _field in references(environment)}


def redirected(value: str, aliases: Mapping[str, str]) -> str:
    """Return a value whose references name other aliases where ``aliases`` has one."""
    return REFERENCE.sub(lambda found: f"${{{aliases.get(found[1], found[1])}.{found[2]}}}", value)
