# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What this controller has committed and the platform does not show yet, in a file that all tasks share.

A plain module and a task in the background see it as well, and so do two runs. An entry is written before the
call, so that one whose process was killed counts until the platform shows its effect.
"""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from decimal import Decimal, InvalidOperation
from typing import Any

from .budget import NEW, BudgetExceeded, Commitment, CommitmentKind, Holding, Holdings, with_commitment
from .controller_state import RUN_FOLDER, collection_folder, lock_file, write_json
from .names import same_name

FOLDER = "budget"
LOCK_SECONDS = 900.0
"""Seconds to wait for the commitments of other tasks, each of which ends by its own deadlines."""
OPEN_SECONDS = 600.0
"""Seconds for which an entry counts whose call may have been carried out, if the platform shows nothing.

For its run it counts as long as that lasts.
"""
DONE_SECONDS = 60.0
"""Seconds for which an entry counts whose call was carried out: the platform shows it later than that."""
RUN_SECONDS = 7 * 24 * 3600.0
"""Seconds after its last commitment until a run is forgotten."""


@dataclass(frozen=True)
class Entry:
    """One commitment, with all that tells whether the platform shows it."""

    token: str
    kind: CommitmentKind
    key: str
    what: str
    name: str | None
    id: str | None
    project: str | None
    monthly: Decimal | None
    adds: Decimal
    run: str | None
    at: float
    done: bool = False
    """Whether the platform accepted the call. Otherwise it may have."""
    known: tuple[str, ...] = ()
    """The ids of the services that had the name before."""

    @property
    def is_over(self) -> bool:
        """Whether it has counted for long enough, whatever the platform shows."""
        return time.time() - self.at > (DONE_SECONDS if self.done else OPEN_SECONDS)


@dataclass
class Content:
    """What the file holds: the entries that are not settled, and what each run has added before."""

    entries: list[Entry] = field(default_factory=list)
    runs: dict[str, tuple[Decimal, float]] = field(default_factory=dict)

    def added_by(self, run: str | None) -> Decimal:
        """Return what a run has added, as far as it may have been done."""
        settled = self.runs.get(run or "", (Decimal(0), 0.0))[0]
        return settled + sum((entry.adds for entry in self.entries if entry.run == run), Decimal(0))

    def settle(self, entry: Entry, done: bool) -> None:
        """Remove an entry. Its run keeps what it has added if the call was, or may have been, ``done``."""
        self.entries.remove(entry)
        if done and entry.run:
            added = self.runs.get(entry.run, (Decimal(0), 0.0))[0]
            self.runs[entry.run] = (added + entry.adds, time.time())

    def forget_old(self) -> None:
        """Remove what does not count any more. What cannot be known counts as added."""
        for entry in [entry for entry in self.entries if entry.is_over]:
            self.settle(entry, done=True)
        horizon = time.time() - RUN_SECONDS
        self.runs = {run: told for run, told in self.runs.items() if told[1] >= horizon}


def new_entry(commitment: Commitment, adds: Decimal | None, run: str | None, holdings: Holdings) -> Entry:
    """Return the entry of a commitment that is about to be made."""
    alike = [
        holding.key
        for holding in holdings.values()
        if commitment.kind in NEW and same_name(holding.name, commitment.name or "")
    ]
    return Entry(
        token=secrets.token_hex(8),
        kind=commitment.kind,
        key=commitment.key,
        what=commitment.what,
        name=commitment.name,
        id=commitment.id,
        project=commitment.project or commitment.project_name,
        monthly=commitment.monthly,
        adds=adds or Decimal(0),
        run=run,
        at=time.time(),
        known=tuple(alike),
    )


# --- The file ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CommitmentRecord:
    """The file of one account."""

    path: str
    lasts: bool = False
    """Whether entries count until the file is removed, as those that check mode predicts do."""

    @classmethod
    def of(cls, account: str) -> CommitmentRecord:
        """Return the record of an account, by a hash of its name."""
        return cls(os.path.join(collection_folder(FOLDER), f"{account}.json"))

    @classmethod
    def of_predictions(cls, account: str) -> CommitmentRecord | None:
        """Return what check mode predicts in this run; ``None`` if its tasks share no folder."""
        folder = os.environ.get(RUN_FOLDER)
        return cls(os.path.join(folder, f"hosted.services.budget.{account}.json"), True) if folder else None

    @contextmanager
    def locked(self) -> Iterator[Content]:
        """Keep all other commitments of this controller waiting, and yield what the file holds.

        :raises BudgetExceeded: if the file cannot be locked or read: what others commit is then unknown.
        """
        with locked_file(self.path):
            yield self.read()

    def read(self) -> Content:
        """Return what the file holds.

        :raises BudgetExceeded: if it cannot be read.
        """
        try:
            with open(self.path, encoding="utf-8") as file:
                content = content_from(json.load(file))
        except FileNotFoundError:
            return Content()
        except (OSError, ValueError, KeyError, TypeError, AttributeError, InvalidOperation) as error:
            raise unusable(self.path, error) from None
        if not self.lasts:
            content.forget_old()
        return content

    def write(self, content: Content) -> None:
        """Replace what the file holds. The caller has the lock.

        :raises BudgetExceeded: if it cannot be written.
        """
        try:
            write_json(self.path, as_json(content))
        except OSError as error:
            raise unusable(self.path, error) from None

    def update(self, change: Callable[[Content], object]) -> None:
        """Change what the file holds. The caller has the lock."""
        content = self.read()
        change(content)
        self.write(content)


@contextmanager
def locked_file(path: str) -> Iterator[None]:
    """Lock a file of commitments.

    :raises BudgetExceeded: if it cannot be locked.
    """
    lock = lock_file(f"{path}.lock", LOCK_SECONDS)
    try:
        lock.__enter__()
    except TimeoutError:
        why = f"other tasks of this controller have been committing money for {LOCK_SECONDS:g} seconds"
        raise BudgetExceeded(f"{why}; nothing was sent. Run this again when they have ended", why) from None
    except OSError as error:
        raise unusable(path, error) from None
    try:
        yield
    finally:
        lock.__exit__(None, None, None)


def unusable(path: str, error: Exception) -> BudgetExceeded:
    """Return the error for a record that cannot be used."""
    cause = error.strerror if isinstance(error, OSError) and error.strerror else "it is damaged"
    why = f"the record of commitments {path!r} cannot be used: {cause}"
    return BudgetExceeded(
        f"{why}. A budget is set, so nothing was sent. Make the file writable, or name another folder in "
        "HOSTED_SERVICES_HOME; remove a damaged one when no other run is under way",
        why,
    )


def as_json(content: Content) -> dict[str, Any]:
    """Return the content as JSON, with amounts as strings."""
    return {
        "entries": [
            {
                **asdict(entry),
                "monthly": None if entry.monthly is None else str(entry.monthly),
                "adds": str(entry.adds),
            }
            for entry in content.entries
        ],
        "runs": {run: {"added": str(added), "at": at} for run, (added, at) in content.runs.items()},
    }


def content_from(data: Mapping[str, Any]) -> Content:
    """Return the content of a file."""
    entries = [
        Entry(
            **{
                **entry,
                "monthly": None if entry["monthly"] is None else Decimal(entry["monthly"]),
                "adds": Decimal(entry["adds"]),
                "known": tuple(entry["known"]),
            }
        )
        for entry in data["entries"]
    ]
    runs = {run: (Decimal(told["added"]), float(told["at"])) for run, told in data["runs"].items()}
    return Content(entries, runs)


# --- What the platform shows of it ------------------------------------------------------------------


def with_entries(
    holdings: Holdings, entries: Iterable[Entry], slugs: Mapping[str, str]
) -> tuple[dict[str, Holding], list[Entry]]:
    """Return the holdings with the entries that the platform does not show yet, and those that it shows.

    ``slugs`` are the ids of the applications by their slugs.
    """
    found, shown = dict(holdings), list[Entry]()
    taken: set[str] = set()
    for entry in entries:
        if entry.kind in NEW:
            id = match(entry, holdings, slugs, taken)
            if id is None:
                found[entry.token] = pending_holding(entry)
            else:
                taken.add(id)
                shown.append(entry)
        elif is_shown(entry, holdings.get(entry.id or "")):
            shown.append(entry)
        else:
            found[str(entry.id)] = with_entry(found[str(entry.id)], entry)
    return found, shown


def match(entry: Entry, holdings: Holdings, slugs: Mapping[str, str], taken: set[str]) -> str | None:
    """Return the id of the service that came of an order; ``None`` if the platform does not list it yet."""
    if entry.kind == "create" and slugs.get(entry.name or "") in holdings:
        return slugs[str(entry.name)]
    candidates = (
        key
        for key, holding in holdings.items()
        if key not in taken and key not in entry.known and same_name(holding.name, entry.name or "")
    )
    return next(candidates, None)


def pending_holding(entry: Entry) -> Holding:
    """Return what an order counts as until the platform lists its service."""
    home = frozenset([entry.project]) if entry.project else None
    return Holding(entry.token, entry.name or entry.what, entry.monthly, home, entry.monthly or Decimal(0))


def is_shown(entry: Entry, holding: Holding | None) -> bool:
    """Tell whether the platform shows a new rate or project, or that the service is gone."""
    if holding is None:
        return True
    if entry.kind == "move":
        return holding.projects is not None and entry.project in holding.projects
    known = entry.monthly is not None and holding.monthly is not None
    return known and holding.monthly >= entry.monthly  # type: ignore[operator]


def with_entry(holding: Holding, entry: Entry) -> Holding:
    """Return a service with what it is about to cost, or with the project that it is about to join."""
    if entry.kind == "move":
        homes = None if holding.projects is None else holding.projects | {str(entry.project)}
        return replace(holding, projects=homes)
    if entry.monthly is None or holding.monthly is None:
        return replace(holding, monthly=None)
    return replace(
        holding, monthly=entry.monthly, reserved=holding.reserved + entry.monthly - holding.monthly
    )


def with_predictions(holdings: Holdings, entries: Iterable[Entry]) -> dict[str, Holding]:
    """Return the holdings as earlier tasks in check mode would have left them."""
    found = dict(holdings)
    for entry in entries:
        made = Commitment(entry.kind, entry.what, entry.monthly, entry.id, entry.name, entry.project)
        found = with_commitment(found, made)
    return found
