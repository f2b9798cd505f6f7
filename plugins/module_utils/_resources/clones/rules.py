# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the blueprint of the clone: that of the source with other names, nodes, sizes and environments."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..._api.models import App
from ..._api.text import composed, counted
from ..applications.lookup import check_slug, redirected, references
from ..blueprints.contents import Contents
from ..blueprints.document import HIDDEN_SECTION, PLAIN_SECTION
from ..blueprints.members import Member
from ..shared.names import same_name
from ..shared.options import StateDirOptions
from ..shared.pending import Fingerprints, record_of
from ..shared.plan import Task
from ..shared.task_errors import Invalid
from .source import CloneOptions, Original, Rename, SourceProject, Wanted, pick

Own = Mapping[str, Mapping[str, Any]]
FORGOTTEN = ("id", "allow_duplicate_name", "slug", "name", "state")
"""What of the source does not hold for its clone."""
TAG_DIGITS = 12
"""How many digits of a digest make the tag of an image whose own is not shown."""
Given = tuple[dict[str, Any], dict[str, Any]]
"""The variables that may be shown, and those that are secret."""
KeyOf = Callable[[str, str], str]
"""Returns the key of what an option names, given that and the name of the option."""


def blueprint_of(
    options: CloneOptions,
    source: SourceProject,
    own: Own,
    environments: Mapping[str, Given],
    *,
    names: Mapping[str, str],
    there: Mapping[str, Member],
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the blueprint of the clone, and by key whether a service runs once its files are there."""
    sections: dict[str, dict[str, Any]] = {}
    states: dict[str, str] = {}
    for original in source.originals:
        key, member = original.key, there.get(original.key)
        values = values_of(options, original, environments.get(key, ({}, {})))
        values |= own[key]
        state = values.pop("state", original.exported.values.get("state"))
        if (state and state != "suspended") or "state" in own[key]:
            states[key] = str(state)
        name = member.name if member else names[key]
        if original.app:
            values["slug"] = name
        else:
            values |= {} if name == key else {"name": name}
            values |= {"id": member.id} if member else {}
        sections.setdefault("applications" if original.app else "services", {})[key] = values
    return {"project": options.project, **sections}, states


def values_of(options: CloneOptions, original: Original, environment: Given) -> dict[str, Any]:
    values = {name: value for name, value in original.exported.values.items() if name not in FORGOTTEN}
    node, hosts = original.record["host"] or {}, options.hosts or {}
    others = [hosts[name] for name in (node.get("id"), node.get("label")) if name in hosts]
    if host := next(iter(others), options.host):  # the node that stands for that of the source
        values["host"] = str(host)
    if options.dimensions is not None:
        wanted = {name: value for name, value in options.dimensions.as_dict().items() if value is not None}
        values["dimensions"] = {**values.get("dimensions", {}), **wanted}
    if options.public is not None:
        values["public"] = options.public
    if original.app:
        sections = zip((PLAIN_SECTION, HIDDEN_SECTION), environment, strict=True)
        values |= {section: variables for section, variables in sections if variables}
        if digest := original.app.digest:
            source = (original.record.get("settings") or {}).get("source") or {}
            tag = source.get("tag") or f"clone-{digest.partition(':')[2][:TAG_DIGITS]}"
            values["image"] = {"tag": tag, "digest": digest}
    return values


# --- Names --------------------------------------------------------------------------------------------


def own_values(overrides: Mapping[str, Any] | None, wanted: Sequence[Wanted], key_of: KeyOf) -> Own:
    said = {key_of(name, "overrides"): dict(values) for name, values in (overrides or {}).items()}
    return {each.key: said.get(each.key, {}) for each in wanted}


def names_of(
    rename: Rename | None,
    wanted: Sequence[Wanted],
    own: Own,
    key_of: KeyOf,
    whole: str = "clone",
    *,
    beside: bool = True,
) -> dict[str, str]:
    """Return the name or slug of each thing, by key. ``beside`` tells whether the original keeps its slug."""
    rename = rename or Rename()
    given = {key_of(each, "rename.names"): str(name) for each, name in (rename.names or {}).items()}
    names: dict[str, str] = {}
    by_name: dict[str, list[str]] = {}
    for each in wanted:
        said = own[each.key].get("slug" if each.is_app else "name")
        names[each.key] = name = str(said or given.get(each.key) or renamed(each.was, rename))
        by_name.setdefault(composed(name), []).append(each.key)
    problems = [found for each in wanted if (found := problem_of(each, names[each.key], beside))]
    problems += [
        f"{', '.join(keys)} would all be {name!r}; set rename.names by their ids"
        for name, keys in by_name.items()
        if len(keys) > 1
    ]
    if problems:
        raise Invalid(
            f"{counted(len(problems), 'name')} of the {whole} cannot be used: {'; '.join(problems)}"
        )
    return names


def renamed(name: str, rename: Rename) -> str:
    if rename.pattern is not None:
        try:
            name = re.sub(rename.pattern, rename.replacement or "", name)
        except (re.error, IndexError) as error:
            raise Invalid(
                f"rename.pattern {rename.pattern!r} with its replacement is wrong: {error}"
            ) from None
    return f"{rename.prefix or ''}{name}{rename.suffix or ''}"


def problem_of(wanted: Wanted, name: str, beside: bool) -> str | None:
    if not wanted.is_app:
        return None if name.strip() else f"{wanted.label} would have no name"
    if beside and name == wanted.was:
        return (
            f"{wanted.label} would have the same slug, and slugs are unique across all accounts; "
            "set rename, such as {suffix: -staging}"
        )
    try:
        check_slug(name)
    except Invalid as error:
        return f"{wanted.label}: {error.message}"
    return None


# --- Environments ---------------------------------------------------------------------------------------


def read_environments(
    task: Task[CloneOptions], source: SourceProject, file: Contents | None
) -> dict[str, Given]:
    """Return the environments of the clone by key, from the options and before that from the file."""
    found = from_file(source, file, task.options.copy_secrets) if file else {}
    for at, option in enumerate(("environments", "secret_environments")):
        for wanted, variables in (getattr(task.options, option) or {}).items():
            given = found.setdefault(source.of(wanted, option, app=True).key, ({}, {}))
            for name in variables:
                given[1 - at].pop(name, None)
            given[at].update(variables)
    check_given(task, source, found)
    for each in source.originals:
        if each.key in found:
            plain, secret = (inside(source, each, part) for part in found[each.key])
            found[each.key] = plain, secret
    return found


def from_file(source: SourceProject, file: Contents, secrets: bool) -> dict[str, Given]:
    """Return the environments that a blueprint of the source describes. Its secrets only if that is said."""
    by_key = {
        entry.key: original.key
        for entry in file.described
        for original in (*source.originals, *source.others)
        if same_name(entry.name, original.was)
    }
    found: dict[str, Given] = {}
    for entry in file.applications:
        original = pick(source.originals, entry.name)
        if original is not None and original.app is not None:
            plain, secret = (
                all_redirected(entry.values.get(section) or {}, by_key)
                for section in (PLAIN_SECTION, HIDDEN_SECTION)
            )
            found[original.key] = plain, secret if secrets else {}
    return found


def all_redirected(variables: Mapping[str, Any], aliases: Mapping[str, str]) -> dict[str, Any]:
    """Return variables whose references name other aliases where ``aliases`` has one."""
    return {
        name: redirected(value, aliases) if isinstance(value, str) else value
        for name, value in variables.items()
    }


def inside(source: SourceProject, original: Original, variables: Mapping[str, Any]) -> dict[str, Any]:
    texts = {name: value for name, value in variables.items() if isinstance(value, str)}
    keys = {target: key_of(source, original, name, target) for name, target, _field in references(texts)}
    return all_redirected(variables, keys)


def key_of(source: SourceProject, original: Original, variable: str, target: str) -> str:
    place = f"variable {variable} of {original.label} refers to {target!r}"
    everything = [*source.originals, *source.others]
    named = [each for each in everything if target == each.alias or target in each.names]
    if len(named) > 1:
        raise Invalid(
            f"{place}, which names {', '.join(each.label for each in named)}; write an alias or key"
        )
    if not named:
        return target  # a neighbor in the target project, or nothing, which the blueprint finds out
    if named[0] in source.others:
        raise Invalid(
            f"{place}, {named[0].label}, which is not cloned. Clone it as well, or give {variable} "
            "another value: a clone must not use what belongs to its source"
        )
    return named[0].key


def check_given(task: Task[CloneOptions], source: SourceProject, environments: Mapping[str, Given]) -> None:
    """Check that each variable that is known to be there is given. Warn where none is known or given."""
    options, option = task.options, "without_environment"
    without = [source.of(each, option, app=True).key for each in options.without_environment]
    missing: list[str] = []
    unknown: list[str] = []
    for original in source.originals:
        if original.app is None or original.key in without:
            continue
        given = {name for part in environments.get(original.key, ()) for name in part}
        if lacking := lacks(options, original.app, original.referring, given):
            missing.append(lacking)
        elif not given:
            unknown.append(original.label)
    check_lacking(
        missing,
        "in the blueprint that src names, whose secrets need copy_secrets; without_environment lists "
        "applications to clone without",
    )
    if unknown:
        task.warn(
            f"whether {', '.join(unknown)} has an environment is not known here: the platform shows only "
            "variables that refer to another service. The clone has none"
        )


def check_lacking(missing: Sequence[str], hint: str) -> None:
    if missing:
        raise Invalid(
            "an environment is replaced as a whole, the platform does not show its values, and these are not "
            f"given: {'; '.join(missing)}. Nothing was ordered. Give all of it by slug in environments or "
            f"secret_environments, or {hint}"
        )


def lacks(options: StateDirOptions, app: App, referring: Iterable[str], given: Iterable[str]) -> str | None:
    """Say which variables, that refer to another service or were written from here, are not given, if any."""
    last = Fingerprints.at(record_of(options, app.slug), app.id)
    missing = sorted({*referring, *last.prints} - set(given))
    return f"application {app.slug!r} lacks {', '.join(missing)}" if missing else None
