# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of routes: the name, method, path template and token scopes of each."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

#: REGISTRY tokens may use the application flow only (section Authentication).
REGISTRY_PREFIXES = ("/api/apps", "/api/registry/")
PARAMETER = re.compile(r"\{[^}]+\}")


@dataclass(frozen=True)
class Route:
    """One line of the specification's endpoint tables."""

    name: str
    method: str
    template: str
    pattern: re.Pattern[str]

    def allows(self, scope: str) -> bool:
        """Tell whether a token of this scope may use the route."""
        return scope == "FULL" or self.template.startswith(REGISTRY_PREFIXES)

    def matches(self, text: str) -> bool:
        """Tell whether a text names this route: its name, its template, or `METHOD /path/{template}`."""
        return text in (self.name, self.template, f"{self.method} {self.template}")


class RouteTable:
    """All routes, in the order in which they are matched."""

    def __init__(self, routes: Iterable[Any]) -> None:
        self.routes = [
            Route(route.name, method, route.path, re.compile(PARAMETER.sub("[^/]+", route.path)))
            for route in routes
            for method in sorted(route.methods)
        ]

    def find(self, method: str, path: str) -> Route | None:
        """Return the route of a method and path, or None."""
        for route in self.routes:
            if route.method == method and route.pattern.fullmatch(path):
                return route
        return None

    def named(self, text: str) -> set[str]:
        """Return the names of the routes that a text means; raise ValueError with all names if none."""
        found = {route.name for route in self.routes if route.matches(text)}
        if not found:
            known = ", ".join(route.name for route in self.routes)
            raise ValueError(f"no route is called {text!r}; known: {known}")
        return found
