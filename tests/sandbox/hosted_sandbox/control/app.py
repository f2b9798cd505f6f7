# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The JSON API of the control port (see README.md)."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Callable, Coroutine
from typing import Any

import yaml
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from hosted_sandbox.api.app import openapi
from hosted_sandbox.clock import SECOND, Clock, parse, stamp
from hosted_sandbox.control import operator
from hosted_sandbox.control.folders import checked, packed, unpack
from hosted_sandbox.control.seed import apply_seed, timestamp
from hosted_sandbox.domain import events, lifecycle, money, scans
from hosted_sandbox.domain.catalogue import ACCOUNT, create_catalogue
from hosted_sandbox.domain.errors import RefusedError
from hosted_sandbox.domain.world import Auth, Delays, World
from hosted_sandbox.gaps import POINTS, Profile
from hosted_sandbox.store.records import Account, Node, Notice, Order, Scan, Service, Token
from hosted_sandbox.traffic.faults import Faults
from hosted_sandbox.traffic.journal import Journal

Document = dict[str, Any]
KEPT_FOLDERS = ("files", "copies", "registry")
Act = Callable[[Request, Document], Any]
Endpoint = Callable[[Request], Coroutine[Any, Any, Response]]
#: What an act raises if the document makes no sense.
REFUSED = (ValueError, TypeError, KeyError, RefusedError)


class Control:
    """The handlers of the control port, over one world."""

    def __init__(self, world: World, faults: Faults, journal: Journal, facts: Callable[[], Document]) -> None:
        self.world = world
        self.faults = faults
        self.journal = journal
        self.facts = facts

    def app(self) -> Starlette:
        """Build the control port as an ASGI application."""
        table: list[tuple[str, str, Act]] = [
            ("GET", "/", self.read_facts),
            ("POST", "/stop", self.stop),
            ("POST", "/reset", self.reset),
            ("POST", "/seed", self.seed),
            ("GET", "/state", self.save),
            ("PUT", "/state", self.load),
            ("GET", "/clock", self.read_clock),
            ("POST", "/clock", self.set_clock),
            ("GET", "/delays", self.read_delays),
            ("PUT", "/delays", self.set_delays),
            ("PUT", "/auth", self.set_auth),
            ("GET", "/faults", self.read_faults),
            ("POST", "/faults", self.add_fault),
            ("DELETE", "/faults", self.clear_faults),
            ("GET", "/journal", self.read_journal),
            ("DELETE", "/journal", self.clear_journal),
            ("GET", "/ledger", self.ledger),
            ("GET", "/profile", self.read_profile),
            ("PUT", "/profile", self.set_profile),
            ("GET", "/gaps", self.gaps),
            ("GET", "/openapi.json", self.openapi),
            ("GET", "/services/{id}", self.read_service),
            ("POST", "/operator/services/{id}", self.operate_service),
            ("POST", "/operator/services/{id}/events", self.intervene),
            ("POST", "/operator/services/{id}/backups", self.add_backup),
            ("POST", "/operator/scans/{slug}", self.operate_scan),
            ("POST", "/operator/vulnerabilities", self.publish),
            ("DELETE", "/operator/tokens/{id}", self.revoke),
            ("POST", "/operator/nodes/{id}", self.operate_node),
            ("POST", "/operator/accounts/{id}", self.operate_account),
        ]
        routes = [Route(path, self._endpoint(act), methods=[method]) for method, path, act in table]
        return Starlette(routes=routes, exception_handlers={HTTPException: _http})

    def _endpoint(self, act: Act) -> Endpoint:
        async def endpoint(request: Request) -> Response:
            self.world.tick()
            try:
                document = _document(await request.body())
                with self.world.store.transaction():
                    answer = act(request, document)
                    self.world.save_settings()
            except REFUSED as error:
                return _failure(400, f"{type(error).__name__}: {error}")
            return JSONResponse({} if answer is None else answer)

        return endpoint

    # the sandbox itself

    def read_facts(self, request: Request, document: Document) -> Any:
        """Addresses, tokens, process id and the options of the command line."""
        return self.facts()

    def stop(self, request: Request, document: Document) -> None:
        """Stop the sandbox after this response, like Ctrl-C."""
        os.kill(os.getpid(), signal.SIGTERM)

    # the whole state

    def reset(self, request: Request, document: Document) -> Any:
        """Delete records, files, faults and journal; then set profile, delays, clock and seed."""
        _check_keys(document, "profile", "values", "delays", "clock", "seed")
        begin = parse(document["clock"]) if "clock" in document else None
        self.clear()
        if "profile" in document or "values" in document:
            name = document.get("profile", "plain")
            self.set_profile(request, {"name": name, "values": document.get("values")})
        self.world.delays.change(document.get("delays") or {})
        if begin is not None:
            self.world.clock.restore(begin, 1.0)
        create_catalogue(self.world)
        schedule(self.world)
        return apply_seed(self.world, document.get("seed") or {})

    def clear(self) -> None:
        """Delete everything except the addresses and the profile."""
        self.world.store.load({})
        for name in KEPT_FOLDERS:
            shutil.rmtree(self.world.folder / name, ignore_errors=True)
        self.world.clock = Clock()
        self.world.delays = Delays()
        self.world.auth = Auth()
        self.world.kept.clear()
        self.faults.clear()
        self.journal.clear()

    def seed(self, request: Request, document: Document) -> Any:
        """Add the contents of a seed document."""
        return apply_seed(self.world, document)

    def save(self, request: Request, document: Document) -> Any:
        """Return all records and files as one document."""
        self.world.save_settings()
        files = packed(self.world.folder, KEPT_FOLDERS)
        return {"records": self.world.store.dump(), "files": files}

    def load(self, request: Request, document: Document) -> Any:
        """Load a saved document. What was deleted since is there again, and on no list a second time."""
        records, entries = document["records"], checked(KEPT_FOLDERS, document["files"])
        for kind in ("service", "backup", "snapshot"):
            for record in records.get(kind, ()):
                self.world.place("files", record["id"])
        self.world.store.load(records)
        self.world.kept.clear()
        unpack(self.world.folder, KEPT_FOLDERS, entries)
        self.world.load_settings()

    # time

    def read_clock(self, request: Request, document: Document) -> Any:
        """Return the simulated time and its rate."""
        return {"now": stamp(self.world.clock.now()), "rate": self.world.clock.rate}

    def set_clock(self, request: Request, document: Document) -> Any:
        """`freeze` (true, false), `rate`, `set` (timestamp), `advance` (seconds): any, in this order."""
        clock = self.world.clock
        if "freeze" in document:
            clock.run(0.0 if document["freeze"] else 1.0)
        if "rate" in document:
            clock.run(float(document["rate"]))
        if "set" in document:
            clock.move(parse(document["set"]))
        if "advance" in document:
            clock.advance(float(document["advance"]) * SECOND)
        self.world.store.commit()
        self.world.tick()
        return self.read_clock(request, document)

    def read_delays(self, request: Request, document: Document) -> Any:
        """Return how long things take, in simulated seconds."""
        return vars(self.world.delays)

    def set_delays(self, request: Request, document: Document) -> Any:
        """Change some of the delays."""
        self.world.delays.change(document)
        return vars(self.world.delays)

    def set_auth(self, request: Request, document: Document) -> Any:
        """Expect the token in another header, after another scheme."""
        self.world.auth = Auth(**document)
        return vars(self.world.auth)

    # faults, journal, ledger

    def read_faults(self, request: Request, document: Document) -> Any:
        """Return the faults that are set."""
        return self.faults.all()

    def add_fault(self, request: Request, document: Document) -> Any:
        """Add a fault, or all of a list `faults`."""
        several = document.get("faults")
        if several is None:
            return self.faults.add(document).model_dump()
        return [self.faults.add(fault).model_dump() for fault in several]

    def clear_faults(self, request: Request, document: Document) -> None:
        """Remove all faults."""
        self.faults.clear()

    def read_journal(self, request: Request, document: Document) -> Any:
        """Return the requests so far, filtered by `route` and `method`, and those `after` a number."""
        given = request.query_params
        return self.journal.read(given.get("route"), given.get("method"), int(given.get("after", 0)))

    def clear_journal(self, request: Request, document: Document) -> None:
        """Delete the requests so far."""
        self.journal.clear()

    def ledger(self, request: Request, document: Document) -> Any:
        """Return orders, the cost of every service, balances and notices."""
        world = self.world
        services = world.store.all(Service)
        return {
            "orders": [{**vars(order), "at": stamp(order.at)} for order in world.store.all(Order)],
            "billed": [
                {"service_id": s.id, "name": s.name, "status": s.status, "cents": money.spent(s, world.now),
                 "monthly_millicents": sum(money.billed_parts(world, s).values()), "rates": s.rates}
                for s in services
            ],
            "balances": {a.id: money.balance(world, a) for a in world.store.all(Account)},
            "notices": [{**vars(notice), "at": stamp(notice.at)} for notice in world.store.all(Notice)],
        }  # fmt: skip

    # gaps

    def read_profile(self, request: Request, document: Document) -> Any:
        """Return the profile's name and the value of every point."""
        return {"name": self.world.gaps.name, "values": self.world.gaps.describe()}

    def set_profile(self, request: Request, document: Document) -> Any:
        """Change the profile: its `name`, and `values` for single gap points."""
        _check_keys(document, "name", "values")
        self.world.gaps = Profile(document.get("name", "plain"), document.get("values"))
        return self.read_profile(request, document)

    def gaps(self, request: Request, document: Document) -> Any:
        """Return every point with its section, question and values."""
        return [vars(point) for point in POINTS.values()]

    def openapi(self, request: Request, document: Document) -> Any:
        """Return the OpenAPI document of the API."""
        return openapi()

    # the operator's acts

    def _service(self, request: Request) -> Service:
        return self.world.store.need(Service, request.path_params["id"])

    def read_service(self, request: Request, document: Document) -> Any:
        """Return a service's record, with its environment and its container as it is now."""
        service = self._service(request)
        return {**vars(service), "container": lifecycle.workload_of(self.world, service).to_dict()}

    def operate_service(self, request: Request, document: Document) -> Any:
        """Set any of `status` (with `reason`), `state`, `connection`, and which operations fail."""
        service = self._service(request)
        if "status" in document:
            operator.set_status(self.world, service, document["status"], document.get("reason"))
        if "state" in document:
            operator.set_state(self.world, service, document["state"])
        operator.set_failures(self.world, service, document)
        if "connection" in document:
            operator.set_connection(self.world, service, document["connection"])
        return vars(service)

    def intervene(self, request: Request, document: Document) -> None:
        """Add an event of this `type` to the activity journal."""
        events.record(self.world, self._service(request), str(document.get("type", "INTERVENTION")))

    def add_backup(self, request: Request, document: Document) -> Any:
        """Add a backup with `name`, `status` and `created_at`."""
        made = timestamp(self.world, document.get("created_at"))
        status = document.get("status", "COMPLETED")
        return vars(operator.add_backup(self.world, self._service(request), document["name"], status, made))

    def operate_scan(self, request: Request, document: Document) -> Any:
        """Set the verdict on the image `digest` (`status`, `report`), or `lift` it with a reason."""
        slug = request.path_params["slug"]
        service = next(found for found in self.world.store.all(Service) if found.slug == slug)
        record = self.world.store.need(Scan, scans.key(self.world, service, document["digest"]))
        if "status" in document:
            scans.force(self.world, record, document["status"], document.get("report"))
        if "lift" in document:
            scans.lift(self.world, record, document["lift"])
        return vars(record)

    def publish(self, request: Request, document: Document) -> None:
        """Publish `flaws` of packages; later scans find them."""
        scans.publish(self.world, document["flaws"])

    def revoke(self, request: Request, document: Document) -> None:
        """Revoke a token."""
        self.world.store.drop(self.world.store.need(Token, request.path_params["id"]))

    def operate_node(self, request: Request, document: Document) -> Any:
        """Set `reachable` (true or false) and `ports_left` (a number or null)."""
        node = self.world.store.need(Node, request.path_params["id"])
        operator.set_node(self.world, node, document.get("reachable"), document.get("ports_left", -1))
        return vars(node)

    def operate_account(self, request: Request, document: Document) -> Any:
        """Set the balance to `balance_cents`."""
        key = {"main": ACCOUNT}.get(request.path_params["id"], request.path_params["id"])
        operator.set_balance(self.world, key, int(document["balance_cents"]))
        return {"balance_cents": money.balance(self.world, self.world.store.need(Account, key))}


def schedule(world: World) -> None:
    """Schedule the recurring tasks."""
    world.after(3600, "hourly", "platform")
    world.after(scans.until_night(world.now), "nightly", "platform")


def _check_keys(document: Document, *known: str) -> None:
    if unknown := sorted(document.keys() - set(known)):
        raise ValueError(f"unknown {', '.join(unknown)}; known: {', '.join(known)}")


def _document(body: bytes) -> Document:
    """Parse a JSON or YAML document."""
    if not body.strip():
        return {}
    try:
        found = json.loads(body)
    except ValueError:
        try:
            found = yaml.safe_load(body)
        except yaml.YAMLError as error:
            raise ValueError(f"neither JSON nor YAML: {error}") from None
    if not isinstance(found, dict):
        raise TypeError("the document must be a mapping")
    return found


def _failure(status: int, message: str) -> Response:
    return JSONResponse({"statusCode": status, "message": message}, status)


async def _http(__: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _failure(error.status_code, str(error.detail))
