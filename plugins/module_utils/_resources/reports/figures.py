# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Puts the figures of a report together: services, projects, money, and the answers at its top."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from ..._api.models import (
    App,
    BillingOverview,
    Project,
    ProjectGraph,
    ProjectSpend,
    Release,
    ScanReport,
    Service,
    ServiceSummary,
)
from ..._api.values import BackupStatus, ServiceStatus
from ..applications.releases import blocking
from ..services.view import billed_rate
from ..shared.money import currency_in, format_amount, from_cents, rate_from, sum_of, to_decimal
from ..shared.restore_points import newest_complete, parse_moment
from ..shared.retention import RestorePoint
from ..shared.time_zones import utc_text
from ..sleeping.memory import HOURS_A_MONTH, spent_by_day, to_cents
from .advice import advice_of
from .reading import BEFORE, FAILED, FRESH, NONE, STALE, AppReleases, Facts, Measures, Unread

FLAW_FIELDS = ("id", "package", "version", "fix_version", "severity", "reason")
GIGABYTE = 10**9
"""Disks are in GB, and metrics in bytes (Dimensions, Live metrics)."""
TOP = 5
Rates = Mapping[str, Decimal | None]
"""What each service costs in a month as it is billed now, by id; ``None`` if that is unknown."""


def figures_of(
    facts: Facts, measures: Measures, history: Sequence[Mapping[str, str]] | None = None
) -> dict[str, Any]:
    """Return all figures of a report, as data, with what this controller did, if that is told."""
    options, as_of = measures.options, measures.as_of
    services, projects, apps = facts.services, facts.projects, facts.apps
    details = {each.id: facts.details.get(each.id) for each in services or ()}
    rates = {id: billed_rate(detail) if detail else None for id, detail in details.items()}
    unread = [
        Unread(str(each.get("part")), text_or_none(each.get("name")), None, str(each.get("reason")))
        for each in options.unread
    ]
    found = {
        "as_of": utc_text(as_of),
        "project": options.project,
        "currency": currency_in(facts.wallet) if facts.wallet else None,
        "services": None if services is None else [service_of(facts, each, rates) for each in services],
        "projects": None if projects is None else [project_of(facts, each, rates) for each in projects],
        "money": {
            **money_of(facts, rates, as_of, options.project is not None),
            "saved": savings_of(options.sleep_reports),
        },
        "backups": {
            **backups_of(facts, measures),
            "plans": [
                {**run_of(each), "problems": [*map(str, each.get("problems") or ())]}
                for each in sorted(options.backup_reports, key=plan_name)
            ],
            "drill": drill_of(options.drill_report, as_of),
        },
        "applications": None if apps is None else [app_of(facts, each, as_of) for each in apps],
        "history": history,
        "unread": [*map(asdict, [*facts.unread, *unread])],
    }
    found["advice"] = advice_of(found, facts, measures)
    found["answers"] = answers_of(found)
    return found


# --- Services and projects --------------------------------------------------------------------------


def service_of(facts: Facts, service: ServiceSummary, rates: Rates) -> dict[str, Any]:
    detail, metrics = facts.details.get(service.id), facts.metrics.get(service.id)
    pricing, dates = (detail.pricing, detail.dates) if detail else (None, None)
    used, disk = metrics.storage_bytes if metrics else None, None
    size = service.dimensions and service.dimensions.storage_gb
    if used is not None and size:
        disk = {"used_bytes": used, "size_gb": size, "percent": used * 100 // (size * GIGABYTE)}
    full = pricing.monthly_millicents if pricing else service.monthly_millicents
    return {
        "id": service.id,
        "name": service.name,
        "family": service.family,
        "status": detail.status if detail else service.status,
        "state": metrics.state if metrics else None,
        "project_id": facts.project_of(service.id),
        "alias": facts.alias_of(service.id),
        "product": service.product.name if service.product else None,
        "address": detail.address if detail else service.address,
        "monthly": format_amount(rates[service.id]),
        "monthly_full": format_amount(rate_from(full)),
        "is_free": pricing.is_free if pricing else service.is_free,
        "free_expires_at": pricing.free_expires_at if pricing else None,
        "created_at": (dates.created_at if dates else None) or service.created_at,
        "suspended_at": dates.suspended_at if dates else None,
        "failure_reason": detail.failure_reason if detail else None,
        "disk": disk,
    }


def project_of(facts: Facts, project: Project, rates: Rates) -> dict[str, Any]:
    graph = facts.graphs.get(project.id)
    members = [id for id in rates if facts.project_of(id) == project.id]
    return {
        "id": project.id,
        "name": project.name,
        "service_ids": members,
        "references": None if graph is None else references_of(facts, graph),
        "monthly": format_amount(sum_of(rates[id] for id in members)),
        "unpriced": sum(rates[id] is None for id in members),
        "spend": project_money(facts.spends.get(project.id)),
    }


def references_of(facts: Facts, graph: ProjectGraph) -> list[dict[str, Any]]:
    order = {each.id: f"{each.name}\n{each.id}" for each in facts.services or ()}
    told = [
        {"from_id": edge.from_, "to_id": edge.to, "through": sorted(edge.through or ())}
        for edge in graph.edges or ()
        if edge.from_ and edge.to
    ]
    return sorted(told, key=lambda edge: [order.get(edge[end], edge[end]) for end in ("from_id", "to_id")])


# --- Money: exact, Decimal in, strings in currency units out ------------------------------------------


def cents(amount: int | None) -> str | None:
    return None if amount is None else format_amount(from_cents(amount))


def money_of(facts: Facts, rates: Rates, as_of: datetime, one_project: bool) -> dict[str, Any]:
    """Return the figures on spend. ``rates`` are those of all services that can be read."""
    overview = facts.overview or BillingOverview()
    so_far = spent_this_month(facts, overview, as_of, one_project)
    shown = [spend.total_cents for spend in facts.spends.values() if spend.total_cents is not None]
    return {
        "month": as_of.astimezone(UTC).strftime("%Y-%m"),
        "month_to_date": format_amount(so_far),
        "forecast": None if facts.services is None else forecast(so_far, rates, as_of),
        "platform_forecast": None if one_project else cents(overview.projected_month_cents),
        "balance": cents(overview.balance_cents),
        "days_left": overview.days_left_estimate,
        "runs_out_on": runs_out_on(overview.days_left_estimate, as_of),
        "monthly": format_amount(sum_of(rates.values())),
        "unpriced": [each.name for each in facts.services or () if rates[each.id] is None],
        "days": spend_by_day(facts),
        "complete": facts.projects is not None and all(p.id in facts.spends for p in facts.projects),
        "total": format_amount(sum_of(map(from_cents, shown))) if shown else None,
        "top": cost_most(facts, rates),
    }


def spent_this_month(
    facts: Facts, overview: BillingOverview, as_of: datetime, one_project: bool
) -> Decimal | None:
    """Return what the month has cost so far; ``None`` if that is unknown.

    Of one project it is the sum of the days of the month, if the platform shows all of them.
    """
    if not one_project:
        spent = overview.month_to_date_cents
        return None if spent is None else from_cents(spent)
    today = as_of.astimezone(UTC).date()
    shown = dict(line for spend in facts.spends.values() for line in spent_by_day(spend.days).items())
    wanted = [today.replace(day=number) for number in range(1, today.day + 1)]
    return sum_of(shown[day] for day in wanted) if shown.keys() >= set(wanted) else None


def forecast(so_far: Decimal | None, rates: Rates, as_of: datetime) -> dict[str, Any]:
    """Return what the month will have cost, if every service stays as it is now.

    That is what it has cost so far, and the rate that is billed now for the hours that are left. A month has
    730 hours for every price. Services without a known price are left out and named.
    """
    first = as_of.astimezone(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    end = (first + timedelta(days=32)).replace(day=1)
    left = Decimal(int((end - as_of).total_seconds())) / 3600
    rest = sum_of(rates.values()) * left / HOURS_A_MONTH
    return {
        "amount": None if so_far is None else format_amount(to_cents(so_far + rest)),
        "rest": format_amount(to_cents(rest)),
        "hours_left": int(left),
        "complete": None not in rates.values(),
    }


def runs_out_on(left: int | None, as_of: datetime) -> str | None:
    """Return the day on which the balance runs out at today's rate, as the platform estimates it."""
    try:
        return None if left is None else (as_of + timedelta(days=max(0, left))).date().isoformat()
    except OverflowError:  # it lasts longer than the calendar
        return None


def spend_by_day(facts: Facts) -> list[dict[str, Any]]:
    by_day: dict[date, dict[str, Decimal]] = {}
    for project in facts.projects or ():
        if spend := facts.spends.get(project.id):
            for day, amount in spent_by_day(spend.days).items():
                by_day.setdefault(day, {})[project.id] = amount
    return [
        {
            "date": day.isoformat(),
            "amount": format_amount(sum_of(amounts.values())),
            "projects": [{"id": id, "amount": format_amount(amount)} for id, amount in amounts.items()],
        }
        for day, amounts in sorted(by_day.items())
    ]


def project_money(spend: ProjectSpend | None) -> dict[str, Any] | None:
    if spend is None:
        return None
    services = [
        {
            "id": each.id,
            "name": each.name,
            "amount": cents(each.total_cents),
            "parts": [{"label": part.label, "amount": cents(part.cents)} for part in each.parts or ()],
        }
        for each in spend.services or ()
    ]
    return {"days": spend.range, "amount": cents(spend.total_cents), "services": services}


def cost_most(facts: Facts, rates: Rates) -> list[dict[str, Any]]:
    """Return the services that have cost most over the window, with what each costs in a month now."""
    names = {project.id: project.name for project in facts.projects or ()}
    lines = [
        (each, names.get(project))
        for project, spend in facts.spends.items()
        for each in spend.services or ()
        if each.total_cents
    ]
    lines.sort(key=lambda line: (-(line[0].total_cents or 0), line[0].name or "", line[0].id or ""))
    return [
        {
            "id": each.id,
            "name": each.name,
            "project": project,
            "amount": cents(each.total_cents),
            "monthly": format_amount(rates.get(each.id or "")),
        }
        for each, project in lines[:TOP]
    ]


def savings_of(reports: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Return what plans for sleep have saved, by the reports that role `sleep_schedule` keeps."""
    plans, known = list[dict[str, Any]](), list[Decimal | None]()
    for report in sorted(reports, key=plan_name):
        told = report["state"] if isinstance(report.get("state"), Mapping) else {}
        saved, monthly = (to_decimal(told.get(key)) for key in ("saved", "saves_monthly"))
        plans.append(
            {**run_of(report), "saved": format_amount(saved), "saves_monthly": format_amount(monthly)}
        )
        known.append(saved)
    complete = None not in known
    return {"saved": format_amount(sum_of(known)), "complete": complete, "plans": plans} if plans else None


def run_of(report: Mapping[str, Any]) -> dict[str, Any]:
    """Return the last run of a plan, by the report that the role keeps which installed it."""
    finished = text_or_none(report.get("finished"))
    return {"plan": plan_name(report), "finished": finished, "ok": report.get("ok") is True}


def plan_name(report: Mapping[str, Any]) -> str:
    return str(report.get("plan"))


def text_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def app_of(facts: Facts, app: App, as_of: datetime) -> dict[str, Any]:
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
    by_tag = [each for each in by_digest or found if running is not None and each["tag"] == running]
    for each in (by_tag or by_digest)[:1]:
        each["in_service"] = True
    return found


def release_of(tag: str, scan: ScanReport, declared: Release, as_of: datetime) -> dict[str, Any]:
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
    then = parse_moment(moment)
    return None if then is None else max(0, (as_of - then) // DAY)


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
    services, backups = found["services"], found["backups"]
    freshness = Counter(row["freshness"] for row in backups["services"])
    broken = None
    if services is not None:
        bad = (ServiceStatus.FAILED, ServiceStatus.AWAITING_ADMIN)
        broken = [each["id"] for each in services if each["status"] in bad]
    return {
        "costs_most": costs_most(found["money"]["top"], services or ()),
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


def costs_most(
    top: Sequence[Mapping[str, Any]], services: Sequence[Mapping[str, Any]]
) -> dict[str, Any] | None:
    """Return what costs most, by spend or else by rate, and what costs the same; ``None`` if unknown."""
    priced = [each for each in services if Decimal(each["monthly"] or 0)]
    by_rate = sorted(priced, key=lambda each: -Decimal(each["monthly"]))
    key, ranked = ("amount", top) if top else ("monthly", by_rate)
    if not ranked:
        return None
    most = ranked[0]
    tied = [each["name"] for each in ranked[1:] if each[key] == most[key]]
    if not top:
        most = {"id": most["id"], "name": most["name"], "amount": None, "monthly": most["monthly"]}
    return {**most, "tied_names": tied}


def most_referred(
    projects: Sequence[Mapping[str, Any]] | None, services: Sequence[Mapping[str, Any]]
) -> dict[str, Any] | None:
    """Return the service that most others refer to, these, and how many more are referred to, if any is."""
    edges = [edge for project in projects or () for edge in project["references"] or ()]
    counts = Counter(edge["to_id"] for edge in edges)
    if not counts:
        return None
    order = {each["id"]: place for place, each in enumerate(services)}

    def place(id: str) -> tuple[int, str]:
        return order.get(id, len(order)), id

    target = min(counts, key=lambda id: (-counts[id], place(id)))
    by = {edge["from_id"] for edge in edges if edge["to_id"] == target}
    return {"id": target, "by_ids": sorted(by, key=place), "others": len(counts) - 1}


# --- Backups as a calendar: one row for each service, one cell for each of the last days --------------


DAY, HOUR = timedelta(days=1), timedelta(hours=1)


def backups_of(facts: Facts, measures: Measures) -> dict[str, Any]:
    """Return the calendar, the services that offer no backups, and those of which nothing is known."""
    rows, not_offered, unknown = list[dict[str, Any]](), list[str](), list[str]()
    for service in facts.services or ():
        if service.status in ServiceStatus.NOT_CREATED:
            continue
        copies = facts.backups.get(service.id)
        if copies is not None:
            rows.append(row_of(service, facts.details.get(service.id), copies, measures))
        else:
            (not_offered if service.id in facts.backups else unknown).append(service.id)
    return {
        "max_age": measures.max_age.text,
        "days": [day.isoformat() for day in measures.days],
        "services": rows,
        "not_offered_ids": not_offered,
        "unknown_ids": unknown,
    }


def row_of(
    service: ServiceSummary, detail: Service | None, copies: Sequence[RestorePoint], measures: Measures
) -> dict[str, Any]:
    """Return the row of a service: a cell for each day, and what would be lost if it broke now."""
    still = None
    if service.status == ServiceStatus.SUSPENDED and detail is not None and detail.dates is not None:
        still = parse_moment(detail.dates.suspended_at)  # since then nothing changes: its newest is as good
    known = [copy for copy in copies if copy.created_at is None or copy.created_at <= measures.as_of]
    newest = newest_complete(known)
    made = newest.created_at if newest else None
    until = measures.as_of if still is None else min(measures.as_of, still)
    failed, good = (
        sorted(copy.created_at for copy in known if copy.created_at and copy.status == status)
        for status in (BackupStatus.FAILED, BackupStatus.COMPLETED)
    )
    return {
        "id": service.id,
        "name": service.name,
        "freshness": verdict(made, until, measures),
        "newest": utc_text(made),
        "age_hours": None if made is None else max(0, (until - made) // HOUR),
        "longest_gap_hours": longest_gap(good, until, measures),
        "last_failed": bool(failed) and (made is None or failed[-1] > made),
        "count": sum(copy.status == BackupStatus.COMPLETED for copy in known),
        "cells": cells_of(good, failed, parse_moment(service.created_at), still, measures),
    }


def verdict(made: datetime | None, until: datetime, measures: Measures) -> str:
    if made is None:
        return NONE
    return FRESH if made >= measures.max_age.before(until, UTC) else STALE


def cells_of(
    good: Sequence[datetime],
    failed: Sequence[datetime],
    created: datetime | None,
    still: datetime | None,
    measures: Measures,
) -> list[str]:
    """Return the cell of each day: how things were at its end, by the backups that are still there."""
    bad = {moment.astimezone(UTC).date() for moment in failed}
    fine = {moment.astimezone(UTC).date() for moment in good}
    found, newest, position = [], None, 0
    for day in measures.days:
        end = min(measures.as_of, datetime.combine(day + DAY, time(), UTC))
        while position < len(good) and good[position] < end:
            newest, position = good[position], position + 1
        if created is not None and created >= end:
            found.append(BEFORE)
        elif day in bad and day not in fine:
            found.append(FAILED)
        else:
            found.append(verdict(newest, end if still is None else min(end, still), measures))
    return found


def longest_gap(good: Sequence[datetime], until: datetime, measures: Measures) -> int | None:
    """Return the most hours between two good backups that follow each other and end in the calendar."""
    first = datetime.combine(measures.days[0], time(), UTC)
    ends = [*good[1:], until] if good else []
    gaps = [(end - begin) // HOUR for begin, end in zip(good, ends, strict=True) if end >= first]
    return max(gaps, default=None) if gaps and max(gaps) >= 0 else None
