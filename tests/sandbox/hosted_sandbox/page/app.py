# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Serve the page at the root of the control port, if HTML is asked for. Its buttons call the control API."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import jinja2
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from hosted_sandbox.clock import stamp
from hosted_sandbox.control.app import REFUSED, Act, Control
from hosted_sandbox.domain.keys import fingerprint
from hosted_sandbox.domain.money import CURRENCY
from hosted_sandbox.page import account
from hosted_sandbox.store.records import Key
from hosted_sandbox.traffic.routes import RouteTable

Form = dict[str, str]
FOLDER = Path(__file__).resolve().parent
PREFIX = "/page/"
#: By how many seconds the buttons advance the clock.
STEPS = ("60", "3600", "86400")
#: How many requests are shown.
SHOWN = 100
#: Longer parts of a path are shortened, to so many characters.
LONG = 20
SHORT = 6
FAULT_FIELDS = ("route", "kind", "when", "nth", "count", "probability", "status", "retry_after", "latency")
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
            Route("/page/clock", self.advance, methods=["POST"]),
            Route("/page/faults", self.add_fault, methods=["POST"]),
            Route("/page/faults/clear", self.clear_faults, methods=["POST"]),
            Route("/page/reset", self.reset, methods=["POST"]),
        ])  # fmt: skip

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and wants_page(scope):
            await self._app(scope, receive, send)
        else:
            await self._api(scope, receive, send)

    # what the page shows

    async def read(self, request: Request) -> Response:
        """Show the page; `?requests=writes` leaves out every GET of the list of requests."""
        self._control.world.tick()
        return self._shown(request.query_params.get("requests") == "writes")

    def _shown(self, writes: bool = False, problem: str | None = None) -> Response:
        world = self._control.world
        page = _template().render(
            **self._control.facts(),
            problem=problem,
            writes=writes,
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
        return HTMLResponse(page, 400 if problem else 200, HEADERS)

    def _faults(self) -> list[dict[str, Any]]:
        """Return the faults, each with whether it was injected as often as it may be."""
        return [
            {"id": f"fault-{number}", "spent": fault["injected"] == fault["count"], **fault}
            for number, fault in enumerate(self._control.faults.all())
        ]

    # its buttons

    async def advance(self, request: Request) -> Response:
        """Advance the clock by `advance` seconds."""
        return await self._act(request, self._control.set_clock, _step)

    async def add_fault(self, request: Request) -> Response:
        """Add a fault. An empty field keeps its default, except that an empty `count` means all."""
        return await self._act(request, self._control.add_fault, _fault)

    async def clear_faults(self, request: Request) -> Response:
        """Remove all faults."""
        return await self._act(request, self._control.clear_faults, lambda form: {})

    async def reset(self, request: Request) -> Response:
        """Start over, under the same profile, if the box is ticked."""
        return await self._act(request, self._control.reset, _sure)

    async def _act(self, request: Request, act: Act, document: Callable[[Form], dict[str, Any]]) -> Response:
        form = dict(parse_qsl((await request.body()).decode(errors="replace"), keep_blank_values=True))
        try:
            self._control.run(act, request, document(form))
        except REFUSED as error:
            return self._shown(problem=str(error))
        return RedirectResponse("/", 303, HEADERS)


def _file(name: str, kind: str) -> Callable[[Request], Response]:
    content = (FOLDER / name).read_bytes()
    return lambda request: Response(content, headers=HEADERS, media_type=kind)


def _step(form: Form) -> dict[str, Any]:
    step = form.get("advance", "")
    if step not in STEPS:
        raise ValueError(f"the clock advances by {', '.join(STEPS)} seconds, not by {step!r}")
    return {"advance": int(step)}


def _fault(form: Form) -> dict[str, Any]:
    fault: dict[str, Any] = {name: form[name] for name in FAULT_FIELDS if form.get(name)}
    return fault | ({} if form.get("count", "1") else {"count": None})


def _sure(form: Form) -> dict[str, Any]:
    if form.get("sure") != "yes":
        raise ValueError("tick the box to reset the sandbox: everything in it is lost")
    return {}
