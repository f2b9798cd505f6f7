# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One task before the first one, so that what is found out at first use is found out once in a run.

Ansible forks a worker for each task. What Python, pydantic and Ansible itself work out when something is
used for the first time, and keep from then on, a worker loses at its end, and the next one works it out
again. What was worked out before the fork, all of them have.
"""

from __future__ import annotations

from typing import Any

from ansible.module_utils.common.parameters import remove_values

from ansible_collections.hosted.services.plugins.module_utils._ansible.execution import Surroundings, execute
from ansible_collections.hosted.services.plugins.module_utils._ansible.options import validated
from ansible_collections.hosted.services.plugins.module_utils._api.client import Client
from ansible_collections.hosted.services.plugins.module_utils._api.http_transport import (
    Request,
    Response,
    Transport,
)
from ansible_collections.hosted.services.plugins.module_utils._api.session import Session
from ansible_collections.hosted.services.plugins.module_utils._resources.project import PROJECT

ARGUMENTS = {"name": "a", "base_url": "https://localhost", "token": "none", "state": "present"}
ANSWER = b'{"items": [{"id": "1", "name": "a", "createdAt": "2026-01-01T00:00:00Z", "resourceCount": 0}]}'


class Rehearsed:
    """Answers every request with the same page, and reaches nobody."""

    def exchange(self, request: Request, seconds: float) -> Response:
        """Return the page."""
        return Response(200, None, ANSWER, "application/json")

    def clone(self) -> Transport:
        """Return itself, which keeps nothing."""
        return self

    def close(self) -> None:
        """Do nothing."""


def rehearse() -> dict[str, Any]:
    """Run a task that finds everything as it should be, and return its result.

    What goes wrong here goes wrong in a real task too, which tells it; the result is empty then.
    """
    around = Surroundings(connect=lambda settings, log: Client(Session(settings, log, Rehearsed())))
    try:
        options = validated(PROJECT, ARGUMENTS).validated_parameters
        result: dict[str, Any] = remove_values(execute(PROJECT, options, around), set())
    except Exception:
        return {}
    return result
