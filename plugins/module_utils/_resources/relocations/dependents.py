# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The applications whose environments refer to a service that is relocated: they are rewritten and deployed.

The platform shows which variables refer to it, and no values. So an environment comes from the user, as a
whole, and what is known to be missing in it is found before anything is ordered.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..._api.errors import HostedError
from ..._api.models import App, ProjectGraph, Service
from ..._api.values import ServiceStatus
from ..applications.lookup import REFERENCE
from ..clones.rules import all_redirected, lacks
from ..shared.identify import label
from ..shared.plan import Task
from ..shared.relocation_record import Relocation
from ..shared.task_errors import Invalid
from .options import RelocateOptions
from .origin import Origin


@dataclass(frozen=True)
class Dependent:
    """An application whose environment refers to the service."""

    app: App
    referring: frozenset[str]
    """The variables that are known to refer to it."""
    plain: Mapping[str, Any] = field(default_factory=dict)
    secret: Mapping[str, Any] = field(default_factory=dict)

    @property
    def slug(self) -> str:
        """Its slug."""
        return str(self.app.slug)

    @property
    def label(self) -> str:
        """How messages call it."""
        return f"application {self.slug!r}"

    @property
    def deployable(self) -> bool:
        """Whether it can be deployed now."""
        return bool(self.app.digest) and self.app.status == ServiceStatus.ACTIVE

    def environment(self, names: Collection[str], alias: str) -> dict[str, Any]:
        """Return the options of its environment. References to any of ``names`` lead to an alias."""
        aliases = dict.fromkeys(names, alias)
        plain, secret = (all_redirected(part, aliases) for part in (self.plain, self.secret))
        return {"slug": self.slug, "variables": plain or None, "secret_variables": secret or None}


def read_dependents(task: Task[RelocateOptions], origin: Origin, record: Relocation) -> list[Dependent]:
    """Return the applications that refer to the old service or, on the way, to the new one.

    :raises Invalid: for what refers to it and cannot be rewritten, and for variables that are not given.
    """
    options = task.options
    ours = {origin.id, record.new_id} - {None}
    referring = referring_to(origin.graph, ours)
    remembered = set(record.dependents)
    left = set(options.without_dependents)
    found, others = [], []
    remembered_ids = {app.id for app in origin.apps.values() if app.slug in remembered}
    for id in {*referring, *remembered_ids}:
        app = origin.apps.get(id)
        if id in left or (app is not None and app.slug in left):
            continue
        if app is None:
            others.append(id)
        else:
            plain, secret = (
                {**(given or {}).get(app.id, {}), **(given or {}).get(app.slug, {})}
                for given in (options.environments, options.secret_environments)
            )
            found.append(Dependent(app, frozenset(referring.get(id, ())), plain, secret))
    found = [each for each in found if each.referring or each.plain or each.secret]
    check_others(origin, others)
    check_named(options, found)
    check_given(task, found)
    return sorted(found, key=lambda each: each.slug)


def referring_to(graph: ProjectGraph, ids: Collection[str | None]) -> dict[str, set[str]]:
    """Return what refers to services, except these themselves: by id, the variables through which it does."""
    referring: dict[str, set[str]] = {}
    for edge in graph.edges or []:
        if edge.to in ids and edge.from_ and edge.from_ not in ids:
            referring.setdefault(edge.from_, set()).update(edge.through or ())
    return referring


def check_not_referred_to(task: Task[RelocateOptions], service: Service) -> None:
    """Refuse to delete a service to which something refers that the task does not name in without_dependents.

    :raises Invalid: naming it.
    :raises HostedError: if that cannot be read: module service deletes a service without asking.
    """
    try:
        graph = task.account.graph(str(service.project_id))
        referring = referring_to(graph, {service.id})
        slugs = task.account.slugs()
    except HostedError as error:
        error.append(
            f". So whether anything refers to {label(service)} is not known, and nothing was deleted. Run "
            "this again, or delete it with hosted.services.service and state: absent"
        )
        raise
    left, names = set(task.options.without_dependents), {node.id: node.name for node in graph.nodes or []}
    used = [
        f"{slugs.get(id) or names.get(id)} ({id}) through {', '.join(sorted(through)) or 'a variable'}"
        for id, through in sorted(referring.items())
        if not left & {id, slugs.get(id)}
    ]
    if used:
        raise Invalid(
            f"{label(service)} is not in service, and is still referred to by {'; '.join(used)}. Nothing was "
            "deleted. Let that refer to the service in its place and deploy it, or list it in "
            "without_dependents to leave it alone"
        )


def check_others(origin: Origin, ids: Sequence[str]) -> None:
    """Refuse if services refer to the old one that are no applications: nothing can change that."""
    names = {node.id: node.name for node in origin.graph.nodes or []}
    if ids:
        named = ", ".join(f"service {names.get(id) or id!r} ({id})" for id in sorted(ids))
        raise Invalid(
            f"{named} refers to {origin.label} in the variables of its order, which the platform neither "
            "shows nor changes. Nothing was ordered. Order it anew as well, or list it in without_dependents "
            "to leave it alone"
        )


def check_named(options: RelocateOptions, found: Sequence[Dependent]) -> None:
    """Refuse an environment of an application that does not refer to the service: it would not be written."""
    known = {name for each in found for name in (each.slug, each.app.id)} | set(options.without_dependents)
    for name in ("environments", "secret_environments"):
        unknown = sorted(set(getattr(options, name) or {}) - known)
        if unknown:
            there = ", ".join(each.slug for each in found) or "none"
            raise Invalid(
                f"{name} names {', '.join(map(repr, unknown))}; applications that refer to the service: "
                f"{there}. Nothing was ordered"
            )


def check_given(task: Task[RelocateOptions], found: Sequence[Dependent]) -> None:
    """Check that each variable that is known to be there is given."""
    checked = (lacks(task.options, each.app, each.referring, {*each.plain, *each.secret}) for each in found)
    if missing := [said for said in checked if said]:
        raise Invalid(
            "an environment is replaced as a whole, the platform does not show its values, and these are not "
            f"given: {'; '.join(missing)}. Nothing was ordered. Give the whole environment by slug in "
            "environments or secret_environments, or list the application in without_dependents to leave it "
            "alone"
        )


def check_references(found: Sequence[Dependent], names: Collection[str], label: str) -> None:
    """Check that each environment that is given refers to the service: it may be that of another time."""
    for each in found:
        values = [*each.plain.values(), *each.secret.values()]
        refers = any(found[1] in names for value in values for found in REFERENCE.finditer(str(value)))
        if each.referring and not refers:
            known = " or ".join(f"${{{name}.FIELD}}" for name in sorted(names))
            raise Invalid(
                f"the environment given for {each.label} does not refer to {label}, to which its "
                f"{', '.join(sorted(each.referring))} refers now. Nothing was done. Write the reference as "
                f"{known}"
            )


def release_in_service(task: Task[RelocateOptions], dependent: Dependent) -> dict[str, str]:
    """Return the tag by which the image that an application runs is deployed again, and no other one.

    With its digest: the tag may be declared again for another one.
    """
    digest = str(dependent.app.digest)
    source = task.account.settings(dependent.app.id).source
    declared = task.account.releases(dependent.slug)
    tags = [tag for tag, release in declared.items() if release.digest == digest]
    if tags:
        return {"tag": source.tag if source and source.tag in tags else tags[0], "digest": digest}
    raise Invalid(
        f"the platform shows no tag of the image that {dependent.label} runs, {digest}, so it could not "
        f"be deployed with its new environment. Declare {digest} with hosted.services.app_release under a "
        "tag of its own, or list it in without_dependents"
    )
