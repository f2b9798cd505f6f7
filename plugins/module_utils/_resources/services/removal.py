# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Deletes services, and refuses if that would destroy backups or snapshots without consent."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from ..._api import routes as r
from ..._api.errors import HostedError, Refused
from ..._api.models import Backup, Project, Service, Snapshot
from ..._api.values import WITH_SETTINGS, BackupStatus, Family, ServiceStatus
from ..shared import journal
from ..shared.account import Account
from ..shared.change import BILLED_SECONDS, Change, Gone, apply, await_removal
from ..shared.identify import existing, label, with_name
from ..shared.money import Commitment
from ..shared.names import same_name
from ..shared.options import WaitOptions
from ..shared.plan import Plan, Step, Task
from ..shared.restore_points import BACKUPS, SNAPSHOTS, was_complete
from ..shared.secrets_file import ORDERED
from ..shared.store import Kind, records_folder
from ..shared.task_errors import Invalid
from ..shared.waiting import wait_until
from .options import ServiceOptions
from .order import warn_of_slip
from .settings import commitment_of, differing_fact, immutable
from .view import View, billed_rate, cost_of, is_never_deployed

NAMED_COPIES = 5
"""How many copies a refusal names."""


def own_copies_folder(state_dir: str | None) -> str:
    """Return the collection's own folder for last copies. The first copy makes it, with those above it."""
    return records_folder("last_copies", state_dir)


@dataclass(frozen=True)
class Kept:
    """What is kept of a service that is deleted: the step that keeps it, and what a diff shows of it."""

    step: Step
    after: Mapping[str, Any]


def plan_removal(
    task: Task[ServiceOptions],
    id: str | None,
    home: Project | None,
    keep: Callable[[Task[ServiceOptions], View], Kept | None],
) -> Plan:
    """Plan the deletion of a service, after checking for backups and snapshots.

    ``home`` is the project that the task names. ``keep`` plans what is kept of the service; unless that step
    is done, nothing is deleted.
    """
    service = task.account.service(id) if id else None
    if service is None or service.status == ServiceStatus.DELETED:
        warn_of_billed(task)
        return Plan(result=None, steps=[expected_removal(task, home)] if task.check_mode else [])
    view = View(service)
    if differing := differing_fact(task.options, service):
        raise immutable(view, differing)
    if service.status == ServiceStatus.DELETING:
        gone = Step(f"wait until {view.label} is gone", lambda: wait_until_gone(task, view), changes=False)
        return Plan(result=None, steps=[gone] if task.options.wait and not task.check_mode else [])
    kept = plan_to_keep(task, view, keep)
    first = [kept.step] if kept else []
    delete = Step(
        f"delete {view.label} with its disk, its backups and its snapshots",
        lambda: delete_service(task, view, kept),
        needs=first or None,  # without a copy, what precedes it in a larger plan
        commitment=commitment_of(view, "deletion", Decimal(0), billed_rate(service)),
    )
    project = home.name if home and not task.composition.part else None
    return Plan(
        result=None,
        steps=[*first, delete],
        before={**view.facts(), **({"project": project} if project else {})},
        after=kept.after if kept else {},
        cost=replace(cost_of(service, Decimal(0)), project=project),
        subject=service.name,
    )


def plan_to_keep(
    task: Task[ServiceOptions], view: View, keep: Callable[[Task[ServiceOptions], View], Kept | None]
) -> Kept | None:
    """Return the plan for what is kept of a service, if nothing else of it would be lost unasked."""
    status = view.service.status
    if task.options.keep_copy is not None and status != ServiceStatus.ACTIVE:
        way = IN_STATUS.get(status, f"run this again once it is {ServiceStatus.ACTIVE}")
        why = f"its status is {status}, and only an {ServiceStatus.ACTIVE} one shows all that it has"
        raise uncopyable(view, why, way)
    if not task.options.delete_backups:
        check_copies(task, view)
    if task.check_mode and is_marked_undeletable(task, view.service):
        task.warn(f"the settings of {view.label} say deletable: false; the platform may refuse to delete it")
    return keep(task, view) if task.options.keep_copy is not None else None


def expected_removal(task: Task[ServiceOptions], project: Project | None) -> Step:
    """Return what check mode plans for a service that is not there: an earlier task may have ordered it."""
    name = task.options.name or ""
    what = f"service {name!r}"
    commitment = Commitment(
        "deletion",
        what,
        Decimal(0),
        name=name,
        project=project.id if project else None,
        project_name=project.name if project else task.options.project,
    )
    return Step(f"forget {what}", lambda: None, changes=False, commitment=commitment)


def warn_of_billed(task: Task[ServiceOptions]) -> None:
    """Warn of what the selection may stand for if it selects nothing to delete: that is still billed."""
    id, name = task.options.id, task.options.name or ""
    services = existing(task.account.services())
    ordered = set[str]()
    with suppress(Invalid):  # it is only told of
        ordered |= {each.id for each in journal.opened(task.options.base_url, f"{ORDERED}:{name}").values()}
    for other in services:
        if other.name == id or other.id == name:
            what = f"{id!r} is its name, not its id" if id else f"{name!r} is its id, not its name"
            task.warn(f"nothing was deleted, but {label(other)} exists: {what}")
        elif other.id in ordered and not same_name(other.name, name):
            task.warn(
                f"there is no service named {name!r} here, but {label(other)}, which was ordered as that, "
                "exists and was left alone. To delete it, give its id alone"
            )
    if not id and task.check_mode:
        warn_of_slip(task, services)


# --- What would go with it --------------------------------------------------------------------------


def check_copies(task: Task, view: View) -> None:
    """Check that a service has no backups or snapshots, and that none may be hidden."""
    account, id = task.account, view.service.id
    kinds = {
        BACKUPS: copy_names(task, view.service, BACKUPS, lambda: account.backups(id)),
        SNAPSHOTS: copy_names(task, view.service, SNAPSHOTS, lambda: account.snapshots(id)),
    }
    found = {kind: names for kind, names in kinds.items() if names}
    unknown = [kind for kind, names in kinds.items() if names is None]
    if found:
        told = " and ".join(
            f"{len(names)} {kind if len(names) > 1 else kind.removesuffix('s')} "
            f"({', '.join(names[:NAMED_COPIES])}{', …' if len(names) > NAMED_COPIES else ''})"
            for kind, names in found.items()
        )
        raise Invalid(
            f"{view.label} has {told}, which would be destroyed with it. Nothing was deleted. To delete them "
            "too, set delete_backups: true",
            **found,
        )
    if unknown:
        # A larger task may need it to stay as it is.
        again = "S" if task.composition.part else f"Run this again once it is {ServiceStatus.ACTIVE}, or s"
        raise Invalid(
            f"{view.label} may have {' and '.join(unknown)}, but they cannot be listed while its status is "
            f"{view.service.status}. Nothing was deleted. {again}et delete_backups: true to delete it with "
            "whatever it has",
            unknown=unknown,
        )


def copy_names(
    task: Task, service: Service, kind: str, read: Callable[[], Sequence[Backup | Snapshot]]
) -> list[str] | None:
    """Return the names of a service's copies of one kind; ``None`` if it is unknown whether there are any.

    An ACTIVE service without the capability has no copies. In other statuses the capabilities may leave out
    what returns later (Capabilities), so this reads the list; if the platform refuses, copies may exist,
    unless the service never could have any: it never came to be, or offers none. A FAILED backup is no copy
    if its making failed; one in any other status is, or may become one.
    """
    is_active = service.status == ServiceStatus.ACTIVE
    offered: Collection[str] | None = service.capabilities
    if is_active and offered is not None and kind not in offered:
        return []
    try:
        copies = read()
    except Refused:
        if service.status == ServiceStatus.FAILED or is_never_deployed(task, service):
            return []
        offered = None if is_active else offered_when_active(task, service)
        return [] if offered is not None and kind not in offered else None
    return [
        copy.name
        for copy in copies
        if isinstance(copy, Snapshot) or copy.status != BackupStatus.FAILED or was_complete(copy)
    ]


IN_STATUS = {
    ServiceStatus.SUSPENDED: "resume it first (state: resumed)",
    ServiceStatus.FAILED: "it never came to be, so there is nothing to copy: delete it without a copy",
    ServiceStatus.PROVISIONING: "run this again once it is ACTIVE",
    ServiceStatus.AWAITING_ADMIN: "run this again once the platform's operators are done and it is ACTIVE",
}
"""What to do about a service that cannot be copied now, by status."""


def uncopyable(view: View, why: str, way: str) -> Invalid:
    """Return the error for a service that cannot be copied."""
    last = "" if "without a copy" in way else ", then delete it without a copy"
    if way.startswith(("run this again once", "resume")):
        last = ", or delete it without a copy"
    return Invalid(f"keep_copy cannot copy {view.label}: {why}. Nothing was deleted. To go on, {way}{last}")


# --- What it offers while it is ACTIVE: in other statuses it may show less (Capabilities) -------------


@dataclass(frozen=True)
class Offers:
    """What a service offered when it was last ACTIVE, if that is known."""

    capabilities: Sequence[str] | None = None


OFFERS = Kind("offers", Offers, "what a service offers", hint=True)


def remember_offers(task: Task, service: Service) -> None:
    with suppress(Invalid):
        OFFERS.of(task.options.base_url, service.id).write(Offers(service.capabilities))


def offered_when_active(task: Task, service: Service) -> Collection[str] | None:
    """Return what a service offered when it was last ACTIVE, or what another one of its product offers."""
    kept = OFFERS.of(task.options.base_url, service.id).read().capabilities
    if kept is not None:
        return kept
    slug = service.product.slug if service.product else None
    for other in task.account.services() if slug else ():
        if other.status == ServiceStatus.ACTIVE and other.product and other.product.slug == slug:
            active = task.account.service(other.id)
            return active.capabilities if active and active.status == ServiceStatus.ACTIVE else None
    return None


# --- The deletion -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Staying:
    """A service is there and not being deleted."""

    id: str

    def found(self, account: Account) -> bool:
        return account.stays(self.id)


def delete_service(task: Task[ServiceOptions], view: View, kept: Kept | None) -> None:
    """Delete a service. The platform decides whether it may be deleted; it documents no rule.

    What is noted of its order goes by its name, so that stays while another service has that name, and while
    an order may still come about.
    """
    id, name, place = view.service.id, view.service.name, task.options.base_url
    # A last copy may take hours, and some backups may be new by then.
    now = task.account.staying(id) if kept and not task.options.delete_backups else None
    if now is not None:
        check_copies(task, View(now))
    delete = Change(what=view.label, route=r.SERVICE_DELETE, ids={"id": id}, shown=Gone(Staying(id)))
    try:
        apply(task, delete, wait=False)
    except Refused as error:
        if is_marked_undeletable(task, view.service):
            error.append(f". The settings of {view.label} say deletable: false")
        raise
    if task.options.wait:
        wait_until_gone(task, view)
    with suppress(HostedError):  # the deletion is done, so a list that cannot be read is no reason to fail
        noted = journal.opened(place, f"{ORDERED}:{name}")
        others = with_name(existing(task.account.services()), name, None) if noted else ()
        if noted and all(other.id == id for other in others):
            journal.close(place, f"{ORDERED}:{name}", age=BILLED_SECONDS)
    with suppress(OSError):
        OFFERS.of(place, id).remove()


def is_marked_undeletable(task: Task, service: Service) -> bool:
    """Tell whether the settings say that a service is not deletable; false if they cannot be read."""
    if service.family not in WITH_SETTINGS:
        return False
    try:
        return task.account.settings(service.id).deletable is False
    except HostedError:
        return False


def wait_until_gone(task: Task[WaitOptions], view: View) -> None:
    """Wait until a service is deleted.

    The list of applications may be late to lose one. Until then, hosted.services.app would take it for one
    that is there. The list may have databases as well.
    """
    id = view.service.id
    wait_until(
        task,
        lambda: task.account.service(id),
        lambda service: service is None or service.status == ServiceStatus.DELETED,
        lambda service: f"its status is {service.status}" if service else "it is gone",
        "its deletion",
    )
    if view.service.family == Family.APP:
        await_removal(task, lambda: id in {app.id for app in existing(task.account.apps())}, view.label)
