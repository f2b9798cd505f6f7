# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of a service, each of which stands once, in ``SETTINGS`` (Settings).

Whatever compares, plans, shows, writes, awaits or carries settings goes through that table, and names none.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import partial
from typing import Any, Literal, cast

from ..._api import routes as r
from ..._api.errors import AccessDenied, Refused
from ..._api.models import Dimensions, Project, Scale, Service, ServiceSummary
from ..._api.routes import Route
from ..._api.values import WITH_SETTINGS, ContainerState, ServiceStatus
from ..shared.account import Account
from ..shared.change import Change, Shown, Unseen, call_once
from ..shared.identify import read_aliases, warn_of_clashes
from ..shared.money import Commitment, CommitmentKind, Cost, format_amount, format_price, rate_from
from ..shared.options import WaitOptions
from ..shared.pending import NETWORK, Pending, write_recorded
from ..shared.plan import Step, Task
from ..shared.store import one_at_a_time, state_key
from ..shared.task_errors import Invalid, WaitEnded
from ..shared.waiting import QUIET_SECONDS, poll_for
from .options import MaxMonthlyOptions, ServiceOptions
from .view import (
    STATE_NEEDED,
    Rates,
    View,
    await_container,
    billed_rate,
    check_in_service,
    is_never_deployed,
    millicents_of,
    rates_of,
    rates_of_size,
    read_settings,
    read_state,
    runs,
    settled_metrics,
    shows_start_since,
)

AT_ONCE: Literal["at once"] = "at once"
NEXT_START: Literal["next start"] = "next start"
SETTLE_SECONDS = 60.0
"""For how long a container that starts, stops or has just started is waited for before a network change."""
NON_DISRUPTIVE_STATES = ("present", "started", "resumed")
"""The wanted states that leave alone what runs."""
NO_SETTINGS = (*ServiceStatus.NOT_CREATED, ServiceStatus.DELETING)
"""The statuses in which there is nothing to set."""


@dataclass
class ServiceChanges:
    """The steps of a task on one service, and their effect on the diff and the result."""

    steps: list[Step] = field(default_factory=list)
    before: dict[str, Any] = field(default_factory=dict)
    """The settings that the task names, as they are."""
    after: dict[str, Any] = field(default_factory=dict)
    result: dict[str, Any] = field(default_factory=dict)
    written: dict[str, Any] = field(default_factory=dict)
    """The settings that the steps write, by name, as the platform is to show them."""
    rates: Rates | None = None
    """What the service costs once all steps are done, when one of them moves money."""
    cost: Cost | None = None
    """What that does to the price, known when all steps are."""
    pending: set[str] = field(default_factory=set)
    """What is going to wait for a start from stop when all steps are done."""
    home: Project | None = None
    """The project that the service is to be in, if the task names one."""
    resumes: bool = False
    just_ordered: bool = False
    """Whether this very task has ordered the service, so that nothing is used yet."""

    def add(
        self, summary: str, run: Callable[[], Any], commitment: Commitment | None = None, **after: Any
    ) -> None:
        self.steps.append(Step(summary, run, commitment=commitment))
        self.after.update(after)


@dataclass(frozen=True, kw_only=True)
class Setting:
    """How one setting is read, compared, checked, priced, written, shown and carried to another service."""

    name: str
    """The option of module service; the key of a diff and of a blueprint."""
    label: str
    at: str
    """Where the platform shows it: in the full form of a service or, after ``settings.``, in its settings."""
    route: Route[Any]
    body: Callable[[Any], Mapping[str, Any]]
    send: Callable[[Task[Any], View, Change], object] = lambda task, view, change: call_once(task, change)
    """Makes the change, if there is more to it than the call."""
    shown_by: Callable[[str, Any], Shown] = lambda id, wanted: Unseen()
    """Returns what shows that a service has a value, where the call must not be repeated before."""
    section: str | None = None
    """The part of the settings that tells whether it can be changed."""
    effect: Literal["at once", "next start"] = AT_ONCE
    kind: str = ""
    """What the record of pending changes calls it; if not said, its name."""
    wanted: Callable[[Task[Any], View, ServiceChanges], Any] | None = None
    """Returns what the task asks for, as the platform would show it; if not said, its option."""
    check: Callable[[Task[Any], View, Any, ServiceChanges], None] | None = None
    """Refuses a change, before anything else is read for it."""
    effects: Callable[[Task[Any], View, Any, ServiceChanges], Commitment | None] | None = None
    """Warns of what a change does, and returns what it commits."""
    billed: bool = False
    told: Callable[[Task[Any], Any, ServiceChanges], Any] | None = None
    """Returns a value as a diff shows it, if otherwise."""
    say: Callable[[View, Any], str] | None = None
    ordered: bool = False
    """Whether the order says it. The others are set once the service is there."""
    carried: bool = True
    """Whether another service that is made like this one gets it."""
    original: str | None = None
    """Where the platform shows the value that it has if nobody sets it, which is not carried."""
    of_product: bool = False
    """Whether it means something for its product alone."""

    def shown(self, service: Any, settings: Any, at: str = "") -> Any:
        """Return its value, or what is ``at`` another place, in models or data; ``None`` for what is not."""
        first, *names = (at or self.at).split(".")
        found = settings if first == "settings" else service
        for name in names if first == "settings" else [first, *names]:
            found = found.get(name) if isinstance(found, Mapping) else getattr(found, name, None)
        return found.as_size() if isinstance(found, Dimensions) else found


# --- Reading and planning ---------------------------------------------------------------------------


def observe(task: Task[ServiceOptions], id: str, service: Service | None = None) -> View:
    """Read a service, unless that was just done, and whatever else the task's options need."""
    service, options = service or task.account.existing_service(id), task.options
    view = View(service, pending=Pending.of(task, id).until_start())
    if service.status == ServiceStatus.PROVISIONING:
        view.being_created = options.state != "present" or not is_never_deployed(task, service)
    # Those for another size are read where the size differs.
    asked = (each for each in SETTINGS if each.at.startswith("settings."))
    if service.status not in NO_SETTINGS and any(getattr(options, each.name) is not None for each in asked):
        view.settings = read_settings(task, service)
    if options.state in STATE_NEEDED.get(service.status, ()):
        metrics = task.account.metrics_of(id)
        view.state = metrics.state if metrics else None
        is_known = view.state in ContainerState.KNOWN
        view.state_unknown = service.status == ServiceStatus.ACTIVE and not is_known
    return view


def plan_settings(task: Task[ServiceOptions], view: View, changes: ServiceChanges) -> None:
    """Plan the settings that differ, in the order of the table."""
    if differing := differing_fact(task.options, view.service):
        raise immutable(view, differing, changes.just_ordered)
    for setting in SETTINGS:
        own = setting.wanted
        wanted = own(task, view, changes) if own else getattr(task.options, setting.name)
        if wanted is None:
            continue
        shown = setting.shown(view.service, view.settings)
        if shown is not None:
            changes.before[setting.name] = setting.told(task, shown, changes) if setting.told else shown
        if wanted != ("" if shown is None else shown):  # a command that is not shown is the original one
            plan_setting(task, view, setting, wanted, changes)


def plan_setting(
    task: Task[ServiceOptions], view: View, setting: Setting, wanted: Any, changes: ServiceChanges
) -> None:
    """Plan a change of one setting. If it waits for a start, that is remembered before it is written."""
    if setting.check:
        setting.check(task, view, wanted, changes)
    if setting.section:
        check_editable(task, view, setting, changes)
    commits = setting.effects(task, view, wanted, changes) if setting.effects else None
    if not setting.at.startswith("settings."):
        changes.result[setting.at] = wanted or None
    changes.written[setting.name] = wanted
    told = setting.told(task, wanted, changes) if setting.told else wanted
    said = setting.say(view, told) if setting.say else f"set the {setting.label} of {view.label}"
    id = view.service.id
    change = Change(
        what=f"the change to {said}",
        route=setting.route,
        ids={"id": id},
        body=setting.body(wanted),
        shown=setting.shown_by(id, wanted),
        commitment=commits,
    )
    send: Callable[[], object] = partial(setting.send, task, view, change)
    is_active = view.service.status == ServiceStatus.ACTIVE  # a stopped one takes it at its next start
    state = (view.state or read_state(task, id)) if is_active and setting.effect == NEXT_START else None
    if setting.effect == NEXT_START and state != ContainerState.STOPPED:
        kind = setting.kind or setting.name
        changes.pending.add(kind)
        send = partial(write_recorded, task, id, kind, send)
    changes.add(said, send, commits, **{setting.name: told})


def check_editable(task: Task[Any], view: View, setting: Setting, changes: ServiceChanges) -> None:
    """Check that a service has a setting, and that it can be changed; if not, tell the platform's reason."""
    view.settings = view.settings or read_settings(task, view.service)
    section = getattr(view.settings, setting.section or "", None)
    if section is None:
        raise Invalid(f"{view.label} does not offer a {setting.label}")
    if section.editable is False and not changes.resumes:  # a suspended one is locked until it is resumed
        reason = getattr(section, "locked_reason", None) or "no reason was given"
        raise Invalid(f"the {setting.label} of {view.label} is locked: {reason}")


def not_shown(view: View, changes: ServiceChanges) -> dict[str, Any]:
    """Return what was written and is shown otherwise, as a diff shows it. What is not shown says nothing."""
    wrong = {}
    for setting in SETTINGS:
        shown = setting.shown(view.service, view.settings)
        if shown is not None and shown != changes.written.get(setting.name, shown):
            wrong[setting.name] = changes.after[setting.name]
    return wrong


# --- Carrying ---------------------------------------------------------------------------------------


def carried(service: Any, settings: Any, *, other_product: bool = False) -> dict[str, Any]:
    """Return the settings that make another service like this one, by the options of module service."""
    found = {}
    for setting in SETTINGS:
        if not setting.carried or (other_product and setting.of_product):
            continue
        value = setting.shown(service, settings)
        original = setting.shown(service, settings, setting.original) if setting.original else None
        whole = not isinstance(value, Mapping) or None not in value.values()
        found[setting.name] = value if whole and value not in ("", original) else None
    return found


def later_settings(options: ServiceOptions) -> dict[str, Any]:
    """Return the settings that a task asks for and that no order says."""
    asked = {each.name: getattr(options, each.name) for each in SETTINGS if not each.ordered}
    return {name: value for name, value in asked.items() if value is not None}


# --- What no route can change -----------------------------------------------------------------------

IMMUTABLE: dict[str, Callable[[Any], list[str | None]]] = {
    "product": lambda service: [service.product.slug] if service.product else [],
    "runtime": lambda service: [service.runtime.id, service.runtime.slug] if service.runtime else [],
    "host": lambda service: [service.host.id, service.host.label] if service.host else [],
    "family": lambda service: [service.family],
}
"""The options that no route can change, with all names by which a service shows its value."""


def differing_fact(options: ServiceOptions, service: Service | ServiceSummary) -> tuple[str, str, str] | None:
    """Return the first fact of a service that a task wants otherwise: its name, and both values."""
    for name, values in IMMUTABLE.items():
        wanted, known = getattr(options, name), values(service)
        shown = next(filter(None, known), None)
        if wanted is not None and shown is not None and wanted not in known:
            return name, shown, wanted
    return None


def immutable(view: View, differing: tuple[str, str, str], just_ordered: bool = False) -> Invalid:
    """Return the error for a fact that differs."""
    name, actual, wanted = differing
    return Invalid(
        f"it has {name} {actual!r}, not {wanted!r}. Set {name} to {actual!r} in the task to keep it, "
        "or delete it by its id with state: absent"
        if just_ordered
        else f"{view.label} has {name} {actual!r}, not {wanted!r}; the platform cannot change it, "
        "and nothing was done. Correct the task, or order a new service"
    )


def commitment_of(
    view: View,
    kind: CommitmentKind,
    monthly: Decimal | None,
    before: Decimal | None = None,
    project: Project | None = None,
) -> Commitment:
    """Return what a step on an existing service does to the running rate."""
    service = view.service
    return Commitment(
        kind,
        view.label,
        monthly,
        id=service.id,
        name=service.name,
        project=(project.id if project else None) or service.project_id,
        project_name=project.name if project else None,
        before=before,
    )


def check_max_monthly(task: Task[MaxMonthlyOptions], monthly: Decimal | None, what: str) -> None:
    """Check a monthly price against ``max_monthly``."""
    most = task.options.max_monthly
    if most is None:
        return
    if monthly is None:
        raise Invalid(
            f"the price of {what} is not known, so max_monthly {format_price(task, most)} cannot be checked"
        )
    if monthly > most:
        raise Invalid(
            f"{what} would cost {format_price(task, monthly)} a month, over max_monthly "
            f"{format_price(task, most)}; "
            "nothing changed",
            monthly=format_amount(monthly),
            max_monthly=format_amount(most),
        )


# --- The size ---------------------------------------------------------------------------------------


def wanted_size(task: Task[Any], view: View, changes: ServiceChanges) -> dict[str, Any] | None:
    """Return the size that the task asks for, by its parts or by a preset; other parts stay as they are."""
    service, preset = view.service, task.options.preset
    if task.options.dimensions is not None:
        given = {name: value for name, value in vars(task.options.dimensions).items() if value is not None}
        return {**(service.dimensions or Dimensions()).as_size(), **given}
    if preset is None or changes.just_ordered:
        return None
    body = {
        "productSlug": service.product.slug if service.product else task.options.product,
        "hostId": service.host.id if service.host else task.options.host,
        "presetId": preset,
    }
    why = "the quote names no dimensions"
    try:
        size = task.client.quote(body={key: value for key, value in body.items() if value}).dimensions
        if size is not None:
            return size.as_size()
    except AccessDenied:
        raise
    except Refused as error:
        why = error.message
    raise Invalid(
        f"the size of preset {preset!r} for {view.label} is not known: {why}. Set dimensions instead, or "
        "neither to keep the size; nothing was changed"
    )


def size_of(service: Service) -> dict[str, Any]:
    return (service.dimensions or Dimensions()).as_size()


def check_resizable(task: Task[Any], view: View, wanted: Any, changes: ServiceChanges) -> None:
    """Refuse what the platform refuses to resize (Service status)."""
    service = view.service
    if service.pricing and service.pricing.is_free:
        raise Invalid(f"{view.label} is free, and a free service cannot be resized")
    if service.status == ServiceStatus.SUSPENDED and not changes.resumes:
        raise Invalid(f"{view.label} is suspended, and a suspended service cannot be resized; start it first")


def resizing(task: Task[Any], view: View, wanted: dict[str, Any], changes: ServiceChanges) -> Commitment:
    """Check a size against the bounds of the node, and return what it costs at the node's rates.

    Where these rates do not explain the present price, that may be a discount, which stays, or a price of
    earlier rates, which ends with a new size (Settings, rule 4). Then a smaller size may cost more.
    """
    scale = cast(Scale, view.settings and view.settings.scale)
    check_scale(view, scale, wanted)
    known, before = size_of(view.service), rates_of(view.service).full
    changes.rates = rates_of_size(view.service, scale, wanted)
    most = full = changes.rates.full
    check_max_monthly(task, full, f"the new size of {view.label}")
    shrinks = all(known[name] is not None and wanted[name] <= known[name] for name in known)
    if shrinks and full is None:
        rate = rate_from(millicents_of(scale, wanted))
        most = rate if rate is not None and before is not None and rate > before else None
    moved = changes.home if "project" in changes.written else None
    commits = commitment_of(view, "new size", most, before, moved)
    return replace(commits, shrinks=shrinks, is_ceiling=full is None)


def check_scale(view: View, scale: Scale, wanted: dict[str, Any]) -> None:
    """Check the rules of a resize: within the node's bounds, and no smaller disk (Settings, rule 4)."""
    unknown = sorted(name for name, value in wanted.items() if value is None)
    if unknown:
        raise Invalid(
            f"the platform does not show {', '.join(unknown)} of {view.label}; set it in dimensions"
        )
    if scale.storage_gb is not None and wanted["storage_gb"] < scale.storage_gb:
        raise Invalid(
            f"storage_gb {wanted['storage_gb']} is less than the {scale.storage_gb} GB of {view.label}; "
            "a disk cannot shrink"
        )
    bounds = {
        "cpu_cores": (scale.cpu_min, scale.cpu_max),
        "ram_gb": (scale.ram_min_gb, scale.ram_max_gb),
        "storage_gb": (scale.storage_min_gb, scale.storage_max_gb),
    }
    for name, (low, high) in bounds.items():
        if (low is not None and wanted[name] < low) or (high is not None and wanted[name] > high):
            raise Invalid(
                f"{name} {wanted[name]} is outside the bounds of the node of {view.label}: {low} to {high}"
            )


def set_scale(task: Task[Any], view: View, change: Change) -> None:
    """Set a size, unless another task or user has changed it since the plan."""
    id, planned = view.service.id, view.service.dimensions
    with one_at_a_time(f"size:{state_key(task.options.base_url, id)}", f"changing the size of {view.label}"):
        now = task.account.service(id)
        if now is not None and now.dimensions != planned:
            raise Invalid(
                f"the size of {view.label} was changed to {describe_size(size_of(now))} while this task ran, "
                "so this task did not change it. Run this again to start from that size"
            )
        call_once(task, change)


def describe_size(size: dict[str, Any]) -> str:
    return f"{size['cpu_cores']} vCPU, {size['ram_gb']} GB memory, {size['storage_gb']} GB disk"


def moving(task: Task[Any], view: View, wanted: str, changes: ServiceChanges) -> Commitment:
    """Warn of what a move to another project does: its network is another one, and the alias goes along."""
    service, project = view.service, cast(Project, changes.home)
    if service.family not in WITH_SETTINGS:
        task.warn(f"whether a {service.family} service can change its project is not documented")
    task.warn(f"{view.label} leaves its project: its neighbors there can no longer reach it")
    own = read_aliases(task.account, service.project_id).get(service.id)
    if own is not None:
        there = read_aliases(task.account, project.id)
        warn_of_clashes(task, {service.id: own}, there, f"project {project.name!r}")
    return commitment_of(view, "move", billed_rate(service), billed_rate(service), project)


def name_of_project(task: Task[Any], id: str, changes: ServiceChanges) -> str:
    home = changes.home
    return home.name if home and id == (home.id or "") else task.account.project_name(id) or id


# --- The network ------------------------------------------------------------------------------------


def recreating(task: Task[Any], view: View, wanted: bool, changes: ServiceChanges) -> None:
    task.warn(f"a network change recreates the container of {view.label}: if it runs, it is restarted")
    if task.options.state == "restarted":  # a restart does not read ports again, a start from stop does
        changes.pending.add(NETWORK)


@dataclass(frozen=True)
class IsPublic:
    """A service is open to the Internet, or is not."""

    id: str
    public: bool

    def found(self, account: Account) -> bool:
        network = account.settings(self.id).network
        return network is not None and network.is_public == self.public


def set_network(task: Task[Any], view: View, change: Change) -> None:
    """Open or close a service. The effect of a repeated change is unknown, so look before a retry.

    The specification says both that the change recreates the container and that it needs a start from stop
    (Settings, rule 3; Power). So it is pending until a start, unless a running one is seen to be recreated.
    """
    id, waits = view.service.id, task.options.wait and task.options.state != "restarted"
    first = settled_metrics(task, id, min(task.options.wait_timeout, SETTLE_SECONDS) if waits else 0)
    at = time.monotonic()

    def make() -> None:
        try:
            call_once(task, change)
        except Refused as error:
            if not change.shown.found(task.account):
                raise
            task.effects.wrote()
            task.warn(f"the platform made the change, but returned an error: {error.message}")

    if first is not None and first.state == ContainerState.STOPPED:
        make()
        return
    in_effect = write_recorded(task, id, NETWORK, make)
    seconds = QUIET_SECONDS if task.options.wait else 0
    if task.options.state == "restarted":
        return
    if not runs(first) or not poll_for(lambda: shows_start_since(task.account, id, at), seconds):
        task.warn(
            "the network change was accepted, but nothing showed that the container was recreated for it. "
            "The change takes effect at its next start; hosted.services.service with state: restarted stops "
            "and starts it"
        )
        return
    in_effect()
    if task.options.wait and task.options.state in NON_DISRUPTIVE_STATES:
        wait_for_recreation(task, view)


def wait_for_recreation(task: Task[WaitOptions], view: View) -> None:
    up = time.monotonic()

    def is_up(state: str | None) -> bool:
        nonlocal up
        if state != ContainerState.STOPPED:
            up = time.monotonic()
        elif time.monotonic() - up >= QUIET_SECONDS:
            check_in_service(task, view.service.id)
            raise WaitEnded(
                f"the network of {view.label} is changed, but its container was recreated for that and has "
                "not run since. Its log may show why; hosted.services.service with state: started starts it"
            )
        return state == ContainerState.RUNNING

    await_container(task, view.service.id, is_up, f"{view.label} to run again")


# --- The table --------------------------------------------------------------------------------------

SETTINGS = [
    Setting(
        name="project",
        label="project",
        at="project_id",
        wanted=lambda task, view, changes: changes.home and (changes.home.id or ""),
        effects=moving,
        say=lambda view, name: f"move {view.label} to project {name!r}",
        told=name_of_project,
        route=r.MOVE,
        body=lambda project: {"projectId": project},
        ordered=True,
        carried=False,
    ),
    Setting(
        name="dimensions",
        label="size",
        at="dimensions",
        section="scale",
        wanted=wanted_size,
        check=check_resizable,
        effects=resizing,
        billed=True,
        say=lambda view, wanted: (
            f"scale {view.label} from {describe_size(size_of(view.service))} to {describe_size(wanted)}"
        ),
        route=r.SCALE,
        body=lambda size: Dimensions(**size).as_size(as_body=True),
        send=set_scale,
        ordered=True,
    ),
    Setting(
        name="command",
        label="launch command",
        at="settings.deploy.command",
        section="deploy",
        effect=NEXT_START,
        say=lambda view, wanted: f"{'set the' if wanted else 'restore the original'} command of {view.label}",
        route=r.COMMAND,
        body=lambda command: {"command": command},
        original="settings.deploy.default_command",
        of_product=True,
    ),
    Setting(
        name="public",
        label="network setting",
        at="settings.network.is_public",
        section="network",
        kind=NETWORK,
        effects=recreating,
        say=lambda view, wanted: f"{'open' if wanted else 'close'} {view.label} to the Internet",
        route=r.NETWORK,
        body=lambda public: {"isPublic": public},
        shown_by=IsPublic,
        send=set_network,
    ),
]
"""All settings of a service, in the order in which they are written: the container is recreated last."""
