# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Says what to do next: each matter once, with all that it concerns, the most urgent first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

from ..._api.models import Flaw
from ..._api.values import ContainerState, ScanStatus, ServiceStatus
from ..applications.releases import describe_flaw
from ..shared.money import to_decimal
from ..shared.restore_points import parse_moment
from .reading import FRESH, NONE, STALE, Facts, Measures

CRITICAL, WARNING, NOTICE = "critical", "warning", "notice"
LEVELS = (CRITICAL, WARNING, NOTICE)
CRITICAL_BALANCE_DAYS = 7
UNUSED_AGE = timedelta(days=7)
"""How old a key is before it counts as never used."""

Found = Mapping[str, Any]


def advice_of(found: Found, facts: Facts, measures: Measures) -> list[dict[str, Any]]:
    matters = [
        *of_balance(found, measures),
        *of_services(found),
        *of_releases(found),
        *of_backups(found["backups"]),
        *of_services_in_use(found, measures),
        *of_blueprints(measures),
        *of_keys(facts, measures),
    ]
    drill = found["backups"]["drill"]
    if drill is not None and not drill["restored"]:
        failed = subject(drill["service"] or "Restore drill", None, f"failed on {drill['finished']}")
        matters.append(matter("drill", CRITICAL, "Find out why the last restore drill failed", [failed]))
    return sorted((each for each in matters if each["subjects"]), key=lambda one: LEVELS.index(one["level"]))


def matter(kind: str, level: str, do: str, subjects: Sequence[Found]) -> dict[str, Any]:
    return {"kind": kind, "level": level, "do": do, "subjects": subjects}


def subject(name: str, id: str | None, detail: str) -> dict[str, Any]:
    return {"name": name, "id": id, "detail": detail}


def rows(found: Iterable[Found] | None, detail: Callable[[Found], str | None]) -> list[dict[str, Any]]:
    """Return the services that a matter concerns: those that there is something to be said of."""
    told = [(row, detail(row)) for row in found or ()]
    return [subject(row["name"], row["id"], text) for row, text in told if text]


def of_balance(found: Found, measures: Measures) -> Iterator[dict[str, Any]]:
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
    yield matter(
        "balance", level, do, [subject("Balance", None, f"{priced(found, money['balance'])} {detail}")]
    )


def priced(found: Found, amount: str | None) -> str:
    return " ".join(filter(None, [amount, found["currency"]])) or "an unknown amount"


def of_services(found: Found) -> Iterator[dict[str, Any]]:
    services = found["services"] or ()
    failed = [each for each in services if each["status"] == ServiceStatus.FAILED]
    waiting = [each for each in services if each["status"] == ServiceStatus.AWAITING_ADMIN]
    told = rows(failed, lambda each: each["failure_reason"] or "the platform gives no reason")
    yield matter("failed", CRITICAL, "Delete and order again what could not be created", told)
    told = rows(waiting, lambda each: each["failure_reason"] or "the platform's team has to act")
    yield matter("awaiting_admin", CRITICAL, "Ask the platform's team about services that wait for it", told)


def of_releases(found: Found) -> Iterator[dict[str, Any]]:
    running, newer = list[Found](), list[Found]()
    for app in found["applications"] or ():
        releases = app["releases"] or ()
        for release in [each for each in releases if each["scan_status"] == ScanStatus.BLOCKED]:
            flaws = "; ".join(describe_flaw(Flaw.model_construct(**flaw)) for flaw in release["blocking"])
            detail = f"{release['tag']}: {flaws or 'the scan does not name the flaw'}"
            (running if release["in_service"] else newer).append(subject(app["slug"], app["id"], detail))
        in_service = any(release["in_service"] for release in releases)
        if app["scan_status"] == ScanStatus.BLOCKED and not in_service:
            detail = "the verdict on what runs is BLOCKED; its release is not known"
            running.append(subject(app["slug"], app["id"], detail))
    do = "Push a corrected image: what runs is blocked, and goes on running until you deploy"
    yield matter("blocked_in_service", CRITICAL, do, running)
    yield matter("blocked_release", WARNING, "Rebuild releases that cannot be deployed", newer)


def of_backups(found: Found) -> Iterator[dict[str, Any]]:
    def among(kind: str, detail: Callable[[Found], str]) -> list[dict[str, Any]]:
        return rows([row for row in found["services"] if row["freshness"] == kind], detail)

    def aged(row: Found) -> str:
        last = "; the last one failed" if row["last_failed"] else ""
        return f"the newest is {hours(row['age_hours'])} old, and at most {found['max_age']} is wanted{last}"

    missing = among(NONE, lambda row: "no backup" + ("; the last one failed" if row["last_failed"] else ""))
    failed = among(
        FRESH,
        lambda row: f"the newest good one is {hours(row['age_hours'])} old" if row["last_failed"] else "",
    )
    yield matter("no_backup", WARNING, "Back up services that have no backup", missing)
    yield matter("stale_backup", WARNING, "Find out why these have no newer backup", among(STALE, aged))
    yield matter("failed_backup", WARNING, "Find out why the last backup failed", failed)


def hours(count: int) -> str:
    return f"{count} h" if count < 48 else f"{count // 24} days"


def of_services_in_use(found: Found, measures: Measures) -> Iterator[dict[str, Any]]:
    """Yield the services whose free time ends, whose disks are nearly full, and that cost though stopped.

    A service whose free time is over while the platform still shows it as free counts as well.
    """
    services, limit = found["services"] or (), measures.options.disk_percent
    ending = [
        each
        for each in services
        if (until := parse_moment(each["free_expires_at"])) is not None
        and (until - measures.as_of) / timedelta(days=1) < measures.options.free_days
        and each["is_free"] is not False
        and each["status"] not in ServiceStatus.DELETING_OR_DELETED
    ]
    full = [each for each in services if each["disk"] and each["disk"]["percent"] >= limit]
    stopped = [
        each
        for each in services
        if (each["status"], each["state"]) == (ServiceStatus.ACTIVE, ContainerState.STOPPED)
        and to_decimal(each["monthly"])
    ]
    do = (
        "Copy off the platform what must stay, and check what these cost once they are not free: they may be "
        "billed, suspended, or deleted with their backups"
    )
    yield matter("free_ends", WARNING, do, rows(ending, lambda one: f"free until {one['free_expires_at']}"))
    do = f"Enlarge or clear disks that are {limit} % full or more"
    detail = "{percent} % of {size_gb} GB"
    yield matter("disk", WARNING, do, rows(full, lambda one: detail.format(**one["disk"])))
    do = "Start, suspend or delete what is stopped but billed"
    told = rows(stopped, lambda one: f"{priced(found, one['monthly'])} a month")
    yield matter("stopped_billed", NOTICE, do, told)


def of_blueprints(measures: Measures) -> Iterator[dict[str, Any]]:
    drifted = [
        subject(str(each.get("file")), None, str(line.get("line")))
        for each in measures.options.drift
        for line in each.get("differences") or ()
        if isinstance(line, Mapping) and line.get("drift")
    ]
    failed = [
        subject(str(each.get("file")), None, str(each["error"]))
        for each in measures.options.drift
        if each.get("error") is not None
    ]
    yield matter("drift", WARNING, "Apply these blueprints, or bring them up to date", drifted)
    yield matter("not_compared", WARNING, "Correct blueprints that could not be compared", failed)


def of_keys(facts: Facts, measures: Measures) -> Iterator[dict[str, Any]]:
    known, old = measures.options.known_keys, measures.as_of - UNUSED_AGE
    unknown, unused = list[Found](), list[Found]()
    for key in sorted(facts.keys or (), key=lambda key: (key.name or "", key.id)):
        use = "never used" if key.last_used_at is None else "in use"
        told = subject(key.name or key.id, key.id, f"{key.fingerprint or 'no fingerprint'}, {use}")
        if known is not None and key.fingerprint not in known:
            unknown.append(told)
        elif key.last_used_at is None and (parse_moment(key.created_at) or old) <= old:
            unused.append(told)
    yield matter("unknown_key", CRITICAL, "Delete SSH keys that nobody knows", unknown)
    yield matter("unused_key", NOTICE, "Delete SSH keys that were never used", unused)
