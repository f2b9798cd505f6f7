# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A relocation on its way: the old service, what surrounds it, and the steps that all ways are made of."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

from ..._api.errors import HostedError
from ..._api.models import App, ProjectGraph, Service, Settings
from ..._api.values import ContainerState, ServiceStatus
from ..clones.content import await_database
from ..clones.rules import all_redirected
from ..clones.source import Data, data_of
from ..fleets.health import Health, HealthyOptions, ProbeOptions
from ..services.on_service import OneServiceOptions
from ..services.options import CommitmentOptions, OrderOptions
from ..services.view import read_settings, read_state
from ..shared.identify import aliases_of, label
from ..shared.money import Commitment
from ..shared.options import FilePath, StateDirOptions, option, required
from ..shared.plan import Effects, Expansion, Plan, Resource, Step, Task, plan_with
from ..shared.relocation_record import Phase, Relocation
from ..shared.runner import perform_step
from ..shared.secrets_file import SecretsOptions
from ..shared.task_errors import EffectUnverified, Invalid
from ..shared.time_zones import utc_text
from ..shared.waiting import QUIET_SECONDS, poll_for

Modules = Mapping[str, Resource[Any]]
"""By name, what knows how to do each part."""
VERBS = {"started": "start {}", "stopped": "stop {}", "suspended": "suspend {}, and keep it"}


@dataclass(frozen=True, kw_only=True)
class RelocateOptions(
    OneServiceOptions, OrderOptions, CommitmentOptions, HealthyOptions, StateDirOptions, SecretsOptions
):
    service: str = required(selects=True)
    new_project: str | None = option(None, selects=True)
    state: Literal["relocated", "returned", "finished"] = "relocated"
    name: str | None = option(None, selects=True)
    public: bool | None = None
    environments: dict[str, Any] | None = None
    secret_environments: dict[str, Any] | None = option(None, no_log=False, secret=True)
    without_dependents: list[str] = option([])
    without_data: bool = False
    existing: Literal["refuse", "adopt"] = "refuse"
    overwrite: bool = False
    copy_back: bool = False
    keep_days: int | None = None
    delete_backups: bool = False
    discard_newer: bool = False
    health_checks: list[ProbeOptions] = option([])
    checksum: bool = False
    private_key_file: FilePath | None = option(None, no_log=False, reads_file=True)
    known_hosts: FilePath | None = None


@dataclass(frozen=True)
class Dependent:
    app: App
    referring: Collection[str]
    plain: Mapping[str, Any] = field(default_factory=dict)
    secret: Mapping[str, Any] = field(default_factory=dict)

    @property
    def slug(self) -> str:
        return str(self.app.slug)

    @property
    def label(self) -> str:
        return f"application {self.slug!r}"

    @property
    def deployable(self) -> bool:
        return bool(self.app.digest) and self.app.status == ServiceStatus.ACTIVE


@dataclass
class Work:
    modules: Modules
    task: Task[RelocateOptions]
    record: Relocation
    old: Service
    settings: Settings | None
    graph: ProjectGraph
    apps: Mapping[str, App]
    data: Data
    running: bool
    dependents: Sequence[Dependent] = ()
    foreseen: str | None = None
    """What the first copy will do, if that is known already."""

    @classmethod
    def of(cls, modules: Modules, task: Task[RelocateOptions], record: Relocation) -> Work:
        account, id, data = task.account, record.old_id, Data.NONE
        service, apps = account.existing_service(id), account.apps_by_id()
        if id in apps:
            raise Invalid(
                f"{label(service)} is an application that is made from an image: its slug names its "
                "repository, so another one has another slug. Nothing was done. Order that with "
                "hosted.services.app, host and all, deploy the same image there, and delete this one"
            )
        if not task.options.without_data:
            known = record.data
            data = Data(known) if known else data_of(account, {"id": id, "name": service.name}, apps)
        graph, running = account.graph(str(service.project_id)), read_state(task, id) in ContainerState.UP
        settings = read_settings(task, service)
        return cls(modules, task, record, service, settings, graph, apps, data, running)

    @property
    def label(self) -> str:
        return label(self.old)

    @property
    def new_name(self) -> str:
        return f"service {self.record.new_name!r}"

    @property
    def new_id(self) -> str:
        id = self.record.new_id
        if id is None or id == self.old.id:
            raise Invalid(f"which service the relocation of {self.label} made is not known; nothing was done")
        return id

    @property
    def names(self) -> set[str]:
        record, aliases = self.record, aliases_of(self.graph)
        known = (aliases.get(self.old.id), aliases.get(record.new_id or ""), record.old_name, record.new_name)
        return {name for name in known if name}

    def now(self) -> str:
        return str(utc_text(self.task.client.clock.now()))

    # --- Steps ------------------------------------------------------------------------------------------

    def note(self, phase: Phase | None = None, facts: Callable[[], dict[str, Any]] = dict) -> Step:
        """Return the step that remembers how far the relocation is. ``facts`` is called in its turn."""
        summary = f"remember that the relocation is {phase}" if phase else "remember what is to be done"
        return Step(summary, lambda: self.record.write(phase, **facts()), changes=False)

    def plan(self, module: str, given: Mapping[str, Any], effects: Effects | None = None) -> Plan:
        return plan_with(self.task, self.modules[module], given, effects)

    def bring(self, id: str | None, name: str, state: str, **given: Any) -> Step:
        """Return the step that brings a service to a state; without an id, the new one."""
        expects = Commitment("suspension", name, None, id=id, name=name)
        return Expansion(
            VERBS[state].format(name),
            lambda: self.plan("service", {"id": id or self.new_id, "state": state, **given}).steps,
            expects=[expects] if state == "suspended" else [],
        )

    def bring_old(self, state: str) -> Step:
        return self.bring(self.old.id, self.label, state)

    def start_again(self) -> list[Step]:
        """Return the steps that start the old service, though a stop may be under way that shows later."""

        def look() -> None:
            poll_for(lambda: read_state(self.task, self.old.id) != ContainerState.RUNNING)

        summary = f"look whether {self.label} is about to stop"
        return [Step(summary, look, changes=False), self.bring_old("started")]

    # --- What is copied -----------------------------------------------------------------------------------

    def plan_copy(self, source: Service, target: str | None) -> Plan:
        """Plan the copy of files, or the restore of a dump once the database to restore into answers."""
        options = self.task.options  # a suspended one would be left as it is, and switched to all the same
        for each in (source, self.task.account.existing_service(target) if target else source):
            if each.status == ServiceStatus.SUSPENDED:
                raise Invalid(f"{label(each)} was suspended meanwhile. Resume it, and run this again")
        given: dict[str, Any] = {"source_id": source.id, "service": target}
        given["project_id"] = self.old.project_id
        if self.data is Data.DATABASE:
            await_database(self.task, target)
            network = self.settings.network if self.settings else None
            shown = network.is_public if network else None
            given["public"] = shown if options.public is None else options.public
            return self.plan("database", given, Effects())
        given |= {
            "source_name": source.name,
            "private_key_file": options.private_key_file,
            "delete": True,
            "checksum": options.checksum,
            "in_use": self.record.phase is Phase.ORDERED,
            **({"known_hosts": options.known_hosts} if options.known_hosts else {}),
        }
        return self.plan("files", given, Effects())

    def copy_steps(self, summary: str, *, back: bool = False, compared: bool = False) -> list[Step]:
        def plan() -> Plan:
            source = self.task.account.existing_service(self.new_id) if back else self.old
            return self.plan_copy(source, self.old.id if back else self.new_id)

        def compare() -> None:
            if plan().steps:
                writer = "something else than the applications that refer to it writes to"
                named = self.new_name if back else self.label
                raise EffectUnverified(f"{writer} {named} while it is copied. Stop that, and run this again")

        copy = Expansion(summary, lambda: plan().steps)
        again = Step("compare both once more", compare, changes=False)
        return [] if self.data is Data.NONE else [copy, again] if compared else [copy]

    # --- Who uses what ------------------------------------------------------------------------------------

    def healthy_step(self) -> Step:
        def wait() -> None:
            service = self.task.account.existing_service(self.new_id)
            Health(self.task, service, self.task.options.health_checks).wait()

        return Step(f"wait until {self.new_name} is healthy", wait, changes=False)

    def is_up(self, seconds: float = 0.0) -> bool:
        """Tell whether the old service was started again. ``seconds`` allow for a stop that shows late."""
        return not poll_for(lambda: read_state(self.task, self.old.id) not in ContainerState.UP, seconds)

    def used_since(self, seconds: float = 0.0) -> str | None:
        """Return what to do if the old service was started since the switch; ``None`` if it was not."""
        account, id = self.task.account, self.old.id
        if not self.is_up(seconds) or account.existing_service(id).status == ServiceStatus.SUSPENDED:
            return None
        how = " with hosted.services.sftp_sync" if self.data is Data.FILES else ""
        return (
            f"{self.label} was started since {self.new_name} took its place, so it may hold what is nowhere "
            f"else, and is not suspended. Copy what is missing to {self.new_name}{how}, and set "
            "discard_newer: true to go on; copy_back would overwrite it"
        )

    def still_stopped_step(self, *, switched: bool = False) -> Step:
        def check() -> None:
            if switched and (used := self.used_since(QUIET_SECONDS)):
                raise Invalid(used)
            if not switched and self.is_up(QUIET_SECONDS):
                raise EffectUnverified(
                    f"{self.label} was started again while it was copied, so {self.new_name} may lack what "
                    "was written to it since. Find out what starts it, and run this again"
                )

        return Step(f"check that {self.label} is still stopped", check, changes=False)

    # --- What refers to the service -----------------------------------------------------------------------

    def pause_steps(self) -> list[Step]:
        return [self.bring(each.app.id, each.label, "stopped") for each in self.dependents if each.deployable]

    def ran_until_now(self) -> dict[str, Any]:
        """Return the fact which applications run, or did until a run stopped them or the service."""
        ids = [each.app.id for each in self.dependents]
        running = [id for id in ids if read_state(self.task, id) in ContainerState.UP]
        return {"running": sorted({*self.started_before(), *running})}

    def started_before(self) -> list[str]:
        """Return the applications that ran until a run stopped them.

        Once the service is relocated, those that refer to it no more are their owner's.
        """
        relocated = self.record.phase is Phase.RELOCATED
        return self.dependents_that_ran() if relocated else self.record.running

    def dependents_that_ran(self) -> list[str]:
        return [each.app.id for each in self.dependents if each.app.id in self.record.running]

    def unpause(self, *, others: bool = False) -> list[Step]:
        """Return the steps that start what a run stopped, except what is gone or was suspended since."""
        # Others are those that the task leaves alone by now: no deploy starts them.
        deployed = {each.app.id for each in self.dependents} if others else ()
        apps = [self.apps.get(id) for id in self.started_before() if id not in deployed]
        return [self.start_or_warn(app) for app in apps if app and app.status == ServiceStatus.ACTIVE]

    def start_or_warn(self, app: App) -> Step:
        """Return the step that starts an application. One that cannot run keeps nothing from its end."""
        name = f"application {app.slug!r}"
        step = self.bring(app.id, name, "started", resume=False)

        def start() -> Sequence[Step]:
            try:
                self.perform([step])
            except HostedError as error:
                self.task.warn(
                    f"{name}, which stopped during the relocation, could not be started again: "
                    f"{error.message}. Start it with hosted.services.service once what it needs is there"
                )
            return []

        return replace(step, run=start)

    def dependent_steps(self, id: str | None, name: str) -> list[Step]:
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
        """Tell whether its owner stopped an application, before the old service was stopped."""
        id = dependent.app.id
        return id not in self.record.running and read_state(self.task, id) == ContainerState.STOPPED

    def environment_steps(self, dependent: Dependent, to: str | None) -> Sequence[Step]:
        id, slug = to or self.new_id, dependent.slug
        alias = aliases_of(self.task.account.graph(str(self.old.project_id))).get(id)
        if alias is None:
            raise Invalid(f"service {id} has no alias in its project that {dependent.label} could refer to")
        aliases = dict.fromkeys(self.names, alias)
        plain, secret = (all_redirected(part, aliases) for part in (dependent.plain, dependent.secret))
        given = {"slug": slug, "variables": plain or None, "secret_variables": secret or None}
        return self.plan("environment", given).steps

    def deploy_steps(self, dependent: Dependent) -> Sequence[Step]:
        if self.stays_stopped(dependent):  # a deploy starts it, and it may be one that must not run
            self.task.warn(
                f"{dependent.label} was stopped before the relocation, and is left stopped. Its environment "
                "takes effect when it is started or deployed"
            )
            return []
        app = self.task.account.app_if_any(dependent.slug)
        if app is not None and app.digest is not None:  # another image may have been deployed since
            dependent = replace(dependent, app=app)
        found = self.plan("app_deploy", {"slug": dependent.slug, **self.release_of(dependent)}).steps
        if not found and dependent.app.id in self.record.running:
            return self.plan("service", {"id": dependent.app.id, "state": "started"}).steps
        return found

    def release_of(self, dependent: Dependent) -> dict[str, str]:
        """Return the tag by which the image that an application runs is deployed again, with its digest."""
        digest = str(dependent.app.digest)
        source = self.task.account.settings(dependent.app.id).source
        declared = self.task.account.releases(dependent.slug)
        tags = [tag for tag, release in declared.items() if release.digest == digest]
        if tags:
            return {"tag": source.tag if source and source.tag in tags else tags[0], "digest": digest}
        raise Invalid(
            f"the platform shows no tag of the image that {dependent.label} runs, {digest}, so it could not "
            f"be deployed with its new environment. Declare it with hosted.services.app_release under a tag "
            "of its own, or list it in without_dependents"
        )

    # --- What fails -----------------------------------------------------------------------------------------

    def perform(self, steps: Iterable[Step]) -> None:
        for step in steps:
            perform_step(step, self.task, self.task.client)

    def rescue(self, error: HostedError) -> None:
        """Start the old service again, because the new one cannot take its place, and say so in the error."""
        record = self.record
        try:
            self.perform(self.start_again() if record.ran else [])
            self.perform(self.unpause())
            still = record.running
            with suppress(HostedError):
                still = [id for id in still if read_state(self.task, id) == ContainerState.STOPPED]
            record.write(Phase.ORDERED, running=still)
        except HostedError as other:
            error.append(
                f". {self.label} could not be brought back into service either: {other.message}. Run "
                "this with state: returned"
            )
            return
        with suppress(HostedError):  # nobody uses it, and the next run stops it as well
            self.perform([self.bring(None, self.new_name, "stopped")])
        state = "runs again" if record.ran else "is as it was"
        error.append(
            f". {self.label} {state}, and nothing that refers to it was changed. {self.new_name} is "
            "billed and not in use: run this again to go on, or with state: returned to suspend it"
        )
