# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What to do with one service of a fleet."""

from __future__ import annotations

from dataclasses import dataclass

from ..._api.values import ContainerState, ServiceStatus
from .options import FleetOptions


@dataclass(frozen=True)
class Situation:
    """All that decides on a service: how it is, and what is remembered of it."""

    status: str | None
    state: str | None
    ran: bool | None = None
    """Whether it ran before the fleet stopped it; ``None`` if that is not known or over."""
    back: bool = False
    """Whether it was started again after the fleet stopped it."""
    begun: bool = False
    """Whether an unfinished run has begun it."""
    done: bool = False
    """Whether an unfinished run is done with it."""

    @property
    def unfinished(self) -> bool:
        """Whether an unfinished run has begun it and is not done with it."""
        return self.begun and not self.done

    @property
    def runs(self) -> bool:
        """Whether it runs, or is about to."""
        return self.state in ContainerState.UP

    @property
    def may_run(self) -> bool:
        """Whether it runs, or may run again in a moment: a restart begins with a stop."""
        return self.runs or self.state == ContainerState.STOPPING


@dataclass(frozen=True)
class Verdict:
    """Whether to work on a service, or why it is left alone."""

    act: bool
    left_alone: str | None = None
    """Why nothing is done although it is not as the task asks for."""


ACT, NOTHING = Verdict(True), Verdict(False)
IS_SUSPENDED = "it is suspended"
"""Why a service is left alone that the task does not resume."""


def leave(why: str) -> Verdict:
    """Return the verdict on a service that is left alone."""
    return Verdict(False, why)


def decide(case: Situation, options: FleetOptions) -> Verdict:
    """Return what to do with a service whose state is known, or that is suspended."""
    if case.status == ServiceStatus.SUSPENDED and not options.resume:
        return leave(IS_SUSPENDED)
    if options.state == "started":
        return decide_start(case, options)
    if options.state == "stopped":
        return NOTHING if case.state == ContainerState.STOPPED else ACT
    if options.state == "restarted" and case.done:
        return NOTHING  # its plan would restart it again; that of an update knows what is in effect
    needs_one_that_runs = options.state == "restarted" or options.tag is not None
    if not case.may_run and not case.unfinished and needs_one_that_runs:
        return leave("it does not run")
    return ACT


def decide_start(case: Situation, options: FleetOptions) -> Verdict:
    """Return whether to start a service."""
    if not options.only_what_ran:
        return NOTHING if case.runs and not case.unfinished else ACT
    if case.ran:
        return ACT
    if case.runs:
        return NOTHING
    if case.ran is False:
        return leave("it did not run before the fleet was stopped")
    return leave(
        "it ran since then, and it was not the fleet that stopped it"
        if case.back
        else "it is not known to have run before the fleet was stopped"
    )
