# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run all listeners of the sandbox on one event loop, over one world."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import shutil
import signal
import socket
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import uvicorn
import yaml
from starlette.types import ASGIApp

from hosted_sandbox import __version__
from hosted_sandbox.api.app import create_apis, table
from hosted_sandbox.api.gateway import Gateway
from hosted_sandbox.control.app import Control, schedule
from hosted_sandbox.control.guard import Guard
from hosted_sandbox.control.seed import apply_seed
from hosted_sandbox.domain import apps, scans
from hosted_sandbox.domain.catalogue import FULL_TOKEN, REGISTRY_TOKEN, create_catalogue
from hosted_sandbox.domain.errors import RefusedError
from hosted_sandbox.domain.world import World
from hosted_sandbox.gaps import Profile
from hosted_sandbox.page.app import Page
from hosted_sandbox.registry import AccountSpace, create_registry
from hosted_sandbox.sftp.server import serve as serve_sftp
from hosted_sandbox.store import Store
from hosted_sandbox.store.records import Account
from hosted_sandbox.traffic.connections import Protocol
from hosted_sandbox.traffic.faults import Faults
from hosted_sandbox.traffic.journal import Journal


@dataclass
class Options:
    """The options of the command line; port 0 is any free port."""

    host: str = "127.0.0.1"
    port: int = 8080
    control_port: int = 8081
    sftp_port: int = 8022
    registry_port: int = 8083
    data: Path | None = None
    seed: Path | None = None
    profile: str | None = None
    ready_file: Path | None = None
    quiet: bool = False
    detach: Path | None = None


class SeedError(Exception):
    """The seed file of the command line is invalid."""


class _Server(uvicorn.Server):
    """A uvicorn server that leaves signals to the sandbox."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def open_world(options: Options, folder: Path) -> World:
    """Open the world of a data folder; a new one gets the catalogue and the seed."""
    store = Store(folder / "sandbox.sqlite" if options.data else None)
    world = World(store, folder, Profile(options.profile or "plain"))
    if store.all(Account):
        world.load_settings(keep_profile=options.profile is not None)
        return world
    with store.transaction():
        create_catalogue(world)
        schedule(world)
        if options.seed:
            _apply_seed_file(world, options.seed)
        world.save_settings()
    return world


@dataclass
class Listeners:
    """The sockets of all ports, bound before the world is opened: a port in use has no effect on it."""

    api: socket.socket
    control: socket.socket
    sftp: socket.socket
    registry: socket.socket


def listen(options: Options) -> Listeners:
    """Bind all ports.

    :raises OSError: if a port cannot be bound; the message names its option.
    """
    ports = {name: f"{name}_port" for name in ("control", "sftp", "registry")} | {"api": "port"}
    return Listeners(**{name: _listen(options, option) for name, option in ports.items()})


def _listen(options: Options, option: str) -> socket.socket:
    host, port = options.host, getattr(options, option)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio disables Nagle's algorithm only on sockets that name their protocol; it costs 40 ms a response.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        name = option.replace("_", "-")
        raise OSError(f"{host} port {port}: {error.strerror}; choose another with --{name}") from error
    # Listen now: two sockets may share an address as long as neither listens.
    listener.listen()
    return listener


def _apply_seed_file(world: World, path: Path) -> None:
    try:
        apply_seed(world, yaml.safe_load(path.read_text(encoding="utf-8")) or {})
    except (ValueError, TypeError, yaml.YAMLError, RefusedError) as error:
        raise SeedError(f"{path}: {error}") from error


def reachable(host: str) -> str:
    """Return an address that clients can use, instead of one that means every interface."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)


def _url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    host = reachable(host)
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def _http(app: ASGIApp, protocol: Any = "auto") -> _Server:
    # Registry clients try https first; do not warn about it.
    return _Server(uvicorn.Config(
        app, http=protocol, ws="none", lifespan="off", log_level="error", access_log=False,
        server_header=False, date_header=False, timeout_graceful_shutdown=1, timeout_keep_alive=75,
    ))  # fmt: skip


async def run(options: Options) -> None:
    """Serve until SIGTERM or SIGINT."""
    listeners = listen(options)
    folder = options.data or Path(tempfile.mkdtemp(prefix="sandbox-"))
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    world = open_world(options, folder)
    try:
        site = assemble(options, world, listeners)
        await serve(site, _stop_event(), lambda: announce(site))
    finally:
        world.store.close()
        if options.data is None:
            shutil.rmtree(folder, ignore_errors=True)
        if options.ready_file:
            options.ready_file.unlink(missing_ok=True)


@dataclass
class Site:
    """The applications of all ports over one world. `secret` is for who controls it, see the guard."""

    options: Options
    world: World
    listeners: Listeners
    control: ASGIApp
    gateway: ASGIApp
    journal: Journal
    secret: str = field(default_factory=secrets.token_urlsafe)

    def ready(self) -> dict[str, Any]:
        """Return what the ready file holds: the facts, and what only whoever started the sandbox knows."""
        return facts(self.options, self.world) | {
            "control_secret": self.secret,
            "page_url": f"{self.world.addresses.control}/#secret={self.secret}",
        }


def assemble(options: Options, world: World, listeners: Listeners) -> Site:
    """Build the applications of all ports, and tell the world their addresses."""
    routes = table()
    faults = Faults(routes)
    journal = Journal(world, routes)
    world.addresses.api = _url(listeners.api)
    world.addresses.control = _url(listeners.control)
    world.addresses.registry = _url(listeners.registry).removeprefix("http://")
    world.addresses.sftp_host = reachable(options.host)
    with world.store.transaction():
        scans.catch_up(world)
    gateway = Gateway(world, create_apis(world), faults=faults, journal=journal, routes=routes)
    control = Control(world, faults, journal, lambda: facts(options, world))
    page = Page(control, routes)
    return Site(options, world, listeners, page, gateway, journal)


async def serve(site: Site, stop: asyncio.Event, ready: Callable[[], None]) -> None:
    """Serve until `stop` is set; call `ready` once everything listens."""
    sftp = await serve_sftp(site.world, site.listeners.sftp)
    host = site.options.host
    servers = [
        (_http(Guard(site.gateway, host), Protocol), site.listeners.api),
        (_http(Guard(site.control, host, site.secret)), site.listeners.control),
        (_http(registry_app(site.world)), site.listeners.registry),
    ]
    tasks = [asyncio.create_task(server.serve(sockets=[listener])) for server, listener in servers]
    while not all(server.started for server, __ in servers):
        await asyncio.sleep(0.005)
    ready()
    await stop.wait()
    for server, __ in servers:
        server.should_exit = True
    sftp.close()
    await asyncio.gather(*tasks)


def registry_app(world: World) -> ASGIApp:
    """Build the image registry: accounts push to their own space, and every image is analyzed."""

    def space(username: str, secret: str) -> AccountSpace | None:
        for account in world.store.all(Account):
            if (account.registry_username, account.registry_secret) == (username, secret):
                known = {service.slug for service in apps.own(world, account.id)}
                return AccountSpace(account.registry_project, known)
        return None

    def arrived(repository: str, digest: str) -> None:
        world.tick()
        with world.store.transaction():
            scans.received(world, repository, digest)

    return create_registry(world.folder / "registry", space, arrived)


def _stop_event() -> asyncio.Event:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    return stop


def facts(options: Options, world: World) -> dict[str, Any]:
    """Return the addresses, the tokens and the options of the command line."""
    where = world.addresses
    return {
        "version": __version__,
        "base_url": where.api,
        "control_url": where.control,
        "sftp": {"host": where.sftp_host, "port": where.sftp_port},
        "registry": {"host": where.registry},
        "tokens": {"full": FULL_TOKEN, "registry": REGISTRY_TOKEN},
        "pid": os.getpid(),
        "options": {
            name: str(value) if isinstance(value, Path) else value for name, value in vars(options).items()
        },
    }


def announce(site: Site) -> None:
    """Write the ready file, which exists as long as the sandbox runs, and print a banner."""
    options = site.options
    if options.ready_file:
        # A new file that nobody else can read, under a name that nobody can have put there.
        number, part = tempfile.mkstemp(dir=options.ready_file.parent)
        with open(number, "w", encoding="utf-8") as file:
            json.dump(site.ready(), file)
        Path(part).replace(options.ready_file)
    if not options.quiet:
        print(_banner(site), flush=True)


def _banner(site: Site) -> str:
    options, world, where = site.options, site.world, site.world.addresses
    page, secret = site.ready()["page_url"], site.secret
    if options.detach:  # Others may read the log.
        page, secret = (f"see {name} in {options.ready_file}" for name in ("page_url", "control_secret"))
    kept = f"kept in {options.data}" if options.data else "forgotten at the end (--data DIR keeps it)"
    return f"""\
The sandbox is ready.

  API       {where.api}
  control   {where.control}
  page      {page} (open it in a browser)
  secret    {secret} (X-Control-Secret, for what changes something on the control port)
  SFTP      {where.sftp_host}:{where.sftp_port}
  registry  {where.registry or "-"}
  tokens    {FULL_TOKEN} (FULL), {REGISTRY_TOKEN} (REGISTRY)
  profile   {world.gaps.name}
  state     {kept}

  export HOSTED_SERVICES_URL={where.api}
  export HOSTED_SERVICES_TOKEN={FULL_TOKEN}

Stop it with Ctrl-C."""
