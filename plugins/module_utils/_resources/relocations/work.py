# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts of a relocation, whichever way it goes: another module plans each in its turn."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

from ..._api.errors import HostedError
from ..._api.models import App, Service
from ..._api.values import ContainerState, ServiceStatus
from ..clones.content import await_database
from ..clones.source import Data
from ..fleets.health import Health
from ..services.view import read_state
from ..shared.identify import aliases_of, label
from ..shared.money import Commitment
from ..shared.plan import Effects, Expansion, Plan, Resource, Step, Task, plan_with
from ..shared.relocation_record import Phase, Relocation
from ..shared.runner import perform_step
from ..shared.task_errors import EffectUnverified, Invalid
from ..shared.time_zones import utc_text
from ..shared.waiting import QUIET_SECONDS, poll_for
from .dependents import Dependent, release_in_service
from .options import RelocateOptions
from .origin import Origin

VERBS = {"started": "start", "stopped": "stop"}


@dataclass(frozen=True)
class Modules:
    """The modules that know how to do each part."""

    service: Resource[Any]
    environment: Resource[Any]
    app_deploy: Resource[Any]
    files: Resource[Any]
    database: Resource[Any]


@dataclass
class Work:
    """A relocation on its way: what it is about, and the steps that it is made of."""

    task: Task[RelocateOptions]
    record: Relocation
    origin: Origin
    dependents: Sequence[Dependent]
    modules: Modules
    foreseen: str | None = None
    """What the first copy will do, if that is known already."""

    def __post_init__(self) -> None:
        """Find out before anything is begun whether what is to be deployed again can be.

        That keeps no service from coming back: on the way back, what probably cannot be deployed comes last.

        :raises Invalid: if something cannot be deployed, except on the way back.
        """
        if self.task.options.state == "returned":
            self.dependents = sorted(self.dependents, key=self.lacks_release)
            return
        try:
            for each in self.dependents:
                if each.deployable:
                    release_in_service(self.task, each)
        except Invalid as error:
            error.append(". Nothing was done")
            raise

    def lacks_release(self, dependent: Dependent) -> bool:
        """Tell whether the deploy of an application will probably fail, and warn of it."""
        if not dependent.deployable:
            return False
        try:
            release_in_service(self.task, dependent)
        except HostedError as error:
            self.task.warn(
                f"{dependent.label} is deployed last, because that will probably fail: {error.message}. "
                f"{self.origin.label} is brought back before that"
            )
            return True
        return False

    @property
    def old(self) -> Service:
        """The service that is relocated."""
        return self.origin.service

    @property
    def new_id(self) -> str:
        """The id of the service that the relocation made.

        :raises Invalid: if it is not known, so that nothing else is taken for it.
        """
        id = self.record.new_id
        if id is None or id == self.old.id:
            raise Invalid(
                f"which service the relocation of {self.origin.label} made is not known; nothing was done"
            )
        return id

    @property
    def new_name(self) -> str:
        """The name of the new service, for messages."""
        return f"service {self.record.new_name!r}"

    @property
    def names(self) -> set[str]:
        """What a reference to the service may name, before and after."""
        record, aliases = self.record, self.aliases()
        known = {aliases.get(id) for id in (self.old.id, record.new_id) if id}
        return {name for name in (*known, self.origin.alias, record.old_name, record.new_name) if name}

    def aliases(self) -> dict[str, str]:
        """Return the aliases of the services in the project, by id."""
        return aliases_of(self.task.account.graph(str(self.old.project_id)))

    # --- Steps ------------------------------------------------------------------------------------------

    def now(self) -> str:
        """Return the time by the platform, as records hold it."""
        return str(utc_text(self.task.client.clock.now()))

    def note(self, phase: Phase | None = None, facts: Callable[[], dict[str, Any]] = dict) -> Step:
        """Return the step that remembers how far the relocation is. ``facts`` is called in its turn."""
        summary = f"remember that the relocation is {phase}" if phase else "remember what is to be done"
        return Step(summary, lambda: self.record.write(phase, **facts()), changes=False)

    def plan_service(self, **given: Any) -> Plan:
        """Return the plan of module service with these options."""
        return plan_with(self.task, self.modules.service, given)

    def bring(self, id: str | None, name: str, state: str, **given: Any) -> Step:
        """Return the step that brings a service to a state; without an id, the new one."""
        return Expansion(
            f"{VERBS[state]} {name}",
            lambda: self.plan_service(id=id or self.new_id, state=state, **given).steps,
        )

    def start_again(self) -> list[Step]:
        """Return the steps that start the old service, though a stop may be under way that does not show yet.

        That of a run that was killed, or whose response was lost: the service seems to run, and then stops.
        """
        summary = f"look whether {self.origin.label} is about to stop"
        look = Step(
            summary, lambda: poll_for(lambda: self.old_state() != ContainerState.RUNNING), changes=False
        )
        return [look, self.bring(self.old.id, self.origin.label, "started")]

    def old_state(self) -> str | None:
        """Return what the container of the old service does now."""
        return read_state(self.task, self.old.id)

    def suspend(self, id: str | None, name: str) -> Step:
        """Return the step that suspends a service."""
        return Expansion(
            f"suspend {name}, and keep it",
            lambda: self.plan_service(id=id or self.new_id, state="suspended").steps,
            expects=[Commitment("suspension", name, None, id=id, name=name)],
        )

    def pair(self, back: bool) -> tuple[Service, str]:
        """Return the service to copy from, and the id of the one to copy to."""
        if back:
            return self.task.account.existing_service(self.new_id), self.old.id
        return self.old, self.new_id

    def copy_steps(self, summary: str, *, back: bool = False) -> list[Step]:
        """Return the steps that make what one service holds like what the other one does."""
        if self.origin.data is Data.NONE:
            return []
        return [Expansion(summary, lambda: self.plan_copy(*self.pair(back)).steps)]

    def plan_copy(self, source: Service, target: str | None) -> Plan:
        """Plan the copy of files, or the restore of a dump once the database to restore into answers.

        :raises Invalid: for a suspended service, whose files and rows the platform need not show. It would
            be left as it is, and switched to all the same.
        """
        options = self.task.options
        for each in (source, self.task.account.existing_service(target) if target else source):
            if each.status == ServiceStatus.SUSPENDED:
                raise Invalid(f"{label(each)} was suspended meanwhile. Resume it, and run this again")
        given: dict[str, Any] = {"source_id": source.id, "service": target}
        given["project_id"] = self.old.project_id
        if self.origin.data is Data.DATABASE:
            if target is not None:
                await_database(cast(Task[Any], self.task), target)
            given["public"] = self.origin.public if options.public is None else options.public
            return plan_with(self.task, self.modules.database, given, Effects())
        given |= {
            "source_name": source.name,
            "private_key_file": options.private_key_file,
            "delete": True,
            "checksum": options.checksum,
            "in_use": self.record.phase is Phase.ORDERED,
            **({"known_hosts": options.known_hosts} if options.known_hosts else {}),
        }
        return plan_with(self.task, self.modules.files, given, Effects())

    def compare_steps(self, *, back: bool = False) -> list[Step]:
        """Return the step that compares two databases again: nothing may write to the one that is left."""

        def compare() -> None:
            source, target = self.pair(back)
            if self.plan_copy(source, target).steps:
                raise EffectUnverified(
                    f"something else than the applications that refer to it writes to {label(source)} while "
                    "it is copied. Stop that, and run this again"
                )

        return [Step("compare both databases once more", compare, changes=False)]

    def healthy_step(self) -> Step:
        """Return the step that waits until the new service is healthy."""

        def wait() -> None:
            service = self.task.account.existing_service(self.new_id)
            Health(self.task, service, self.task.options.health_checks).wait()

        return Step(f"wait until {self.new_name} is healthy", wait, changes=False)

    def is_up(self, seconds: float = 0.0) -> bool:
        """Tell whether the old service was started after it was stopped for the copy.

        That stop was confirmed. An earlier start may show for a moment after it: ``seconds`` allow for that.
        """
        return not poll_for(lambda: self.old_state() not in ContainerState.UP, seconds)

    def still_stopped_step(self) -> Step:
        """Return the step that checks that nobody started the old service while it was copied."""

        def check() -> None:
            if self.is_up(QUIET_SECONDS):
                raise EffectUnverified(
                    f"{self.origin.label} was started again while it was copied, so {self.new_name} may lack "
                    "what was written to it since. Find out what starts it, and run this again"
                )

        return Step(f"check that {self.origin.label} is still stopped", check, changes=False)

    def not_used_steps(self) -> list[Step]:
        """Return the step that checks that nobody started the old service since the switch.

        There is none if the task gives up what was written to it.
        """
        if self.task.options.discard_newer:
            return []

        def check() -> None:
            if used := self.used_since(QUIET_SECONDS):
                raise Invalid(used)

        return [Step(f"check that {self.origin.label} was not started since", check, changes=False)]

    def used_since(self, seconds: float = 0.0) -> str | None:
        """Return what to do about an old service that was started since the switch; ``None`` if it was not.

        A suspended one is not in use, whatever its container shows: an earlier run may have done that.
        """
        if (
            not self.is_up(seconds)
            or self.task.account.existing_service(self.old.id).status == ServiceStatus.SUSPENDED
        ):
            return None
        how = " with hosted.services.sftp_sync" if self.origin.data is Data.FILES else ""
        return (
            f"{self.origin.label} was started since {self.new_name} took its place, so it may hold what was "
            f"written to it since and is nowhere else, and is not suspended. Copy what is missing to "
            f"{self.new_name}{how}, and set discard_newer: true to go on; copy_back would overwrite it"
        )

    # --- What refers to the service -----------------------------------------------------------------------

    def pause_steps(self) -> list[Step]:
        """Return the steps that stop what refers to a database, so that nothing writes to it meanwhile."""
        return [self.bring(each.app.id, each.label, "stopped") for each in self.dependents if each.deployable]

    def ran_until_now(self) -> list[str]:
        """Return the ids of the applications that run, or did until a run stopped them or the service."""
        ids = [each.app.id for each in self.dependents]
        running = [id for id in ids if read_state(self.task, id) in ContainerState.UP]
        return sorted({*self.started_before(), *running})

    def started_before(self) -> list[str]:
        """Return the ids of the applications that ran until a run stopped them.

        Once the service is relocated, those that refer to it no more are their owner's.
        """
        before = self.record.running
        if self.record.phase is not Phase.RELOCATED:
            return before
        return [each.app.id for each in self.dependents if each.app.id in before]

    def stopped_meanwhile(self) -> list[str]:
        """Return the ids of the applications that ran before the old service was stopped, and do not now.

        It is back, so the next run would take that for the choice of their owners.
        """
        running = self.record.running
        try:
            return [id for id in running if read_state(self.task, id) == ContainerState.STOPPED]
        except HostedError:
            return running

    def unpause(self, ids: Collection[str]) -> list[Step]:
        """Return the steps that start applications, except what is gone or was suspended since."""
        apps = [self.origin.apps.get(id) for id in ids]
        there = [app for app in apps if app is not None and app.status == ServiceStatus.ACTIVE]
        return [self.start_or_warn(app) for app in there]

    def unpause_others(self) -> list[Step]:
        """Return the steps that start what an earlier run stopped and the task leaves alone by now."""
        deployed = {each.app.id for each in self.dependents}
        return self.unpause([id for id in self.started_before() if id not in deployed])

    def start_or_warn(self, app: App) -> Step:
        """Return the step that starts an application, as far as it can run with what is there.

        One that cannot run would otherwise keep a relocation from its end for ever, and both services paid.
        """
        name = f"application {app.slug!r}"
        step = self.bring(app.id, name, "started", resume=False)

        def start() -> Sequence[Step]:
            try:
                perform_step(step, self.task, self.task.client)
            except HostedError as error:
                self.task.warn(
                    f"{name}, which stopped during the relocation, could not be started again: "
                    f"{error.message}. Start it with hosted.services.service once what it needs is there"
                )
            return []

        return replace(step, run=start)

    def dependent_steps(self, id: str | None, name: str) -> list[Step]:
        """Return the steps after which all references lead to a service; without an id, the new one."""
        steps: list[Step] = []
        for each in self.dependents:
            summary = f"replace the environment of {each.label}, so that it refers to {name}"
            steps.append(Expansion(summary, partial(self.environment_steps, each, id)))
            if each.deployable:
                condition = " if it is started by then" if self.stays_stopped(each) else ""
                deploy = f"deploy {each.label} again{condition}"
                steps.append(Expansion(deploy, partial(self.deploy_steps, each)))
            else:
                self.task.warn(
                    f"{each.label} is not in service, so its environment takes effect at its next deploy"
                )
        return steps

    def stays_stopped(self, dependent: Dependent) -> bool:
        """Tell whether an application was stopped while the old service was in service, and still is.

        One that stopped later may have done so because the service was away, so it is to run again.
        """
        id = dependent.app.id
        return id not in self.record.running and read_state(self.task, id) == ContainerState.STOPPED

    def environment_steps(self, dependent: Dependent, to: str | None) -> Sequence[Step]:
        """Return the steps that write the environment of one dependent, by default for the new service."""
        id = to or self.new_id
        alias = self.aliases().get(id)
        if alias is None:
            raise Invalid(f"service {id} has no alias in its project that {dependent.label} could refer to")
        given = dependent.environment(self.names, alias)
        return plan_with(self.task, self.modules.environment, given).steps

    def deploy_steps(self, dependent: Dependent) -> Sequence[Step]:
        """Return the steps that put one environment into effect; what was stopped for it is started."""
        if self.stays_stopped(dependent):  # a deploy starts it, and it may be one that must not run
            self.task.warn(
                f"{dependent.label} was stopped before the relocation, and is left stopped. Its environment "
                "takes effect when it is started or deployed"
            )
            return []
        app = self.task.account.app_if_any(dependent.slug)
        if app is not None and app.digest is not None:  # another image may have been deployed since
            dependent = replace(dependent, app=app)
        release = release_in_service(self.task, dependent)
        given = {"slug": dependent.slug, **release}
        found = plan_with(self.task, self.modules.app_deploy, given).steps
        if not found and dependent.app.id in self.record.running:
            return self.plan_service(id=dependent.app.id, state="started").steps
        return found

    # --- Back again -----------------------------------------------------------------------------------------

    def perform(self, steps: Iterable[Step]) -> None:
        """Do what steps say, outside of a plan."""
        for step in steps:
            perform_step(step, self.task, self.task.client)

    def rescue(self, error: HostedError) -> None:
        """Start the old service again, because the new one cannot take its place, and say so in the error."""
        record = self.record
        start = self.start_again() if record.ran else []
        try:
            self.perform(start)
            self.perform(self.unpause(self.stopped_meanwhile()))
            self.record.write(Phase.ORDERED, running=self.stopped_meanwhile())
        except HostedError as other:
            error.append(
                f". {self.origin.label} could not be brought back into service either: {other.message}. Run "
                "this with state: returned"
            )
            return
        with suppress(HostedError):  # nobody uses it, and the next run stops it as well
            self.perform([self.bring(None, self.new_name, "stopped")])
        state = "runs again" if record.ran else "is as it was"
        error.append(
            f". {self.origin.label} {state}, and nothing that refers to it was changed. {self.new_name} is "
            "billed and not in use: run this again to go on, or with state: returned to suspend it"
        )


def rescued(steps: Iterable[Step], rescue: Callable[[HostedError], object]) -> list[Step]:
    """Return steps after whose failure something is done about it, whichever of them fails."""

    def wrap(step: Step) -> Step:
        def run() -> Any:
            try:
                outcome = step.run()
            except HostedError as error:
                rescue(error)
                raise
            return [wrap(each) for each in outcome] if isinstance(step, Expansion) else outcome

        return replace(step, run=run)

    return [wrap(step) for step in steps]
