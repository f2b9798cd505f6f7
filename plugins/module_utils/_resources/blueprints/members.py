# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is in a project, and what of that a blueprint describes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from ..._api.errors import NotFoundResponse
from ..._api.models import Edge, Project, ServiceSummary
from ..shared.account import Account
from ..shared.aliases import aliases_of
from ..shared.identify import existing, near_miss, oldest_projects, project_with_name
from ..shared.names import same_name
from ..shared.task_errors import Ambiguous, Invalid
from .contents import Contents, describe_reference, references_in
from .document import Document, Entry
from .hiding import HIDDEN_SECTION


@dataclass(frozen=True)
class Member:
    """A service or an application in the project."""

    service: ServiceSummary
    slug: str | None = None
    """Set for an application made from an image of the account."""

    @property
    def id(self) -> str:
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
                f"({', '.join(ids)}), and nothing was deleted. Write the id of the one that the entry "
                "describes",
                ids=ids,
            )
        return alike[0] if alike else None

    def users_of(self, going: Collection[str]) -> list[Edge]:
        """Return the references from what stays to what goes."""
        staying = {each.id for each in self.found if each.id not in going}
        return [each for each in self.edges if each.to in going and each.from_ in staying]


def check_no_id(name: str, projects: Sequence[Project]) -> None:
    """Refuse the id of a project in place of its name."""
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


def check_neighbors(account: Account, document: Document, contents: Contents) -> None:
    """Check the references to neighbors in the project that the blueprint does not describe."""
    keys = {entry.key for entry in described_entries(contents)}
    outside = [
        each for entry in contents.applications for each in references_in(entry) if each[1] not in keys
    ]
    if not outside:
        return
    home = find_home(account.projects(), contents)
    aliases = {*aliases_of(account.graph(home.id)).values()} if home else set()
    for path, target, what in outside:
        if target not in aliases:
            hint = "" if HIDDEN_SECTION in path else near_miss(target, {*keys, *aliases})
            document.add_problem(
                path,
                f"{describe_reference(path, target, what)} names neither a key of the blueprint nor the "
                f"alias of a neighbor{hint}",
            )
    document.check()


def read_members(account: Account, project_id: str) -> Members | None:
    """Read a project and all that is in it; ``None`` if there is no such project."""
    projects = account.projects()
    project = next((each for each in projects if each.id == project_id), None)
    if project is None:
        return None
    try:
        graph = account.graph(project.id)
    except NotFoundResponse:  # a list may be late to lose it
        return None
    return Members(
        project,
        members_among(account, sorted(account.members(project), key=lambda each: each.name)),
        graph.edges or [],
        aliases_of(graph),
        may_be_default=project.id in oldest_projects(projects),
    )


def members_among(account: Account, services: Sequence[ServiceSummary]) -> list[Member]:
    """Return services and applications, without those that are being deleted."""
    slugs = account.slugs()
    return [Member(each, slugs.get(each.id)) for each in existing(services)]


def described_entries(contents: Contents) -> list[Entry]:
    """Return the entries that describe things in the project. SSH keys are those of the account."""
    return [*contents.services, *contents.applications]


def names_in(contents: Contents) -> set[str]:
    """Return the names of what a blueprint describes."""
    return {entry.name for entry in described_entries(contents)}
