# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of hosts and groups made from what people called their services and projects."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from urllib.parse import quote

from ansible_collections.hosted.services.plugins.module_utils._api.text import first_of

NOT_IN_GROUPS = re.compile(r"\W")
WORDS = re.compile(r"[.-]*\w[\w.-]*")
SHORT_ID = 8
MAX_NAMED = 3
"""The number of names that a warning shows."""


def host_name(name: str) -> str:
    """Return ``name`` as it can be written on a command line, empty when nothing is left of it.

    Letters of all scripts, digits, ``_``, ``-`` and ``.`` stay, anything else becomes ``_``: spaces, what
    host patterns and templates give a meaning, and what would lead ``host_vars`` to another folder.
    """
    return "_".join(WORDS.findall(unicodedata.normalize("NFC", name))).lstrip(".-")


def group_name(kind: str, name: str) -> str:
    """Return the name of the group for a ``kind`` of things called ``name``, such as ``project_games``."""
    return f"{kind}_{NOT_IN_GROUPS.sub('_', unicodedata.normalize('NFC', name))}"


def host_names(names: Mapping[str, str], reserved: Collection[str]) -> dict[str, str]:
    """Return a host name of its own for each id, made of the name that is wanted for it.

    Where several ids want one name, each of them is told apart by its id, so that a playbook that names the
    host finds none instead of working on whichever came first. The same goes for a name that is ``reserved``.
    """
    nameless = {id: f"service_{quote(id[:SHORT_ID], safe='')}" for id in names}
    return unique_names({id: host_name(name) or nameless[id] for id, name in names.items()}, reserved)


def warning_of_namesakes(wanted: Mapping[str, str], named: Mapping[str, str]) -> str:
    """Say which host names several services want, and how their hosts are called instead; empty for none.

    ``wanted`` are the names that the services would have, and ``named`` those that they got, by id.
    """
    hosts: dict[str, list[str]] = defaultdict(list)
    for id, name in wanted.items():
        hosts[host_name(name)].append(named[id])
    doubled = {name: sorted(given) for name, given in hosts.items() if name and len(given) > 1}
    if not doubled:
        return ""
    shown = [f"{name!r} is now {' and '.join(given)}" for name, given in sorted(doubled.items())]
    return (
        "several services have one name, and a play over it finds none of them: "
        f"{first_of(shown, MAX_NAMED, '; ')}. "
        "Rename one, tell them apart with hostnames, such as hosted_project ~ '-' ~ hosted_name, or have "
        "plays name groups or ids"
    )


def project_groups(projects: Mapping[str, str]) -> dict[str, str]:
    """Return the group of each project by id. Names that end up the same get the id appended."""
    wanted = {id: group_name("project", name) for id, name in projects.items()}
    return {id: NOT_IN_GROUPS.sub("_", group) for id, group in unique_names(wanted).items()}


def unique_names(names: Mapping[str, str], reserved: Collection[str] = ()) -> dict[str, str]:
    """Append to each name that is reserved, or not the only one, the beginning of its id, or all of it.

    It is all of it when ids begin alike, so the length does not depend on which of them clash.
    """
    is_short_enough = len({id[:SHORT_ID] for id in names}) == len(names)
    suffixes = {id: quote(id[:SHORT_ID] if is_short_enough else id, safe="") for id in names}
    found = dict(names)
    while True:
        counts = Counter(found.values())
        clashing = {name for name in counts if counts[name] > 1 or name in reserved}
        if not clashing:
            return found
        found = {id: f"{name}_{suffixes[id]}" if name in clashing else name for id, name in found.items()}
