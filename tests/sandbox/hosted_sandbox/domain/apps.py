# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Applications made from the account's own images (section Endpoints / Applications)."""

from __future__ import annotations

import re
from typing import Any

from hosted_sandbox.domain import events, lifecycle, ordering, references, scans
from hosted_sandbox.domain.errors import AbsentError, RefusedError
from hosted_sandbox.domain.world import World
from hosted_sandbox.registry import ImageError
from hosted_sandbox.store.records import Account, Node, Product, Release, Scan, Service

PRODUCT = "application"
SLUG = re.compile(r"[a-z0-9-]{3,40}")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
MOST_VARIABLES = 100
Place = tuple[str | None, dict[str, int] | None]


def own(world: World, account_id: str) -> list[Service]:
    """Return the applications of an account."""
    return [service for service in lifecycle.live(world, account_id) if service.slug]


def find(world: World, account_id: str, slug: str) -> Service:
    """Return an application of the account."""
    for service in own(world, account_id):
        if service.slug == slug:
            return service
    raise AbsentError("Application")


def nodes(world: World) -> list[Node]:
    """List the hosts that accept applications."""
    return [node for node in world.store.all(Node) if "APP" in node.families]


def place(world: World, host: str | None, size: dict[str, int] | None) -> tuple[Node, dict[str, int]]:
    """Return the host and size of an application; by default a capable node and the entry size."""
    wanted = size or dict(world.store.need(Product, PRODUCT).entry)
    if host is None:
        for node in nodes(world):
            if all(node.bounds[name][0] <= wanted[name] <= node.bounds[name][1] for name in wanted):
                return node, wanted
        raise RefusedError("no host takes an application of this size")
    found = next((node for node in nodes(world) if node.id == host), None)
    if found is None:
        raise RefusedError(f"host {host} does not take applications")
    ordering.check_bounds(found, wanted)
    return found, wanted


def check_slug(world: World, slug: str) -> None:
    """Check a slug: 3 to 40 lowercase letters, digits and hyphens, unique across all accounts."""
    if not SLUG.fullmatch(slug):
        raise RefusedError("slug must have 3 to 40 lowercase letters, digits and hyphens")
    if any(other.slug == slug and other.status != "DELETED" for other in world.store.all(Service)):
        raise RefusedError(f"the slug {slug} is taken")


def create(world: World, account: Account, slug: str, where: Place, project: str | None) -> Service:
    """Create an application without an image; `where` is its host and size, each None for the default."""
    check_slug(world, slug)
    node, size = place(world, *where)
    request = ordering.OrderRequest(PRODUCT, node.id, size, project=project, name=slug)
    service = ordering.order(world, account, request, slug)[0]
    if world.gaps["app.first_status"] == "PROVISIONING":
        lifecycle.set_status(world, service, "PROVISIONING")
    return service


def declare(world: World, service: Service, tag: str, digest: str) -> Release:
    """Declare that a tag names a pushed image."""
    if not tag or not scans.repository(world, service).has_manifest(digest):
        raise RefusedError(f"{digest[:80]} was not pushed to this application")
    platforms = scans.repository(world, service).image(digest).platforms
    native = world.store.need(Node, service.node_id).platform
    platform = native if native in platforms or not platforms else platforms[0]
    known = next((found for found in world.store.of(Release, service.id) if found.tag == tag), None)
    if known is not None:
        known.digest, known.platform, known.created_at = digest, platform, world.now
        world.store.put(known)
        return known
    release = Release(world.new_id("rel"), service.id, tag, digest, platform, world.now)
    world.store.put(release)
    events.record(world, service, "RELEASED")
    return release


def release(world: World, service: Service, tag: str) -> Release:
    """Return the release that was declared for a tag."""
    for found in world.store.of(Release, service.id):
        if found.tag == tag:
            return found
    raise AbsentError("Release")


def verdict(world: World, service: Service, digest: str) -> Scan:
    """Return the scan of one of an application's images."""
    return world.store.need(Scan, scans.key(world, service, digest))


def pending(world: World, service: Service, digest: str) -> bool:
    """Tell whether an image is still being analyzed."""
    return verdict(world, service, digest).status == "PENDING"


def check_deployable(world: World, service: Service, found: Release) -> None:
    """Refuse a deploy that the verdict or the service's status forbids, before any change."""
    record = verdict(world, service, found.digest)
    status = scans.status_of(record)
    if status == "PENDING":
        raise RefusedError("The analysis of this release is still running; try again", "scan_pending")
    if scans.blocks(record):
        flaws = blocking(record.report) or "see its scan"
        raise RefusedError(f"This release is blocked: {flaws}", "scan_blocked")
    if not deployable(world, service):
        raise RefusedError(f"A service in status {service.status} cannot be deployed")
    if status == "FAILED":
        events.notify(world, service, "trace", f"{found.digest} deployed without a completed analysis")


def blocking(report: dict[str, Any]) -> str:
    """Name the flaws of a report that block, with what mends them."""
    return "; ".join(
        f"{flaw['id']} in {flaw['package']} {flaw['version']}, fixed in {flaw['fixVersion']}"
        for flaw in report.get("blocking", ())
    )


def deployable(world: World, service: Service) -> bool:
    """Tell whether a service accepts a deploy, for example the first one, which makes it ACTIVE."""
    first = service.status == world.gaps["app.first_status"] and not service.image.get("config")
    return service.status == "ACTIVE" or first


def put_in_service(world: World, service: Service, found: Release) -> None:
    """Replace the container by one of this release."""
    if service.status == "PROVISIONING":
        lifecycle.set_status(world, service, "ACTIVE")
    service.image = _source(world, service, found)
    events.record(world, service, "DEPLOYED")
    lifecycle.start(world, service)


def check_started(world: World, service: Service, before: dict[str, Any]) -> None:
    """Refuse a deploy whose container did not start; some platforms then restore or show the previous one."""
    failure = lifecycle.failure(world, service)
    if failure is None:
        return
    if world.gaps["deploy.failed"] != "the new version, stopped" and before.get("config"):
        service.image = before
        if world.gaps["deploy.failed"] == "the previous version runs again":
            lifecycle.start(world, service)
        else:
            world.store.put(service)
        world.store.commit()
    raise RefusedError(f"The application does not start: {failure}", "start_failed")


def _source(world: World, service: Service, found: Release) -> dict[str, Any]:
    account = world.store.need(Account, service.account_id)
    try:
        native = world.store.need(Node, service.node_id).platform
        image = scans.repository(world, service).image(found.digest).config(native)
    except ImageError as error:
        raise RefusedError(f"The image cannot be read: {error}", "start_failed") from None
    return {
        "kind": "image",
        "reference": f"{world.addresses.registry}/{account.registry_project}/{service.slug}",
        "digest": found.digest,
        "tag": found.tag,
        "origin": "registry",
        "released_at": found.created_at,
        "platform": found.platform,
        "config": {
            "command": list(image.command),
            "architecture": image.architecture,
            "environment": image.environment,
            "labels": image.labels,
            "ports": list(image.ports),
        },
    }


def set_environment(world: World, service: Service, environment: dict[str, str]) -> bool:
    """Replace the complete environment; check everything before the first write.

    Return whether the container is started again, because it was running.
    """
    if len(environment) > MOST_VARIABLES:
        raise RefusedError(f"at most {MOST_VARIABLES} variables")
    for name in environment:
        if not VARIABLE.fullmatch(name):
            raise RefusedError(f"{name[:80]!r} is no name for a variable")
    if "PORT" in environment:
        raise RefusedError("PORT is reserved: it is set from the published port")
    references.check(world, service, environment)
    service.environment = dict(environment)
    world.store.put(service)
    at_once = world.gaps["environment.applies"] == "at once"
    if not at_once or lifecycle.state(world, service) not in lifecycle.RUNNING:
        return False
    lifecycle.start(world, service)
    return True
