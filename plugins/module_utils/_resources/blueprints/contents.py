# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads a blueprint: checks its form and its references, and returns its entries with their defaults.

All that can be known to be wrong without the platform is found here, at once and with its place.
"""

from __future__ import annotations

import difflib
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..._api.libraries import ValidationError
from ..._api.text import describe_type
from ..applications.lookup import check_digest, check_name, check_slug, check_tag, merged, references
from ..applications.rollout import HealthCheck
from ..services.order import MAX_SERVICE_NAME
from ..shared.budget import Budget, read_budget
from ..shared.limits import MAX_PROJECT_NAME
from ..shared.money import read_amount
from ..shared.names import same_name
from ..shared.public_key import read_public_key
from ..shared.selectors import check_selector
from ..shared.task_errors import Invalid
from .document import Document, Entry, Path
from .graph import find_cycle
from .hiding import HIDDEN_SECTION, PLAIN_SECTION, hides_command, with_hidden_environment
from .plans import read_plans
from .schema import Blueprint, Defaults, Section, Size, keys_of

KEY = re.compile(r"[a-z0-9][a-z0-9-]*")
"""Keys have the form of aliases, so that references can name them."""
ENVIRONMENTS = (PLAIN_SECTION, HIDDEN_SECTION)
SELECTORS = ("name", "id", "product", "runtime", "host", "preset", "max_monthly", "slug", "public_key_file")
"""What identifies or limits, and so must hold something where it is written."""
NAMELESS = "nameless"
"""Stands for a project whose name is missing, which is a problem of its own."""
ALWAYS_THE_SAME = {
    "missing": "it is missing; write it",
    "int_from_float": "it has a fraction; it must be a whole number",
}
OWN = ("name", "id", "slug")
"""What each entry has for itself."""
BRANCHES = ("str", "KeySection", "[key]")
"""What pydantic adds to the path of an error: the member of a union, or that a key is meant."""


@dataclass(frozen=True)
class Contents:
    """What a blueprint says, checked."""

    project: str
    services: Sequence[Entry] = ()
    applications: Sequence[Entry] = ()
    ssh_keys: Sequence[Entry] = ()
    budget: Budget = field(default_factory=Budget)
    was: str | None = None
    """The former name of the project."""
    plans: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    """The plans of each section that the blueprint has, as the role of that section takes them."""
    folder: str = ""
    """What the paths in it are relative to. Empty for the folder of the process."""
    mark: Callable[[Path], str] = lambda path: ""
    """Returns the file, line and column of a value; empty if there is none."""

    @property
    def entries(self) -> list[Entry]:
        """All entries but the project: services, applications and keys, in this order."""
        return [*self.services, *self.applications, *self.ssh_keys]

    def path(self, written: str) -> str:
        """Return the path of a file on this machine."""
        return os.path.join(self.folder, os.path.expanduser(written))


def read_contents(document: Document) -> Contents:
    """Check a document and return what it says. The error has all that is wrong, each with its place."""
    if document.data is None:
        document.check()
    form = check_form(document)
    defaults = form.defaults or Defaults()
    services = entries_of(document, "services", form.services, defaults.services)
    applications = entries_of(document, "applications", form.applications, defaults.applications)
    applications = with_references(document, services, applications)
    keys = [
        Entry("ssh_keys", name, {"public_key": key} if isinstance(key, str) else written(key))
        for name, key in form.ssh_keys.items()
    ]
    for entry in (*services, *applications, *keys):
        check_entry(document, entry)
    check_names(document, [*services, *applications])
    for entry, other in alike(keys, lambda key: " ".join(str(key.values.get("public_key", "")).split()[:2])):
        document.add_problem(entry.path, f"it is the same key as {document.where(other.path)}; remove one")
    budget = check_project(document, form)
    plans = read_plans(document, form, [*services, *applications])
    document.check()
    return Contents(
        form.project, services, applications, keys, budget, form.was, plans, document.folder, document.mark
    )


# --- The form ---------------------------------------------------------------------------------------


def check_form(document: Document) -> Blueprint:
    """Return the blueprint as its model, and note what is wrong with its form.

    Entries whose form is wrong are left out, so that what is wrong with the others is found as well.
    """
    if not isinstance(document.data, Mapping) or not document.data:
        if not document.unread:
            said = "it is empty" if not document.data else f"it is {describe_type(document.data)}"
            document.add_problem((), f"{said}; write a mapping with project and the sections that it has")
        return Blueprint(project=NAMELESS)
    data = without_entries(document.data, document.unread) if document.unread else document.data
    for path in nulls_in(data):
        document.add_problem(path, "it is null; give it a value, or leave it out")
    try:
        return Blueprint.model_validate(data)
    except ValidationError as error:
        found = error.errors(include_url=False)
    for each in found:
        document.add_problem(*describe_error(data, tuple(each["loc"]), each))
    try:
        return Blueprint.model_validate(without_entries(data, [each["loc"] for each in found]))
    except ValidationError:  # what is wrong cannot be taken out, such as a key that is no text
        return Blueprint(project=NAMELESS)


def nulls_in(data: Any, path: Path = ()) -> Iterator[Path]:
    """Yield where a blueprint says nothing: a limit that holds nothing would limit nothing."""
    if data is None:
        yield path
    elif isinstance(data, Mapping) and path[2:] != ("variables",):  # which are those of a product
        for key, value in data.items():
            yield from nulls_in(value, (*path, key))


def without_entries(data: Mapping[str, Any], paths: Iterable[Path]) -> dict[str, Any]:
    """Return a blueprint without the entries, or the sections, that these paths lead to."""
    left: dict[str, Any] = {"project": NAMELESS, **data}
    for section, *keys in paths:
        name = str(section)
        if not keys:
            left = {key: value for key, value in left.items() if key != name}
        elif isinstance(left.get(name), Mapping):
            left[name] = {key: value for key, value in left[name].items() if key != keys[0]}
    return {"project": NAMELESS, **left}


def describe_error(data: Any, path: Path, error: Mapping[str, Any]) -> tuple[Path, str]:
    """Return the place of an error of the form and what is wrong, without the value: it may be secret."""
    path, kind, context = without_branches(data, path), error["type"], error.get("ctx") or {}
    if kind in ALWAYS_THE_SAME:
        return path, ALWAYS_THE_SAME[kind]
    if kind == "extra_forbidden":
        return path, f"there is no such key{hint_of(path)}"
    if kind == "value_error":
        return path, f"it {context['error']}"
    if kind == "literal_error":
        return path, f"it is {error['input']!r}; it must be {context['expected']}"
    return path, f"it is {describe_type(error['input'])}; {form_of(path, kind)}"


def form_of(path: Path, kind: str) -> str:
    """Return what a value of the wrong type has to be."""
    if path[0] == "ssh_keys" and len(path) == 2:
        return "write the public key as text, or a mapping with public_key_file"
    if kind == "string_type":
        return "it must be a text: put it in quotes, or a template through the filter string"
    wanted = {"int": "a whole number", "float": "a number", "bool": "true or false", "list": "a list"}
    return f"it must be {wanted.get(kind.partition('_')[0], 'a mapping')}"


def without_branches(data: Any, path: Path) -> Path:
    """Return a path without the names that pydantic adds for the members of a union."""
    found: list[str | int] = []
    for key in path:
        inside = isinstance(data, Mapping) and key in data
        if inside or (isinstance(data, list) and key in range(len(data))):
            data = data[key]
        elif key in BRANCHES:
            continue
        found.append(key)
    return tuple(found)


def hint_of(path: Path) -> str:
    """Return the keys that there are instead of an unknown one, or the one that is probably meant."""
    own = OWN if path[:1] == ("defaults",) and len(path) == 3 else ()
    known = [key for key in keys_of(Blueprint, path[:-1]) if key not in own]
    close = difflib.get_close_matches(str(path[-1]), known, 1)
    return f"; did you mean {close[0]!r}?" if close else f"; the keys are {', '.join(known)}"


# --- Entries ----------------------------------------------------------------------------------------


def entries_of(
    document: Document, section: str, found: Mapping[str, Section], defaults: Section | None
) -> list[Entry]:
    """Return the entries of a section. What an entry says hides what the defaults say."""
    inherited = written(defaults) if defaults else {}
    for name in set(OWN) & inherited.keys():
        document.add_problem(("defaults", section, name), "each entry needs its own; remove this")
    entries = []
    for key, values in found.items():
        if not KEY.fullmatch(key):
            document.add_problem(
                (section, key),
                f"the key {key!r} must be of lowercase letters, digits and hyphens, as references name it; "
                "for any other name, write name below it",
            )
        whole = {**inherited, **written(values)}
        own = with_hidden_environment(document, (section, key), whole)
        entries.append(Entry(section, key, own, hides_command=hides_command(document, section, key)))
    return entries


def written(section: Section) -> dict[str, Any]:
    """Return what is written in a section, without null, which is a problem of its own."""
    return section.model_dump(exclude_unset=True, exclude_none=True)


def check_entry(document: Document, entry: Entry) -> None:
    """Check the values of an entry that need no platform."""
    for name in SELECTORS:
        if name in entry.values:
            document.note((*entry.path, name), check_selector, name, entry.values[name])
    if (most := entry.values.get("max_monthly")) is not None:
        document.note((*entry.path, "max_monthly"), read_amount, most, "max_monthly")
    checks = {"services": check_service, "applications": check_application, "ssh_keys": check_key}
    checks[entry.section](document, entry)


def check_service(document: Document, entry: Entry) -> None:
    """Check the rules of a service (Order fields)."""
    check_length(document, entry.path, entry.name, MAX_SERVICE_NAME)
    if "dimensions" in entry.values and "preset" in entry.values:
        document.add_problem(entry.path, "both dimensions and preset say its size; remove one")


def check_application(document: Document, entry: Entry) -> None:
    """Check the rules of an application and of its environment (Applications, rules 1, 2 and 7)."""
    document.note(entry.path, check_slug, entry.name)
    size = entry.values.get("dimensions", Size.model_fields)
    missing = [name for name in Size.model_fields if name not in size]
    if missing:
        lacks = f"it lacks {', '.join(missing)}; give all three parts"
        document.add_problem((*entry.path, "dimensions"), lacks)
    environments = [entry.values[name] for name in ENVIRONMENTS if name in entry.values]
    if environments and not any(environments):
        document.add_problem(
            entry.path,
            "its environment is empty, and an environment is replaced as a whole; leave it out to leave it "
            "alone. hosted.services.environment with clear removes every variable",
        )
    check_image(document, entry)
    if "health_check" in entry.values:
        document.note((*entry.path, "health_check"), HealthCheck(**entry.values["health_check"]).check)
    for path, target, what in references_in(entry):
        if target == entry.key:
            named = describe_reference(path, target, what)
            document.add_problem(path, f"{named} refers to the application itself, which is no neighbor")
    for section in ENVIRONMENTS:
        for name in entry.values.get(section, ()):
            document.note((*entry.path, section, name), check_name, name)
    if not document.problems:
        document.note(entry.path, merged, *(entry.values.get(name, {}) for name in ENVIRONMENTS))


def check_image(document: Document, entry: Entry) -> None:
    """Check the image of an application (OCI distribution specification)."""
    image, path = entry.values.get("image") or {}, (*entry.path, "image")
    for name, check in {"tag": check_tag, "digest": check_digest}.items():
        if name in image:
            document.note((*path, name), check, image[name])
    for name in ("archive", "name", "platform"):
        if name in image:
            document.note((*path, name), check_selector, name, image[name])
    if "archive" in image and "digest" in image:
        document.add_problem(path, "both archive and digest say which image it is; remove one")
    if image.keys() & {"name", "platform"} and "archive" not in image:
        document.add_problem(path, "name and platform choose an image of an archive, and there is none")


def check_key(document: Document, entry: Entry) -> None:
    """Note if an SSH key does not have exactly one source, or no public key."""
    given = [name for name in ("public_key", "public_key_file") if entry.values.get(name)]
    if len(given) != 1:
        document.add_problem(entry.path, "it must have public_key or public_key_file, and not both")
    elif "public_key" in given:
        document.note(entry.path, read_public_key, entry.values["public_key"])


# --- References -------------------------------------------------------------------------------------


def with_references(
    document: Document, services: Sequence[Entry], applications: Sequence[Entry]
) -> list[Entry]:
    """Return the applications with the keys that they refer to, and note cycles of references."""
    keys = {entry.key for entry in (*services, *applications)}
    found = []
    for entry in applications:
        targets = {target for _path, target, _field in references_in(entry)}
        found.append(replace(entry, references=sorted(targets & keys - {entry.key})))
    if cycle := find_cycle({entry.key: entry.references for entry in found}):
        document.add_problem(
            ("applications", cycle[0]),
            f"its environment refers to itself through others: {' -> '.join(cycle)}. Each would have to be "
            "there before the other; remove one of these references",
        )
    return found


def references_in(entry: Entry) -> Iterator[tuple[Path, str, str]]:
    """Yield each reference of an environment: its place, the key or alias, and the field."""
    for section in ENVIRONMENTS:
        for name, target, what in references(entry.values.get(section) or {}):
            yield (*entry.path, section, name), target, what


def describe_reference(path: Path, target: str, what: str) -> str:
    """Return a reference for messages. That of a secret may be a part of it that only looks like one."""
    return "a reference in its value" if HIDDEN_SECTION in path else f"${{{target}.{what}}}"


# --- The whole --------------------------------------------------------------------------------------


def check_project(document: Document, form: Blueprint) -> Budget:
    """Check the names of the project (Limits), and return its budget."""
    for key, name in {"project": form.project, "was": form.was}.items():
        if name is not None:
            document.note((key,), check_selector, key, name)
    check_length(document, ("project",), form.project, MAX_PROJECT_NAME)
    limits = form.budget.get("projects") if isinstance(form.budget, Mapping) else None
    if form.was is not None and isinstance(limits, Mapping) and form.was in limits:
        document.add_problem(
            ("budget", "projects", form.was),
            "it limits the project by its former name, and nothing once that is renamed; write "
            f"{form.project!r}",
        )
    try:
        return Budget() if form.budget is None else read_budget(form.budget, "budget")
    except Invalid as error:
        document.add_problem(("budget",), error.message)
        return Budget()


def check_length(document: Document, path: Path, name: str, most: int) -> None:
    """Note if a name has more than ``most`` characters."""
    if len(name) > most:
        document.add_problem(path, f"the name has {len(name)} characters; at most {most} are allowed")


def check_names(document: Document, entries: Sequence[Entry]) -> None:
    """Note two things of one id or name, or one key in both sections."""
    for entry, other in alike(entries, lambda each: each.values.get("id")):
        told = f"it is the id of {document.where(other.path)} too; a service has one entry"
        document.add_problem((*entry.path, "id"), told)
    for entry, other in alike(entries, lambda each: each.name):
        if are_mixed_up(entry, other):
            document.add_problem(
                entry.path,
                f"it has the name {entry.name!r}, as {document.where(other.path)} has {other.name!r}; "
                "give each a name of its own",
            )
    for entry, other in alike(entries, lambda each: each.key):
        if not are_mixed_up(entry, other):
            document.add_problem(
                entry.path,
                f"the key {entry.key!r} is in {other.section} too, and a reference could mean either; "
                "rename one",
            )


def alike(entries: Iterable[Entry], by: Callable[[Entry], str | None]) -> Iterator[tuple[Entry, Entry]]:
    """Yield each entry with each earlier one that has the same of what ``by`` returns."""
    seen: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        value = by(entry)
        if value:
            yield from ((entry, other) for other in seen[value])
            seen[value].append(entry)


def are_mixed_up(entry: Entry, other: Entry) -> bool:
    """Tell whether two entries may be found as the same service by their names. An id tells them apart."""
    services = [each for each in (entry, other) if each.section == "services"]
    if services and all("id" in each.values for each in services):
        return False
    return same_name(entry.name, other.name)
