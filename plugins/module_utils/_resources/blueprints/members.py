# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is in a project, what of that a blueprint describes, and what relocations on this controller need."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from ..._api.errors import NotFoundResponse
from ..._api.models import Edge, Project, ServiceSummary
from ..shared.account import Account
from ..shared.identify import Named, aliases_of, existing, near_miss, oldest_projects, project_with_name
from ..shared.names import same_name
from ..shared.options import StateDirOptions
from ..shared.relocation_record import (
    Phase,
    Relocation,
    known_relocations,
)
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
        """The id of the service, also of an application."""
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
        """Return what an entry describes, by its id or its exact name; ``None`` if it is not there."""
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
    """Return the project that a blueprint describes, by its name or its former one, if not both are there."""
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
    """Check the references to neighbors in the project that the blueprint does not describe.

    :raises Invalid: for all problems of the document at once.
    """
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


# --- What relocations need ----------------------------------------------------------------------------


def needed_by_relocations(
    options: StateDirOptions, contents: Contents, services: Sequence[Named]
) -> dict[str, str]:
    """Return by id for what relocations need some services that nothing describes, and what to do.

    A relocation that is over needs no service, unless the other one's name is still described. Where a record
    cannot be read, nobody knows what it needs.
    """
    if not services:
        return {}
    known, found = known_relocations(options), dict[str, str]()
    described = {entry.name for entry in described_entries(contents)}
    if known.damaged:
        raise Invalid(f"which services a relocation needs is not known: {known.damaged[0]}")
    for service in services:
        naming = [each for each in reversed(known.relocations) if names(each, service)]
        naming.sort(key=lambda each: each.old_id != service.id)  # it was relocated once more
        for each in naming:
            other = other_name(each, service)
            if not is_over(each) or any(same_name(other, name) for name in described):
                told = f"{what_for(each, service)}. The record is {each.path!r}"
                found.setdefault(service.id, told)
    return found


def names(relocation: Relocation, service: Named) -> bool:
    """Tell whether a relocation names a service. One that was just ordered may be known by its name alone."""
    if service.id in (relocation.old_id, relocation.new_id):
        return relocation.phase != Phase.NONE
    ordered = relocation.new_id is None and relocation.sent is not None
    return ordered and same_name(service.name, relocation.new_name)


def other_name(relocation: Relocation, service: Named) -> str:
    """Return the name of the other service of a relocation."""
    return relocation.new_name if service.id == relocation.old_id else relocation.old_name


def is_over(relocation: Relocation) -> bool:
    """Tell whether one service is left of a relocation, which is in service."""
    made_none = relocation.new_id is None and relocation.sent is None
    return relocation.gone or (relocation.phase is Phase.RETURNED and made_none)


def what_for(relocation: Relocation, service: Named) -> str:
    """Return what a relocation needs a service for, and what to do."""
    pair = relocation.pair
    from_to = f"{relocation.old_name!r} ({relocation.old_id}) to {relocation.new_name!r}"
    relocated = f"the relocation of service {from_to}"
    if pair is None and not is_over(relocation):
        return f"{relocated} is under way. Complete it with hosted.services.relocate, or go back"
    if pair is not None and service.id == pair[0]:
        return (
            f"{relocated} keeps it for a while. state: finished of hosted.services.relocate deletes it then"
        )
    other = other_name(relocation, service)
    return f"it is in service since {relocated}. Write its name, {service.name!r}, in place of {other!r}"
