# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads a blueprint: all that can be known to be wrong without the platform is found here, with its place."""

from __future__ import annotations

import difflib
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from ..._api.libraries import ValidationError
from ..._api.text import describe_type
from ..applications.lookup import check_slug, merged, references
from ..services.order import MAX_SERVICE_NAME
from ..shared.budget import Budget, read_budget
from ..shared.identify import near_miss
from ..shared.names import same_name
from ..shared.options import MAX_PROJECT_NAME
from ..shared.public_key import read_public_key
from ..sleeping.schedule import SleepPlanOptions, check_limits, schedule_of
from .document import (
    HIDDEN_SECTION,
    PLAIN_SECTION,
    Document,
    Entry,
    Path,
    hides_command,
    with_hidden_environment,
)
from .parts import find_cycle
from .schema import Blueprint, PlanSection, Section, Size, SleepSection, keys_at

PLAN_NAME = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?")
ENVIRONMENTS = (PLAIN_SECTION, HIDDEN_SECTION)
VARIABLES = {"backups": "backups_plans", "sleep": "sleep_schedule_plans"}
"""The variables of the roles that take the plans of a section. The module installs none of them."""
FILE = "service or application of this file"
RUNS = ("started", "stopped", "suspended", "resumed")
"""The states of a service that leave a plan for sleep nothing to decide."""
ALWAYS_THE_SAME = {
    "missing": "it is missing; write it",
    "int_from_float": "it has a fraction; it must be a whole number",
}
OWN = ("name", "id", "slug")


@dataclass(frozen=True)
class Contents:
    project: str
    services: Sequence[Entry] = ()
    applications: Sequence[Entry] = ()
    ssh_keys: Sequence[Entry] = ()
    budget: Budget = field(default_factory=Budget)
    was: str | None = None
    plans: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    """The plans of each section that the blueprint has, as the role of that section takes them."""
    folder: str = ""
    """What the paths in it are relative to. Empty for the folder of the process."""
    mark: Callable[[Path], str] = lambda path: ""
    """Returns the file, line and column of a value; empty if there is none."""

    @property
    def described(self) -> list[Entry]:
        """The entries of what is in the project. SSH keys are those of the account."""
        return [*self.services, *self.applications]

    @property
    def entries(self) -> list[Entry]:
        return [*self.described, *self.ssh_keys]

    def path(self, written: str) -> str:
        return os.path.join(self.folder, os.path.expanduser(written))


def read_contents(document: Document) -> Contents:
    """Check a document and return what it says. The error has all that is wrong, each with its place."""
    form = read_form(document)
    services = entries_of(document, form, "services")
    applications = with_references(document, services, entries_of(document, form, "applications"))
    keys = [
        Entry("ssh_keys", name, {"public_key": key} if isinstance(key, str) else written(key))
        for name, key in form.ssh_keys.items()
    ]
    for entry in services:
        check_service(document, entry)
    for entry in applications:
        check_application(document, entry)
    check_keys(document, keys)
    check_names(document, [*services, *applications])
    check_project(document, form)
    plans = read_plans(document, form, [*services, *applications])
    document.check()
    budget = Budget() if form.budget is None else read_budget(form.budget, "budget")
    return Contents(
        form.project, services, applications, keys, budget, form.was, plans, document.folder, document.mark
    )


# --- The form ---------------------------------------------------------------------------------------


def read_form(document: Document) -> Blueprint:
    document.check()
    data = document.data
    if not isinstance(data, Mapping) or not data:
        said = "it is empty" if not data else f"it is {describe_type(data)}"
        document.add_problem((), f"{said}; write a mapping with project and the sections that it has")
    else:
        try:
            form = Blueprint.model_validate(data)
        except ValidationError as error:
            for each in error.errors(include_url=False):
                document.add_problem(*describe_error(tuple(each["loc"]), each))
    document.check()
    return form


def describe_error(path: Path, error: Mapping[str, Any]) -> tuple[Path, str]:
    """Return the place of an error of the form and what is wrong, without the value: it may be secret."""
    kind, value = error["type"], error["input"]
    if path[0] == "ssh_keys":  # pydantic adds the member of a union
        path = (*path[:2], *path[3:])
    if path[-1] == "[key]":
        path = path[:-1]
    if value is None:
        return path, "it is null; give it a value, or leave it out"
    if kind in ALWAYS_THE_SAME:
        return path, ALWAYS_THE_SAME[kind]
    if kind == "extra_forbidden":
        return path, f"there is no such key{hint_of(path)}"
    if kind == "value_error":
        return path, str(error["ctx"]["error"])
    if kind == "literal_error":
        return path, f"it is {value!r}; it must be {error['ctx']['expected']}"
    return path, f"it is {describe_type(value)}; {form_of(path, kind)}"


def form_of(path: Path, kind: str) -> str:
    if path[0] == "ssh_keys" and len(path) == 2:
        return "write the public key as text, or a mapping with public_key_file"
    if kind == "string_type":
        return "it must be a text: put it in quotes, or a template through the filter string"
    wanted = {"int": "a whole number", "float": "a number", "bool": "true or false", "list": "a list"}
    return f"it must be {wanted.get(kind.partition('_')[0], 'a mapping')}"


def hint_of(path: Path) -> str:
    own = OWN if path[:1] == ("defaults",) and len(path) == 3 else ()
    known = [key for key in keys_at(path[:-1]) if key not in own]
    close = difflib.get_close_matches(str(path[-1]), known, 1)
    return f"; did you mean {close[0]!r}?" if close else f"; the keys are {', '.join(known)}"


# --- Entries ----------------------------------------------------------------------------------------


def entries_of(document: Document, form: Blueprint, section: str) -> list[Entry]:
    """Return the entries of a section. What an entry says hides what the defaults say."""
    defaults = getattr(form.defaults, section, None)
    inherited = written(defaults) if defaults else {}
    for name in set(OWN) & inherited.keys():
        document.add_problem(("defaults", section, name), "each entry needs its own; remove this")
    entries = []
    for key, values in getattr(form, section).items():
        path = (section, key)
        own = with_hidden_environment(document, path, {**inherited, **written(values)})
        entries.append(Entry(*path, own, hides_command=hides_command(document, *path)))
    return entries


def written(section: Section) -> dict[str, Any]:
    return section.model_dump(exclude_unset=True)


def check_service(document: Document, entry: Entry) -> None:
    check_length(document, entry.path, entry.name, MAX_SERVICE_NAME)
    if "dimensions" in entry.values and "preset" in entry.values:
        document.add_problem(entry.path, "both dimensions and preset say its size; remove one")


def check_application(document: Document, entry: Entry) -> None:
    """Check the rules of an application and of its environment (Applications, rules 1, 2 and 7)."""
    document.note(entry.path, check_slug, entry.name)
    size = entry.values.get("dimensions", Size.model_fields)
    if missing := [name for name in Size.model_fields if name not in size]:
        lacks = f"it lacks {', '.join(missing)}; give all three parts"
        document.add_problem((*entry.path, "dimensions"), lacks)
    environments = [entry.values.get(name, {}) for name in ENVIRONMENTS]
    if not any(environments) and not entry.values.keys().isdisjoint(ENVIRONMENTS):
        document.add_problem(
            entry.path,
            "its environment is empty, and an environment is replaced as a whole; leave it out to leave it "
            "alone. hosted.services.environment with clear removes every variable",
        )
    for path, target, what in references_in(entry):
        if target == entry.key:
            named = describe_reference(path, target, what)
            document.add_problem(path, f"{named} refers to the application itself, which is no neighbor")
    document.note(entry.path, merged, *environments)


def check_keys(document: Document, keys: Sequence[Entry]) -> None:
    for entry in keys:
        given = [name for name in ("public_key", "public_key_file") if entry.values.get(name)]
        if len(given) != 1:
            document.add_problem(entry.path, "it must have public_key or public_key_file, and not both")
        elif "public_key" in given:
            document.note(entry.path, read_public_key, entry.values["public_key"])
    for entry, other in alike(keys, lambda key: " ".join(key.values.get("public_key", "").split()[:2])):
        document.add_problem(entry.path, f"it is the same key as {document.where(other.path)}; remove one")


def check_project(document: Document, form: Blueprint) -> None:
    check_length(document, ("project",), form.project, MAX_PROJECT_NAME)
    limits = form.budget.get("projects") if isinstance(form.budget, Mapping) else None
    if form.was is not None and isinstance(limits, Mapping) and form.was in limits:
        document.add_problem(
            ("budget", "projects", form.was),
            "it limits the project by its former name, and nothing once that is renamed; write "
            f"{form.project!r}",
        )


def check_length(document: Document, path: Path, name: str, most: int) -> None:
    if len(name) > most:
        document.add_problem(path, f"the name has {len(name)} characters; at most {most} are allowed")


def check_names(document: Document, entries: Sequence[Entry]) -> None:
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


# --- References -------------------------------------------------------------------------------------


def with_references(
    document: Document, services: Sequence[Entry], applications: Sequence[Entry]
) -> list[Entry]:
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


# --- Plans for backups and sleep ----------------------------------------------------------------------


def read_plans(
    document: Document, form: Blueprint, entries: Sequence[Entry]
) -> dict[str, list[dict[str, Any]]]:
    for path, __ in document.decrypted:
        if path[0] in VARIABLES:
            document.add_problem(path, "a plan is shown, so nothing in it may be encrypted by itself")
    plans: dict[str, list[dict[str, Any]]] = {}
    by_key = {entry.key: entry for entry in entries}
    for section in [each for each in VARIABLES if each in form.model_fields_set]:
        plans[section] = []
        named: dict[str, Path] = {}  # the roles keep a file for each name
        for key, plan in getattr(form, section).items():
            path, name = (section, key), plan.name or key
            if (first := named.setdefault(name, path)) != path:
                told = f"it has the name {name!r} of {document.where(first)}; give it another"
                document.add_problem(path, told)
            if not PLAN_NAME.fullmatch(name):
                document.add_problem(
                    (*path, "name") if plan.name else path,
                    f"the name {name!r} of a plan must be of lowercase letters, digits and hyphens, and "
                    "begin and end with a letter or a digit",
                )
            own = {"name": name, "project": form.project}
            plans[section].append({**read_plan(document, path, plan, by_key), **own})
    return plans


def read_plan(
    document: Document, path: Path, plan: PlanSection, entries: Mapping[str, Entry]
) -> dict[str, Any]:
    found = plan.model_dump(mode="json", by_alias=True, exclude_unset=True)

    def targets(
        where: Path, keys: Iterable[str], known: Iterable[str] = entries, of: str = FILE
    ) -> list[str]:
        for number, key in enumerate(keys):
            if key not in known:
                place = (*path, *where, key if isinstance(keys, Mapping) else number)
                document.add_problem(place, f"{key!r} is no {of}{near_miss(key, known)}")
        return [target_of(entries, key) for key in keys]

    for option in {"services", "may_skip"} & found.keys():
        found[option] = targets((option,), found[option])
    if isinstance(plan, SleepSection):
        known = list(entries) if plan.services is None else plan.services
        if order := plan.start_after:
            of_plan = partial(targets, known=known, of="service of the plan")
            of_plan(("start_after",), order)
            after = {key: of_plan(("start_after", key), needs) for key, needs in order.items()}
            found["start_after"] = {target_of(entries, key): needs for key, needs in after.items()}
        check_sleep(document, path, plan, found, [entries[key] for key in known if key in entries])
    return found


def target_of(entries: Mapping[str, Entry], key: str) -> str:
    """Return what the roles find a service by: its id if the blueprint has it, else its name."""
    entry = entries.get(key)
    return str(entry.values.get("id") or entry.name) if entry else key


def check_sleep(
    document: Document, path: Path, plan: SleepSection, found: dict[str, Any], entries: Iterable[Entry]
) -> None:
    """Check a plan for sleep as its module does, and that it alone decides whether services run."""
    if plan.calendar is not None:
        found["calendar"] = os.path.join(document.folder, os.path.expanduser(plan.calendar))
        if not os.path.isabs(found["calendar"]):
            told = "it must be an absolute path, as there is no file that it is beside"
            document.add_problem((*path, "calendar"), told)
            return
    whole = {**written(plan), "name": "plan", "calendar": found.get("calendar")}
    options = SleepPlanOptions.from_ansible(whole)
    document.note(path, check_limits, options)
    document.note(path, schedule_of, options)
    # Each run of the blueprint would undo what the plan did to a service whose state is fixed.
    for entry in entries:
        if entry.values.get("state") in RUNS:
            document.add_problem(
                (*entry.path, "state"),
                f"the plan {document.where(path)} decides whether it runs; remove one of them",
            )
