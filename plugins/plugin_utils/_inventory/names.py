# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of hosts and groups made from what people called their services and projects."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any
from urllib.parse import quote

NOT_IN_GROUPS = re.compile(r"\W")
WORDS = re.compile(r"[.-]*\w[\w.-]*")
SHORT_ID = 8


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
    for service in sorted(services, key=order_of_creation):
        id = service["id"]
        name = host_name(wanted[id]) or f"service_{quote(id[:SHORT_ID], safe='')}"
        project = host_name(service["project"] or "")
        longer = f"{project}-{name}" if project else name
        ways = (name, longer, *(f"{longer}_{quote(end, safe='')}" for end in (id[:SHORT_ID], id)))
        named[id] = next(way for way in ways if way not in taken)
        taken.add(named[id])
    return named


def order_of_creation(service: Mapping[str, Any]) -> tuple[bool, str, str]:
    """Return what sorts services by their age; those whose age is not shown come last."""
    created = service["created_at"]
    return not created, created or "", service["id"]


def project_groups(projects: Mapping[str, str]) -> dict[str, str]:
    """Return the group of each project by id. Names that end up the same get the id appended."""
    wanted = {id: group_name("project", name) for id, name in projects.items()}
    return {id: NOT_IN_GROUPS.sub("_", group) for id, group in unique_names(wanted).items()}


def unique_names(names: Mapping[str, str]) -> dict[str, str]:
    """Append to each name that is not the only one the beginning of its id, or all of it.

    It is all of it when ids begin alike, so the length does not depend on which of them clash.
    """
    is_short_enough = len({id[:SHORT_ID] for id in names}) == len(names)
    suffixes = {id: quote(id[:SHORT_ID] if is_short_enough else id, safe="") for id in names}
    found = dict(names)
    while True:
        counts = Counter(found.values())
        if max(counts.values(), default=0) < 2:
            return found
        found = {id: f"{name}_{suffixes[id]}" if counts[name] > 1 else name for id, name in found.items()}
