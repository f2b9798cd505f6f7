# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep the control port from pages of other sites, which a person's browser may send requests for.

A browser names the site of such a page in `Origin`. Programs send no such header: nothing changes for them.
A site whose name leads to this machine (DNS rebinding) names itself in `Host` too. A browser therefore has to
address the sandbox by a name that nobody else can own.
"""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send


def _name(authority: str) -> str:
    """Return the host name of `host:port`, in lower case; empty if it is malformed."""
    try:
        return urlsplit(f"//{authority}").hostname or ""
    except ValueError:
        return ""


def is_own(authority: str, bound: str) -> bool:
    """Tell whether `host:port` can only be this sandbox: an IP address, a local name, or that of `--host`."""
    name = _name(authority)
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return bool(name) and ("." not in name or name.endswith(".localhost") or name == bound.lower())
    return True


def is_foreign(headers: Headers, bound: str) -> bool:
    """Tell whether a browser sends this for a page of another site."""
    origin, host = headers.get("origin"), headers.get("host", "")
    if origin is None:
        return False
    return origin.partition("://")[2].lower() != host.lower() or not is_own(host, bound)


class Guard:
    """The ASGI application of the control port: refuses what comes from another site's page."""

    def __init__(self, app: ASGIApp, bound: str) -> None:
        self._app = app
        self._bound = bound

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and is_foreign(headers := Headers(scope=scope), self._bound):
            message = f"a page of {headers['origin']} must not control this sandbox"
            await JSONResponse({"statusCode": 403, "message": message}, 403)(scope, receive, send)
            return
        await self._app(scope, receive, send)
