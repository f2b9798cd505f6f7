# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is in a project, what of that a blueprint describes, and whether the rest may be pruned.

A service counts as described if an entry stands for it, or if the platform might take its name for that of an
entry. Whatever is in doubt stays.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ..._api.errors import NotFoundResponse
from ..._api.models import Edge, Project, ServiceSummary
from ..._api.text import counted, first_of
from ..shared.account import Account
from ..shared.aliases import aliases_of
from ..shared.identify import (
    existing,
    oldest_projects,
    project_with_name,
)
from ..shared.names import same_name
from ..shared.task_errors import Ambiguous, Invalid
from .contents import ENVIRONMENTS, Contents, references_in
from .document import Entry
from .graph import find_cycle, levels

NAMED_MEMBERS = 10
"""How many services a refusal names."""


@dataclass(frozen=True)
class Member:
    """A service or an application in the project."""

    service: ServiceSummary
    slug: str | None = None
    """Set for an application made from an image of the account."""

    @property
    def id(self) -> str:
        """Its id."""
        return self.service.id

    @property
    def name(self) -> str:
        """What a blueprint calls it: its slug or its name."""
        return self.slug or self.service.name

    @property
    def section(self) -> str:
        """The section of a blueprint that describes such a thing."""
        return "applications" if self.slug else "services"

    @property
    def label(self) -> str:
        """How messages call it."""
        kind = "application" if self.slug else "service"
        return f"{kind} {self.name!r} ({self.id})"

    def is_described_by(self, entry: Entry) -> bool:
        """Tell whether it has the id of an entry or, if that says none, its exact name."""
        id = entry.values.get("id")
        return self.section == entry.section and (self.id == id if id else same_name(self.name, entry.name))


@dataclass(frozen=True)
class Members:
    """A project with all that is in it."""

    project: Project
    found: Sequence[Member] = ()
    edges: Sequence[Edge] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)
    """By the id of the service."""
    may_be_default: bool = False
    """Whether it may be the default project of the account, which the platform does not show."""

    def of(self, entry: Entry) -> Member | None:
        """Return what an entry describes, by its id or its exact name; ``None`` if it is not there.

        :raises Ambiguous: if several have its name.
        """
        alike = [each for each in self.found if each.is_described_by(entry)]
        if len(alike) > 1:
            ids = [each.id for each in alike]
            raise Ambiguous(
                f"project {self.project.name!r} has {len(alike)} services named {entry.name!r} "
                f"({', '.join(ids)}), and nothing was deleted. Write "
                "the id of the one that the entry describes",
                ids=ids,
            )
        return alike[0] if alike else None

    def users_of(self, going: Collection[str]) -> list[Edge]:
        """Return the references from what stays to what goes."""
        staying = {each.id for each in self.found if each.id not in going}
        return [each for each in self.edges if each.to in going and each.from_ in staying]


def check_no_id(name: str, projects: Sequence[Project]) -> None:
    """Refuse the id of a project in place of its name.

    :raises Invalid: with the name.
    """
    meant = next((each.name for each in projects if each.id == name), None)
    if meant is not None and project_with_name(projects, name) is None:
        raise Invalid(f"project is {name!r}, the id of project {meant!r}; write its name")


def find_home(projects: Sequence[Project], contents: Contents) -> Project | None:
    """Return the project that a blueprint describes, by its name or its former one.

    :raises Invalid: if both are there: which of them holds what the blueprint describes is not known.
    """
    names = filter(None, (contents.project, contents.was))
    found = {each.id: each for name in names if (each := project_with_name(projects, name))}
    if len(found) > 1:
        told = " and ".join(f"{each.name!r} ({each.id})" for each in found.values())
        raise Invalid(
            f"project and was name two projects, and both are there: {told}. Nothing was done. Remove was if "
            "they are different ones; if the first was made by mistake, delete it, and the second is renamed"
        )
    return next(iter(found.values()), None)


def read_members(account: Account, project_id: str) -> Members | None:
    """Read a project and all that is in it; ``None`` if there is no such project."""
    projects = account.projects()
    project = next((each for each in projects if each.id == project_id), None)
    if project is None:
        return None
    found = existing(account.members(project))
    slugs = account.slugs()
    try:
        graph = account.graph(project.id)
    except NotFoundResponse:  # a list may be late to lose it
        return None
    return Members(
        project,
        [Member(service, slugs.get(service.id)) for service in sorted(found, key=lambda each: each.name)],
        graph.edges or [],
        aliases_of(graph),
        may_be_default=project.id in oldest_projects(projects),
    )


def all_members(account: Account) -> list[Member]:
    """Return all services and applications of the account but those that are being deleted."""
    services = existing(account.services())
    slugs = account.slugs()
    return [Member(each, slugs.get(each.id)) for each in services]


# --- What is to be pruned -----------------------------------------------------------------------------


def not_described(members: Members, contents: Contents, ids: Collection[str]) -> list[Member]:
    """Return what no entry describes. ``ids`` are those of what the entries stand for."""
    entries = described_entries(contents)
    return [
        each
        for each in members.found
        if each.id not in ids and not any(is_named_as(each, entry) for entry in entries)
    ]


def is_named_as(member: Member, entry: Entry) -> bool:
    """Tell whether a member has the name of an entry, as a service or as an application."""
    return same_name(member.name, entry.name) or same_name(member.service.name, entry.name)


def described_entries(contents: Contents) -> list[Entry]:
    """Return the entries that describe things in the project. SSH keys are those of the account."""
    return [*contents.services, *contents.applications]


def names_in(contents: Contents) -> set[str]:
    """Return the names of what a blueprint describes."""
    return {entry.name for entry in described_entries(contents)}


def check_describes(contents: Contents) -> None:
    """Refuse to prune by a blueprint that describes nothing.

    :raises Invalid: saying so.
    """
    if not described_entries(contents):
        raise Invalid(
            f"the blueprint describes no service and no application, so prune would empty project "
            f"{contents.project!r}. Nothing was done. Describe what stays. To delete what a file describes, "
            "set state: absent"
        )


def check_prune(
    members: Members, contents: Contents, going: Sequence[Member], ids: Collection[str], max_delete: int
) -> None:
    """Refuse to prune what may have been meant to stay.

    :raises Invalid: with the reason, and what to do.
    """
    project = members.project
    if members.may_be_default:
        raise Invalid(
            f"project {project.name!r} may be the default project of the account, which takes in services "
            "whose own project is deleted, so prune is refused there. Nothing was done. Move what belongs "
            "together to a project of its own, or delete the rest with hosted.services.service"
        )
    if not going:
        return
    if not {each.id for each in members.found} & set(ids):
        raise Invalid(
            f"nothing that the blueprint describes is in project {project.name!r} yet, so it may be the "
            "wrong one, and prune is refused. Nothing was done. If it is the right one, run this once "
            f"without prune. To be deleted: {list_members(going)}"
        )
    check_references(members, contents, going)
    if len(going) > max_delete:
        raise Invalid(
            f"prune would delete {counted(len(going), 'service')}, and max_delete is {max_delete}. Nothing "
            f"was done. To be deleted: {list_members(going)}. Describe what stays in the blueprint, or raise "
            "max_delete",
            would_delete=[each.label for each in going],
        )


def check_references(members: Members, contents: Contents, going: Sequence[Member]) -> None:
    """Refuse to delete what something that stays refers to.

    An application whose environment and image are in the blueprint refers to what it says there once it is
    deployed, which comes before any deletion. Without an image nothing deploys it, so it runs with the
    environment that it has.

    :raises Invalid: naming both.
    """
    labels = {each.id: each.label for each in [*members.found, *going]}
    rewritten = {
        member.id: entry
        for entry in contents.applications
        if entry.values.get("image")
        and any(entry.values.get(name) for name in ENVIRONMENTS)
        and (member := members.of(entry))
    }
    ids = {each.id for each in going}
    used = [
        (labels[str(each.from_)], labels[str(each.to)], ", ".join(each.through or []))
        for each in members.users_of(ids)
        if each.from_ not in rewritten
    ]
    keys = {entry.key for entry in described_entries(contents)}
    by_alias = {alias: id for id, alias in members.aliases.items() if id in ids and alias not in keys}
    for entry in contents.applications:
        used += [
            (f"application {entry.name!r}", labels[by_alias[target]], str(path[-1]))
            for path, target, __ in references_in(entry)
            if target in by_alias
        ]
    if used:
        told = "; ".join(
            f"{who} refers to {what}{f' through {through}' if through else ''}" for who, what, through in used
        )
        raise Invalid(
            f"prune would delete what others need: {told}. Nothing was deleted. Describe it in the "
            "blueprint, or remove the reference and deploy first: a new environment takes effect at a deploy"
        )


def list_members(found: Iterable[Member]) -> str:
    """Return the labels of some services for messages."""
    return first_of([each.label for each in found], NAMED_MEMBERS)


def by_references(going: Sequence[Member], edges: Iterable[Edge]) -> dict[str, list[str]]:
    """Return by id which of them have to be deleted before: those that refer to it.

    The keys are in such an order. Where two refer to each other, one has to be the first.
    """
    needs: dict[str, list[str]] = {each.id: [] for each in going}
    for edge in edges:
        if edge.to in needs and edge.from_ in needs and edge.from_ != edge.to:
            needs[str(edge.to)].append(str(edge.from_))
    while cycle := find_cycle(needs):
        first, second, *__ = cycle
        needs[first] = [each for each in needs[first] if each != second]
    return {id: list(dict.fromkeys(needs[id])) for group in levels(needs) for id in group}
