# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the graph of a project does not show yet, and the aliases in a project, also of that.

Only ``/api/resources`` is documented to show a new service at once (Ordering). So one that stands there, is
in the project and is not in the graph is one that the graph shows late.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..._api.client import Client
from ..._api.errors import HostedError, Refused
from ..._api.models import ProjectGraph, ServiceSummary
from ..._api.values import ServiceStatus
from ..shared.aliases import alias_in_settings, aliases_of
from .listing import read_homes

Keep = Callable[[ServiceSummary], bool]


def late_in_graphs(
    client: Client, graphs: Iterable[ProjectGraph], keep: Keep = lambda service: True
) -> list[ServiceSummary]:
    """Return the services in projects that their graphs do not show yet, nor to what they refer.

    :param keep: tells which services matter. If one of these is in no graph, each project is read.
    """
    known = list(graphs)
    projects = {graph.id for graph in known if graph.id}
    shown = {node.id for graph in known for node in graph.nodes or []}

    def may_be_late(service: ServiceSummary) -> bool:
        there = service.status not in ServiceStatus.DELETING_OR_DELETED
        return service.id not in shown and there and keep(service)

    services = [service for service in client.services() if may_be_late(service)]
    homes = read_homes(client, services) if services else {}
    return [service for service in services if homes.get(service.id) in projects]


def late_aliases(
    client: Client, graphs: Iterable[ProjectGraph], keep: Keep = lambda service: True
) -> dict[str, str]:
    """Return the aliases that the graphs of projects do not show yet, by the id of the service.

    None if the token may not read the services of the account.

    :param keep: as for :func:`late_in_graphs`.
    """
    try:
        late = late_in_graphs(client, graphs, keep)
    except Refused:
        return {}
    return {each.id: alias for each in late if (alias := alias_in_settings(client, each.id))}


def read_aliases(client: Client, project_id: str | None, keep: Keep = lambda service: True) -> dict[str, str]:
    """Return the aliases of a project; empty if it cannot be read, because that is no reason to fail.

    :param keep: as for :func:`late_in_graphs`.
    """
    if not project_id:
        return {}
    try:
        graph = client.project_graph(project_id)
        return {**late_aliases(client, [graph], keep), **aliases_of(graph)}
    except HostedError:
        return {}
