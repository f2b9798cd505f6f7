# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The hosts of an inventory: their names and groups, their variables, and what other sources call alike.

Ansible makes one host of those that two sources give one name: it has the groups of both, and the variables
of the one that is read last, so that a play over one account would change the other.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any
from urllib.parse import quote

from ...module_utils._api.text import first_of
from ...module_utils._resources.shared.plan import SERVICE_ID
from .._controller.connection_sources import PASSED_VARIABLES, UNPASSED_VARIABLES, URL, is_set, plain_url

NOT_IN_GROUPS = re.compile(r"\W")
WORDS = re.compile(r"[.-]*\w[\w.-]*")
SHORT_ID = 8
ADDRESS = re.compile(r"(?P<host>[A-Za-z0-9][\w.-]*):(?P<port>\d{1,5})", re.ASCII)
TOKENS = (*PASSED_VARIABLES.values(), UNPASSED_VARIABLES)
MAX_NAMED = 3
"""The number of hosts that an error names."""


# --- Names ------------------------------------------------------------------------------------------


def host_name(name: str) -> str:
    """Return ``name`` as it can be written on a command line, empty when nothing is left of it.

    Letters of all scripts, digits, ``_``, ``-`` and ``.`` stay, anything else becomes ``_``: spaces, what
    host patterns and templates give a meaning, and what would lead ``host_vars`` to another folder.
    """
    return "_".join(WORDS.findall(unicodedata.normalize("NFC", name))).lstrip(".-")


def group_name(kind: str, name: str) -> str:
    """Return the name of the group for a ``kind`` of things called ``name``, such as ``project_games``."""
    return f"{kind}_{NOT_IN_GROUPS.sub('_', unicodedata.normalize('NFC', name))}"


def host_names(
    services: Collection[Mapping[str, Any]], wanted: Mapping[str, str], reserved: Collection[str]
) -> dict[str, str]:
    """Return a host name of its own for each service by id, made of the name that is ``wanted`` for it.

    The service that was created first has the name. One that came later never takes a name over: it gets its
    project's name in front and, if that is not enough, its id. So a play over a host never works on another
    service because a namesake was ordered. The same goes for a name that is ``reserved``.
    """
    named: dict[str, str] = {}
    taken = set(reserved)
    # Those whose age is not shown come last.
    for service in sorted(
        services, key=lambda one: (not one["created_at"], one["created_at"] or "", one["id"])
    ):
        id = service["id"]
        name = host_name(wanted[id]) or f"service_{quote(id[:SHORT_ID], safe='')}"
        project = host_name(service["project"] or "")
        longer = f"{project}-{name}" if project else name
        ways = (name, longer, *(f"{longer}_{quote(end, safe='')}" for end in (id[:SHORT_ID], id)))
        named[id] = next(way for way in ways if way not in taken)
        taken.add(named[id])
    return named


def project_groups(projects: Mapping[str, str]) -> dict[str, str]:
    """Return the group of each project by id. Names that end up the same get the id appended."""
    wanted = {id: group_name("project", name) for id, name in projects.items()}
    longer = {id: f"{group}_{NOT_IN_GROUPS.sub('_', id)}" for id, group in wanted.items()}
    counts = Counter([*wanted.values(), *longer.values()])  # a name may look like one with an id
    return {id: group if counts[group] == 1 else longer[id] for id, group in wanted.items()}


# --- Variables --------------------------------------------------------------------------------------


def variables_of(
    service: Mapping[str, Any],
    connect_with: str,
    prefix: str,
    url: str,
    handed_on: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the variables of a host. Ansible renders none of them: it trusts no string of a plugin."""
    found = {f"{prefix}{name}": value for name, value in service.items() if name != "sftp"}
    found |= {SERVICE_ID: service["id"], URL: url, **handed_on}
    if connect_with == "sftp":
        found["ansible_facts_modules"] = []  # gathered by Python on the host, where SFTP opens files only
        found |= {f"ansible_{name}": value for name, value in (service.get("sftp") or {}).items()}
    # Nothing comes of what is no address, and could be an option to SSH.
    elif connect_with == "address" and (parts := ADDRESS.fullmatch(service["address"] or "")):
        found |= {"ansible_host": parts["host"], "ansible_port": int(parts["port"])}
    return found


# --- Other sources ----------------------------------------------------------------------------------


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
    """Return the service, its platform, and which option of its inventory says where the token is."""
    place = f" on {plain_url(variables[URL])}" if is_set(URL, variables) else ""
    token = "a token of its own" if variables.get(UNPASSED_VARIABLES) is False else "no token named"
    for option, name in reversed(PASSED_VARIABLES.items()):
        token = f"{option} {variables[name]}" if is_set(name, variables) else token
    return f"service {variables.get(SERVICE_ID, 'unknown')}{place} ({token})"
