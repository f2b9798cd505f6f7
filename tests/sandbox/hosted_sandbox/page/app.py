# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Serve the page at the root of the control port, if HTML is asked for. Its buttons call the control API."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jinja2
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from hosted_sandbox.clock import stamp
from hosted_sandbox.control.app import Control
from hosted_sandbox.domain.keys import fingerprint
from hosted_sandbox.domain.money import CURRENCY
from hosted_sandbox.page import account
from hosted_sandbox.store.records import Key
from hosted_sandbox.traffic.routes import RouteTable

FOLDER = Path(__file__).resolve().parent
PREFIX = "/page/"
#: How many requests are shown.
SHOWN = 100
#: Longer parts of a path are shortened, to so many characters.
LONG = 20
SHORT = 6
HEADERS = {
    # No script or style but the page's own files, and no request to another host.
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';"
    " img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "Referrer-Policy": "same-origin",
    "Vary": "Accept",
    "X-Content-Type-Options": "nosniff",
}


def brief(path: str) -> str:
    """Shorten the parts of a path that are long, as identifiers are."""
    return "/".join(part if len(part) <= LONG else f"{part[:SHORT]}…" for part in path.split("/"))


@functools.cache
def _template() -> jinja2.Template:
    """Load the page; whatever it is given is text in it, and None is nothing."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER), autoescape=True, undefined=jinja2.StrictUndefined,
        finalize=lambda value: "" if value is None else value, trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters |= {
        "brief": brief,
        "counted": account.counted,
        "money": account.amount,
        "monthly": account.monthly,
        "stamp": stamp,
    }
    return environment.get_template("page.html")


def wants_page(scope: Scope) -> bool:
    """Tell whether a request is for the page: its own paths, or the root for one who prefers HTML to JSON."""
    if scope["path"].startswith(PREFIX):
        return True
    if scope["path"] != "/" or scope["method"] not in ("GET", "HEAD"):
        return False
    asked = [part.partition(";")[0].strip() for part in Headers(scope=scope).get("accept", "").split(",")]
    known = [kind for kind in asked if kind in ("text/html", "application/json")]
    return known[:1] == ["text/html"]


class Page:
    """The ASGI application in front of the control API: the page, and all else as before."""

    def __init__(self, control: Control, routes: RouteTable) -> None:
        self._control = control
        self._routes = routes
        self._api = control.app()
        self._app = Starlette(routes=[
            Route("/", self.read),
            Route("/page/page.css", _file("page.css", "text/css")),
            Route("/page/page.js", _file("page.js", "text/javascript")),
        ])  # fmt: skip

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and wants_page(scope):
            await self._app(scope, receive, send)
        else:
            await self._api(scope, receive, send)

    async def read(self, request: Request) -> Response:
        """Show the page; `?requests=writes` leaves out every GET of the list of requests."""
        self._control.world.tick()
        world = self._control.world
        page = _template().render(
            **self._control.facts(),
            writes=request.query_params.get("requests") == "writes",
            clock=world.clock,
            currency=CURRENCY,
            profile=world.gaps.name,
            money=account.totals(world),
            services=account.services(world),
            applications=account.applications(world),
            copies=account.copies(world),
            keys=[(key, fingerprint(world, key)) for key in world.store.all(Key)],
            ledger=account.ledger(world),
            journal=self._control.journal,
            shown=SHOWN,
            faults=self._faults(),
            routes=self._routes.routes,
        )
        return HTMLResponse(page, headers=HEADERS)

    def _faults(self) -> list[dict[str, Any]]:
        """Return the faults, each with whether it was injected as often as it may be."""
        return [
            {"id": f"fault-{number}", "spent": fault["injected"] == fault["count"], **fault}
            for number, fault in enumerate(self._control.faults.all())
        ]


def _file(name: str, kind: str) -> Callable[[Request], Response]:
    content = (FOLDER / name).read_bytes()
    return lambda request: Response(content, headers=HEADERS, media_type=kind)
