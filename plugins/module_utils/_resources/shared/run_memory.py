# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run reads of an account once, for all of its tasks: they share a folder that ends with the run."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import suppress

from ..._api.client import Client
from .controller_state import RUN_FOLDER, lock_file, write_json

LOCK_SECONDS = 5.0
"""Seconds to wait for another task that reads the same."""


def remember(client: Client, name: str, read: Callable[[], str | None]) -> str | None:
    """Return what another task of the run has read of the account, or read it for all of them.

    A task that runs as a module elsewhere does not share a folder with them, and reads it for itself. What
    could not be read is remembered, too. ``None`` if the folder cannot be used.
    """
    folder = os.environ.get(RUN_FOLDER)
    if not folder:
        return read()
    path = os.path.join(folder, f"hosted.services.{name}.{client.account_key}")
    with suppress(OSError, ValueError), lock_file(f"{path}.lock", LOCK_SECONDS):
        if not os.path.exists(path):
            write_json(path, {name: read()})
        with open(path, encoding="utf-8") as file:
            found = json.load(file)[name]
        return found if isinstance(found, str) else None
    return None
