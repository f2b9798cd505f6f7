# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tasks of a run tell each other: they share a folder that ends with the run."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ..._api.client import Client
from .store import RUN_FOLDER, lock_file, state_key, write_json

if TYPE_CHECKING:
    from .plan import Plan, Resource, Task

NAMES = ("name", "slug", "path", "digest")
"""The keys of results that name things."""
LOCK_SECONDS = 5.0
"""Seconds to wait for another task that reads the same."""


def remember(client: Client, name: str, read: Callable[[], str | None]) -> str | None:
    """Return what another task of the run has read of the account, or read it for all of them.

    A task that runs as a module elsewhere does not share a folder with them, and reads it for itself. What
    could not be read is remembered, too. ``None`` if the folder cannot be used.
    """
    return first_said(f"{name}.{client.account_key}", read)


def first_said(subject: str, read: Callable[[], str | None]) -> str | None:
    """Return what the first task of the run said of a subject, as :func:`remember` does."""
    folder = os.environ.get(RUN_FOLDER)
    if not folder:
        return read()
    path = os.path.join(folder, f"hosted.services.{subject}")
    with suppress(OSError, ValueError), lock_file(f"{path}.lock", LOCK_SECONDS):
        if not os.path.exists(path):
            write_json(path, {"said": read()})
        with open(path, encoding="utf-8") as file:
            found = json.load(file)["said"]
        return found if isinstance(found, str) else None
    return None


def foreseen(base_url: str | None) -> dict[str, str]:
    """Return the names of what earlier tasks of this run planned in check mode.

    A release is named by slug and tag, with its digest, and what gets a new name by that, with its id.
    """
    path = _path_of_foreseen(base_url)
    if path is not None:
        with suppress(OSError, ValueError), open(path, encoding="utf-8") as file:
            return dict(json.load(file))
    return {}


def foresee(resource: Resource[Any], task: Task[Any], plan: Plan) -> None:
    """Note what a task in check mode plans, for the tasks after it: what selects it, and how it is named."""
    options, path = task.options, _path_of_foreseen(task.options.base_url)
    if path is None or not plan.changed:
        return
    chosen = {name: getattr(options, name) for name in resource.selectors - resource.secret_options}
    names = dict.fromkeys(
        [any_new(resource.result_key), *_names_in([list(chosen.values()), plan.result])], ""
    )
    if getattr(options, "state", None) == "absent":
        names = {f"no {resource.result_key} {chosen.get('id') or chosen.get('name')}": ""}
    if isinstance(plan.result, dict) and plan.result.get("id") and "new_name" in chosen:
        names[str(plan.result["name"])] = str(plan.result["id"])
    if {"slug", "tag", "digest"} <= chosen.keys() and chosen["digest"]:
        names[f"{chosen['slug']}:{chosen['tag']}"] = str(chosen["digest"])
    with suppress(OSError), lock_file(f"{path}.lock", LOCK_SECONDS):
        known = foreseen(options.base_url)
        write_json(path, {**known, **{name: said or known.get(name, "") for name, said in names.items()}})


def any_new(kind: str) -> str:
    """Return what :func:`foreseen` has if an earlier task planned anything of a kind, such as ``ssh_key``."""
    return f"a new {kind}"


def _path_of_foreseen(base_url: str | None) -> str | None:
    folder = os.environ.get(RUN_FOLDER)
    return os.path.join(folder, f"hosted.services.{state_key(base_url, 'foreseen')}") if folder else None


def _names_in(value: Any) -> Iterator[str]:
    """Yield what can name things: the texts in lists, and those of some keys of results."""
    if isinstance(value, list):
        for item in value:
            yield from [item] if isinstance(item, str) else _names_in(item)
    elif isinstance(value, dict):
        yield from _names_in(
            [item for key, item in value.items() if key in NAMES or not isinstance(item, str)]
        )
