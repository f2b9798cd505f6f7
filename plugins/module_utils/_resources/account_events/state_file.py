# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The state file: what the source remembers, and the events that it has yet to deliver.

An event is written to the file, together with the state that it follows from, before it is put on the queue,
and taken out of the file after that. So whenever the source is killed:

* before the write, nothing happened: the next poll sees the same, and tells it;
* after it, the event is in the file, and is delivered by the next start with the same id;
* between the queue and the note, the next start delivers it again, with the same id and ``redelivered``.

No event is lost, and none has two ids.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from ..._api.errors import ConfigurationError
from ..shared.store import Kind, Record, lock_file
from .arguments import SourceOptions, expanded
from .observation import State

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
    """A state file that is open, and locked against other sources."""

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
        """Return the oldest event that is not noted as delivered; ``None`` if there is none."""
        if not self.state.outbox:
            return None
        event = self.state.outbox[0]
        return {**event, "redelivered": event["id"] in self.replayed}

    def note_delivered(self, id: str) -> None:
        """Note that an event was delivered.

        :raises Invalid: if that cannot be written.
        """
        left = tuple(event for event in self.state.outbox if event["id"] != id)
        # Kept in memory in any case: this process must not deliver it again.
        self.state = self.state.model_copy(update={"outbox": left})
        self.save(self.state)


@contextmanager
def open_state(record: Record[State]) -> Iterator[StateFile]:
    """Open a state file, and lock it against other sources until this ends.

    :raises ConfigurationError: if another source uses it, or it cannot be created.
    :raises Invalid: if it cannot be read.
    """
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
