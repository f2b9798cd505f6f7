# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What makes one call each: the methods of the client, what an account reads, and the routes of changes."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import fields
from functools import partial
from typing import Any

from ansible_collections.hosted.services.plugins.module_utils._api import routes as r
from ansible_collections.hosted.services.plugins.module_utils._api.client import Client
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.account import Account

NO_ROUTES = {"call", "clone", "close", "entries", "if_any", "one", "pages", "redact", "send", "set_pace"}
NO_ROUTES |= {each.name for each in fields(Client)}
"""The methods of the client that are about no route."""
READS = [
    name
    for name, method in inspect.getmembers(Account, inspect.isfunction)
    if not name.startswith("_") and re.search(r"client\.(pages|one|if_any)\(", inspect.getsource(method))
]
"""The methods of an account that read what is on one route."""
SENT = {
    name: route
    for name, route in r.ROUTES.items()
    if not re.search(rf"\br\.{name}\b", inspect.getsource(Client) + inspect.getsource(Account))
}
"""The routes that a change names, and no method."""
METHODS: dict[str, Callable[..., Any]] = {
    **{
        name: method
        for name, method in inspect.getmembers(Client, inspect.isfunction)
        if not name.startswith("_") and name not in NO_ROUTES
    },
    **{name: getattr(Account, name) for name in READS},
    **dict.fromkeys(SENT, Client.send),
}


def parameters_of(name: str) -> list[inspect.Parameter]:
    found = [] if name in SENT else list(inspect.signature(METHODS[name]).parameters.values())[1:]
    return [each for each in found if each.kind is not each.VAR_KEYWORD]


def bound(name: str, client: Client) -> Callable[..., Any]:
    if name in SENT:
        ids = {id: "a" for id in re.findall(r"{(\w+)}", SENT[name].path)}
        make = client.one if isinstance(SENT[name].answer, r.One) else client.send
        return partial(make, SENT[name], body={}, commitment="some", **ids)
    method: Callable[..., Any] = getattr(Account(client) if name in READS else client, name)
    return method
