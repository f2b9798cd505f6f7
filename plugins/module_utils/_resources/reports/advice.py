# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Says what to do next: each matter once, with all that it concerns, the most urgent first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Subject:
    """One thing that a matter concerns, and what is to be said of it."""

    name: str
    id: str | None
    detail: str

    def as_dict(self) -> dict[str, Any]:
        """Return it for results."""
        return {"name": self.name, "id": self.id, "detail": self.detail}


@dataclass(frozen=True)
class Matter:
    """Something to do, with all that it concerns."""

    kind: str
    level: str
    do: str
    """The sentence that says what to do."""
    subjects: Sequence[Subject]

    def as_dict(self) -> dict[str, Any]:
        """Return it for results."""
        subjects = [subject.as_dict() for subject in self.subjects]
        return {"kind": self.kind, "level": self.level, "do": self.do, "subjects": subjects}


def advice_of(found: Found, facts: Facts, measures: Measures) -> list[dict[str, Any]]:
    """Return what to do next, the most urgent first."""
    matters = [
        *balance(found, measures),
        *services_that_failed(found),
        *releases_that_are_blocked(found),
        *backups_to_look_at(found),
        *free_times(found, measures),
        *disks(found, measures),
        *stopped_and_billed(found),
        *drift(measures),
        *ssh_keys(facts, measures),
        *drills(found),
    ]
    shown = [matter for matter in matters if matter.subjects]
    return [matter.as_dict() for matter in sorted(shown, key=lambda each: LEVELS.index(each.level))]


def balance(found: Found, measures: Measures) -> Iterator[Matter]:
    """Yield that the balance runs out soon."""
    money = found["money"]
    left, amount = money["days_left"], to_decimal(money["balance"])
    below_zero = amount is not None and amount < 0
    lasts = left is None or left >= measures.options.balance_days or not to_decimal(money["monthly"])
    if lasts and not below_zero:
        return
    level = CRITICAL if below_zero or left < CRITICAL_BALANCE_DAYS else WARNING
    detail = f"{priced(found, money['balance'])} lasts until {money['runs_out_on']} at today's rate"
    if below_zero:
        detail = f"{priced(found, money['balance'])} is below zero"
    do = (
        "Top up the balance: the platform deletes the services a while after it falls below zero; how long "
        "it waits is not shown"
    )
    yield Matter("balance", level, do, [Subject("Balance", None, detail)])


def priced(found: Found, amount: Any) -> str:
    """Return an amount with its currency, as far as both are known."""
    return " ".join(filter(None, [amount, found["currency"]])) or "an unknown amount"


def services_that_failed(found: Found) -> Iterator[Matter]:
    """Yield the services whose creation failed, and those that wait for the platform's team."""

    def of(status: str, otherwise: str) -> list[Subject]:
        return subjects(
            found,
            lambda each: bool(each["status"] == status),
            lambda each: each["failure_reason"] or otherwise,
        )

    failed = of(ServiceStatus.FAILED, "the platform gives no reason")
    waiting = of(ServiceStatus.AWAITING_ADMIN, "the platform's team has to act")
    yield Matter("failed", CRITICAL, "Delete and order again what could not be created", failed)
    yield Matter(
        "awaiting_admin", CRITICAL, "Ask the platform's team about services that wait for it", waiting
    )


def subjects(found: Found, wanted: Callable[[Found], bool], detail: Callable[[Found], str]) -> list[Subject]:
    """Return the services that are wanted, each with its detail."""
    services = found["services"] or ()
    return [Subject(each["name"], each["id"], detail(each)) for each in services if wanted(each)]


def releases_that_are_blocked(found: Found) -> Iterator[Matter]:
    """Yield the images in service that became blocking, and newer releases that cannot be deployed."""
    running, newer = list[Subject](), list[Subject]()
    for app in found["applications"] or ():
        for release in app["releases"] or ():
            if release["scan_status"] != ScanStatus.BLOCKED:
                continue
            flaws = describe_flaws(release["blocking"]) or "the scan does not name the flaw"
            subject = Subject(app["slug"], app["id"], f"{release['tag']}: {flaws}")
            (running if release["in_service"] else newer).append(subject)
        in_service = any(release["in_service"] for release in app["releases"] or ())
        if app["scan_status"] == ScanStatus.BLOCKED and not in_service:
            detail = "the verdict on what runs is BLOCKED; its release is not known"
            running.append(Subject(app["slug"], app["id"], detail))
    do = "Push a corrected image: what runs is blocked, and goes on running until you deploy"
    yield Matter("blocked_in_service", CRITICAL, do, running)
    yield Matter("blocked_release", WARNING, "Rebuild releases that cannot be deployed", newer)


def describe_flaws(flaws: Iterable[Found]) -> str:
    """Describe the flaws that block a release: each with its package and the version that mends it."""
    return "; ".join(describe_flaw(Flaw.model_construct(**flaw)) for flaw in flaws)


def backups_to_look_at(found: Found) -> Iterator[Matter]:
    """Yield the services without a backup, with an old one, and whose last one failed."""
    rows, limit = found["backups"]["services"], found["backups"]["max_age"]

    def of(wanted: Callable[[Found], bool], detail: Callable[[Found], str]) -> list[Subject]:
        return [Subject(row["name"], row["id"], detail(row)) for row in rows if wanted(row)]

    missing = of(
        lambda row: row["freshness"] == NONE,
        lambda row: "no backup; the last one failed" if row["last_failed"] else "no backup",
    )
    stale = of(
        lambda row: row["freshness"] == STALE,
        lambda row: (
            f"the newest is {hours(row['age_hours'])} old, and at most {limit} is wanted"
            f"{'; the last one failed' if row['last_failed'] else ''}"
        ),
    )
    failed = of(
        lambda row: row["last_failed"] and row["freshness"] == FRESH,
        lambda row: f"the newest good one is {hours(row['age_hours'])} old",
    )
    yield Matter("no_backup", WARNING, "Back up services that have no backup", missing)
    yield Matter("stale_backup", WARNING, "Find out why these have no newer backup", stale)
    yield Matter("failed_backup", WARNING, "Find out why the last backup failed", failed)


def hours(count: int) -> str:
    """Format a number of hours, from two days on in days."""
    return f"{count} h" if count < 48 else f"{count // 24} days"


def free_times(found: Found, measures: Measures) -> Iterator[Matter]:
    """Yield the services whose free time ends soon, or ended while the platform shows them as free."""

    def ends(service: Found) -> bool:
        until = parse_moment(service["free_expires_at"])
        if until is None or service["is_free"] is False:
            return False
        if service["status"] in ServiceStatus.DELETING_OR_DELETED:
            return False
        return (until - measures.as_of) / timedelta(days=1) < measures.options.free_days

    ending = subjects(found, ends, lambda each: f"free until {each['free_expires_at']}")
    do = (
        "Copy off the platform what must stay, and check what these cost once they are not free: they may be "
        "billed, suspended, or deleted with their backups"
    )
    yield Matter("free_ends", WARNING, do, ending)


def disks(found: Found, measures: Measures) -> Iterator[Matter]:
    """Yield the services whose disks are nearly full."""
    limit = measures.options.disk_percent
    full = subjects(
        found,
        lambda each: each["disk"] is not None and each["disk"]["percent"] >= limit,
        lambda each: f"{each['disk']['percent']} % of {each['disk']['size_gb']} GB",
    )
    yield Matter("disk", WARNING, f"Enlarge or clear disks that are {limit} % full or more", full)


def stopped_and_billed(found: Found) -> Iterator[Matter]:
    """Yield the services that are stopped and billed at the full rate all the same."""
    stopped = subjects(
        found,
        lambda each: (
            each["status"] == ServiceStatus.ACTIVE
            and each["state"] == ContainerState.STOPPED
            and bool(to_decimal(each["monthly"]))
        ),
        lambda each: f"{priced(found, each['monthly'])} a month",
    )
    yield Matter("stopped_billed", NOTICE, "Start, suspend or delete what is stopped but billed", stopped)


def drift(measures: Measures) -> Iterator[Matter]:
    """Yield the blueprints that the platform differs from, and those that were not compared."""
    drifted = [
        Subject(str(each.get("file")), None, line)
        for each in measures.options.drift
        for line in lines_of(each)
    ]
    failed = [
        Subject(str(each.get("file")), None, str(each["error"]))
        for each in measures.options.drift
        if each.get("error") is not None
    ]
    yield Matter("drift", WARNING, "Apply these blueprints, or bring them up to date", drifted)
    yield Matter("not_compared", WARNING, "Correct blueprints that could not be compared", failed)


def lines_of(compared: Found) -> Iterable[str]:
    """Return the differences that count as drift, a line each."""
    for each in compared.get("differences") or ():
        if isinstance(each, Mapping) and each.get("drift"):
            yield str(each.get("line"))


def ssh_keys(facts: Facts, measures: Measures) -> Iterator[Matter]:
    """Yield the SSH keys that nobody knows, and those that were never used."""
    known = measures.options.known_keys
    keys = sorted(facts.keys or (), key=lambda key: (key.name or "", key.id))
    unknown = [key for key in keys if known is not None and key.fingerprint not in known]
    old = measures.as_of - UNUSED_AGE
    unused = [
        key
        for key in keys
        if key.last_used_at is None and key not in unknown and (parse_moment(key.created_at) or old) <= old
    ]

    def told(key: Any, detail: str) -> Subject:
        return Subject(key.name or key.id, key.id, f"{key.fingerprint or 'no fingerprint'}, {detail}")

    used = [told(key, "never used" if key.last_used_at is None else "in use") for key in unknown]
    never = [told(key, "never used") for key in unused]
    yield Matter("unknown_key", CRITICAL, "Delete SSH keys that nobody knows", used)
    yield Matter("unused_key", NOTICE, "Delete SSH keys that were never used", never)


def drills(found: Found) -> Iterator[Matter]:
    """Yield that the last restore drill failed."""
    drill = found["backups"]["drill"]
    if drill is not None and not drill["restored"]:
        subject = Subject(drill["service"] or "Restore drill", None, f"failed on {drill['finished']}")
        yield Matter("drill", CRITICAL, "Find out why the last restore drill failed", [subject])
