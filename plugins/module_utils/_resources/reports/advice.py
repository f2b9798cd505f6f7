# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Says what to do next: each matter once, with all that it concerns, the most urgent first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import timedelta
from typing import Any

from ..._api.models import Flaw
from ..._api.values import ContainerState, ScanStatus, ServiceStatus
from ..applications.releases import describe_flaw
from ..shared.money import to_decimal
from ..shared.restore_points import parse_moment
from .copies import FRESH, NONE, STALE
from .measures import Measures
from .reading import Facts

CRITICAL, WARNING, NOTICE = "critical", "warning", "notice"
LEVELS = (CRITICAL, WARNING, NOTICE)
CRITICAL_BALANCE_DAYS = 7
UNUSED_AGE = timedelta(days=7)
"""How old a key is before it counts as never used."""

Found = Mapping[str, Any]
Subject = tuple[str, str | None, str]
"""What a matter concerns: the name of a thing, its id, and what is to be said of it."""
Matter = tuple[str, str, str, list[Subject]]
"""Something to do: its kind, its level, the sentence that says what to do, and what it concerns."""


def advice_of(found: Found, facts: Facts, measures: Measures) -> list[dict[str, Any]]:
    """Return what to do next, the most urgent first."""
    matters: list[Matter] = [
        *balance(found, measures),
        *of_services(found),
        *releases_that_are_blocked(found),
        *backups_to_look_at(found),
        *of_services_in_use(found, measures),
        *drift(measures),
        *ssh_keys(facts, measures),
    ]
    drill = found["backups"]["drill"]
    if drill is not None and not drill["restored"]:
        failed: Subject = (drill["service"] or "Restore drill", None, f"failed on {drill['finished']}")
        matters.append(("drill", CRITICAL, "Find out why the last restore drill failed", [failed]))
    return [
        {
            "kind": kind,
            "level": level,
            "do": do,
            "subjects": [{"name": name, "id": id, "detail": detail} for name, id, detail in subjects],
        }
        for kind, level, do, subjects in sorted(matters, key=lambda each: LEVELS.index(each[1]))
        if subjects
    ]


def balance(found: Found, measures: Measures) -> Iterator[Matter]:
    """Yield that the balance runs out soon."""
    money = found["money"]
    left, amount = money["days_left"], to_decimal(money["balance"])
    below_zero = amount is not None and amount < 0
    lasts = left is None or left >= measures.options.balance_days or not to_decimal(money["monthly"])
    if lasts and not below_zero:
        return
    level = CRITICAL if below_zero or left < CRITICAL_BALANCE_DAYS else WARNING
    detail = "is below zero" if below_zero else f"lasts until {money['runs_out_on']} at today's rate"
    do = (
        "Top up the balance: the platform deletes the services a while after it falls below zero; how long "
        "it waits is not shown"
    )
    yield "balance", level, do, [("Balance", None, f"{priced(found, money['balance'])} {detail}")]


def priced(found: Found, amount: Any) -> str:
    """Return an amount with its currency, as far as both are known."""
    return " ".join(filter(None, [amount, found["currency"]])) or "an unknown amount"


def concerned(
    rows: Iterable[Found] | None, wanted: Callable[[Found], bool], detail: Callable[[Found], str]
) -> list[Subject]:
    """Return the services that are wanted, each with its detail."""
    return [(row["name"], row["id"], detail(row)) for row in rows or () if wanted(row)]


def of_services(found: Found) -> Iterator[Matter]:
    """Yield the services whose creation failed, and those that wait for the platform's team."""
    failed = concerned(
        found["services"],
        lambda each: bool(each["status"] == ServiceStatus.FAILED),
        lambda each: each["failure_reason"] or "the platform gives no reason",
    )
    waiting = concerned(
        found["services"],
        lambda each: bool(each["status"] == ServiceStatus.AWAITING_ADMIN),
        lambda each: each["failure_reason"] or "the platform's team has to act",
    )
    yield "failed", CRITICAL, "Delete and order again what could not be created", failed
    yield "awaiting_admin", CRITICAL, "Ask the platform's team about services that wait for it", waiting


def releases_that_are_blocked(found: Found) -> Iterator[Matter]:
    """Yield the images in service that became blocking, and newer releases that cannot be deployed."""
    running, newer = list[Subject](), list[Subject]()
    for app in found["applications"] or ():
        releases = app["releases"] or ()
        for release in [each for each in releases if each["scan_status"] == ScanStatus.BLOCKED]:
            flaws = "; ".join(describe_flaw(Flaw.model_construct(**flaw)) for flaw in release["blocking"])
            detail = f"{release['tag']}: {flaws or 'the scan does not name the flaw'}"
            (running if release["in_service"] else newer).append((app["slug"], app["id"], detail))
        in_service = any(release["in_service"] for release in releases)
        if app["scan_status"] == ScanStatus.BLOCKED and not in_service:
            detail = "the verdict on what runs is BLOCKED; its release is not known"
            running.append((app["slug"], app["id"], detail))
    do = "Push a corrected image: what runs is blocked, and goes on running until you deploy"
    yield "blocked_in_service", CRITICAL, do, running
    yield "blocked_release", WARNING, "Rebuild releases that cannot be deployed", newer


def backups_to_look_at(found: Found) -> Iterator[Matter]:
    """Yield the services without a backup, with an old one, and whose last one failed."""
    rows, limit = found["backups"]["services"], found["backups"]["max_age"]
    missing = concerned(
        rows,
        lambda row: bool(row["freshness"] == NONE),
        lambda row: "no backup; the last one failed" if row["last_failed"] else "no backup",
    )
    stale = concerned(
        rows,
        lambda row: bool(row["freshness"] == STALE),
        lambda row: (
            f"the newest is {hours(row['age_hours'])} old, and at most {limit} is wanted"
            f"{'; the last one failed' if row['last_failed'] else ''}"
        ),
    )
    failed = concerned(
        rows,
        lambda row: bool(row["last_failed"] and row["freshness"] == FRESH),
        lambda row: f"the newest good one is {hours(row['age_hours'])} old",
    )
    yield "no_backup", WARNING, "Back up services that have no backup", missing
    yield "stale_backup", WARNING, "Find out why these have no newer backup", stale
    yield "failed_backup", WARNING, "Find out why the last backup failed", failed


def hours(count: int) -> str:
    """Format a number of hours, from two days on in days."""
    return f"{count} h" if count < 48 else f"{count // 24} days"


def of_services_in_use(found: Found, measures: Measures) -> Iterator[Matter]:
    """Yield the services whose free time ends, whose disks are nearly full, and that cost though stopped.

    A service whose free time is over while the platform still shows it as free counts as well.
    """
    limit = measures.options.disk_percent

    def ends(service: Found) -> bool:
        until = parse_moment(service["free_expires_at"])
        if until is None or service["is_free"] is False:
            return False
        if service["status"] in ServiceStatus.DELETING_OR_DELETED:
            return False
        return (until - measures.as_of) / timedelta(days=1) < measures.options.free_days

    ending = concerned(found["services"], ends, lambda each: f"free until {each['free_expires_at']}")
    full = concerned(
        found["services"],
        lambda each: each["disk"] is not None and each["disk"]["percent"] >= limit,
        lambda each: f"{each['disk']['percent']} % of {each['disk']['size_gb']} GB",
    )
    stopped = concerned(
        found["services"],
        lambda each: (
            (each["status"], each["state"]) == (ServiceStatus.ACTIVE, ContainerState.STOPPED)
            and bool(to_decimal(each["monthly"]))
        ),
        lambda each: f"{priced(found, each['monthly'])} a month",
    )
    do = (
        "Copy off the platform what must stay, and check what these cost once they are not free: they may be "
        "billed, suspended, or deleted with their backups"
    )
    yield "free_ends", WARNING, do, ending
    yield "disk", WARNING, f"Enlarge or clear disks that are {limit} % full or more", full
    yield "stopped_billed", NOTICE, "Start, suspend or delete what is stopped but billed", stopped


def drift(measures: Measures) -> Iterator[Matter]:
    """Yield the blueprints that the platform differs from, and those that were not compared."""
    drifted: list[Subject] = [
        (str(each.get("file")), None, str(line.get("line")))
        for each in measures.options.drift
        for line in each.get("differences") or ()
        if isinstance(line, Mapping) and line.get("drift")
    ]
    failed: list[Subject] = [
        (str(each.get("file")), None, str(each["error"]))
        for each in measures.options.drift
        if each.get("error") is not None
    ]
    yield "drift", WARNING, "Apply these blueprints, or bring them up to date", drifted
    yield "not_compared", WARNING, "Correct blueprints that could not be compared", failed


def ssh_keys(facts: Facts, measures: Measures) -> Iterator[Matter]:
    """Yield the SSH keys that nobody knows, and those that were never used."""
    known, old = measures.options.known_keys, measures.as_of - UNUSED_AGE
    unknown, unused = list[Subject](), list[Subject]()
    for key in sorted(facts.keys or (), key=lambda key: (key.name or "", key.id)):
        use = "never used" if key.last_used_at is None else "in use"
        told = (key.name or key.id, key.id, f"{key.fingerprint or 'no fingerprint'}, {use}")
        if known is not None and key.fingerprint not in known:
            unknown.append(told)
        elif key.last_used_at is None and (parse_moment(key.created_at) or old) <= old:
            unused.append(told)
    yield "unknown_key", CRITICAL, "Delete SSH keys that nobody knows", unknown
    yield "unused_key", NOTICE, "Delete SSH keys that were never used", unused
