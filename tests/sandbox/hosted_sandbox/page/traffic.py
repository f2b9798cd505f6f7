# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The sections of the page about the traffic and the time: requests, faults, the clock."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from hosted_sandbox.domain.world import World
from hosted_sandbox.page import markup
from hosted_sandbox.page.markup import Column, Html, Row, badge, joined, moment, table, tag
from hosted_sandbox.traffic.journal import Journal
from hosted_sandbox.traffic.routes import RouteTable

FIGURE = "figure"
#: How many requests are shown.
SHOWN = 100
#: Longer parts of a path are shortened, to so many characters.
LONG = 20
SHORT = 6
REQUESTS = (
    Column("Time", "bare"),
    Column("Request", "bare full path"),
    Column("Status", "bare status"),
    Column("ms", FIGURE),
    Column("Fault"),
)


def requests(journal: Journal, writes: bool) -> Html:
    """Show the last requests, newest first; with `writes`, without every GET."""
    return table(
        "Requests, newest first", REQUESTS, [_request_row(line) for line in journal.latest(SHOWN, writes)]
    )


def _request_row(line: dict[str, Any]) -> Row:
    fault, method = line["fault"], line["method"]
    cells = (
        moment(line["at"], brief=True),
        joined(
            tag("span", method, class_="method" if method == "GET" else "method writes"),
            tag("small", line["route"] or "no route"),
            tag("code", brief(line["path"]), title=line["path"]),
        ),
        _answer(line["status"]),
        f"{line['ms']:,.1f}",
        tag("span", fault, class_="badge warn") if fault else "",
    )
    return Row(f"request-{line['n']}", cells)


def brief(path: str) -> str:
    """Shorten the parts of a path that are long, as identifiers are."""
    return "/".join(part if len(part) <= LONG else f"{part[:SHORT]}…" for part in path.split("/"))


def _answer(status: int | None) -> Html:
    if status is None:
        return tag("span", "none", class_="badge bad", title="the platform did not act on it")
    tone = {2: "good", 3: "busy", 4: "warn", 5: "bad"}.get(status // 100, "idle")
    known = status in {known.value for known in HTTPStatus}
    return tag("span", status, class_=f"badge {tone}", title=HTTPStatus(status).phrase if known else None)


# faults

FAULTS = (
    Column("Route", "bare"),
    Column("Fault", "bare full"),
    Column("Status", "bare status"),
    Column("Which", "bare"),
    Column("Seen", FIGURE),
    Column("Injected", FIGURE),
)


def is_spent(fault: dict[str, Any]) -> bool:
    """Tell whether a fault was injected as often as it may be."""
    return fault["count"] is not None and fault["injected"] >= fault["count"]


def faults(found: list[dict[str, Any]]) -> Html:
    """Show the faults that are set, and how often each was injected."""
    return table("Faults", FAULTS, [_fault_row(number, fault) for number, fault in enumerate(found)])


def _fault_row(number: int, fault: dict[str, Any]) -> Row:
    cells = (
        tag("code", fault["route"] if fault["route"] != "*" else "* (all)"),
        joined(fault["kind"], tag("small", _details(fault))),
        badge("spent" if is_spent(fault) else "active"),
        _which(fault),
        fault["seen"],
        fault["injected"],
    )
    return Row(f"fault-{number}", cells)


def _details(fault: dict[str, Any]) -> str:
    parts = [f"{fault['when']} the platform acts"]
    if fault["kind"] == "status":
        parts.append(f"status {fault['status']}")
        if fault["retry_after"] is not None:
            parts.append(f"Retry-After {fault['retry_after']}")
    if fault["kind"] == "redirect":
        parts.append(f"to {fault['location']}")
    if fault["latency"]:
        parts.append(f"{fault['latency']:g} s late")
    return ", ".join(parts)


def _which(fault: dict[str, Any]) -> str:
    number = "all" if fault["count"] is None else markup.count(fault["count"], "request")
    start = f" from number {fault['nth']}" if fault["nth"] > 1 else ""
    share = f", {fault['probability']:.0%} of them" if fault["probability"] < 1 else ""
    return f"{number}{start}{share}"


def route_options(routes: RouteTable) -> Html:
    """Build the options of a list of all routes."""
    named = [
        tag("option", f"{route.name}: {route.method} {route.template}", value=route.name)
        for route in routes.routes
    ]
    return joined(tag("option", "* (all routes)", value="*"), *named)


# the clock


def clock(world: World) -> Html:
    """Show the simulated time, and how fast it passes unless that is as fast as real time."""
    rate = world.clock.rate
    pace = "frozen" if rate == 0 else f"{rate:g} times as fast as real time"
    return joined(moment(world.clock.now()), " UTC ", tag("small", pace) if rate != 1 else "")
