# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Planning reads and decides: a guard that notices a plan() that waits or writes, in all tests."""

from __future__ import annotations

import functools
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import routes as r
from ansible_collections.hosted.services.plugins.module_utils._api.client import Client
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Plan, Resource

OURS = r.__name__.rpartition("._api.")[0]
MAY_PAUSE = {
    "lock_file": "another task of this controller holds what is read and then written",
    "read_project_of_app": "only /api/resources shows a new application at once, and no other list shows its "
    "project",
    "wait_for_retry": "a read that failed is retried, whoever reads; a busy machine makes some fail",
}
"""The functions that may pause while a task plans, and why: for seconds at most, never for wait_timeout."""
MAY_BE_SENT = (r.DATABASE_QUERY,)
"""Whether a statement reads is decided before it is sent, so that a plain read is part of the plan."""


class Guard:
    """Notes each pause and each write that a plan() makes in its own thread."""

    def __init__(self) -> None:
        self.local = threading.local()
        self.seen: list[str] = []

    @property
    def planning(self) -> bool:
        """Whether this thread is inside a plan()."""
        return getattr(self.local, "depth", 0) > 0

    @contextmanager
    def plan(self) -> Iterator[None]:
        """Watch what happens inside."""
        self.local.depth = getattr(self.local, "depth", 0) + 1
        try:
            yield
        finally:
            self.local.depth -= 1

    def pause(self) -> None:
        """Note that somebody sleeps, if it is a resource that plans."""
        names = list(names_of(sys._getframe(2)))
        if self.planning and names[0][0].startswith(OURS) and not MAY_PAUSE.keys() & {n for __, n in names}:
            self.seen.append(f"{names[0][0]}.{names[0][1]} pauses while a task plans")

    def write(self, what: str) -> None:
        """Note that somebody writes, if it is a resource that plans."""
        if self.planning:
            self.seen.append(f"{what} is sent while a task plans")


def names_of(frame: FrameType | None) -> Iterator[tuple[str, str]]:
    """Yield the module and the function of a frame and of all that called it."""
    while frame is not None:
        yield str(frame.f_globals.get("__name__")), frame.f_code.co_name
        frame = frame.f_back


GUARD = Guard()


def watch(patch: pytest.MonkeyPatch) -> None:
    """Let the guard see every plan() of a resource, every pause and every call that may change something."""
    for kind in kinds_of(Resource):
        if "plan" in vars(kind) and kind.__module__.startswith(OURS):  # those of tests do as they like
            patch.setattr(kind, "plan", watched(kind.plan))
    sleep, send = time.sleep, Client.send

    def watched_sleep(seconds: float) -> None:
        GUARD.pause()
        sleep(seconds)

    def watched_send(client: Client, route: r.Route[Any], **given: Any) -> Any:
        if route.idempotency is not r.READ and route not in MAY_BE_SENT:
            GUARD.write(str(route))
        return send(client, route, **given)

    patch.setattr(time, "sleep", watched_sleep)
    patch.setattr(Client, "send", watched_send)


def kinds_of(kind: Any) -> Iterator[Any]:
    """Yield the classes of all resources, of those too that are only parts of a module."""
    for each in kind.__subclasses__():
        yield each
        yield from kinds_of(each)


def watched(plan: Callable[[Resource, Any], Plan]) -> Callable[[Resource, Any], Plan]:
    """Return a plan() that the guard watches."""

    @functools.wraps(plan)
    def watched_plan(resource: Resource, task: Any) -> Plan:
        with GUARD.plan():
            return plan(resource, task)

    return watched_plan
