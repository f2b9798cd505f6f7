# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Endpoints / Applications."""

from __future__ import annotations

from typing import Any

from fastapi import Request
from starlette.responses import Response

from hosted_sandbox.api import bodies, shapes
from hosted_sandbox.api.call import Call, Chapter, Current
from hosted_sandbox.api.journals import MOST_LINES, last_lines
from hosted_sandbox.clock import maybe_stamp, stamp
from hosted_sandbox.domain import apps, copy_rules, lifecycle, money, scans, views
from hosted_sandbox.domain.errors import RefusedError
from hosted_sandbox.store.records import Node, Product, Project, Release, Service

router = Chapter(tags=["Applications"])
LONGEST_START = 600.0


@router.get("/api/apps/whoami", name="apps.whoami", response_model=shapes.Account)
async def whoami(call: Current) -> Response:
    """Return the e-mail address of the token's account."""
    return call.json({"email": call.account.email})


@router.get("/api/apps", name="apps.list", response_model=shapes.Items[shapes.AppItem])
async def list_apps(call: Current) -> Response:
    """List the applications of the account."""
    return call.json({"items": call.world.shown("apps", call.account.id, applications(call))})


def applications(call: Call) -> list[dict[str, Any]]:
    """Return the applications of the account as the list shows them."""
    return [item(call, each) for each in apps.own(call.world, call.account.id)]


def item(call: Call, service: Service) -> dict[str, Any]:
    """Return an application as the list shows it."""
    node = call.world.store.need(Node, service.node_id)
    view: dict[str, Any] = {
        "id": service.id,
        "name": service.name,
        "slug": service.slug,
        "status": service.status,
        "address": f"{node.ip}:{service.port}",
        "imageRef": "",
        "platform": "",
        "releasedAt": None,
        "scanStatus": "",
    }
    image = service.image
    if image.get("config"):
        record = apps.verdict(call.world, service, image["digest"])
        view |= {
            "imageRef": f"{image['reference']}@{image['digest']}",
            "platform": image["platform"],
            "releasedAt": stamp(image["released_at"]),
            "scanStatus": scans.status_of(record),
        }
    return views.enriched(call.world, view)


@router.post("/api/apps", name="apps.create")
async def create_app(call: Current, body: bodies.App) -> Response:
    """Create an application; the platform chooses whatever is null."""
    size = body.dimensions.model_dump() if body.dimensions else None
    call.world.keep("apps", call.account.id, lambda: applications(call))
    service = apps.create(call.world, call.account, body.slug, (body.hostId, size), body.projectId)
    return call.written(lambda: item(call, service), creates=True)


@router.post("/api/apps/quote", name="apps.quote", response_model=shapes.AppQuote)
async def quote_app(call: Current, body: bodies.AppQuote) -> Response:
    """Price an application without ordering it."""
    wanted = body.dimensions.model_dump() if body.dimensions else None
    node, size = apps.place(call.world, body.hostId, wanted)
    price = money.parts(call.world.store.need(Product, apps.PRODUCT), node, size, [])
    return call.json({
        "hostId": node.id,
        "hostLabel": node.label,
        "dimensions": size,
        "monthlyMillicents": sum(price.values()),
    })  # fmt: skip


@router.get("/api/apps/nodes", name="apps.nodes")
async def list_nodes(call: Current, request: Request) -> Response:
    """List the hosts that accept applications."""
    return call.listing([_node(node) for node in apps.nodes(call.world)], request.query_params)


def _node(node: Node) -> dict[str, Any]:
    return {
        "id": node.id,
        "label": node.label,
        "locationLabel": node.location,
        "platform": node.platform,
    }


@router.get("/api/apps/projects", name="apps.projects")
async def list_app_projects(call: Current, request: Request) -> Response:
    """List the projects that an application can join."""
    found = call.world.store.of(Project, call.account.id)
    return call.listing([{"id": each.id, "name": each.name} for each in found], request.query_params)


@router.get("/api/registry/credentials", name="registry.credentials", response_model=shapes.Credentials)
async def read_credentials(call: Current) -> Response:
    """Return the credentials for the account's part of the registry."""
    return call.json({
        "host": call.world.addresses.registry,
        "project": call.account.registry_project,
        "username": call.account.registry_username,
        "secret": call.account.registry_secret,
    })  # fmt: skip


def _app(call: Call, slug: str) -> Service:
    return apps.find(call.world, call.account.id, slug)


@router.post("/api/apps/{slug}/releases", name="releases.declare")
async def declare_release(call: Current, slug: str, body: bodies.Release) -> Response:
    """Declare that a tag names a pushed image."""
    service = _app(call, slug)
    before = [(known.tag, known.digest) for known in call.world.store.of(Release, service.id)]
    if (body.tag, body.digest) not in before:
        call.world.keep("releases", service.id, lambda: _listed(call, service))
    release = apps.declare(call.world, service, body.tag, body.digest)
    return call.written(lambda: _release(call, slug, release), creates=True)


@router.get("/api/apps/{slug}/releases", name="releases.list")
async def list_releases(call: Current, slug: str, request: Request) -> Response:
    """List the releases of an application, which are kept for rollbacks."""
    service = _app(call, slug)
    shown = call.world.shown("releases", service.id, _listed(call, service))
    return call.listing(shown, request.query_params)


def _listed(call: Call, service: Service) -> list[dict[str, Any]]:
    return [_release(call, service.slug, release) for release in call.world.store.of(Release, service.id)]


def _release(call: Call, slug: str, release: Release) -> dict[str, Any]:
    service = _app(call, slug)
    return {
        "tag": release.tag,
        "digest": release.digest,
        "platform": release.platform,
        "createdAt": stamp(release.created_at),
        "scanStatus": scans.status_of(apps.verdict(call.world, service, release.digest)),
    }


@router.get("/api/apps/{slug}/releases/{tag}/scan", name="releases.scan", response_model=shapes.ScanReport)
async def read_scan(call: Current, slug: str, tag: str) -> Response:
    """Return the scan report of a release; wait while the analysis runs."""
    service = _app(call, slug)
    digest = apps.release(call.world, service, tag).digest
    wait = call.world.delays.scan_wait
    await call.world.until(lambda: not apps.pending(call.world, service, digest), wait)
    refused = call.world.gaps["refusal.scan_unfinished"] != "not refused"
    if refused and apps.pending(call.world, service, digest):
        raise RefusedError("The analysis of this release is still running; try again", "scan_unfinished")
    return call.json(_report(call, service, tag, digest))


def _report(call: Call, service: Service, tag: str, digest: str) -> dict[str, Any]:
    record = apps.verdict(call.world, service, digest)
    return {
        "tag": tag,
        "digest": digest,
        "scanStatus": scans.status_of(record),
        "scannedAt": maybe_stamp(record.scanned_at),
        "scanVerdict": record.report or scans.blank_report(),
    }


@router.post("/api/apps/{slug}/deploy", name="apps.deploy")
async def deploy(call: Current, slug: str, body: bodies.Tag) -> Response:
    """Put a release into service; respond once the application has restarted or failed to."""
    world, service = call.world, _app(call, slug)
    release = apps.release(world, service, body.tag)
    await world.until(lambda: not apps.pending(world, service, release.digest), world.delays.scan_wait)
    apps.check_deployable(world, service, release)
    copy_rules.check_busy(world, service, "service_busy")
    before = service.image
    apps.put_in_service(world, service, release)
    await world.until(lambda: lifecycle.state(world, service) != "starting", LONGEST_START)
    apps.check_started(world, service, before)
    return call.written(lambda: item(call, service))


@router.put("/api/apps/{slug}/environment", name="apps.environment")
async def set_environment(call: Current, slug: str, body: bodies.Environment) -> Response:
    """Replace the whole environment of an application."""
    service = _app(call, slug)
    if apps.set_environment(call.world, service, body.environment):
        await lifecycle.check_start(call.world, service, "environment_start")
    return call.written(dict)


@router.get("/api/apps/{slug}/logs", name="apps.logs")
async def read_app_logs(call: Current, slug: str, lines: int = MOST_LINES) -> Response:
    """Return the last lines of an application's log."""
    return call.json({"lines": last_lines(call, _app(call, slug), lines)})
