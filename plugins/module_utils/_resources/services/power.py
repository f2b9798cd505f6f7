# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Starts, stops, suspends and resumes services (Power, suspension, deletion; States and transitions)."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ..._api import routes as r
from ..._api.models import Metrics
from ..._api.values import ContainerState, ServiceStatus
from ..shared.account import Account
from ..shared.change import Change, Gone, apply
from ..shared.identify import check_service_offers
from ..shared.money import Cost, format_price
from ..shared.options import WaitOptions
from ..shared.pending import Pending, until_start
from ..shared.plan import NOTHING_DONE, Expansion, Step, Task
from ..shared.store import Kind
from ..shared.task_errors import Invalid, WaitEnded
from ..shared.waiting import QUIET_SECONDS, poll_for
from .options import ServiceOptions
from .removal import remember_offers
from .settings import (
    ServiceChanges,
    check_max_monthly,
    commitment_of,
    differing_fact,
    immutable,
)
from .view import (
    FRESH_SECONDS,
    View,
    await_container,
    billed_rate,
    cost_of,
    rates_of,
    read_diagnostics,
    runs,
    settled_metrics,
    shows_start_since,
    wait_for_state,
    wait_for_status,
)

RUNNING, STOPPED, STOPPING = ContainerState.RUNNING, ContainerState.STOPPED, ContainerState.STOPPING
STARTING_STATES = (ContainerState.STARTING, ContainerState.INSTALLING)
UNDER_WAY = {"start": STARTING_STATES, "stop": (STOPPING,)}
"""The states that show that a signal has arrived. A kill goes to what is stopping, so that shows nothing."""
UP = ContainerState.UP
SIGNAL: Mapping[str, Mapping[str, str]] = {
    "started": dict.fromkeys((STOPPED, STOPPING), "start"),
    "stopped": dict.fromkeys(UP, "stop"),
    "restarted": {STOPPED: "start", **dict.fromkeys((*UP, STOPPING), "restart")},
    "killed": dict.fromkeys((*UP, STOPPING), "kill"),
}
"""Which signal leads from a state of a container to a wanted one, if it needs one.

A restart keeps the container with its command and ports.
"""
RESUMING = ("started", "resumed")
"""The wanted states that take a suspended service back into service. A restart never does."""


@dataclass(frozen=True)
class Asleep:
    """What of the record of a sleep plan tells that it suspended a service."""

    service: str = ""
    plan: str = ""
    ran: bool | None = None
    settled: Mapping[str, Any] | None = None


ASLEEP = Kind("sleep", Asleep, "what the plan remembers", hint=True)


# --- Suspension ---------------------------------------------------------------------------------------


def plan_waking(task: Task[ServiceOptions], view: View, changes: ServiceChanges) -> bool:
    """Plan the resumption of a suspended service, if the desired state requires it, before all other steps.

    Return whether to go on. ``resume: false`` leaves a service that the task would resume as it is.
    """
    wanted = task.options.state
    if wanted == "restarted":
        raise Invalid(
            f"{view.label} is suspended, so there is nothing to restart. To resume and start it, set state: "
            "started; to resume it and send no start, state: resumed. Either way it is billed at the full "
            f"rate again, and {describe_resume_price(task, view)}"
        )
    if wanted not in RESUMING:
        return True
    if not task.options.resume:
        if differing := differing_fact(task.options, view.service):
            raise immutable(view, differing)
        task.warn(f"{view.label} is suspended, and resume is false; nothing was changed")
        return False
    if wanted == "started" and view.state is None:
        raise Invalid(
            f"{view.label} is suspended, and whether it will run after a resumption is unknown: its node "
            "cannot be reached. Nothing was done. state: resumed resumes it anyway, and "
            f"{describe_resume_price(task, view)}"
        )
    plan_resumption(task, view, changes)
    return True


def plan_resumption(task: Task[Any], view: View, changes: ServiceChanges) -> None:
    """Plan the resumption of a service, and the wait for it: the steps that follow need it to be active."""
    rates, id = rates_of(view.service), view.service.id
    check_max_monthly(task, rates.full, f"{view.label}, resumed,")
    changes.rates, changes.resumes = rates, True
    changes.result["status"] = ServiceStatus.ACTIVE
    change = Change(
        what=f"resume of {view.label}",
        route=r.RESUME,
        ids={"id": id},
        shown=Gone(InStatus(id, ServiceStatus.SUSPENDED)),
        done=InStatus(id, ServiceStatus.ACTIVE),
        commitment=commitment_of(view, "resumption", rates.full, billed_rate(view.service)),
    )
    resume = partial(apply, task, change)
    changes.add(f"resume {view.label}", resume, change.commitment, status=ServiceStatus.ACTIVE)


# --- Stopped for a while, and brought back ------------------------------------------------------------


def ran_before(metrics: Metrics | None) -> bool | None:
    """Tell whether a container runs, to be noted before it is stopped for a while; ``None`` if unknown.

    One that stops may be restarting.
    """
    if metrics is None or metrics.state not in (*UP, STOPPED):
        return None
    return metrics.state != STOPPED


def plan_return(task: Task[Any], view: View, changes: ServiceChanges, ran: bool | None) -> None:
    """Plan what brings back a service that was stopped for a while: it is resumed if it is suspended.

    It is started unless it is noted that it did not run before, or it takes no signals.
    """
    if view.service.status == ServiceStatus.SUSPENDED:
        plan_resumption(task, view, changes)
    if ran is False:
        return

    def start() -> Any:
        offered = task.account.existing_service(view.service.id).capabilities
        if offered is None or "powerSignals" in offered:
            start_if_needed(task, view, changes)
        return NOTHING_DONE  # a part of the return

    changes.steps.append(Step(f"start {view.label} unless it runs by then", start, changes=False))


def warn_of_resume_cost(task: Task[ServiceOptions], view: View, cost: Cost) -> None:
    """Warn of the price of a resumption, including all other changes of the task."""
    what = "starting it resumes it" if task.options.state == "started" else "it is resumed"
    records = (record.read() for record in ASLEEP.all(task.options.state_dir))
    asleep = (
        each.plan
        for each in records
        if each.service == view.service.id
        and (each.ran is not None or (each.settled or {}).get("awake") is False)
    )
    plan = next(asleep, None)
    advice = f". It is asleep by sleep plan {plan!r}; resume: false leaves it so" if plan else ""
    task.warn(f"{view.label} is suspended: {what}, and {price_change(task, cost)}{advice}")


def price_change(task: Task[Any], cost: Cost) -> str:
    before = format_price(task, cost.before) or "an unknown rate"
    return f"its price goes from {before} to {format_price(task, cost.after) or 'an unknown one'} a month"


def describe_resume_price(task: Task[ServiceOptions], view: View) -> str:
    """Describe how a resumption alone changes the price, whatever size the task asks for."""
    sized = task.options.dimensions is not None or task.options.preset is not None
    change = price_change(task, cost_of(view.service, rates_of(view.service).full))
    return f"{change}{' at its present size' if sized else ''}"


@dataclass(frozen=True)
class InStatus:
    """A service has a status."""

    id: str
    status: str

    def found(self, account: Account) -> bool:
        return account.existing_service(self.id).status == self.status

    def wait(self, task: Task[WaitOptions]) -> None:
        """Wait until it does."""
        wait_for_status(task, self.id, self.status)


def plan_suspension(task: Task[WaitOptions], view: View, changes: ServiceChanges) -> None:
    """Plan the suspension of an active service, and the wait for it if the task waits."""
    if view.service.status == ServiceStatus.SUSPENDED:
        return
    if view.service.status != ServiceStatus.ACTIVE:
        raise Invalid(f"{view.label} has status {view.service.status}; only an ACTIVE one can be suspended")
    check_service_offers(view.service, "suspension", "cannot be suspended")
    before = changes.rates.full if changes.rates else billed_rate(view.service)
    changes.rates = changes.rates or rates_of(view.service)
    changes.result["status"] = ServiceStatus.SUSPENDED
    asleep, what = InStatus(view.service.id, ServiceStatus.SUSPENDED), f"suspension of {view.label}"
    change = Change(what=what, route=r.SUSPEND, ids={"id": view.service.id}, shown=asleep, done=asleep)

    def suspend() -> None:
        remember_offers(task, view.service)
        apply(task, change, wait=task.options.wait)

    commitment = commitment_of(view, "suspension", changes.rates.storage, before)
    changes.add(f"suspend {view.label}", suspend, commitment, status=ServiceStatus.SUSPENDED)


# --- Signals ------------------------------------------------------------------------------------------


def plan_power(task: Task[ServiceOptions], view: View, changes: ServiceChanges) -> None:
    """Plan the steps to the desired power state."""
    wanted, status = task.options.state, view.service.status
    if wanted == "suspended":
        plan_suspension(task, view, changes)
    elif wanted == "resumed" and status not in (ServiceStatus.ACTIVE, ServiceStatus.SUSPENDED):
        raise Invalid(f"{view.label} has status {status}; only a SUSPENDED one can be resumed")
    elif wanted in SIGNAL and status != ServiceStatus.SUSPENDED:
        plan_signal(task, view, wanted, changes)
    elif wanted == "started":
        changes.add(
            f"start {view.label} unless it runs by then",
            lambda: start_if_needed(task, view, changes),
            state=RUNNING,
        )
        changes.result["state"] = RUNNING
        changes.pending.clear()


def plan_signal(task: Task[ServiceOptions], view: View, wanted: str, changes: ServiceChanges) -> None:
    """Plan the signal that leads from the container's state to the desired one, if one is needed."""
    if view.service.status != ServiceStatus.ACTIVE:
        raise Invalid(f"{view.label} has status {view.service.status}; only an ACTIVE one can be {wanted}")
    state = view.state
    if state is None or state not in ContainerState.KNOWN:
        why = "its node cannot be reached" if state is None else f"its state is {state!r}"
        raise Invalid(f"whether {view.label} runs is unknown: {why}. Nothing was done", state=state)
    goal = RUNNING if wanted in ("started", "restarted") else STOPPED
    signal = SIGNAL[wanted].get(state)
    anew = changes.pending and (wanted == "restarted" or (wanted == "started" and changes.just_ordered))
    if anew and signal in ("restart", None):
        signal = "stop and start"
    if signal is None:
        if state != goal and task.options.wait:
            plan_wait(task, view, goal, changes)
        return
    check_service_offers(view.service, "powerSignals", f"cannot be told to {signal}")
    changes.result["state"] = goal
    if signal in ("start", "stop and start"):
        changes.pending.clear()
    changes.add(f"{signal} {view.label}", lambda: send_signal(task, view, signal, goal), state=goal)


def plan_wait(task: Task[ServiceOptions], view: View, goal: str, changes: ServiceChanges) -> None:
    """Plan the wait for a state that a container is on its way to. One that restarts is stopped after it."""
    what = f"wait until {view.label} is {goal}"

    def stop_again() -> Sequence[Step]:
        if wait_while_stopping(task, view.service.id) == STOPPED:
            return []
        return [Step(f"stop {view.label}", lambda: send_signal(task, view, "stop", STOPPED))]

    if view.state == STOPPING:
        changes.steps.insert(0, Expansion(what, stop_again, changes=False))
    elif task.check_mode:
        return
    else:
        wait = Step(what, lambda: wait_for_state(task, view.service.id, goal), changes=False)
        changes.steps.insert(0, wait)
    changes.result["state"] = goal


@dataclass(frozen=True)
class InState:
    """The container of a service is in one of some states."""

    id: str
    states: tuple[str, ...]

    def found(self, account: Account) -> bool:
        metrics = account.metrics_of(self.id)
        return metrics is not None and metrics.state in self.states

    def wait(self, task: Task[WaitOptions]) -> None:
        """Wait until it is in the first of them."""
        wait_for_state(task, self.id, self.states[0])


def signalling(view: View, signal: str, effect: Restarted | InState) -> Change:
    what, ids, body = f"{signal} of {view.label}", {"id": view.service.id}, {"signal": signal}
    return Change(what=what, route=r.POWER, ids=ids, body=body, shown=effect, done=effect)


def send_signal(task: Task[WaitOptions], view: View, signal: str, goal: str) -> Any:
    """Send a signal once the container accepts it, and wait for its effect.

    Returns :data:`NOTHING_DONE` if a container to start was restarting, and runs again.
    """
    id = view.service.id
    if signal == "restart":
        return restart(task, view)
    if goal == RUNNING:
        state = wait_while_stopping(task, id)
        if signal == "start" and state in UP and not Pending.of(task, id).until_start():
            wait_for_state(task, id, RUNNING)
            return NOTHING_DONE
        if state in UP or (signal != "start" and state != STOPPED):
            send_signal(task, view, "stop", STOPPED)
            wait_for_state(task, id, STOPPED)
        signal = "start"
    in_effect = until_start(task, id)
    arrived = InState(id, (goal, *UNDER_WAY.get(signal, ())))
    apply(task, signalling(view, signal, arrived), wait=task.options.wait)
    if task.options.wait and signal == "start":
        in_effect()
    return None


def wait_while_stopping(task: Task[WaitOptions], id: str) -> str | None:
    return await_container(task, id, lambda state: state != STOPPING, "the end of a stop")


@dataclass
class Restarted:
    """A container that has run for a while started anew since a moment, or is about to."""

    view: View
    ran: bool
    moment: float
    seen: bool = False

    def found(self, account: Account) -> bool:
        self.seen |= self.ran and shows_start_since(account, self.view.service.id, self.moment)
        return self.seen

    def wait(self, task: Task[WaitOptions]) -> None:
        """Wait until it was seen, as another restart would interrupt the service again, and it runs."""
        if self.ran and not self.seen and not poll_for(lambda: self.found(task.account)):
            raise WaitEnded(
                f"the restart of {self.view.label} was accepted, but within {QUIET_SECONDS:g} seconds "
                "nothing showed that it started: its state stayed running, and its uptime was not reset. "
                "Check the service before you restart it again",
                **read_diagnostics(task, self.view.service.id),
            )
        wait_for_state(task, self.view.service.id, RUNNING)


def restart(task: Task[WaitOptions], view: View) -> None:
    """Restart a container, once."""
    wait = task.options.wait
    ran = runs(settled_metrics(task, view.service.id, FRESH_SECONDS if wait else 0))
    again = Restarted(view, ran, time.monotonic())
    change = replace(signalling(view, "restart", again), tries=1, quiet=QUIET_SECONDS if ran else 0)
    apply(task, change, wait=wait)


def start_if_needed(task: Task[WaitOptions], view: View, changes: ServiceChanges) -> None:
    """Start a service that was just resumed, unless the platform started it with the current command."""
    id = view.service.id
    try:
        wait_for_known_state(task, view)
    except WaitEnded as error:
        price = price_change(task, changes.cost or cost_of(view.service, rates_of(view.service).full))
        raise WaitEnded(
            f"{view.label} is resumed, and {price}, but whether it runs is not known: the platform reported "
            f"no state within {task.options.wait_timeout:g} seconds. No start was sent. Try state: started "
            "again later, or end the cost with state: suspended",
            **error.details,
        ) from None
    now, metrics = View(task.account.existing_service(id)), task.account.metrics_of(id)
    if metrics is None or metrics.state not in UP or Pending.of(task, id).until_start():
        check_service_offers(now.service, "powerSignals", "cannot be told to start")
    send_signal(task, now, "start", RUNNING)


def wait_for_known_state(task: Task[WaitOptions], view: View) -> None:
    goal = f"a known state of {view.label}"
    await_container(task, view.service.id, lambda state: state in ContainerState.KNOWN, goal)
