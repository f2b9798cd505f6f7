# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The arguments of the source, and what it remembers between polls, in a file with the events to deliver.

An event is written to the file, together with the state that it follows from, before it is put on the queue,
and taken out of the file after that. So whenever the source is killed:

* before the write, nothing happened: the next poll sees the same, and tells it;
* after it, the event is in the file, and is delivered by the next start with the same id;
* between the queue and the note, the next start delivers it again, with the same id and ``redelivered``.

No event is lost, and none has two ids.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import Any, cast

from ..._api.errors import ConfigurationError
from ..._api.libraries import BaseModel, ConfigDict, Field, ValidationError
from ..shared.connecting import with_selected_token
from ..shared.identify import close_name
from ..shared.options import FilePath, Options, option
from ..shared.store import Kind, Record, adapter_of, lock_file

HANDED_OVER = ("eda_feedback_queue",)
"""What ansible-rulebook itself puts among the arguments."""
LONGEST = 7 * 24 * 3600.0
BOUNDS: Mapping[str, tuple[float, float]] = {
    "min_interval": (0.05, LONGEST),
    "max_interval": (0.05, LONGEST),
    "backup_interval": (0, LONGEST),
    "backup_max_age": (0.01, 24 * 3650),
    "drift_interval": (1, LONGEST),
    "stop_window": (1, LONGEST),
}


@dataclass(frozen=True, kw_only=True)
class SourceOptions(Options):
    state_file: FilePath | None = None
    state_name: str | None = None
    min_interval: float = 15.0
    max_interval: float = 120.0
    report_existing: bool = True
    stop_window: float = 3600.0
    balance_days: list[int] = option([14, 7, 3, 1])
    max_daily_spend: Decimal | None = None
    max_monthly_spend: Decimal | None = None
    backup_interval: float = 3600.0
    backup_max_age: float | None = None
    backup_services: list[str] | None = None
    blueprints: list[FilePath] = option([])
    drift_interval: float = 3600.0
    feedback: bool = False

    @property
    def blueprint_paths(self) -> list[str]:
        return [expanded(path) for path in self.blueprints]


def read_arguments(arguments: Mapping[str, Any]) -> SourceOptions:
    """Return the arguments with their defaults, and what the environment sets."""
    given = {name: value for name, value in arguments.items() if name not in HANDED_OVER}
    known = [each.name for each in fields(SourceOptions)]
    for name in given:
        if name not in known:
            hint = close_name(name, known)
            raise ConfigurationError(
                f"unknown argument {name!r};{hint} The arguments are: {', '.join(sorted(known))}"
            )
    variables = {each.name: each.metadata.get("environment") for each in fields(Options)}
    values: dict[str, Any] = {
        name: os.environ[text] for name, text in variables.items() if text and os.environ.get(text)
    }
    if "allow_http_hosts" in values:
        values["allow_http_hosts"] = values["allow_http_hosts"].split(",")
    values |= {name: value for name, value in given.items() if value is not None}
    try:
        # Values that come from variables of the rulebook may be text.
        options = adapter_of(SourceOptions).validate_python(with_selected_token(values, given))
    except ValidationError as error:  # told without the value, which may be a secret
        problem = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(str(part) for part in problem["loc"])
        raise ConfigurationError(
            f"argument {place!r} has a value that it cannot have: {problem['msg']}"
        ) from None
    for said in problems_of(options):
        raise ConfigurationError(said)
    return cast(SourceOptions, options)


def problems_of(options: SourceOptions) -> Iterator[str]:
    for name, (low, high) in BOUNDS.items():
        value = getattr(options, name)
        if value is not None and not low <= value <= high:
            yield f"{name} is {value:g}; it must be from {low:g} to {high:g}"
    for name in ("max_daily_spend", "max_monthly_spend"):
        value = getattr(options, name)
        if value is not None and not (value.is_finite() and value >= 0):
            yield f"{name} is {value}; it must be an amount in currency units"
    for path in options.blueprint_paths:
        if not os.path.isfile(path):
            yield f"blueprints names {path!r}, which is not a file"
    named, patterns = options.state_name, options.backup_services
    wrong = {
        "min_interval is longer than max_interval": options.min_interval > options.max_interval,
        "balance_days has a negative number": any(days < 0 for days in options.balance_days),
        "state_name is blank; give it a name, or leave it out": named is not None and not named.strip(),
        "state_name has no effect with state_file, which names the file; set one": (
            named is not None and options.state_file is not None
        ),
        "backup_services has an empty pattern, which matches nothing": not all(patterns or ()),
        "backup_services names what is watched, and backup_max_age, after how many hours to tell, is not "
        "set; set it, or leave backup_services out": patterns is not None and options.backup_max_age is None,
    }
    yield from (said for said, is_so in wrong.items() if is_so)


def expanded(path: str) -> str:
    return os.path.abspath(os.path.expanduser(os.path.expandvars(path)))


# --- What is remembered -------------------------------------------------------------------------------

START, STOP = "start", "stop"
"""The power orders that an activity journal tells of."""
STOPPED, DEPLOY = "service_stopped", "deploy_failed"
"""The types of the events that tell of a container's trouble."""


class BackupMemory(BaseModel):
    looked: str
    failed: tuple[str, ...] = ()
    stale: bool = False


class ServiceMemory(BaseModel):
    """What is remembered of a service. ``None`` is unknown, and causes no event."""

    name: str
    family: str
    status: str
    product: str | None = None
    created_at: str | None = None
    state: str | None = None
    ordered: str | None = None
    """The last power order: to stop, or to start what was not seen since."""
    ordered_at: str | None = None
    restored_at: str | None = None
    trouble: str | None = None
    """The type of the event that told of its trouble, until it is back."""
    since: str | None = None
    stops: tuple[str, ...] = ()
    """When it stopped by itself, as far back as stop_window reaches."""
    entry: str | None = None
    """The newest entry of its activity journal that was read."""
    there_before: bool = False
    """Whether it was there before the source was, so that its old backups are no news."""
    deleted: bool = False
    """Whether its deletion was told."""
    backups: BackupMemory | None = None


class AppMemory(BaseModel):
    image: str | None = None
    released_at: str | None = None
    blocked: bool = False
    deploying_since: str | None = None
    """Since when the source waits to see the container of a new image run."""
    previous: str | None = None


class DriftMemory(BaseModel):
    looked: str
    signature: str | None = None
    """What the differences were; ``None`` if there were none."""


class State(BaseModel):
    """All that the source remembers, and the events that are not known to be delivered."""

    model_config = ConfigDict(extra="forbid")  # what another program wrote is not taken for a state

    salt: str = Field(default_factory=lambda: str(uuid.uuid4()))
    """Makes the ids of this state file differ from those of others."""
    owner: str = ""
    """A hash of whom the account belongs to; empty if the platform does not tell."""
    sequence: int = 0
    services: dict[str, ServiceMemory] | None = None
    apps: dict[str, AppMemory] | None = None
    threshold: int | None = None
    """The lowest entry of balance_days that was reached."""
    high: tuple[str, ...] = ()
    """The measures of spend that are above their limits."""
    drift: dict[str, DriftMemory] = Field(default_factory=dict)
    outbox: tuple[dict[str, Any], ...] = ()
    """The events that were not noted as delivered, oldest first."""

    @property
    def known_services(self) -> Mapping[str, ServiceMemory]:
        return self.services or {}

    @property
    def known_apps(self) -> Mapping[str, AppMemory]:
        return self.apps or {}


STATE = Kind(
    "events",
    State,
    "what the event source remembers",
    "Remove it to begin anew: what is in trouble then is reported, and what happened meanwhile is not",
)


def record_of(options: SourceOptions) -> Record[State]:
    """Return the state file: the one that the user chose, or one for the address and the name."""
    if options.state_file:
        path = os.path.realpath(expanded(options.state_file))  # a link to a locked file is locked
        return Record(STATE, path)
    return STATE.of(options.base_url, f"events {options.state_name}" if options.state_name else "events")


class StateFile:
    def __init__(self, record: Record[State]) -> None:
        self.record = record
        self.state = record.read()
        self.replayed = frozenset(event["id"] for event in self.state.outbox)
        """The events that an earlier start may have delivered."""

    def save(self, state: State) -> None:
        """Replace the state, on disk first.

        :raises Invalid: if it cannot be written. Then the file and the state are as they were.
        """
        self.record.write(state)
        self.state = state

    def next_event(self) -> dict[str, Any] | None:
        if not self.state.outbox:
            return None
        event = self.state.outbox[0]
        return {**event, "redelivered": event["id"] in self.replayed}

    def note_delivered(self, id: str) -> None:
        left = tuple(event for event in self.state.outbox if event["id"] != id)
        # Kept in memory in any case: this process must not deliver it again.
        self.state = self.state.model_copy(update={"outbox": left})
        self.save(self.state)


@contextmanager
def open_state(record: Record[State]) -> Iterator[StateFile]:
    """Open a state file, and lock it against other sources until this ends."""
    with ExitStack() as held:
        try:
            held.enter_context(lock_file(f"{record.path}.lock", 0))
        except TimeoutError:
            raise ConfigurationError(
                f"another event source uses the state file {record.path!r}; end it, or give each source a "
                "name of its own in state_name, or a file in state_file"
            ) from None
        except OSError as error:
            raise ConfigurationError(
                f"the state file cannot be kept in {os.path.dirname(record.path)!r}: {error.strerror}. Make "
                "it writable, or name another file in state_file"
            ) from None
        yield StateFile(record)
