# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What changed between two polls: a pure function from a state and an observation to a state and events."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from ..._api.models import ServiceSummary
from ..._api.values import Family
from .arguments import SourceOptions
from .observation import Observation, Poll, State
from .of_account import drift_after, money_after, with_backups
from .of_applications import applications_after
from .of_services import services_after


def advance(before: State, seen: Observation, now: datetime, rules: SourceOptions, account: str) -> State:
    """Return the state after a poll. The new events are at the end of its outbox.

    Nothing is read, written or waited for here. The same arguments give the same events with the same ids.
    """
    if seen.limited and seen.apps is not None:  # applications in place of services
        apps = [(app, app.name or app.slug) for app in seen.apps.values()]
        services = [
            ServiceSummary(id=app.id, name=name, family=Family.APP, status=app.status) for app, name in apps
        ]
        seen = replace(seen, services={each.id: each for each in services})
    poll = Poll(before, seen, now, rules, account)
    poll.apps = applications_after(poll)
    update = {
        "services": with_backups(poll, services_after(poll)),
        "apps": poll.apps,
        "money": money_after(poll),
        "drift": drift_after(poll),
    }
    outbox = (*before.outbox, *(event.model_dump(mode="json") for event in poll.events))
    return before.model_copy(update={**update, "sequence": poll.sequence, "outbox": outbox})
