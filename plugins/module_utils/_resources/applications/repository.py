# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Opens the repository of an application in the platform's registry for a task (Registry credentials)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ..._api.connection import UNCHECKED
from ..._api.errors import HostedError, Refused
from ..._api.models import App
from ..._api.registry import Repository, scheme_of
from ..shared.options import Options
from ..shared.parallel import run_parallel
from ..shared.plan import Task
from ..shared.task_errors import NoSuchItem
from .lookup import OnAppOptions
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


def check_pushed(task: Task[OnAppOptions], app: App, digest: str, doing: str) -> None:
    """Check that an image is in the repository. Changes nothing.

    If the registry cannot be reached, the check is left to the platform.

    :param doing: what the task did not do, which begins the message.
    :raises NoSuchItem: if the image was not pushed.
    """
    try:
        repository = open_repository(task, task.options.slug)
        if holds(repository, digest, exists=bool(app.id)):
            return
    except HostedError as error:
        task.progress(f"whether {digest} was pushed cannot be looked up here: {error.message}")
        return
    message = (
        f"{doing}: {repository.name} holds no image {digest}. hosted.services.app_image pushes one and "
        "returns its digest"
    )
    if not app.id:
        message += (
            f". There is no application {app.slug!r} yet either: correct the slug, or create it and push the "
            "image first"
        )
    raise NoSuchItem(message)


def holds(repository: Repository, digest: str, *, exists: bool) -> bool:
    """Tell whether a repository has an image.

    :param exists: whether its application does. If not, a registry may deny access in place of a 404.
    """
    try:
        return repository.digest_of(digest) is not None
    except Refused:
        if exists:
            raise
        return False
