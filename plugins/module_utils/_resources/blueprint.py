# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Blueprints: a whole project described in one file, and made so by one task.

There is no state file: the platform is the state. Each entry becomes a task of another module, and the plan
of the blueprint is the union of their plans, with edges from what is needed to what needs it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

from .._api.client import Client
from .._api.errors import HostedError
from .app import APP
from .applications.environment_rules import REFERENCE
from .blueprints.contents import Contents, Entry, check_targets, read_contents, references_in
from .blueprints.document import Document, read_document
from .blueprints.parts import Arguments, Part, Parts
from .blueprints.report import Report
from .environment import ENVIRONMENT
from .project import PROJECT
from .service import SERVICE
from .services.options import BudgetOptions
from .shared.aliases import aliases_of
from .shared.effects import Effects
from .shared.options import FilePath, Options, StateDirOptions, WaitOptions, option
from .shared.parallel import MAX_PARALLEL
from .shared.plan import Plan, Resource, Step, Task
from .shared.task_errors import Invalid
from .shared.waiting import poll_for
from .ssh_key import SSH_KEY

SECRET_KEYS = ("secret_environment", "variables", "public_key")
"""The keys of a blueprint whose values are never shown."""
LATE_SECONDS = 10.0
"""How long a project may show a new neighbor late, in seconds."""


@dataclass(frozen=True, kw_only=True)
class BlueprintOptions(BudgetOptions, WaitOptions, StateDirOptions):
    """The options of module blueprint."""

    src: FilePath | None = option(None, selects=True, reads_file=True)
    blueprint: dict[str, Any] | None = option(None, selects=True, secret=True)
    secrets_dir: FilePath | None = option(None, no_log=False, filled=True)
    max_parallel: int = MAX_PARALLEL


class BlueprintResource(Resource[BlueprintOptions]):
    """A whole project, as a file or an option describes it."""

    result_key = "parts"
    rules: ClassVar[dict[str, Any]] = {
        "required_one_of": [("src", "blueprint")],
        "mutually_exclusive": [("src", "blueprint")],
    }

    def secret_values(self, options: Mapping[str, Any]) -> Any:
        """Return the values of secret environments and of orders. The rest of a blueprint may be shown."""
        try:
            data = read_source(self.read_options(options)).data
        except HostedError:
            return []
        return list(secrets_in(data))

    def plan(self, task: Task[BlueprintOptions]) -> Plan:
        """Plan every part, and return the union of their plans."""
        if task.options.max_parallel < 1:
            raise Invalid(f"max_parallel is {task.options.max_parallel}; it must be 1 or more")
        document = read_source(task.options)
        contents = read_contents(document)
        check_neighbors(task, document, contents)
        task.guard.tighten(contents.budget)
        parts = Parts(task, parts_of(task, contents), max_parallel=task.options.max_parallel)
        parts.make_plans()
        report = Report(task, parts.found)
        refusal = report.refusal()
        if refusal is not None:
            raise refusal
        return whole_plan(task, contents, parts, report)


BLUEPRINT = BlueprintResource()


def read_source(options: BlueprintOptions) -> Document:
    """Return the blueprint as data with the place of each value, from the file or the option."""
    if options.src is not None:
        return read_document(options.src)
    return Document(options.blueprint, "")


def secrets_in(data: Any) -> Iterator[Any]:
    """Yield what is secret in a blueprint, whatever else is wrong with its form."""
    if isinstance(data, Mapping):
        for key, value in data.items():
            if key == "ssh_keys" and isinstance(value, Mapping):  # somebody will paste a private key
                yield [each for each in value.values() if isinstance(each, str)]
            if key in SECRET_KEYS:
                yield value
            else:
                yield from secrets_in(value)


def whole_plan(task: Task[BlueprintOptions], contents: Contents, parts: Parts, report: Report) -> Plan:
    """Return the plan for the whole, with a last step that collects what became of each part."""
    plan = Plan(
        result=[],
        failure=report.failure,
        max_parallel=task.options.max_parallel,
        subject=contents.project,
        budgeted_whole=True,
    )
    report.update(plan)
    steps = parts.steps()
    if steps:
        gather = Step("gather the outcome", lambda: report.update(plan), needs=steps, changes=False)
        plan.steps = [*steps, gather]
    return plan


# --- Parts ------------------------------------------------------------------------------------------


def parts_of(task: Task[BlueprintOptions], contents: Contents) -> list[Part]:
    """Return all parts of a blueprint, each after those that it needs."""
    shared = shared_arguments(task.options)

    def part(entry: Entry, resource: Resource[Any], arguments: Arguments, needs: Sequence[Part] = ()) -> Part:
        def all_arguments(own: Part) -> Mapping[str, Any]:
            return {**shared, **arguments(own)}

        own = replace(task, composed=True, effects=Effects())
        return Part(own, entry.section, entry.key, entry.name, resource, all_arguments, needs)

    name = contents.project
    project = part(Entry("project", name, {}), PROJECT, lambda own: {"name": name})

    def in_project(entry: Entry, **more: Any) -> Arguments:
        return lambda own: {**entry.values, "project": name_of_project(project, name), **more}

    def secrets_of(entry: Entry) -> str | None:
        folder = task.options.secrets_dir
        return folder and os.path.join(folder, f"{entry.key}.json")

    by_key = {
        entry.key: part(
            entry, SERVICE, in_project(entry, name=entry.name, secrets_dest=secrets_of(entry)), [project]
        )
        for entry in contents.services
    }
    by_key |= {
        entry.key: part(entry, APP, in_project(entry, slug=entry.name), [project])
        for entry in contents.applications
    }
    keys = [part(entry, SSH_KEY, key_arguments(entry)) for entry in contents.ssh_keys]
    environments = [
        environment_part(part, entry, by_key, project)
        for entry in contents.applications
        if has_environment(entry)
    ]
    return [project, *by_key.values(), *keys, *environments]


def shared_arguments(options: BlueprintOptions) -> dict[str, Any]:
    """Return the options of the task that hold for each of its parts: connection, waiting and state."""
    shared = {each.name for kind in (Options, WaitOptions, StateDirOptions) for each in fields(kind)}
    return {name: getattr(options, name) for name in shared}


def key_arguments(entry: Entry) -> Arguments:
    """Return what the options of an SSH key are: nothing that it needs changes them."""
    return lambda own: {**entry.values, "name": entry.name}


def name_of_project(project: Part, name: str) -> str:
    """Return the name that the platform shows for the project, which may have normalized it."""
    return str(project.result["name"] if project.result else name)


# --- Environments -----------------------------------------------------------------------------------


def has_environment(entry: Entry) -> bool:
    """Tell whether the blueprint says anything of the environment of an application."""
    return bool(entry.values.get("environment") or entry.values.get("secret_environment"))


def environment_part(
    part: Callable[..., Part], entry: Entry, by_key: Mapping[str, Part], project: Part
) -> Part:
    """Return the part for the environment of an application, which needs all that it refers to."""
    targets = {key: by_key[key] for key in entry.references}
    app = by_key[entry.key]

    def arguments(own: Part) -> Mapping[str, Any]:
        aliases = {key: alias_of(own.task.client, target, project) for key, target in targets.items()}
        return {
            "slug": entry.name,
            "variables": with_aliases(entry.values.get("environment"), aliases),
            "secret_variables": with_aliases(entry.values.get("secret_environment"), aliases),
        }

    found = part(entry, ENVIRONMENT, arguments, [app, *targets.values()])
    found.prepare = lambda own: await_neighbors(own.task.client, project, [app, *targets.values()])
    return found


def with_aliases(variables: Mapping[str, str] | None, aliases: Mapping[str, str]) -> dict[str, str] | None:
    """Return variables with the aliases in place of the keys that their references name."""
    if not variables:
        return None

    def renamed(value: str) -> str:
        return REFERENCE.sub(lambda found: f"${{{aliases.get(found[1], found[1])}.{found[2]}}}", value)

    return {name: renamed(value) for name, value in variables.items()}


def alias_of(client: Client, target: Part, project: Part) -> str:
    """Return the alias of a part of the blueprint; its key as long as it does not exist.

    :raises Invalid: if it has none that a reference could name.
    """
    id = id_of(target)
    if id is None:
        return target.key
    alias = alias_in_settings(client, id) or aliases_in(client, id_of(project)).get(id)
    if alias is None:
        raise Invalid(f"{target.label} has no alias in its project that a reference could name")
    return alias


def alias_in_settings(client: Client, id: str) -> str | None:
    """Return the alias that the settings of a service show, which are never late; ``None`` if it has none."""
    try:
        network = client.settings(id).network
    except HostedError:
        return None
    return network.alias if network else None


def aliases_in(client: Client, project: str | None) -> dict[str, str]:
    """Return the aliases in a project by the id of the service; none if it does not exist yet."""
    graph = client.project_graph(project) if project else None
    return aliases_of(graph) if graph else {}


def id_of(part: Part) -> str | None:
    """Return the id of what a part made or found; ``None`` if it does not exist yet."""
    return part.result.get("id") if isinstance(part.result, Mapping) else None


def await_neighbors(client: Client, project: Part, parts: Iterable[Part]) -> None:
    """Wait until a project shows what was just made in it, which it may do late (Ordering)."""
    ids = {id for part in parts if (id := id_of(part))}
    poll_for(lambda: ids <= aliases_in(client, id_of(project)).keys(), LATE_SECONDS)


def check_neighbors(task: Task[BlueprintOptions], document: Document, contents: Contents) -> None:
    """Check the references to neighbors that the blueprint does not describe.

    :raises Invalid: for those that designate nothing.
    """
    keys = {entry.key for entry in (*contents.services, *contents.applications)}
    used = {target for entry in contents.applications for _path, target, _field in references_in(entry)}
    if used <= keys:
        return
    home = next((each for each in task.client.projects() if each.name == contents.project), None)
    there = aliases_in(task.client, home.id if home else None)
    check_targets(document, contents, list(there.values()))
    document.check()
