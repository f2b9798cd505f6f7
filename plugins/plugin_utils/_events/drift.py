# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares a blueprint with its project, as module ``drift_info`` does."""

from __future__ import annotations

from collections.abc import Callable

from ansible_collections.hosted.services.plugins.module_utils._api.client import Client
from ansible_collections.hosted.services.plugins.module_utils._resources.account_events.arguments import (
    SourceOptions,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.account_events.observation import (
    Drift,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.drift_info import (
    DRIFT_INFO,
    DriftInfoOptions,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Task


def comparison(options: SourceOptions) -> Callable[[Client, str], Drift]:
    """Return what compares a blueprint with its project."""

    def compare(client: Client, path: str) -> Drift:
        task = Task(client, DriftInfoOptions.from_ansible({**vars(options), "src": path}), check_mode=True)
        with task.closing:
            found = DRIFT_INFO.plan(task).result
        return Drift(found["project"], [each for each in found["differences"] if each["drift"]])

    return compare
