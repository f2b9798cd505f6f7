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
from .observation import Observation, State
from .of_account import drift_after, money_after, with_backups
from .of_applications import applications_after
from .of_services import services_after
from .poll import Poll


def advance(before: State, seen: Observation, now: datetime, rules: SourceOptions, account: str) -> State:
    """Return the state after a poll. The new events are at the end of its outbox.

    Nothing is read, written or waited for here. The same arguments give the same events with the same ids.
    """
    if seen.limited:
        seen = replace(seen, services=services_of_applications(seen))
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


def services_of_applications(seen: Observation) -> dict[str, ServiceSummary] | None:
    """Return applications in place of services, for a token that may read only these."""
    if seen.apps is None:
        return None
    return {
        app.id: ServiceSummary(id=app.id, name=app.name or app.slug, family=Family.APP, status=app.status)
        for app in seen.apps.values()
    }
