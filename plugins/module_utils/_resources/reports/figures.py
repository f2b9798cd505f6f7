# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Puts the figures of a report together: services, projects, references, and the answers at its top."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from ..._api.models import App, Project, ProjectGraph, Release, ScanReport, Service, ServiceSummary
from ..._api.values import ServiceStatus
from ..applications.releases import blocking
from ..services.view import billed_rate
from ..shared.money import currency_in, format_amount, rate_from
from ..shared.restore_points import parse_moment
from ..shared.time_zones import utc_text
from .advice import advice_of
from .copies import FRESH, NONE, backups_of
from .measures import Measures
from .reading import AppReleases, Facts, Unread
from .spending import money_of, project_money, savings_of, text_or_none

FLAW_FIELDS = ("id", "package", "version", "fix_version", "severity", "reason")
GIGABYTE = 10**9
"""Disks are in GB, and metrics in bytes (Dimensions, Live metrics)."""


def figures_of(
    facts: Facts, measures: Measures, history: Sequence[Mapping[str, str]] | None = None
) -> dict[str, Any]:
    """Return all figures of a report, as data, with what this controller did, if that is told."""
    nodes = [node for graph in facts.graphs.values() for node in graph.nodes or ()]
    aliases = {node.id: node.alias for node in nodes if node.alias}
    services = [service_of(facts, each, aliases.get(each.id)) for each in facts.services or ()]
    apps = [app_of(facts, each, measures.as_of) for each in facts.apps or ()]
    rates = {each.id: billed(facts.details.get(each.id)) for each in facts.services or ()}
    unread = [
        Unread(str(each.get("part")), text_or_none(each.get("name")), None, str(each.get("reason")))
        for each in measures.options.unread
    ]
    plans = sorted(measures.options.backup_reports, key=lambda report: str(report.get("plan")))
    found = {
        "as_of": utc_text(measures.as_of),
        "project": measures.options.project,
        "currency": currency_in(facts.wallet) if facts.wallet else None,
        "services": None if facts.services is None else services,
        "projects": None if facts.projects is None else [project_of(facts, each) for each in facts.projects],
        "money": {
            **money_of(facts, rates, measures.as_of, measures.options.project is not None),
            "saved": savings_of(measures.options.sleep_reports),
        },
        "backups": {
            **backups_of(facts, measures),
            "plans": [plan_of(report) for report in plans],
            "drill": drill_of(measures.options.drill_report, measures.as_of),
        },
        "applications": None if facts.apps is None else apps,
        "history": history,
        "unread": [*map(asdict, [*facts.unread, *unread])],
    }
    found["advice"] = advice_of(found, facts, measures)
    found["answers"] = answers_of(found)
    return found


# --- Services and projects --------------------------------------------------------------------------


def billed(detail: Service | None) -> Decimal | None:
    """Return the monthly rate that is billed now; ``None`` if it is unknown."""
    return None if detail is None else billed_rate(detail)


def service_of(facts: Facts, service: ServiceSummary, alias: str | None) -> dict[str, Any]:
    """Return a service, with null for what is unknown."""
    detail, metrics = facts.details.get(service.id), facts.metrics.get(service.id)
    pricing, dates = (detail.pricing, detail.dates) if detail else (None, None)
    settings = facts.settings.get(service.id)
    return {
        "id": service.id,
        "name": service.name,
        "family": service.family,
        "status": detail.status if detail else service.status,
        "state": metrics.state if metrics else None,
        "project_id": facts.project_of(service.id),
        "alias": alias or (settings.network.alias if settings and settings.network else None),
        "product": service.product.name if service.product else None,
        "address": detail.address if detail else service.address,
        "monthly": format_amount(billed(detail)),
        "monthly_full": format_amount(
            rate_from(pricing.monthly_millicents if pricing else service.monthly_millicents)
        ),
        "is_free": pricing.is_free if pricing else service.is_free,
        "free_expires_at": pricing.free_expires_at if pricing else None,
        "created_at": (dates.created_at if dates else None) or service.created_at,
        "suspended_at": dates.suspended_at if dates else None,
        "failure_reason": detail.failure_reason if detail else None,
        "disk": disk_of(service, metrics.storage_bytes if metrics else None),
    }


def disk_of(service: ServiceSummary, used: int | None) -> dict[str, Any] | None:
    """Return how full the disk of a service is; ``None`` if that is unknown."""
    size = service.dimensions.storage_gb if service.dimensions else None
    if used is None or not size:
        return None
    return {"used_bytes": used, "size_gb": size, "percent": used * 100 // (size * GIGABYTE)}


def project_of(facts: Facts, project: Project) -> dict[str, Any]:
    """Return a project: its services, what refers to what, and what it has cost."""
    graph = facts.graphs.get(project.id)
    members = [each.id for each in facts.services or () if facts.project_of(each.id) == project.id]
    rates = [billed(facts.details.get(id)) for id in members]
    return {
        "id": project.id,
        "name": project.name,
        "service_ids": members,
        "references": None if graph is None else references_of(facts, graph),
        "monthly": format_amount(sum((rate for rate in rates if rate is not None), Decimal(0))),
        "unpriced": sum(rate is None for rate in rates),
        "spend": project_money(project, facts.spends.get(project.id)),
    }


def references_of(facts: Facts, graph: ProjectGraph) -> list[dict[str, Any]]:
    """Return what refers to what in a project, by name."""
    edges = [(edge.from_, edge.to, sorted(edge.through or ())) for edge in graph.edges or ()]
    told = [
        {"from_id": begin, "to_id": end, "through": names} for begin, end, names in edges if begin and end
    ]
    order = {each.id: f"{each.name}\n{each.id}" for each in facts.services or ()}
    return sorted(told, key=lambda edge: [order.get(edge[end], edge[end]) for end in ("from_id", "to_id")])


# --- Releases ---------------------------------------------------------------------------------------


def app_of(facts: Facts, app: App, as_of: datetime) -> dict[str, Any]:
    """Return an application: what runs, and its newest releases."""
    view, read = app.as_dict(), facts.releases.get(app.slug)
    settings = facts.settings.get(app.id)
    running = settings.source.tag if settings and settings.source else None
    releases = [] if read is None else releases_in(read, view["digest"], running, as_of)
    current = next((each for each in releases if each["in_service"]), None)
    return {
        "id": app.id,
        "slug": app.slug,
        "project_id": facts.project_of(app.id),
        "status": app.status,
        "platform": view["platform"],
        "digest": view["digest"],
        "tag": current["tag"] if current else running,
        "released_at": view["released_at"],
        "age_days": age_days(view["released_at"], as_of),
        "scan_status": view["scan_status"] or (current["scan_status"] if current else None),
        "releases": None if read is None else releases,
        "note": f"{read.not_scanned} older releases were not read" if read and read.not_scanned else None,
    }


def releases_in(
    read: AppReleases, digest: str | None, running: str | None, as_of: datetime
) -> list[dict[str, Any]]:
    """Return the releases that were read. One is in service, by its digest, or else by its tag."""
    found = [release_of(tag, scan, read.declared[tag], as_of) for tag, scan in read.scans.items()]
    by_digest = [each for each in found if digest is not None and each["digest"] == digest]
    preferred = [each for each in by_digest if each["tag"] == running] or by_digest
    in_service = preferred or [each for each in found if running is not None and each["tag"] == running]
    for each in in_service[:1]:
        each["in_service"] = True
    return found


def release_of(tag: str, scan: ScanReport, declared: Release, as_of: datetime) -> dict[str, Any]:
    """Return a release and the verdict on it."""
    verdict = scan.scan_verdict
    counts = (verdict.counts if verdict else None) or {}
    return {
        "tag": tag,
        "digest": declared.digest,
        "created_at": declared.created_at,
        "age_days": age_days(declared.created_at, as_of),
        "in_service": False,
        "scan_status": scan.scan_status,
        "scanned_at": scan.scanned_at,
        "counts": {name.lower(): count for name, count in sorted(counts.items()) if count is not None},
        "blocking": [{name: getattr(flaw, name) for name in FLAW_FIELDS} for flaw in blocking(scan)],
    }


def age_days(moment: str | None, as_of: datetime) -> int | None:
    """Return how many whole days ago something was; ``None`` if the platform does not show when."""
    then = parse_moment(moment)
    return None if then is None else max(0, (as_of - then) // timedelta(days=1))


# --- What the controller knows ----------------------------------------------------------------------


def plan_of(report: Mapping[str, Any]) -> dict[str, Any]:
    """Return the last run of a plan for backups, by the report that role `backups` keeps."""
    problems = report.get("problems")
    return {
        "plan": str(report.get("plan")),
        "finished": text_or_none(report.get("finished")),
        "ok": report.get("ok") is True,
        "problems": [str(each) for each in problems] if isinstance(problems, Sequence) else [],
    }


def drill_of(report: Mapping[str, Any] | None, as_of: datetime) -> dict[str, Any] | None:
    """Return the last restore drill, by the report that the playbook `restore_drill` keeps."""
    if report is None:
        return None
    finished = text_or_none(report.get("finished"))
    return {
        "service": text_or_none(report.get("service")),
        "finished": finished,
        "restored": report.get("restored") is True,
        "age_days": age_days(finished, as_of),
    }


# --- The answers at the top -------------------------------------------------------------------------


def answers_of(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return the short answers to what people ask first."""
    services, backups = found["services"], found["backups"]
    freshness = Counter(row["freshness"] for row in backups["services"])
    broken = None
    if services is not None:
        bad = (ServiceStatus.FAILED, ServiceStatus.AWAITING_ADMIN)
        broken = [each["id"] for each in services if each["status"] in bad]
    return {
        "costs_most": costs_most(found["money"]["top"]) or highest_rate(services or ()),
        "backed_up": {
            "fresh": freshness[FRESH],
            "none": freshness[NONE],
            "of": len(backups["services"]),
            "unknown": len(backups["unknown_ids"]) if services is not None else None,
            "not_offered": len(backups["not_offered_ids"]),
            "not_created": sum(each["status"] in ServiceStatus.NOT_CREATED for each in services or ()),
        },
        "broken_ids": broken,
        "referred_to": most_referred(found["projects"], services or ()),
        "month": (found["money"]["forecast"] or {}).get("amount"),
    }


def costs_most(top: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Return the first of the services that cost most, and which of the others have cost as much."""
    if not top:
        return None
    return {**top[0], "tied_names": [each["name"] for each in top[1:] if each["amount"] == top[0]["amount"]]}


def highest_rate(services: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Return the service with the highest rate, where no spend is known; ``None`` if no rate is."""
    priced = [each for each in services if each["monthly"] is not None and Decimal(each["monthly"])]
    if not priced:
        return None
    rate = max(Decimal(each["monthly"]) for each in priced)
    best, *tied = [each for each in priced if Decimal(each["monthly"]) == rate]
    return {
        "id": best["id"],
        "name": best["name"],
        "amount": None,
        "monthly": best["monthly"],
        "tied_names": [each["name"] for each in tied],
    }


def most_referred(
    projects: Sequence[Mapping[str, Any]] | None, services: Sequence[Mapping[str, Any]]
) -> dict[str, Any] | None:
    """Return the service that most others refer to, these, and how many more are referred to.

    ``None`` if nothing is known to be.
    """
    edges = [edge for project in projects or () for edge in project["references"] or ()]
    counts = Counter(edge["to_id"] for edge in edges)
    if not counts:
        return None
    order = {each["id"]: place for place, each in enumerate(services)}
    target = min(counts, key=lambda id: (-counts[id], order.get(id, len(order)), id))
    by = {edge["from_id"] for edge in edges if edge["to_id"] == target}
    return {
        "id": target,
        "by_ids": sorted(by, key=lambda id: (order.get(id, len(order)), id)),
        "others": len(counts) - 1,
    }
