# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep the sandbox from pages of other sites and, on the control port, from other users of this machine.

A browser names the site of the page that sends a request in `Origin`, but not with what the page reads from
its own site. A site may let its name lead to this machine (DNS rebinding): then `Host` has that name. So the
sandbox answers only to names that nobody else can own.

What changes something on the control port, and the saved state, needs the secret of the ready file.
"""

from __future__ import annotations

import hmac
import ipaddress
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

HEADER = "X-Control-Secret"
#: Endings of names that no registry sells: of this machine, of tests, and of private networks and containers.
PRIVATE = (".localhost", ".test", ".internal")


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
        return bool(name) and ("." not in name or name.endswith(PRIVATE) or name == bound.lower())
    return True


class Guard:
    """The ASGI application in front of a port: of the control port if it has a secret, else of the API."""

    def __init__(self, app: ASGIApp, bound: str, secret: str | None = None) -> None:
        self._app = app
        self._bound = bound
        self._secret = secret

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and (message := self._refusal(scope)):
            await JSONResponse({"statusCode": 403, "message": message}, 403)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _refusal(self, scope: Scope) -> str | None:
        headers = Headers(scope=scope)
        host, origin = headers.get("host", ""), headers.get("origin")
        if not is_own(host, self._bound):
            return (
                f"{host!r} may be another site. Call the sandbox by IP address, by a name without a dot or "
                f"with {', '.join(PRIVATE)} at its end, or by that of its option --host"
            )
        if self._secret is None:
            return None
        if origin is not None and origin.partition("://")[2].lower() != host.lower():
            return f"a page of {origin} must not control this sandbox"
        reads = scope["method"] in ("GET", "HEAD") and scope["path"] != "/state"
        if reads or hmac.compare_digest(headers.get(HEADER, "").encode(), self._secret.encode()):
            return None
        return (
            f"{scope['method']} {scope['path']} needs the header {HEADER}: the control_secret of the ready "
            "file (--ready-file), which the sandbox also prints at its start. For the buttons of its page, "
            "open it at the address with #secret= that is there, too (page_url)"
        )
