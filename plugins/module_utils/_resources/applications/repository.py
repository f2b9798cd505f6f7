# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Opens the repository of an application in the platform's registry for a task (Registry credentials)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ..._api.connection import UNCHECKED
from ..._api.registry import Repository, scheme_of
from ..shared.options import Options
from ..shared.plan import Task
from ..shared.waiting import run_parallel
from .oci_layout import Part

R = TypeVar("R")

MAX_PARTS = 6
"""How many parts of an image are on their way at the same time, as docker and skopeo have it."""


def open_repository(
    task: Task[Options], slug: str, sent: Callable[[int], None] = lambda count: None
) -> Repository:
    """Open the repository of an application with the account's registry credentials.

    :param sent: called after each uploaded chunk with its size in bytes.
    """
    options, client = task.options, task.client
    credentials = task.account.registry_credentials()
    if not options.validate_certs and scheme_of(credentials.host) == "https":
        task.warn(UNCHECKED)
    return Repository(
        credentials,
        slug,
        options.timeout,
        options.validate_certs and (options.ca_path or True),
        sent,
        retries=options.retries,
        log=client.log,
        on_pause=task.progress,
    )


def each_part(task: Task[Any], work: Callable[[Part], R], parts: Sequence[Part]) -> list[R]:
    """Do the work on every part of an image, several at the same time; return the results in their order.

    :raises HostedError: the first one that the work raised.
    """
    return run_parallel(task.client, parts, lambda _client, part: work(part), MAX_PARTS)
