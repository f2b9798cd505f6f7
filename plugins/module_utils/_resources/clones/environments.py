# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The environments of the clone. The platform shows none, so that their values come from the user.

What is known without their values is which variables there are: those that refer to another service, and
those that this controller has written. If one of them is not given, nothing is ordered.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..._api.models import App
from ..applications.environment_rules import redirected, references
from ..blueprints.contents import Contents
from ..blueprints.hiding import HIDDEN_SECTION, PLAIN_SECTION
from ..shared.fingerprints import Fingerprints, state_folder
from ..shared.names import same_name
from ..shared.options import StateDirOptions
from ..shared.plan import Task
from ..shared.task_errors import Invalid
from .options import CloneOptions
from .source import Original, SourceProject

Given = tuple[dict[str, Any], dict[str, Any]]
"""The variables that may be shown, and those that are secret."""
NOTHING: Given = ({}, {})


def read_environments(
    task: Task[CloneOptions], source: SourceProject, file: Contents | None
) -> dict[str, Given]:
    """Return the environments of the clone by key, with references that name keys of the clone.

    They come from the options, and before that from the file of the source.

    :raises Invalid: for variables that are known and not given, all of them at once.
    """
    found = from_file(source, file, task.options.copy_secrets) if file else {}
    for at, option in enumerate(("environments", "secret_environments")):
        for wanted, variables in (getattr(task.options, option) or {}).items():
            given = found.setdefault(application_of(source, wanted, option).key, ({}, {}))
            for name, value in variables.items():
                given[1 - at].pop(name, None)
                given[at][name] = value
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
        for entry in (*file.services, *file.applications)
        for original in (*source.originals, *source.others)
        if same_name(entry.name, original.name)
    }
    found: dict[str, Given] = {}
    for entry in file.applications:
        original = source.of(entry.name)
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
    """Return variables whose references lead to what stands in the clone for their targets.

    :raises Invalid: for one to something of the source that is not cloned.
    """
    texts = {name: value for name, value in variables.items() if isinstance(value, str)}
    keys = {target: key_of(source, original, name, target) for name, target, _field in references(texts)}
    return all_redirected(variables, keys)


def key_of(source: SourceProject, original: Original, variable: str, target: str) -> str:
    """Return the key of what a reference names by its alias, key, name or slug in the source."""
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


def application_of(source: SourceProject, wanted: str, option: str) -> Original:
    found = source.of(wanted)
    if found is None or found.app is None:
        known = ", ".join(sorted(each.name for each in source.originals if each.app)) or "none"
        raise Invalid(f"{option} names {wanted!r}; the applications that are cloned: {known}")
    return found


def check_given(task: Task[CloneOptions], source: SourceProject, environments: Mapping[str, Given]) -> None:
    """Check that each variable that is known to be there is given."""
    options = task.options
    without = [
        application_of(source, each, "without_environment").key for each in options.without_environment
    ]
    missing: list[str] = []
    unknown: list[str] = []
    for original in source.originals:
        if original.app is None or original.key in without:
            continue
        given = {name for part in environments.get(original.key, NOTHING) for name in part}
        lacking = sorted(known_names(options, original.app, original.referring) - given)
        if lacking:
            missing.append(f"{original.label} lacks {', '.join(lacking)}")
        elif not given:
            unknown.append(original.label)
    if missing:
        raise Invalid(
            f"the platform does not show the values of environments, and these are not given: "
            f"{'; '.join(missing)}. Nothing was ordered. Give them by slug in environments or "
            "secret_environments, or in the blueprint that src names; what is secret there is used only with "
            "copy_secrets. without_environment lists applications to clone without"
        )
    if unknown:
        task.warn(
            f"whether {', '.join(unknown)} has an environment is not known here: the platform shows only "
            "variables that refer to another service. The clone has none"
        )


def known_names(options: StateDirOptions, app: App, referring: Iterable[str]) -> set[str]:
    """Return the variables that an application is known to have: these refer, or were written from here."""
    last = Fingerprints.read(state_folder(options.state_dir), options.base_url, app.slug, app.id)
    return {*referring, *last.prints}
