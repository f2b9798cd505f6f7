# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The same work on many things at once, each thread with connections of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from ..._api.client import Client

T = TypeVar("T")
R = TypeVar("R")

MAX_PARALLEL = 8
"""How many calls are under way at most. Rate limits are not shown, so this is modest."""


def run_parallel(
    client: Client, items: Iterable[T], work: Callable[[Client, T], R], max_parallel: int = MAX_PARALLEL
) -> list[R]:
    """Do ``work`` on every item; return the results in the order of the items, or raise the first error."""
    todo = list(items)
    if len(todo) <= 1:
        return [work(client, item) for item in todo]
    local = threading.local()
    clones: list[Client] = []

    def prepare() -> None:
        local.client = client.clone()
        clones.append(local.client)

    try:
        with ThreadPoolExecutor(min(max_parallel, len(todo)), initializer=prepare) as pool:
            return list(pool.map(lambda item: work(local.client, item), todo))
    finally:
        for clone in clones:
            clone.close()
