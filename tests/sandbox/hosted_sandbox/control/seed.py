# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Seed documents: the initial state of the world.

```yaml
balance_cents: 50000
delays: {provision: 0}
projects: [web]
ssh_keys: [{name: laptop, public_key: ssh-ed25519 AAAA…}]
nodes: [{id: node-x, label: X, …}]            # added to the catalogue, or replacing an entry of it
products: [{id: product-x, family: GAME, …}]
tokens: [{id: my-token, scope: REGISTRY, account: account-main}]
services:
  - {name: mc, product: minecraft, host: node-paris-1, project: web, status: SUSPENDED,
     dimensions: {cpuCores: 2, ramGb: 4, storageGb: 20}, files: {server.properties: "motd=hi"},
     environment: {KEY: value}, created_at: 2026-01-01T00:00:00Z, account: account-main,
     backups: [{name: nightly-1, created_at: 2026-11-01T02:00:00Z, status: COMPLETED}]}
apps:
  - {slug: shop, images: [{tag: v1}, {tag: v2, packages: {runc: 1.0.0~rc6}}], deployed: v1}
```
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from hosted_sandbox.clock import parse
from hosted_sandbox.control import operator
from hosted_sandbox.domain import apps, files, keys, lifecycle, ordering, projects, scans
from hosted_sandbox.domain.catalogue import ACCOUNT
from hosted_sandbox.domain.world import World
from hosted_sandbox.registry.images import build_image
from hosted_sandbox.store.records import Account, Node, Product, Project, Scan, Service, Token


class Item(BaseModel):
    """The base of all parts of a seed. Unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", coerce_numbers_to_str=True)


class SeedBackup(Item):
    """A backup that exists already."""

    name: str
    status: str = "COMPLETED"
    created_at: Any = None


class SeedService(Item):
    """A service that exists already, without an order; an ACTIVE one runs unless `state` differs."""

    name: str
    product: str
    host: str = "node-paris-1"
    project: str | None = None
    account: str = ACCOUNT
    status: str = "ACTIVE"
    state: str | None = None
    dimensions: dict[str, int] | None = None
    public: bool | None = None
    environment: dict[str, str] = Field(default_factory=dict)
    files: dict[str, str] = Field(default_factory=dict)
    backups: list[SeedBackup] = Field(default_factory=list)
    created_at: Any = None
    failure_reason: str | None = None


class SeedKey(Item):
    """An SSH key of the main account."""

    name: str
    public_key: str


class SeedToken(Item):
    """An additional token."""

    id: str
    scope: str = "FULL"
    account: str = ACCOUNT


class SeedImage(Item):
    """An image that was pushed and declared as a release."""

    tag: str
    command: list[str] = Field(default_factory=lambda: ["/app/server"])
    architecture: str = "amd64"
    packages: dict[str, str] = Field(default_factory=dict)
    labels: dict[str, str] = Field(default_factory=dict)


class SeedApp(Item):
    """An application with its images, which are already analyzed; `deployed` is the tag that runs."""

    slug: str
    host: str | None = None
    project: str | None = None
    environment: dict[str, str] = Field(default_factory=dict)
    images: list[SeedImage] = Field(default_factory=list)
    deployed: str | None = None


class Seed(Item):
    """A whole seed document."""

    balance_cents: int | None = None
    delays: dict[str, float] = Field(default_factory=dict)
    projects: list[str] = Field(default_factory=list)
    ssh_keys: list[SeedKey] = Field(default_factory=list)
    tokens: list[SeedToken] = Field(default_factory=list)
    nodes: list[dict[str, Any]] = Field(default_factory=list)
    products: list[dict[str, Any]] = Field(default_factory=list)
    services: list[SeedService] = Field(default_factory=list)
    apps: list[SeedApp] = Field(default_factory=list)


def apply_seed(world: World, document: dict[str, Any]) -> dict[str, Any]:
    """Add the contents of a document. Return the new ids by name. Raise ValueError if it is invalid."""
    seed = Seed.model_validate(document)
    world.delays.change(seed.delays)
    account = world.store.need(Account, ACCOUNT)
    for node in seed.nodes:
        world.store.put(Node(**node))
    for product in seed.products:
        world.store.put(Product(**product))
    for token in seed.tokens:
        world.store.put(Token(token.id, token.account, token.scope))
    made = {name: projects.create(world, account, name).id for name in seed.projects}
    added = {key.name: keys.add(world, account, key.name, key.public_key).id for key in seed.ssh_keys}
    services = {service.name: _add_service(world, service).id for service in seed.services}
    services |= {app.slug: _add_app(world, account, app).id for app in seed.apps}
    if seed.balance_cents is not None:
        operator.set_balance(world, ACCOUNT, seed.balance_cents)
    return {"projects": made, "ssh_keys": added, "services": services}


def timestamp(world: World, value: Any) -> int:
    """Return the time of a seed entry: its timestamp (YAML may have parsed it), or now."""
    return world.now if value is None else parse(str(value))


def _project(world: World, account_id: str, name: str | None) -> Project:
    if name is None:
        return projects.default(world, account_id)
    for project in world.store.of(Project, account_id):
        if name in (project.name, project.id):
            return project
    return projects.create(world, world.store.need(Account, account_id), name)


def _add_service(world: World, seed: SeedService) -> Service:
    product = world.store.get(Product, seed.product)
    if product is None or world.store.get(Node, seed.host) is None:
        raise ValueError(f"service {seed.name}: unknown product {seed.product} or host {seed.host}")
    project = _project(world, seed.account, seed.project)
    service = Service(
        world.new_id("svc"), seed.account, project.id, seed.host, product.id, seed.name, product.family,
        alias=ordering.alias(world, seed.account, project.id, seed.name),
        runtime=product.runtimes[0]["id"] if product.runtimes else None,
        size=dict(seed.dimensions or product.entry), environment={**product.variables, **seed.environment},
        free=product.free, created_at=timestamp(world, seed.created_at),
    )  # fmt: skip
    service.public = product.public if seed.public is None else seed.public
    if service.public:
        ordering.take_port(world, service)
    ordering.generate(product, service)
    ordering.begin(world, service)
    operator.set_status(world, service, seed.status, seed.failure_reason)
    running = "running" if service.status == "ACTIVE" and product.id != "application" else "stopped"
    operator.set_state(world, service, seed.state or running)
    for path, content in seed.files.items():
        files.locate(world, service, path).parent.mkdir(parents=True, exist_ok=True)
        files.write(world, service, path, content)
    for backup in seed.backups:
        operator.add_backup(world, service, backup.name, backup.status, timestamp(world, backup.created_at))
    return service


def _add_app(world: World, account: Account, seed: SeedApp) -> Service:
    project = _project(world, account.id, seed.project)
    service = apps.create(world, account, seed.slug, (seed.host, None), project.id)
    world.kept.clear()  # what a document describes has been there for long
    apps.set_environment(world, service, seed.environment)
    for image in seed.images:
        digest = _push(world, service, image)
        apps.declare(world, service, image.tag, digest)
    if seed.deployed is not None:
        apps.put_in_service(world, service, apps.release(world, service, seed.deployed))
        lifecycle.force_state(world, service, "running")
    return service


def _push(world: World, service: Service, seed: SeedImage) -> str:
    """Build an image and store it in the registry like a push, with its verdict."""
    repository = scans.repository(world, service)
    with tempfile.TemporaryDirectory() as folder:
        layout = Path(folder) / "image"
        content = {"app/server": f"{service.slug} {seed.tag}".encode()}
        packages = list(seed.packages.items())
        digest = build_image(layout, content, seed.command, seed.architecture, packages, labels=seed.labels)
        for blob in (layout / "blobs" / "sha256").iterdir():
            upload = repository.start_upload()
            upload.path.write_bytes(blob.read_bytes())
            repository.finish_upload(upload, f"sha256:{blob.name}")
        manifest = repository.blobs.read(digest)
        repository.put_manifest(manifest, digest, seed.tag)
    record = Scan(scans.key(world, service, digest))
    scans.analyze(world, record)
    return digest
