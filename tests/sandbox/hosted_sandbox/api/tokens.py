# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Authentication. The specification leaves open how a token is sent, so header and scheme can be set."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.responses import Response

from hosted_sandbox.api.app import failure
from hosted_sandbox.domain.world import World
from hosted_sandbox.store.records import Token
from hosted_sandbox.traffic.routes import Route


def sent_token(world: World, headers: Headers) -> Token | None:
    """Return the token of a request, or None if it is unknown or missing."""
    value = headers.get(world.auth.header, "")
    if world.auth.scheme:
        scheme, __, value = value.partition(" ")
        if scheme.lower() != world.auth.scheme.lower():
            return None
    return world.store.get(Token, value.strip())


def refusal(world: World, token: Token | None, route: Route) -> Response | None:
    """Build the response to a missing token or an insufficient scope; None if the token is sufficient."""
    if token is None:
        return failure(401, "A valid API token is required")
    if route.allows(token.scope):
        return None
    return failure(403, "This route requires a token of scope FULL")
