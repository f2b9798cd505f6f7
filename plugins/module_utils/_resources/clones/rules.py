# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the blueprint of the clone: that of the source with other names, nodes, sizes and environments."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..._api.text import composed, counted
from ..applications.lookup import check_slug
from ..blueprints.hiding import HIDDEN_SECTION, PLAIN_SECTION
from ..blueprints.members import Member
from ..shared.task_errors import Invalid
from .environments import NOTHING, Given
from .options import CloneOptions, Rename
from .source import Original, SourceProject, Wanted

Own = Mapping[str, Mapping[str, Any]]
"""What is said of single services, by key."""

FORGOTTEN = ("id", "allow_duplicate_name", "slug", "name", "state")
"""What of the source does not hold for its clone."""
TAG_DIGITS = 12
"""How many digits of a digest make the tag of an image whose own is not shown."""


def blueprint_of(
    options: CloneOptions,
    source: SourceProject,
    own: Own,
    environments: Mapping[str, Given],
    *,
    names: Mapping[str, str],
    there: Mapping[str, Member],
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the blueprint of the clone, and by key whether a service runs once its files are there.

    :param names: the name or slug of each clone, by key.
    :param there: those that are there already, by key. Their ids decide: a platform may change names.
    """
    sections: dict[str, dict[str, Any]] = {}
    states: dict[str, str] = {}
    for original in source.originals:
        values = values_of(options, original, environments.get(original.key, NOTHING))
        values |= own[original.key]
        state = values.pop("state", original.exported.values.get("state"))
        if (state and state != "suspended") or "state" in own[original.key]:
            states[original.key] = str(state)
        member = there.get(original.key)
        name = member.name if member else names[original.key]
        if original.app:
            values["slug"] = name
        else:
            values |= {} if name == original.key else {"name": name}
            values |= {"id": member.id} if member else {}
        sections.setdefault("applications" if original.app else "services", {})[original.key] = values
    return {"project": options.project, **sections}, states


def values_of(options: CloneOptions, original: Original, environment: Given) -> dict[str, Any]:
    """Return what the blueprint says of a service, but for its name and for what is said of it alone."""
    values = {name: value for name, value in original.exported.values.items() if name not in FORGOTTEN}
    values |= {"host": host} if (host := host_of(options, original)) else {}
    if options.dimensions is not None:
        wanted = {name: value for name, value in options.dimensions.as_dict().items() if value is not None}
        values["dimensions"] = {**values.get("dimensions", {}), **wanted}
    if options.public is not None:
        values["public"] = options.public
    if original.app:
        plain, secret = environment
        values |= {PLAIN_SECTION: plain} if plain else {}
        values |= {HIDDEN_SECTION: secret} if secret else {}
        if digest := original.app.digest:
            source = (original.record.get("settings") or {}).get("source") or {}
            tag = source.get("tag") or f"clone-{digest.partition(':')[2][:TAG_DIGITS]}"
            values["image"] = {"tag": tag, "digest": digest}
    return values


def host_of(options: CloneOptions, original: Original) -> str | None:
    """Return the node of a clone: the one that stands for that of the source, or the one for all."""
    host, hosts = original.record["host"] or {}, options.hosts or {}
    for name in (host.get("id"), host.get("label")):
        if name in hosts:
            return str(hosts[name])
    return options.host


# --- Names --------------------------------------------------------------------------------------------


KeyOf = Callable[[str, str], str]
"""Returns the key of what an option names, given that and the name of the option."""


def own_values(overrides: Mapping[str, Any] | None, wanted: Sequence[Wanted], key_of: KeyOf) -> Own:
    own: dict[str, dict[str, Any]] = {each.key: {} for each in wanted}
    for name, values in (overrides or {}).items():
        own[key_of(name, "overrides")] = dict(values)
    return own


def names_of(
    rename: Rename | None,
    wanted: Sequence[Wanted],
    own: Own,
    key_of: KeyOf,
    whole: str = "clone",
    *,
    beside: bool = True,
) -> dict[str, str]:
    """Return the name or slug of each thing that is made, by key.

    :param beside: whether what it is made from keeps its slug.
    """
    rename = rename or Rename()
    given = {key_of(each, "rename.names"): str(name) for each, name in (rename.names or {}).items()}
    names = {}
    for each in wanted:
        said = own[each.key].get("slug" if each.is_app else "name")
        names[each.key] = str(said or given.get(each.key) or renamed(each.was, rename))
    problems = [found for each in wanted if (found := problem_of(each, names[each.key], beside))]
    problems += same_names(names)
    if problems:
        raise Invalid(
            f"{counted(len(problems), 'name')} of the {whole} cannot be used: {'; '.join(problems)}"
        )
    return names


def renamed(name: str, rename: Rename) -> str:
    """Return a name after the rules."""
    if rename.pattern is not None:
        try:
            name = re.sub(rename.pattern, rename.replacement or "", name)
        except (re.error, IndexError) as error:
            raise Invalid(
                f"rename.pattern {rename.pattern!r} with its replacement is wrong: {error}"
            ) from None
    return f"{rename.prefix or ''}{name}{rename.suffix or ''}"


def problem_of(wanted: Wanted, name: str, beside: bool) -> str | None:
    """Return what is wrong with a name; ``None`` if nothing is."""
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


def same_names(names: Mapping[str, str]) -> list[str]:
    """Return what is wrong with names that several have."""
    by_name: dict[str, list[str]] = {}
    for key, name in names.items():
        by_name.setdefault(composed(name), []).append(key)
    return [
        f"{', '.join(keys)} would all be {name!r}; set rename.names by their ids"
        for name, keys in by_name.items()
        if len(keys) > 1
    ]
