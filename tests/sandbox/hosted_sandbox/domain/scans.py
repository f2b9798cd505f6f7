# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Images in the registry and their verdicts (section States / Scan status of a release)."""

from __future__ import annotations

from typing import Any

from hosted_sandbox.clock import DAY, HOUR
from hosted_sandbox.domain import events
from hosted_sandbox.domain.world import World, action
from hosted_sandbox.registry import RegistryStore, scan
from hosted_sandbox.registry.scan import SCANNER, Vulnerability, default_table
from hosted_sandbox.registry.store import Repository
from hosted_sandbox.store.records import Account, Meta, Scan, Service

NIGHT = 2 * HOUR
VERDICTS = ("PENDING", "PASSED", "WARNED", "BLOCKED", "FAILED")


def registry(world: World) -> RegistryStore:
    """Return the registry with the images of all accounts."""
    return RegistryStore(world.folder / "registry")


def repository(world: World, service: Service) -> Repository:
    """Return the registry repository of an application."""
    account = world.store.need(Account, service.account_id)
    return registry(world).repository(account.registry_project, service.slug)


def key(world: World, service: Service, digest: str) -> str:
    """Return the id of the scan of an application's image."""
    return f"{repository(world, service).name}@{digest}"


def received(world: World, repository: str, digest: str) -> None:
    """Analyze a new image; a known one keeps its verdict."""
    name = f"{repository}@{digest}"
    record = world.store.get(Scan, name)
    if record is None:
        world.store.put(Scan(name))
    elif record.status != "PENDING" or record.forced or world.pending(name, "scanned"):
        return
    world.after(world.delays.scan, "scanned", name)


def catch_up(world: World) -> None:
    """Analyze images that arrived just before the last process ended."""
    for repository, digest in registry(world).held():
        received(world, repository, digest)


@action("scanned")
def _scanned(world: World, task: Any) -> None:
    analyze(world, world.store.need(Scan, task.target))


def analyze(world: World, record: Scan) -> None:
    """Analyze an image and store its verdict, unless the operator set one."""
    if record.forced:
        return
    path, __, digest = record.id.partition("@")
    image = registry(world).repository(*path.split("/")).image(digest)
    verdict = scan(image, [*default_table(), *_later(world)])
    record.status = verdict.status
    record.report = verdict.report()
    record.scanned_at = world.now
    world.store.put(record)


def force(world: World, record: Scan, status: str, report: dict[str, Any] | None) -> None:
    """Set a verdict as the operator."""
    if status not in VERDICTS:
        raise ValueError(f"status must be one of {', '.join(VERDICTS)}")
    record.status = status
    record.forced = True
    record.lifted = None
    record.report = report or blank_report()
    record.scanned_at = None if status == "PENDING" else world.now
    world.store.put(record)


def blank_report() -> dict[str, Any]:
    """Return a verdict without flaws."""
    counts = dict.fromkeys(("Critical", "High", "Medium", "Low"), 0)
    return {"counts": counts, "blocking": [], "warnings": [], "warningCount": 0, "scanner": SCANNER}


def lift(world: World, record: Scan, reason: str) -> None:
    """Lift a BLOCKED verdict on one version, with a written reason."""
    if record.status != "BLOCKED":
        raise ValueError("only a BLOCKED verdict can be lifted")
    if not reason.strip():
        raise ValueError("a verdict is lifted with a written reason")
    record.lifted = reason
    world.store.put(record)


def status_of(record: Scan) -> str:
    """Return the scan status to show: a lifted verdict only warns."""
    return "WARNED" if record.lifted and record.status == "BLOCKED" else record.status


def blocks(record: Scan) -> bool:
    """Tell whether a verdict blocks a deploy: a lifted one does not, whatever its status."""
    return record.status == "BLOCKED" and not record.lifted


def publish(world: World, flaws: list[dict[str, Any]]) -> None:
    """Publish flaws; the next analysis of an image finds them."""
    known = [*_later(world), *(Vulnerability(**flaw) for flaw in flaws)]
    world.store.put(Meta("vulnerabilities", {"known": [vars(flaw) for flaw in known]}))


def _later(world: World) -> list[Vulnerability]:
    meta = world.store.get(Meta, "vulnerabilities")
    return [Vulnerability(**flaw) for flaw in meta.value["known"]] if meta else []


def until_night(now: int) -> float:
    """Return the seconds until the next nightly analysis."""
    return ((NIGHT - now) % DAY or DAY) / 1000


@action("nightly")
def nightly(world: World, task: Any) -> None:
    """Analyze the images in service again. Notify the owner of new blocking flaws, but stop nothing."""
    world.after(until_night(world.now), "nightly", task.target)
    for service in world.store.all(Service):
        digest = service.image.get("digest", "")
        if not service.slug or service.status == "DELETED" or not digest:
            continue
        record = world.store.get(Scan, key(world, service, digest))
        if record is None or record.status == "PENDING":
            continue
        before = record.status
        analyze(world, record)
        if record.status == "BLOCKED" and before != "BLOCKED":
            events.notify(world, service, "blocked", f"the image {digest} in service is now blocked")
