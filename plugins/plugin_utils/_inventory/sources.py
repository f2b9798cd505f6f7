# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosts that two sources of an inventory give one name. Ansible makes one host of them: it has the groups of
both, and the variables of the one that is read last, so that a play over one account changes the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ansible_collections.hosted.services.plugins.module_utils._api.text import first_of
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import SERVICE_ID
from ansible_collections.hosted.services.plugins.plugin_utils._controller.connection_sources import (
    PASSED_VARIABLES,
    UNPASSED_VARIABLES,
    URL,
    is_set,
    plain_url,
)

TOKENS = (*PASSED_VARIABLES.values(), UNPASSED_VARIABLES)
MAX_NAMED = 3
"""The number of hosts that an error names."""


def is_other_source(there: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Tell whether the variables of a host are of another service, or of the same by another token.

    ``there`` are those of the host that is in the inventory already, and ``new`` those to set. What names
    neither a service nor a platform, such as a line in a static inventory, adds to the host.
    """
    if is_set(SERVICE_ID, there) and there[SERVICE_ID] != new[SERVICE_ID]:
        return True
    if is_set(URL, there) and plain_url(there[URL]) != plain_url(new[URL]):
        return True
    is_of_inventory = is_set(SERVICE_ID, there) and is_set(URL, there)
    return is_of_inventory and any(there.get(name) != new.get(name) for name in TOKENS)


def warning_of_conflicts(there: Mapping[str, Mapping[str, Any]], new: Mapping[str, Mapping[str, Any]]) -> str:
    """Say which hosts another source has given the same names; empty for none. Both are variables by name."""
    doubled = sorted(name for name in new if name in there and is_other_source(there[name], new[name]))
    if not doubled:
        return ""
    shown = [
        f"{name} is {describe_variables(there[name])} there and {describe_variables(new[name])} here"
        for name in doubled
    ]
    return (
        f"another inventory source has hosts of the same names: {first_of(shown, MAX_NAMED, '; ')}. "
        "Ansible would make one host of both, and a play over one account would change the other, so nothing "
        "of this file was added. Give the hosts of each file a prefix of their own with hostnames, such as "
        "hostnames: [\"'west-' ~ hosted_name\"]"
    )


def describe_variables(variables: Mapping[str, Any]) -> str:
    """Return the service, its platform and where its token is."""
    place = f" on {plain_url(variables[URL])}" if is_set(URL, variables) else ""
    return (
        f"service {variables.get(SERVICE_ID, 'unknown')}{place} ({token_source(variables, PASSED_VARIABLES)})"
    )


def token_source(variables: Mapping[str, Any], sources: Mapping[str, str]) -> str:
    """Return the option of its inventory that says where the token is, with its value; never the token."""
    named: Iterable[str] = (
        f"{option} {variables[name]}" for option, name in sources.items() if is_set(name, variables)
    )
    default = "a token of its own" if variables.get(UNPASSED_VARIABLES) is False else "no token named"
    return next(iter(named), default)
