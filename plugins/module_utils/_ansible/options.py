# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The argument specs of modules, the checks before Ansible's own, and the connection options."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from typing import Any

from ansible.module_utils.common.arg_spec import ModuleArgumentSpecValidator
from ansible.module_utils.common.validation import check_type_dict, check_type_list
from ansible.module_utils.errors import AnsibleFallbackNotFound

from .._api.errors import ConfigurationError
from .._api.text import LISTENERS
from .._resources.shared.connecting import with_selected_token
from .._resources.shared.names import check_path, check_selector, check_text
from .._resources.shared.options import Options, WaitOptions, argument_spec_of
from .._resources.shared.plan import Resource
from .._resources.shared.task_errors import Invalid

try:
    from ansible.module_utils.secrets import register_secrets  # type: ignore[import-not-found]
except ImportError:
    pass  # before ansible-core 2.22, nothing masks what plugins know
else:
    LISTENERS.append(register_secrets)


def with_environment(options: type[Options]) -> dict[str, Any]:
    """Return the argument spec of a class of options, with environment variables as fallbacks."""
    variables = {each.name: each.metadata.get("environment") for each in fields(options)}
    return {
        name: {**entry, "fallback": (from_environment, [variable, entry["type"]])}
        if (variable := variables[name])
        else entry
        for name, entry in argument_spec_of(options).items()
    }


NUMBERS_AND_SWITCHES = frozenset({"bool", "float", "int"})
"""Types of options for which an empty variable of the environment is none: CI sets unset ones to nothing."""


def from_environment(variable: str, kind: str) -> str:
    """Return what a variable of the environment says, without the line break at its end.

    :raises AnsibleFallbackNotFound: if it says nothing. An empty token or address is kept, to be refused.
    """
    value = os.environ.get(variable)
    if value is None or (not value and kind in NUMBERS_AND_SWITCHES):
        raise AnsibleFallbackNotFound
    return value.rstrip("\r\n")


CONNECTION_SPEC = with_environment(Options)
WAITING_SPEC = {
    name: entry for name, entry in argument_spec_of(WaitOptions).items() if name not in CONNECTION_SPEC
}


@cache
def argument_spec(resource: Resource) -> dict[str, Any]:
    """Return the argument spec of a module, connection and waiting options included.

    Cached, so that Ansible's workers inherit what the action asked for when it was loaded.
    """
    return {**resource.options, **CONNECTION_SPEC, **(WAITING_SPEC if resource.waits else {})}


FILES_TO_WRITE = frozenset({"secrets_dest", "csv_dest"})
"""Options that name a file which is written as a whole."""
PATTERNS = frozenset({"include", "exclude"})
"""Lists of patterns for the names of files. As a string with a comma, nobody can tell one from several."""
AMOUNTS = frozenset({"max_monthly"})
"""Selectors that may be numbers with a fraction."""


def checked_arguments(resource: Resource, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Check the arguments as written, before Ansible converts them, and return them for it to validate.

    After the conversion, null is the same as omitted, and a name with a comma is the same as two names. A
    token file that is named wins over the token of the environment, which may be of another account.

    :raises ConfigurationError: for a value that Ansible would make something else of.
    :raises Invalid: if a selector is empty, or a path holds what no path can or was cut short.
    """
    spec, checked = argument_spec(resource), dict(arguments)
    written = {resource.aliases.get(given, given): value for given, value in arguments.items()}
    local = resource.local_paths(written)
    for given in sorted(arguments):
        name, value = resource.aliases.get(given, given), arguments[given]
        entry = spec.get(name)
        if entry is None:  # which Ansible refuses
            continue
        selects = name in resource.selectors
        if not isinstance(value, str) or "options" in entry:
            check_kind(name, value, entry, is_name=selects and name not in AMOUNTS)
        if selects:
            check_selector(name, value)
        elif name in resource.filled_options and value is not None:
            check_text(name, value)
        if selects and entry["type"] == "list" and isinstance(value, str):
            check_one_pattern(name, value)
            checked[given] = [value]
        if name in local and isinstance(value, str):
            check_path(name, value, of_file=name in FILES_TO_WRITE)
    return with_selected_token(checked, written)


def check_kind(name: str, value: Any, entry: Mapping[str, Any], *, is_name: bool) -> None:
    """Refuse what Ansible would silently make something else of, or not say where it is.

    A list for a text becomes its ``repr``, and YAML has made 1.1 of the name 1.10.
    """
    if entry["type"] == "str" and isinstance(value, (list, dict)):
        kind = "list" if isinstance(value, list) else "dictionary"
        raise ConfigurationError(f"{name} is a {kind}; it must be a string")
    items = value if isinstance(value, list) else [value]
    if is_name and entry["type"] in ("str", "list"):
        for item in items:
            if isinstance(item, float):
                raise ConfigurationError(
                    f"{name} is {item}, a number, and YAML reads 1.10 as 1.1; put the text in quotes"
                )
    if "options" in entry:
        is_list = entry["type"] == "list"
        given = check_type_list(value) if is_list and isinstance(value, str) else items
        if any(isinstance(each, str) and not is_dictionary(each) for each in given):
            wanted = "a list of dictionaries" if is_list else "a dictionary"
            raise ConfigurationError(
                f"{name} holds a string; it must be {wanted} with {', '.join(entry['options'])}"
            )


def check_one_pattern(name: str, value: str) -> None:
    """Refuse several patterns in one text: taken for one, they would match, and protect, nothing."""
    if name in PATTERNS and "," in value:
        parts = [part.strip() for part in value.split(",") if part.strip()]
        raise Invalid(
            f"{name} is {value!r}, a string with a comma, which may be one pattern or several; write a list: "
            f"{parts!r}, or {[value]!r} if the comma is part of a name"
        )


def is_dictionary(text: str) -> bool:
    """Tell whether Ansible would read a dictionary from text: JSON, or key=value."""
    try:
        check_type_dict(text)
    except TypeError:
        return False
    return True


CONVERSION_ERRORS = (ArithmeticError, AttributeError, TypeError, ValueError)


def find_invalid_argument(spec: Mapping[str, Any], arguments: Mapping[str, Any]) -> str:
    """Return the name of the argument that makes Ansible's checks crash on its own."""
    for name, value in arguments.items():
        try:
            ModuleArgumentSpecValidator({name: spec.get(name, {})}).validate({name: value})
        except CONVERSION_ERRORS:
            return str(name)
    return "one of the arguments"
