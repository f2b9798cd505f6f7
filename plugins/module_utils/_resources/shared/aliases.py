# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Aliases: the names by which services of a project reach each other, and conflicts between them.

A service keeps its alias when it joins another project (Settings, rule 6). The result of a conflict is not
documented: which service answers, or whether the platform refuses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from ..._api.errors import HostedError
from ..._api.models import ProjectGraph
from .account import Account
from .plan import Task


def aliases_of(graph: ProjectGraph) -> dict[str, str]:
    """Return the alias of each service of a project by the service's id."""
    return {node.id: node.alias for node in graph.nodes or [] if node.id and node.alias}


def read_aliases(account: Account, project_id: str | None) -> dict[str, str]:
    """Return the aliases of a project; empty if it cannot be read, because that is no reason to fail."""
    try:
        return aliases_of(account.graph(project_id)) if project_id else {}
    except HostedError:
        return {}


def alias_in_settings(account: Account, id: str) -> str | None:
    """Return the alias that the settings of a service show; ``None`` if it has none."""
    try:
        network = account.settings(id).network
    except HostedError:
        return None
    return network.alias if network else None


def duplicate_aliases(graph: ProjectGraph) -> set[str]:
    """Return the aliases that several services of a project have."""
    return {alias for alias, count in Counter(aliases_of(graph).values()).items() if count > 1}


def warn_of_clashes(task: Task, joining: Mapping[str, str], there: Mapping[str, str], where: str) -> None:
    """Warn of services that join a project in which another service has their alias."""
    taken = {alias for id, alias in there.items() if id not in joining}
    clashes = sorted(set(joining.values()) & taken)
    if clashes:
        which = ", ".join(map(repr, clashes))
        said = f"the aliases {which} are" if clashes[1:] else f"the alias {which} is"
        task.warn(
            f"{said} taken in {where}; which service answers to it there, or whether the platform refuses, "
            "is not documented"
        )
