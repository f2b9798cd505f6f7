# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Endpoints / Applications."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fastapi import Request
from starlette.responses import Response

from hosted_sandbox.api import bodies
from hosted_sandbox.api.call import Call, Chapter, Current
from hosted_sandbox.api.journals import MOST_LINES, last_lines
from hosted_sandbox.clock import maybe_stamp, stamp
from hosted_sandbox.domain import apps, copy_rules, lifecycle, money, scans, views
from hosted_sandbox.domain.errors import RefusedError
from hosted_sandbox.store.records import Node, Product, Project, Release, Scan, Service

router = Chapter(tags=["Applications"])
LONGEST_SCAN = 600.0
SHORT_WAITS = {"30 s": 30.0, "1 s": 1.0}


@router.get("/api/apps/whoami", name="apps.whoami")
async def whoami(call: Current) -> Response:
    """Return the e-mail address of the token's account."""
    return call.json({"email": call.account.email})


@router.get("/api/apps", name="apps.list")
async def list_apps(call: Current) -> Response:
    """List the applications of the account."""
    found = call.appeared(apps.own(call.world, call.account.id))
    gone = {view["id"]: view for view in call.world.lingering("apps", call.account.id)}
    items = [gone.pop(each.id) if each.id in gone else item(call, each) for each in found]
    items += [_without_slug(call, service) for service in catalogue(call)]
    return call.json({"items": items + list(gone.values())})


def catalogue(call: Call) -> list[Service]:
    """Return the applications that run no image of the account, if the platform lists them."""
    if call.world.gaps["apps.listed"] == "no":
        return []
    live = lifecycle.live(call.world, call.account.id)
    return [service for service in live if service.family == "APP" and not service.slug]


def _without_slug(call: Call, service: Service) -> dict[str, Any]:
    view = {**item(call, service), "address": views.address(call.world, service)}
    if call.world.gaps["apps.listed"] == "without a slug":
        del view["slug"]
    elif call.world.gaps["apps.listed"] == "with a slug of null":
        view["slug"] = None
    return view


def item(call: Call, service: Service) -> dict[str, Any]:
    """Return an application as the list shows it."""
    node = call.world.store.need(Node, service.node_id)
    view: dict[str, Any] = {
        "id": service.id,
        "name": service.name,
        "slug": service.slug,
        "status": service.status,
        "address": f"{node.ip}:{service.port}",
    }
    image = service.image
    if image.get("config"):
        record = apps.verdict(call.world, service, image["digest"])
        view |= {
            "imageRef": f"{image['reference']}@{image['digest']}",
            "platform": image["platform"],
            "releasedAt": stamp(image["released_at"]),
            "scanStatus": scans.status_of(call.world, record),
        }
    else:
        view |= {"imageRef": "", "platform": "", "releasedAt": None, "scanStatus": ""}
    return views.enriched(call.world, view)


@router.post("/api/apps", name="apps.create")
async def create_app(call: Current, body: bodies.App) -> Response:
    """Create an application; the platform chooses whatever is null."""
    size = body.dimensions.model_dump() if body.dimensions else None
    service = apps.create(call.world, call.account, body.slug, (body.hostId, size), body.projectId)
    call.hide(service)
    return call.written(lambda: item(call, service), creates=True)


@router.post("/api/apps/quote", name="apps.quote")
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
    found = [project for project in call.world.store.of(Project, call.account.id) if not project.unread]
    entries = [{"id": project.id, "name": project.name} for project in found]
    return call.listing(entries, request.query_params)


@router.get("/api/registry/credentials", name="registry.credentials")
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
    release = apps.declare(call.world, service, body.tag, body.digest)
    if (body.tag, body.digest) not in before:
        call.hide(release)
    return call.written(lambda: _release(call, slug, release), creates=True)


@router.get("/api/apps/{slug}/releases", name="releases.list")
async def list_releases(call: Current, slug: str, request: Request) -> Response:
    """List the releases of an application, which are kept for rollbacks."""
    views = [_release(call, slug, release) for release in _listed(call, _app(call, slug))]
    return call.listing(views, request.query_params)


def _listed(call: Call, service: Service) -> list[Release]:
    """Return the releases that the list shows at this read; of a tag that has moved just now, the old one."""
    found = call.world.store.of(Release, service.id)
    shown = call.appeared(found)
    late = [release for release in found if release not in shown and release.moved_from]
    return [
        replace(release, digest=release.moved_from) if release in late else release
        for release in found
        if release in [*shown, *late]
    ]


def _release(call: Call, slug: str, release: Release) -> dict[str, Any]:
    service = _app(call, slug)
    status = scans.status_of(call.world, apps.verdict(call.world, service, release.digest))
    made = stamp(release.created_at)
    match call.world.gaps["release.fields"]:
        case "image object":
            image = {"digest": release.digest, "platform": release.platform}
            return {"tag": release.tag, "image": image, "createdAt": made, "scan": {"status": status}}
        case "tag only":
            return {"tag": release.tag}
        case _:
            return {"tag": release.tag, "digest": release.digest, "platform": release.platform,
                    "createdAt": made, "scanStatus": status}  # fmt: skip


@router.get("/api/apps/{slug}/releases/{tag}/scan", name="releases.scan")
async def read_scan(call: Current, slug: str, tag: str) -> Response:
    """Return the scan report of a release; wait while the analysis runs."""
    service = _app(call, slug)
    digest = _scanned_digest(call, service, tag)
    wait = SHORT_WAITS.get(call.world.gaps["scan.wait"], LONGEST_SCAN)
    await call.world.until(lambda: not apps.pending(call.world, service, digest), wait)
    refused = call.world.gaps["refusal.scan_unfinished"] != "not refused"
    if refused and apps.pending(call.world, service, digest):
        raise RefusedError("scan_unfinished", "The analysis of this release is still running; try again")
    return call.json(_report(call, service, tag, digest))


def _scanned_digest(call: Call, service: Service, tag: str) -> str:
    try:
        return apps.release(call.world, service, tag).digest
    except RefusedError:
        pushed = scans.repository(call.world, service).tagged(tag)
        if pushed is None or call.world.gaps["scan.undeclared"] == "no":
            raise
        return pushed


def _verdict(call: Call, record: Scan) -> dict[str, Any] | None:
    """Return the result of a scan; a platform may give null for an empty list or an unknown value."""
    report = record.report or scans.blank_report()
    way = call.world.gaps["scan.verdict"]
    if way == "zeros and empty lists":
        return report
    if record.scanned_at is None:
        return None
    if way == "nulls":
        return {
            **{name: value or None for name, value in report.items()},
            "counts": {name: count or None for name, count in report["counts"].items()},
        }
    lists = {name: _unrated(report[name]) for name in ("blocking", "warnings")}
    return {**report, **lists, "counts": None, "scanner": None}


def _unrated(flaws: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return flaws without their severity."""
    return [{**flaw, "severity": None} for flaw in flaws]


def _report(call: Call, service: Service, tag: str, digest: str) -> dict[str, Any]:
    record = apps.verdict(call.world, service, digest)
    view = {
        "tag": tag,
        "digest": digest,
        "scanStatus": scans.status_of(call.world, record),
        "scannedAt": maybe_stamp(record.scanned_at),
        "scanVerdict": _verdict(call, record),
    }
    if record.scanned_at is None and call.world.gaps["scan.unscanned_at"] == "absent":
        del view["scannedAt"]
    return view


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
    await world.until(lambda: lifecycle.state(world, service) != "starting", LONGEST_SCAN)
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
