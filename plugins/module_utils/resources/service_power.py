# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Starting, stopping, suspending and resuming (Power, suspension, deletion; States and transitions)."""

from __future__ import annotations

from decimal import Decimal

from ..api.errors import OpenOutcome
from .money import Cost, from_millicents
from .plan import Task
from .problems import Invalid, OutcomeUnknown
from .service_settings import Changes, check_budget
from .service_view import (
    ACTIVE,
    SUSPENDED,
    View,
    observe,
    read_service,
    read_state,
    wait_for_state,
    wait_for_status,
)
from .waiting import act, wait_until

RUNNING, STOPPED, STARTING, STOPPING, INSTALLING = "running", "stopped", "starting", "stopping", "installing"
ON_ITS_WAY_UP = (STARTING, INSTALLING)
KNOWN = (RUNNING, STOPPED, STARTING, STOPPING, INSTALLING)
UNDER_WAY = {"start": ON_ITS_WAY_UP, "stop": (STOPPING,)}
"""The states that show that a signal has arrived. A kill goes to what is stopping, so that shows nothing."""


def resumes(task: Task, view: View) -> bool:
    """Whether the wished state begins with taking a suspended service back into service."""
    return view.service.status == SUSPENDED and task.options["state"] in ("started", "restarted")


def plan_resume(task: Task, view: View, changes: Changes) -> None:
    """Plan the way back from suspension, which comes before everything else and costs the full rate."""
    changes.cost = cost_of(view, "storage_monthly_millicents", "monthly_millicents")
    check_budget(task, changes.cost.after, f"{view.label}, resumed,")
    changes.result["status"] = ACTIVE
    changes.add(f"resume {view.label}", lambda: resume(task, view), status=ACTIVE)


def resume(task: Task, view: View) -> None:
    """Resume, and wait until the service is active: what follows needs it."""
    id = view.service.id
    act(
        task,
        lambda: task.client.resume(id),
        lambda: read_service(task, id).status != SUSPENDED,
        f"resume of {view.label}",
    )
    wait_for_status(task, id, ACTIVE)


def cost_of(view: View, before: str, after: str) -> Cost:
    """Return what it costs to go from one of a service's two rates to the other (Service, full form)."""

    def rate(name: str) -> Decimal | None:
        millicents = getattr(view.service.pricing, name, None)
        return None if millicents is None else from_millicents(millicents)

    return Cost(rate(before), rate(after))


def plan_power(task: Task, view: View, changes: Changes) -> None:
    """Plan what leads to the wished state."""
    wanted = task.options["state"]
    if wanted == "suspended":
        plan_suspension(task, view, changes)
    elif view.service.status == SUSPENDED:
        if wanted in ("started", "restarted"):
            changes.add(
                f"start {view.label} unless it runs by then",
                lambda: start_if_needed(task, view, "command" in changes.after),
                state=RUNNING,
            )
            changes.result["state"] = RUNNING
    elif wanted in ("started", "stopped", "restarted", "killed"):
        plan_signal(task, view, wanted, changes)


def plan_suspension(task: Task, view: View, changes: Changes) -> None:
    """Plan the suspension of an active service."""
    if view.service.status == SUSPENDED:
        return
    check_capability(view, "suspension", "suspended")
    changes.cost = changes.cost or cost_of(view, "monthly_millicents", "storage_monthly_millicents")
    changes.result["status"] = SUSPENDED
    changes.add(f"suspend {view.label}", lambda: suspend(task, view), status=SUSPENDED)


def suspend(task: Task, view: View) -> None:
    """Suspend, and wait for it where the user waits."""
    id = view.service.id
    act(
        task,
        lambda: task.client.suspend(id),
        lambda: read_service(task, id).status == SUSPENDED,
        f"suspension of {view.label}",
    )
    if task.options["wait"]:
        wait_for_status(task, id, SUSPENDED)


def plan_signal(task: Task, view: View, wanted: str, changes: Changes) -> None:
    """Plan the signal that leads from the container's state to the wished one, if one is needed."""
    if view.service.status != ACTIVE:
        raise Invalid(f"{view.label} has status {view.service.status}; only an ACTIVE one can be {wanted}")
    state = view.state
    if state is None or is_unknown(task, view):
        why = "its node cannot be reached" if state is None else f"its state is {state!r}"
        raise Invalid(f"whether {view.label} runs is unknown: {why}. Nothing was done", state=state)
    goal = RUNNING if wanted in ("started", "restarted") else STOPPED
    signal = signal_for(wanted, state, "command" in changes.after)
    if signal is None:
        if state != goal and task.options["wait"] and not task.check_mode:
            wait_for_state(task, view.service.id, goal)
            view.state = goal
        return
    check_capability(view, "powerSignals", signal)
    changes.result["state"] = goal
    changes.add(f"{signal} {view.label}", lambda: send_signal(task, view, signal, goal), state=goal)


def is_unknown(task: Task, view: View) -> bool:
    """Whether nobody can tell how a service gets into the wished state, as its own is not known."""
    signals = task.options["state"] in ("started", "stopped", "restarted", "killed")
    return signals and view.service.status == ACTIVE and view.state not in KNOWN


def signal_for(wanted: str, state: str, new_command: bool) -> str | None:
    """Return the signal to send, or ``None`` when the state is right or on its way.

    Only a start takes up a new command, as a restart keeps the container: so it is stopped and started.
    """
    if wanted == "started":
        return None if state == RUNNING or state in ON_ITS_WAY_UP else "start"
    if wanted == "restarted":
        return "start" if state == STOPPED else "stop and start" if new_command else "restart"
    if state == STOPPED or (state == STOPPING and wanted == "stopped"):
        return None
    return "kill" if wanted == "killed" else "stop"


def send_signal(task: Task, view: View, signal: str, goal: str) -> None:
    """Send a signal once the container can take it, and wait for what it leads to."""
    id = view.service.id
    if signal == "start" and read_state(task, id) == STOPPING:
        wait_for_state(task, id, STOPPED)
    if signal == "stop and start":
        send_signal(task, view, "stop", STOPPED)
        wait_for_state(task, id, STOPPED)
        signal = "start"
    if signal == "restart":
        restart(task, view)
    else:
        act(
            task,
            lambda: task.client.power(id, signal),
            lambda: read_state(task, id) in (goal, *UNDER_WAY.get(signal, ())),
            f"{signal} of {view.label}",
        )
    if task.options["wait"]:
        wait_for_state(task, id, goal)


def restart(task: Task, view: View) -> None:
    """Restart. When the answer is lost, the uptime tells whether it happened; it is not asked for twice."""
    id = view.service.id
    before = uptime(task, id)
    try:
        task.client.power(id, "restart")
    except OpenOutcome as error:
        after = uptime(task, id)
        if before is None or after is None or after >= before:
            raise OutcomeUnknown(
                f"whether {view.label} was restarted is unknown: {error.message}. Nothing was sent again"
            ) from error


def uptime(task: Task, id: str) -> int | None:
    """Return for how many seconds the container has run, if that is known."""
    metrics = task.client.metrics([id])[id]
    return None if metrics is None else metrics.uptime_seconds


def start_if_needed(task: Task, view: View, new_command: bool) -> None:
    """Start what was just resumed, unless the platform did: that was with the command from before."""
    wait_until_known(task, view)
    now = observe(task, view.service.id)
    if now.state in ON_ITS_WAY_UP:
        wait_for_state(task, view.service.id, RUNNING)
    signal = "start"
    if now.state in (RUNNING, *ON_ITS_WAY_UP):
        if not new_command:
            return
        signal = "stop and start"
    check_capability(now, "powerSignals", signal)
    send_signal(task, now, signal, RUNNING)


def wait_until_known(task: Task, view: View) -> None:
    """Wait until the node tells of a container how it is."""
    wait_until(
        task,
        lambda: read_state(task, view.service.id),
        lambda state: state in KNOWN,
        lambda state: f"the container's state is {state or 'unknown: its node cannot be reached'}",
        f"a known state of {view.label}",
    )


def check_capability(view: View, capability: str, what: str) -> None:
    """Refuse what the service does not offer now (Capabilities)."""
    offered = view.service.capabilities
    if offered is not None and capability not in offered:
        raise Invalid(
            f"{view.label} cannot be {PARTICIPLES.get(what, what)}: it does not offer {capability!r} "
            f"while its status is {view.service.status}. It offers: {', '.join(offered) or 'nothing'}",
            capabilities=offered,
        )


PARTICIPLES = {"start": "started", "stop": "stopped", "restart": "restarted", "kill": "killed"}
