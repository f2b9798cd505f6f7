# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The methods that make one call each: those of the client, and what an account reads."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

from ansible_collections.hosted.services.plugins.module_utils._api.client import Client
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.account import Account

NO_ROUTES = ("clone", "close", "hide", "if_any", "log", "one", "pages", "report_pauses", "set_pace")
"""The methods of the client that are about no route."""
READS = [
    name
    for name, method in inspect.getmembers(Account, inspect.isfunction)
    if not name.startswith("_") and re.search(r"client\.(pages|one|if_any)\(", inspect.getsource(method))
]
"""The methods of an account that read what is on one route."""
METHODS: dict[str, Callable[..., Any]] = {
    name: method
    for name, method in inspect.getmembers(Client, inspect.isfunction)
    if not name.startswith("_") and name not in NO_ROUTES
} | {name: getattr(Account, name) for name in READS}


def parameters_of(name: str) -> list[inspect.Parameter]:
    """Return what a method takes."""
    return list(inspect.signature(METHODS[name]).parameters.values())[1:]


def bound(name: str, client: Client) -> Callable[..., Any]:
    """Return the method that makes a call with a client."""
    method: Callable[..., Any] = getattr(Account(client) if name in READS else client, name)
    return method
