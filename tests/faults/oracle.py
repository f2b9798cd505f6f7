# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What every task must hold, whatever befell it: judged by what the platform holds, not by what was said."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

from faults.hurried import Exchange, one_time_secrets
from faults.runner import Ran
from faults.truth import Truth
from specification import SPECIFIED


class Problem(NamedTuple):
    """Something that must not be: of which kind, and what exactly."""

    kind: str
    text: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"


CRASH, BLIND, DOUBLE = "crash", "sent again blindly", "ordered or made twice"
SECRET, UNREPORTED, LIE = "one-time secret lost", "billed and not reported", "untrue error"
BACKUP, LAST_GOOD = "backup lost", "last good one deleted"
DEADLINE, CONVERGENCE, STATE = "over its deadline", "no convergence", "wrong state"
FORGOTTEN = "not in effect and forgotten"
UNCOPIED = "deleted without a last copy"
KINDS = (
    CRASH,
    BLIND,
    DOUBLE,
    SECRET,
    UNREPORTED,
    LIE,
    BACKUP,
    LAST_GOOD,
    DEADLINE,
    CONVERGENCE,
    STATE,
    FORGOTTEN,
    UNCOPIED,
)

WHOLE = ("COMPLETED", "RESTORING")
SLACK = 5.0
"""Seconds by which a call or a wait may outlast its deadline."""
OPEN = re.compile(r"unknown|may have been|may be|whether|lost|gave up waiting|ended as FAILED", re.IGNORECASE)
"""Words by which an error admits that something may have been done."""
NOTHING = re.compile(
    r"nothing (was |has )?(changed|done|ordered|deployed|created)|was not (created|declared|sent|deployed)"
    r"|were not set",
    re.IGNORECASE,
)
"""Words by which an error says that nothing was done."""


def violations(ran: Ran, before: Truth, after: Truth, folder: Path) -> Iterator[Problem]:
    """Yield what is wrong with a task, whatever it was to do."""
    yield from defects(ran)
    yield from blind_repeats(ran.exchanges)
    yield from lost_secrets(ran, folder)
    yield from unreported_orders(ran, before, after)
    yield from lies(ran, before, after, folder)
    yield from uncopied_deletions(ran)
    yield from lost_backups(ran, before, after)
    if ran.overrun > SLACK:
        yield Problem(DEADLINE, f"a call or a wait of {ran.module}, by {ran.overrun:.1f} seconds")


def defects(ran: Ran) -> Iterator[Problem]:
    """Yield a crash: whatever happens, it must end in an error of the collection's own."""
    if "defect of the collection" in ran.message:
        yield Problem(CRASH, f"{ran.message} {ran.result.get('places')}")


def blind_repeats(exchanges: Sequence[Exchange]) -> Iterator[Problem]:
    """Yield each call that makes something and was sent again although the platform may have acted."""
    sent: dict[str, Exchange] = {}
    for exchange in exchanges:
        if not makes(exchange.method, exchange.path) or is_read(exchange):
            continue
        key = f"{exchange.method} {exchange.path} {json.dumps(exchange.body, sort_keys=True)}"
        if key in sent and not sent[key].turned_away:
            yield Problem(BLIND, f"{exchange.method} {exchange.path}")
        sent[key] = exchange


def makes(method: str, path: str) -> bool:
    """Tell whether each such call makes something, by the specification and not by the retry table."""
    return any(line.repeat in "cn" and line.matches(method, path) for line in SPECIFIED)


def is_read(exchange: Exchange) -> bool:
    """Tell whether a statement for a database only reads, and so may be sent again."""
    return str((exchange.body or {}).get("sql", "")).startswith("SELECT")


def lost_secrets(ran: Ran, folder: Path) -> Iterator[Problem]:
    """Yield a secret that was received and is neither in the result nor in a file of its owner."""
    secrets = one_time_secrets(list(ran.exchanges))
    if not secrets:
        return
    kept = json.dumps(ran.result.get("secrets"), ensure_ascii=False)
    kept += "".join(path.read_text() for path in folder.rglob("*") if path.is_file())
    for secret in secrets:
        if secret not in kept and json.dumps(secret)[1:-1] not in kept:
            yield Problem(
                SECRET, f"{ran.module} received a secret that is neither in its result nor in a file"
            )


def unreported_orders(ran: Ran, before: Truth, after: Truth) -> Iterator[Problem]:
    """Yield a service that is billed and that the result neither names nor admits to be possible."""
    known = {order["id"] for order in before.all("order")}
    told = json.dumps(ran.result, default=str)
    for order in after.all("order"):
        if order["id"] in known:
            continue
        if order["service_id"] not in told and not (
            ran.failed and OPEN.search(ran.said) and order["name"] in ran.said
        ):
            yield Problem(UNREPORTED, f"service {order['name']!r} ({order['service_id']}): {ran.message}")


def doubles(before: Truth, after: Truth) -> Iterator[Problem]:
    """Yield what came to be more than once under one name: orders, backups, keys, projects."""
    fields = {"order": ("name",), "backup": ("service_id", "name"), "key": ("blob",), "project": ("name",)}
    for kind, names in fields.items():
        known = {record["id"] for record in before.all(kind)}
        new = Counter(
            tuple(record[name] for name in names) for record in after.all(kind) if record["id"] not in known
        )
        yield from (Problem(DOUBLE, f"{n} of {kind} {key}") for key, n in new.items() if n > 1)


def forgotten(after: Truth, folder: Path) -> Iterator[Problem]:
    """Yield what is written, not in effect, and noted nowhere: no later run would bring it into effect."""
    notes = "".join(path.read_text() for path in folder.rglob("pending/*.json"))
    for service in after.unapplied():
        if service["id"] not in notes:
            made_of = service["container"]["configuration"]
            used = {name: made_of[name] for name in ("command", "environment", "public")}
            written = {name: service[name] for name in used}
            yield Problem(FORGOTTEN, f"{service['name']!r} runs with {used}, and written is {written}")


def lies(ran: Ran, before: Truth, after: Truth, folder: Path) -> Iterator[Problem]:
    """Yield what a failed task says about itself that the platform shows to be wrong, or this machine."""
    if not ran.failed:
        return
    differences = after.differences(before)
    happened = after.events - before.events
    if differences and not ran.changed and not OPEN.search(ran.said):
        yield Problem(LIE, f"changed is false, and no doubt is admitted: {ran.message}: {differences}")
    if differences and NOTHING.search(ran.message) and not ran.changed and not OPEN.search(ran.said):
        yield Problem(LIE, f"nothing is said to be done: {ran.message}: {differences}")
    if ran.changed and not differences and not happened and not last_copies(ran, folder):
        yield Problem(LIE, f"changed is true, but nothing changed: {ran.message}")


def last_copies(ran: Ran, folder: Path) -> Sequence[Path]:
    """Return the finished copies that there are, if the task was to make one."""
    return [*folder.glob("copies/*/[0-9]*")] if ran.options.get("keep_copy") else []


def uncopied_deletions(ran: Ran) -> Iterator[Problem]:
    """Yield each deletion that was asked for before there was a copy of the service as it was."""
    for deletion in ran.deletions if ran.options.get("keep_copy") else ():
        if deletion.doubt:
            yield Problem(UNCOPIED, f"{deletion.service_id}: {deletion.doubt}")


def whole_backups(truth: Truth) -> dict[str, dict[str, Any]]:
    """Return the completed backups by id; one that is being restored is as whole."""
    return {backup["id"]: backup for backup in truth.all("backup") if backup["status"] in WHOLE}


def lost_backups(ran: Ran, before: Truth, after: Truth) -> Iterator[Problem]:
    """Yield each good backup that is gone and that nobody gave up."""
    alive = {service["id"] for service in after.all("service")}
    good, left = whole_backups(before), whole_backups(after)
    for id, backup in good.items():
        if id in left or (given_up(ran, backup) and backup["service_id"] in alive):
            continue
        if backup["service_id"] not in alive and ran.options.get("delete_backups"):
            continue
        yield Problem(BACKUP, f"{backup['name']!r} after {ran.module} {dict(ran.options)}")
    if ran.module == "backup_retention":
        yield from last_good(ran, good, left)


def given_up(ran: Ran, backup: Mapping[str, Any]) -> bool:
    """Tell whether a task was asked to delete a backup, or to choose among those that it is one of."""
    if ran.module == "backup":
        return bool(ran.options["state"] == "absent" and backup["name"] == ran.options["name"])
    return ran.module == "backup_retention" and fnmatchcase(backup["name"], ran.options["pattern"])


def last_good(ran: Ran, good: Mapping[str, Any], left: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield the newest good backup of a service, should retention have deleted it."""
    newest: dict[str, Mapping[str, Any]] = {}
    for backup in sorted(good.values(), key=lambda backup: (backup["created_at"], backup["id"])):
        if fnmatchcase(backup["name"], ran.options["pattern"]):
            newest[backup["service_id"]] = backup
    for backup in newest.values():
        if backup["id"] not in left:
            yield Problem(LAST_GOOD, f"{backup['name']!r}")
