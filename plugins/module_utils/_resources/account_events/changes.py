# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What changed between two polls: a pure function from a state and an observation to a state and events."""

from __future__ import annotations

from datetime import datetime

from .observation import Observation, State, services_of_applications
from .of_account import drift_after, money_after, with_backups
from .of_applications import applications_after
from .of_services import services_after
from .poll import Poll, Rules


def advance(before: State, seen: Observation, now: datetime, rules: Rules) -> State:
    """Return the state after a poll. The new events are at the end of its outbox.

    Nothing is read, written or waited for here. The same arguments give the same events with the same ids.
    """
    poll = Poll(before, services_of_applications(seen), now, rules)
    applications = applications_after(poll)
    services = services_after(poll, applications)
    services = with_backups(poll, services)
    money = money_after(poll)
    drift = drift_after(poll)
    was_seen = poll.seen.services is not None or before.services is not None
    return before.model_copy(
        update={
            "services": services if was_seen else None,
            "apps": applications.memories,
            "money": money,
            "drift": drift,
            "sequence": poll.sequence,
            "outbox": (*before.outbox, *(event.model_dump(mode="json") for event in poll.events)),
        }
    )
