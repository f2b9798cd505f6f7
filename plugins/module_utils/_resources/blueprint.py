# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Blueprints: a project in one file. Each entry is a task of another module; the platform is the state."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from .._api.errors import HostedError, undone_if_nothing_happened
from .._api.models import App
from .._api.values import ContainerState, ServiceStatus
from .app import APP
from .app_deploy import APP_DEPLOY, LAST_GOOD, AppDeployOptions, plan_release
from .app_image import APP_IMAGE
from .app_release import APP_RELEASE
from .applications.lookup import OnAppOptions, redirected
from .applications.releases import AppRecords
from .applications.rollout import Deployed, HealthCheck, health_steps
from .blueprints.contents import ENVIRONMENTS, VARIABLES, Contents, read_contents
from .blueprints.document import Entry, OnBlueprint, SourceOptions
from .blueprints.members import check_neighbors, check_no_id, find_home, remember, warn_of_dropped
from .blueprints.parts import Arguments, Part, Parts, levels, new_part, sides_of
from .blueprints.removal import DeletingOptions, absence_parts, check_removal_options, prune_parts
from .environment import ENVIRONMENT
from .fleets.members import command_of
from .project import PROJECT
from .service import SERVICE, await_ready, plan_existing
from .services.options import BudgetOptions, ServiceOptions
from .services.settings import NEXT_START, SETTINGS, later_settings, observe
from .services.view import View, read_state
from .shared.account import Account
from .shared.identify import aliases_of
from .shared.names import same_name
from .shared.options import FilePath, StateDirOptions, WaitOptions, check_max_parallel, option
from .shared.pending import ENVIRONMENT as ENVIRONMENT_CHANGE
from .shared.plan import Plan, Resource, Step, Task, plan_with
from .shared.runner import rescued
from .shared.task_errors import Invalid
from .ssh_key import SSH_KEY

SIZE_OF_APP = ("dimensions", "max_monthly")


@dataclass(frozen=True, kw_only=True)
class BlueprintOptions(SourceOptions, DeletingOptions, BudgetOptions):
    secrets_dir: FilePath | None = option(None, no_log=False, filled=True)


class BlueprintResource(OnBlueprint[BlueprintOptions]):
    result_key = "parts"

    def plan(self, task: Task[BlueprintOptions]) -> Plan:
        check_removal_options(task.options)
        if task.options.state == "absent":
            contents = read_contents(task.options.read())
            parts = planned(task, absence_parts(task, contents, SERVICE, PROJECT))
            return whole_plan(task, Contents(contents.project), parts, "blueprint")
        contents = read_checked(task)
        task.guard.tighten(contents.budget)
        if contents.plans:
            plans = {VARIABLES[section]: list(plans) for section, plans in contents.plans.items()}
            names = [name for name in (contents.project, contents.was) if name]
            task.effects.facts.update({**plans, "plans_of": names})
        parts = planned(task, Assembly(task, contents).add_all())
        check_distinct(parts)
        if not task.options.prune:
            warn_of_dropped(task, contents, parts.found)
        elif not parts.failed:
            parts.found = [*parts.found, *prune_parts(task, contents, parts.found, SERVICE)]
            parts.make_plans()
        return whole_plan(task, contents, parts, "blueprint")


BLUEPRINT = BlueprintResource()


def check_distinct(parts: Parts) -> None:
    """Refuse a second entry for one service, as after a relocation: each would undo what the other does."""
    found: dict[str, Part] = {}
    for part in parts.found:
        if part.resource is SERVICE and part.id and (first := found.setdefault(part.id, part)) is not part:
            part.error = Invalid(
                f"it is {first.label} ({part.id}), which is in the file too. Remove one, or name its own id"
            )


def read_checked(task: Task[SourceOptions]) -> Contents:
    """Return what the blueprint says, checked as far as that is possible without planning it."""
    check_max_parallel(task.options.max_parallel)
    document = task.options.read()
    contents = read_contents(document)
    check_neighbors(task.account, document, contents)
    return contents


def planned(task: Task[SourceOptions], found: Sequence[Part]) -> Parts:
    parts = Parts(task, found, max_parallel=task.options.max_parallel)
    parts.make_plans()
    return parts


def whole_plan(
    task: Task[SourceOptions], contents: Contents, parts: Parts, subject: str, first: Sequence[Step] = ()
) -> Plan:
    """Return the plan for the whole, with a last step that collects what became of each part."""
    parts.subject, parts.mark = subject, contents.mark
    parts.check_planned()
    parts.check_balance()
    plan = Plan(result=[], max_parallel=parts.max_parallel, subject=contents.project, budgeted_whole=True)
    parts.update(plan)
    steps = [*first, *parts.steps(first)]

    def failure() -> HostedError | None:
        if not task.check_mode:
            failed = {(part.section, part.key) for part in parts.found if part.blocked_by}
            remember(task, contents, failed)
        return parts.failure()

    plan.failure = failure
    gather = Step("gather the outcome", partial(parts.update, plan), needs=steps, changes=False)
    plan.steps = [*steps, gather]
    return plan


# --- Parts ------------------------------------------------------------------------------------------


class Assembly:
    """The parts of a blueprint so far, and which of them stands for each key."""

    def __init__(self, task: Task[SourceOptions], contents: Contents) -> None:
        self.task = task
        self.contents = contents
        self.parts: list[Part] = []
        self.made: dict[str, Part] = {}
        """By key: the part after which a service or application exists."""
        self.running: dict[str, Part] = {}
        """By key: the part after which it runs as described, if that is another one."""
        self.project = self.add(Entry("project", contents.project, {}), PROJECT, self._project_arguments)

    def add_all(self) -> list[Part]:
        contents = self.contents
        for entry in contents.services:
            self.add_service(entry)
        for entry in contents.applications:
            self.add_application(entry)
        for entry in contents.ssh_keys:
            self.add_key(entry)
        by_key = {entry.key: entry for entry in contents.applications}
        needs = {key: [each for each in entry.references if each in by_key] for key, entry in by_key.items()}
        ordered = [key for group in levels(needs) for key in sorted(group, key=list(by_key).index)]
        for entry in map(by_key.__getitem__, ordered):
            self.add_environment(entry)
            self.add_image(entry)
            settings = self.add_settings(entry)
            self.add_health_check(entry, settings)
        return self.parts

    def add(
        self,
        entry: Entry,
        resource: Resource[Any],
        arguments: Arguments | Mapping[str, Any],
        needs: Iterable[Part] = (),
    ) -> Part:
        part = new_part(self.task, (entry.section, entry.key, entry.name), resource, arguments, needs=needs)
        part.hides_command = entry.hides_command
        self.parts.append(part)
        return part

    def _project_arguments(self, part: Part) -> Mapping[str, Any]:
        """Return the options of the project: it is renamed if only its former name is there."""
        name, projects = self.contents.project, part.task.account.projects()
        check_no_id(name, projects)
        home = find_home(projects, self.contents)
        if home is None or same_name(home.name, name):
            return {"name": name}
        return {"name": home.name, "new_name": name}

    @property
    def home(self) -> str:
        """The project for the options of other parts: its id, or its name as long as it has none."""
        return str(self.project.id or self.contents.project)

    def add_service(self, entry: Entry) -> None:
        """Add a service, after the project; its secrets go to ``secrets_dir``."""
        folder = getattr(self.task.options, "secrets_dir", None)
        own = {"secrets_dest": folder and os.path.join(folder, f"{entry.key}.json")}
        if "id" not in entry.values:  # which need no name, and the key is none that the platform knows
            own["name"] = entry.name
        self.made[entry.key] = self.add(
            entry, SERVICE, lambda part: {**entry.values, "project": self.home, **own}, [self.project]
        )

    def add_application(self, entry: Entry) -> None:
        """Add an application. The size and price of one that exists are those of its settings."""

        def arguments(part: Part) -> Mapping[str, Any]:
            exists = part.task.account.app_if_any(entry.name) is not None
            left_out = SIZE_OF_APP if exists else ()
            own = {name: value for name, value in entry.values.items() if name not in left_out}
            return {**own, "project": self.home, "slug": entry.name}

        self.made[entry.key] = self.add(entry, APP, arguments, [self.project])

    def add_key(self, entry: Entry) -> None:
        values = {**entry.values, "name": entry.name}
        if "public_key_file" in values:
            values["public_key_file"] = self.contents.path(values["public_key_file"])
        self.add(entry, SSH_KEY, values)

    def add_settings(self, entry: Entry) -> list[Part]:
        """Add what an application has as a service, but for a command that its deploy brings along."""
        named = ("max_monthly", *(each.name for each in SETTINGS if each.carried))
        values = {name: entry.values[name] for name in named if name in entry.values}
        if not values:
            return []
        app, before = self.made[entry.key], self.running_parts([entry.key])
        deploy = deploy_among(before)

        def arguments(part: Part) -> Mapping[str, Any]:
            plan = deploy.plan if deploy else None
            brought = ("command",) if plan and "command" in plan.after else ()
            own = {name: value for name, value in values.items() if name not in brought}
            return {**own, "id": app.id, "deployed": plan is not None and plan.changed}

        return [self.add(entry, APP_SETTINGS_RESOURCE, arguments, [app, *before])]

    def add_environment(self, entry: Entry) -> None:
        variables, secret = (entry.values.get(name) for name in ENVIRONMENTS)
        if not variables and not secret:
            return
        targets = {key: self.made[key] for key in entry.references}

        def arguments(part: Part) -> Mapping[str, Any]:
            aliases = {key: alias_of(part.task.account, each, self.project) for key, each in targets.items()}
            given = {"variables": with_aliases(variables, aliases)}
            return {**given, "slug": entry.name, "secret_variables": with_aliases(secret, aliases)}

        app = self.made[entry.key]
        part = self.add(entry, ENVIRONMENT, arguments, [app, *targets.values()])

        # The container has the values of a former neighbor until a deploy, and this run may end before that.
        @contextmanager
        def outdated(inner: Callable[[], AbstractContextManager[None]]) -> Iterator[None]:
            noted = AppRecords.of(self.task, app.id).note(ENVIRONMENT_CHANGE)
            with undone_if_nothing_happened(noted), inner():
                yield

        for own in (target.task for target in targets.values()):
            creating = partial(outdated, own.composition.creating)
            own.composition = replace(own.composition, creating=creating)
        self.running[entry.key] = part

    def add_image(self, entry: Entry) -> None:
        image = entry.values.get("image")
        if not image:
            return
        environment, app, pushed = self.running.get(entry.key), self.made[entry.key], None
        if "archive" in image:
            archive = {"slug": entry.name, "path": self.contents.path(image["archive"])}
            chosen = {"image_name": image.get("name"), "platform": image.get("platform")}
            pushed = self.add(entry, APP_IMAGE, {**archive, **chosen}, [app])
        ready = pushed or self.in_registry(entry)
        if pushed or "digest" in image:
            ready = self.add_release(entry, pushed, ready)

        def arguments(part: Part) -> Mapping[str, Any]:
            # A new environment takes effect at a deploy alone, as do the values of a new neighbor that it
            # refers to, and check mode notes nowhere that they wait.
            force = environment is not None and environment.plan is not None and environment.plan.changed
            force = force or any(self.made[key].is_new for key in entry.references)
            own = {"slug": entry.name, "tag": image["tag"], "digest": digest_of(pushed, image)}
            how = {"rollback": image.get("rollback", False), "command": entry.values.get("command")}
            return {**own, **how, "force": force}

        needs = [ready, *self.running_parts([entry.key, *entry.references])]
        self.running[entry.key] = self.add(entry, COMMANDED_DEPLOY, arguments, needs)

    def add_release(self, entry: Entry, pushed: Part | None, ready: Part) -> Part:
        """Add the declaration of a release. ``ready`` is the part after which its image is there."""
        image = entry.values["image"]
        given = {name: image[name] for name in ("tag", "fail_on") if name in image}
        brought = ready is not self.made[entry.key]

        def arguments(part: Part) -> Mapping[str, Any]:
            # If nothing here brings the image, it has to be there before its application is ordered. In
            # check mode an earlier task of the play may bring it.
            there = not brought and not part.task.check_mode
            return {"slug": entry.name, **given, "digest": digest_of(pushed, image), "pushed": there}

        return self.add(entry, APP_RELEASE, arguments, [ready])

    def add_health_check(self, entry: Entry, settings: Sequence[Part]) -> None:
        check = entry.values.get("health_check")
        if not check:
            return
        running = self.running_parts([entry.key])
        deploy = deploy_among(running)

        def arguments(part: Part) -> Mapping[str, Any]:
            # What it did, not what it planned: it may have waited for the verdict before it knew.
            done = deploy.result if deploy and deploy.task.effects.actions else {}
            deployed = None
            if digest := done.get("digest"):
                rolls_back = entry.values["image"].get("rollback", False)
                deployed = {"digest": digest, "previous": done.get(LAST_GOOD), "rolls_back": rolls_back}
            return {"slug": entry.name, "health_check": check, "deployed": deployed}

        needs = [*running, *settings]
        self.running[entry.key] = self.add(entry, APP_HEALTH_RESOURCE, arguments, needs)

    def in_registry(self, entry: Entry) -> Part:
        """Return the part after which an image that no archive brings is in the registry: it is there."""
        return self.made[entry.key]

    def running_parts(self, keys: Iterable[str]) -> list[Part]:
        return [self.running.get(key, self.made[key]) for key in keys]


def deploy_among(parts: Iterable[Part]) -> Part | None:
    return next((part for part in parts if part.resource is COMMANDED_DEPLOY), None)


def digest_of(pushed: Part | None, image: Mapping[str, Any]) -> str | None:
    return ((pushed.result if pushed else image) or {}).get("digest")


@dataclass(frozen=True, kw_only=True)
class CommandedDeployOptions(AppDeployOptions):
    command: str | None = None


class CommandedDeployResource(Resource[CommandedDeployOptions]):
    """The release that is in service. Its deploy starts it with the command of the blueprint."""

    result_key = APP_DEPLOY.result_key
    name = APP_DEPLOY.name

    def plan(self, task: Task[CommandedDeployOptions]) -> Plan:
        waits = task.options.wait and not task.check_mode
        return plan_release(task, waits, partial(with_command_first, task))


def with_command_first(task: Task[CommandedDeployOptions], app: App, plan: Plan) -> Plan:
    first = plan_command(task, app)
    if not first.changed:
        return plan

    def hint(error: HostedError) -> None:
        error.append(
            f". The command of application {task.options.slug!r} was set before, and stays set: what is in "
            "service starts with it at its next start. Run this again once the release can be deployed, or "
            "with the command as it was"
        )

    before, after = sides_of(plan)
    old = {"command": command_of(first.before)} if app.id else {}
    return replace(
        plan,
        steps=[*first.steps, *rescued(plan.steps, hint)],
        before={**old, **before},
        after={"command": command_of(first.after), **after},
    )


def plan_command(task: Task[CommandedDeployOptions], app: App) -> Plan:
    """Plan to set a command. An application that is being created may have no settings before its deploy."""
    command = task.options.command
    if command is None or app.status == ServiceStatus.PROVISIONING:
        return Plan(result=None)
    if not app.id:  # what to expect of one that is not there yet
        steps = [Step("set the command of the application", lambda: None)]
        return Plan(result=None, steps=steps, after={"command": command})
    with suppress(Invalid):  # What is told now, and keeps it from being set, is looked at after the deploy.
        return plan_with(replace(task, warnings=[]), SERVICE, {"id": app.id, "command": command})
    return Plan(result=None)


COMMANDED_DEPLOY = CommandedDeployResource()


@dataclass(frozen=True, kw_only=True)
class AppSettingsOptions(ServiceOptions):
    deployed: bool = False


class AppSettingsResource(Resource[AppSettingsOptions]):
    result_key = SERVICE.result_key
    name = SERVICE.name

    def plan(self, task: Task[AppSettingsOptions]) -> Plan:
        options = task.options
        if options.id is None:
            given = later_settings(options)
            summary = f"set {' and '.join(given)} of the application"
            return Plan(result=None, steps=[Step(summary, lambda: None)] if given else [], after=given)
        view = observe(task, options.id)
        if view.service.status == ServiceStatus.PROVISIONING:
            task.warn(
                f"application {view.service.name!r} is still being created, perhaps until its first deploy, "
                "so its size, network and command were not looked at. Run this again then"
            )
            return Plan(result=None)
        view = await_ready(task, view)
        if options.deployed and task.check_mode:
            view.pending = ()  # the deploy that is only planned brings into effect what waits now
        if waits_for_start(task, view) and (state := read_state(task, options.id)) in ContainerState.UP:
            task.options = replace(options, state="restarted")
            view = replace(view, state=state)
        return plan_existing(task, view, None)


def waits_for_start(task: Task[AppSettingsOptions], view: View) -> bool:
    service = view.service
    has_power = service.capabilities is None or "powerSignals" in service.capabilities
    if service.status != ServiceStatus.ACTIVE or not has_power:
        return False
    for setting in SETTINGS:
        wanted = getattr(task.options, setting.name) if setting.effect == NEXT_START else None
        shown = setting.shown(service, view.settings) or ""
        if wanted is not None and (wanted != shown or (setting.kind or setting.name) in view.pending):
            return True
    return False


APP_SETTINGS_RESOURCE = AppSettingsResource()


@dataclass(frozen=True, kw_only=True)
class AppHealthOptions(OnAppOptions, WaitOptions, StateDirOptions):
    health_check: HealthCheck | None = None
    deployed: Deployed | None = None


class AppHealthResource(Resource[AppHealthOptions]):
    """The health of an application. Module app_deploy checks it too, but before there are settings."""

    result_key = "health"
    name = APP_DEPLOY.name

    def plan(self, task: Task[AppHealthOptions]) -> Plan:
        options = task.options
        steps = health_steps(task, options.health_check, options.slug, options.deployed)
        return Plan(result=None, steps=steps)


APP_HEALTH_RESOURCE = AppHealthResource()


def with_aliases(variables: Mapping[str, str] | None, aliases: Mapping[str, str]) -> dict[str, str] | None:
    return {name: redirected(value, aliases) for name, value in variables.items()} if variables else None


def alias_of(account: Account, target: Part, project: Part) -> str:
    """Return the alias of a part of the blueprint; its key as long as it does not exist."""
    if target.id is None:
        return target.key
    alias = aliases_of(account.graph(project.id)).get(target.id) if project.id else None
    if alias is None:
        raise Invalid(f"{target.label} has no alias in its project that a reference could name")
    return alias
