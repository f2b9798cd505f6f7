# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The graph of what needs what: cycles by their path, and an order that puts each after what it needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import TypeVar

T = TypeVar("T")


def find_cycle(needs: Mapping[str, Sequence[str]]) -> list[str]:
    """Return a cycle as the path from a node through what it needs back to itself; empty if there is none.

    A node that needs itself is a cycle too: ``["web", "web"]``.
    """
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        path: list[str] = error.args[1]
        return path[::-1]  # graphlib lists each node after what it needs
    return []


def levels(needs: Mapping[T, Sequence[T]]) -> list[list[T]]:
    """Return the nodes in groups: what a node needs is in an earlier group than the node."""
    sorter = TopologicalSorter(needs)
    sorter.prepare()
    found: list[list[T]] = []
    while sorter.is_active():
        ready = list(sorter.get_ready())
        found.append(ready)
        sorter.done(*ready)
    return found
