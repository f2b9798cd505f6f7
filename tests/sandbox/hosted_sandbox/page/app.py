# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Serve the page at the root of the control port, if HTML is asked for. Its buttons call the control API."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from string import Template
from typing import Any
from urllib.parse import parse_qsl

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from hosted_sandbox.control.app import REFUSED, Act, Control
from hosted_sandbox.domain.money import CURRENCY
from hosted_sandbox.page import account, traffic
from hosted_sandbox.page.markup import Html, tag, text
from hosted_sandbox.traffic.routes import RouteTable

Form = dict[str, str]
FOLDER = Path(__file__).resolve().parent
TEMPLATE = Template((FOLDER / "page.html").read_text(encoding="utf-8"))
PREFIX = "/page/"
#: By how many seconds the buttons advance the clock.
STEPS = ("60", "3600", "86400")
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
        self._options = traffic.route_options(routes)
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
        page = TEMPLATE.substitute({
            **self._platform(),
            **self._traffic(writes),
            "problem": tag("p", problem) if problem else "",
        })  # fmt: skip
        return HTMLResponse(page, 400 if problem else 200, HEADERS)

    def _platform(self) -> dict[str, Html]:
        world, facts = self._control.world, self._control.facts()
        kept = facts["options"].get("data")
        return {
            "version": text(facts["version"]),
            "api": text(facts["base_url"]),
            "sftp": text(f"{facts['sftp']['host']}:{facts['sftp']['port']}"),
            "registry": text(facts["registry"]["host"]),
            "profile": text(world.gaps.name),
            "kept": text(f"kept in {kept}" if kept else "lost when it stops"),
            "currency": text(CURRENCY),
            "services": account.services(world),
            "applications": account.applications(world),
            "copies": account.copies(world),
            "keys": account.ssh_keys(world),
            "ledger": account.ledger(world),
        }

    def _traffic(self, writes: bool) -> dict[str, Html]:
        world, journal = self._control.world, self._control.journal
        faults = self._control.faults.all()
        active = sum(not traffic.is_spent(fault) for fault in faults)
        return {
            "clock": traffic.clock(world),
            "figures": account.figures(world, len(journal), active),
            "requests": traffic.requests(journal, writes),
            "shown": text(traffic.SHOWN),
            "all_current": Html("" if writes else ' aria-current="true"'),
            "writes_current": Html(' aria-current="true"' if writes else ""),
            "faults": traffic.faults(faults),
            "routes": self._options,
        }

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
