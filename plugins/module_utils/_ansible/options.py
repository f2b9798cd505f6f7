# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The argument specs of modules, the checks before Ansible's own, and the connection options."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from ansible.module_utils.common.arg_spec import ModuleArgumentSpecValidator, ValidationResult
from ansible.module_utils.common.validation import check_type_dict, check_type_list
from ansible.module_utils.errors import AnsibleFallbackNotFound

from .._api.errors import ConfigurationError
from .._api.text import LISTENERS
from .._resources.shared.options import Options, WaitOptions, argument_spec_of
from .._resources.shared.plan import Resource
from .._resources.shared.selectors import (
    check_file_path,
    check_one_pattern,
    check_path,
    check_selectors,
    check_text,
)

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


def argument_spec(resource: Resource) -> dict[str, Any]:
    """Return the argument spec of a module, connection and waiting options included."""
    return {**resource.options, **CONNECTION_SPEC, **(WAITING_SPEC if resource.waits else {})}


def validate(resource: Resource, arguments: Mapping[str, Any]) -> ValidationResult:
    """Validate a task's arguments: run the collection's checks, then Ansible's.

    Ansible's complaints are in the ``error_messages`` of the result.

    :raises ConfigurationError: if an argument makes Ansible's checks crash, or fails the collection's.
    :raises Invalid: if a selector is empty.
    """
    spec = argument_spec(resource)
    checked = checked_arguments(resource, arguments)
    try:
        result: ValidationResult = ModuleArgumentSpecValidator(spec, **resource.rules).validate(checked)
        return result
    except CONVERSION_ERRORS:
        raise ConfigurationError(
            f"{find_invalid_argument(spec, arguments)} has a value that the option cannot have"
        ) from None


def checked_arguments(resource: Resource, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Check the arguments as written, before Ansible converts them, and return them.

    After the conversion, null is the same as omitted, and a name with a comma is the same as two names.

    :raises ConfigurationError: for a list or a dictionary in place of a string, or a fraction for a name.
    :raises Invalid: if a selector is empty, or a path holds what no path can or was cut short.
    """
    spec = argument_spec(resource)
    check_texts(spec, arguments)
    names = {alias: name for name, option in spec.items() for alias in option.get("aliases", ())}
    written = {names.get(name, name): value for name, value in arguments.items()}
    check_dictionaries(spec, written)
    check_selectors(resource.selectors, written)
    check_fractions(resource, written)
    check_paths(resource, written)
    resource.check_written(written)
    lists = {name for name in resource.selectors if resource.options[name].get("type") == "list"}
    texts = {
        name: value
        for name, value in arguments.items()
        if names.get(name, name) in lists and isinstance(value, str)
    }
    for name, value in texts.items():
        check_one_pattern(names.get(name, name), value)
    return {**arguments, **{name: [value] for name, value in texts.items()}}


def check_texts(spec: Mapping[str, Any], arguments: Mapping[str, Any]) -> None:
    """Reject a list or a dictionary for a string option: Ansible would silently convert it to its ``repr``.

    :raises ConfigurationError: naming the option.
    """
    for name, value in arguments.items():
        if isinstance(value, (list, dict)) and spec.get(name, {}).get("type") == "str":
            kind = "list" if isinstance(value, list) else "dictionary"
            raise ConfigurationError(f"{name} is a {kind}; it must be a string")


def check_dictionaries(spec: Mapping[str, Any], arguments: Mapping[str, Any]) -> None:
    """Reject text that is no dictionary for an option with options of its own: Ansible would not name it.

    :raises ConfigurationError: naming the option, and those that it has.
    """
    for name, value in arguments.items():
        entry = spec.get(name, {})
        if "options" not in entry:
            continue
        is_list = entry["type"] == "list"
        given = check_type_list(value) if is_list and isinstance(value, (str, list)) else [value]
        if any(isinstance(each, str) and not is_dictionary(each) for each in given):
            wanted = "a list of dictionaries" if is_list else "a dictionary"
            raise ConfigurationError(
                f"{name} holds a string; it must be {wanted} with {', '.join(entry['options'])}"
            )


def is_dictionary(text: str) -> bool:
    """Tell whether Ansible would read a dictionary from text: JSON, or key=value."""
    try:
        check_type_dict(text)
    except TypeError:
        return False
    return True


FILES_TO_WRITE = frozenset({"secrets_dest", "csv_dest"})
"""Options that name a file which is written as a whole."""


def check_paths(resource: Resource, arguments: Mapping[str, Any]) -> None:
    """Check the paths on this machine before anything is sent: what they are for may have no second try.

    :raises Invalid: for a control character, or a file to write whose path is empty or ends with a slash.
    """
    for name in sorted(resource.filled_options & arguments.keys()):
        if arguments[name] is not None:
            check_text(name, arguments[name])
    of_connection = {name for name, entry in CONNECTION_SPEC.items() if entry["type"] == "path"}
    local = resource.sources(arguments) | resource.destinations(arguments) | of_connection
    for name in sorted(local & arguments.keys()):
        if isinstance(arguments[name], str):
            check_path(name, arguments[name])
            if name in FILES_TO_WRITE:
                check_file_path(name, arguments[name])


AMOUNTS = frozenset({"max_monthly"})
"""Selectors that may be numbers with a fraction."""


def check_fractions(resource: Resource, arguments: Mapping[str, Any]) -> None:
    """Reject a number with a fraction for a name or a tag: YAML reads 1.10 as 1.1.

    :raises ConfigurationError: naming the option.
    """
    for name in sorted((resource.selectors & arguments.keys()) - AMOUNTS):
        values = arguments[name] if isinstance(arguments[name], list) else [arguments[name]]
        texts = resource.options[name].get("type", "str") in ("str", "list")
        found = next((value for value in values if texts and isinstance(value, float)), None)
        if found is not None:
            raise ConfigurationError(
                f"{name} is {found}, a number, and YAML reads 1.10 as 1.1; put the text in quotes"
            )


CONVERSION_ERRORS = (ArithmeticError, AttributeError, TypeError, ValueError)


def find_invalid_argument(spec: Mapping[str, Any], arguments: Mapping[str, Any]) -> str:
    """Return the name of the argument that makes Ansible's checks crash on its own."""
    for name, value in arguments.items():
        try:
            ModuleArgumentSpecValidator({name: spec.get(name, {})}).validate({name: value})
        except CONVERSION_ERRORS:
            return str(name)
    return "one of the arguments"


def check_waiting(options: Mapping[str, Any]) -> None:
    """Reject a wait that is negative, infinite or not a number.

    :raises ConfigurationError: naming the option.
    """
    for name in ("wait_timeout", "wait_interval", "quiet_time"):
        value = options.get(name)
        if value is not None and not 0 <= value < float("inf"):
            raise ConfigurationError(f"{name} is {value:g}; it must be a number of seconds of 0 or more")
