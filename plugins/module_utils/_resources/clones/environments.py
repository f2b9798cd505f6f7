# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The environments of the clone. The platform shows none, so that their values come from the user.

What is known without their values is which variables there are: those that refer to another service, and
those that this controller has written. If one of them is not given, nothing is ordered.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..._api.models import App
from ..applications.environment_rules import REFERENCE, redirected
from ..blueprints.contents import Contents
from ..blueprints.hiding import HIDDEN_SECTION, PLAIN_SECTION
from ..shared.fingerprints import Fingerprints, state_folder
from ..shared.names import same_name
from ..shared.plan import Task
from ..shared.task_errors import Invalid
from .options import CloneOptions
from .source import Original, SourceProject

Variables = Mapping[str, Any]
Given = tuple[dict[str, Any], dict[str, Any]]
"""The variables that may be shown, and those that are secret."""


@dataclass
class Environments:
    """What each application of the clone has as its environment."""

    source: SourceProject
    given: dict[str, Given] = field(default_factory=dict)
    """By key of the source."""

    def of(self, original: Original) -> Given:
        """Return the environment of an application, with references that name keys of the clone."""
        plain, secret = self.given.get(original.key, ({}, {}))
        return self._inside(original, plain), self._inside(original, secret)

    def _inside(self, original: Original, variables: Variables) -> dict[str, Any]:
        """Return variables whose references lead to what stands in the clone for their targets.

        :raises Invalid: for one to something of the source that is not cloned.
        """

        def value_of(name: str, value: Any) -> Any:
            if not isinstance(value, str):
                return value
            return REFERENCE.sub(
                lambda found: f"${{{self._key_of(original, name, found[1])}.{found[2]}}}", value
            )

        return {name: value_of(name, value) for name, value in variables.items()}

    def _key_of(self, original: Original, variable: str, target: str) -> str:
        """Return the key of what a reference names by its alias, key, name or slug in the source."""
        place = f"variable {variable} of {original.label} refers to {target!r}"
        everything = [*self.source.originals, *self.source.others]
        named = [each for each in everything if target == each.alias or target in each.names]
        if len(named) > 1:
            raise Invalid(
                f"{place}, which names {', '.join(each.label for each in named)}; write an alias or key"
            )
        if not named:
            return target  # a neighbor in the target project, or nothing, which the blueprint finds out
        if named[0] in self.source.others:
            raise Invalid(
                f"{place}, {named[0].label}, which is not cloned. Clone it as well, or give {variable} "
                "another value: a clone must not use what belongs to its source"
            )
        return named[0].key


def read_environments(task: Task[CloneOptions], source: SourceProject, file: Contents | None) -> Environments:
    """Return the environments of the clone: from the options, and before that from the file of the source.

    :raises Invalid: for variables that are known and not given, all of them at once.
    """
    found = Environments(source)
    options = task.options
    if file is not None:
        take_from_file(found, source, file, options.copy_secrets)
    for at, given in ((0, options.environments), (1, options.secret_environments)):
        for wanted, variables in (given or {}).items():
            original = application_of(source, wanted, "environments" if at == 0 else "secret_environments")
            plain, secret = found.given.setdefault(original.key, ({}, {}))
            for name, value in variables.items():
                (secret if at == 0 else plain).pop(name, None)
                (plain, secret)[at][name] = value
    check_given(task, found)
    return found


def take_from_file(found: Environments, source: SourceProject, file: Contents, secrets: bool) -> None:
    """Take the environments that a blueprint of the source describes. Its secrets only if that is said."""
    by_key = keys_in_source(source, file)
    for entry in file.applications:
        original = source.of(entry.name)
        if original is None or original.app is None:
            continue
        given: list[dict[str, Any]] = []
        for section in (PLAIN_SECTION, HIDDEN_SECTION) if secrets else (PLAIN_SECTION,):
            variables = entry.values.get(section) or {}
            given.append({name: redirected(value, by_key) for name, value in variables.items()})
        found.given[original.key] = given[0], given[1] if secrets else {}


def keys_in_source(source: SourceProject, file: Contents) -> dict[str, str]:
    """Return the keys of the source by those that a file has for the same services."""
    everything = [*source.originals, *source.others]
    return {
        entry.key: original.key
        for entry in (*file.services, *file.applications)
        for original in everything
        if same_name(entry.name, original.name)
    }


def application_of(source: SourceProject, wanted: str, option: str) -> Original:
    """Return the application that an option names.

    :raises Invalid: if none of that name is cloned.
    """
    found = source.of(wanted)
    if found is None or found.app is None:
        known = ", ".join(sorted(each.name for each in source.originals if each.app)) or "none"
        raise Invalid(f"{option} names {wanted!r}; the applications that are cloned: {known}")
    return found


def check_given(task: Task[CloneOptions], found: Environments) -> None:
    """Check that each variable that is known to be there is given.

    :raises Invalid: naming all that are not.
    """
    without = [application_of(found.source, each, "without_environment").key
               for each in task.options.without_environment]  # fmt: skip
    missing: list[str] = []
    unknown: list[str] = []
    for original in found.source.originals:
        if original.app is None or original.key in without:
            continue
        given = {name for part in found.given.get(original.key, ({}, {})) for name in part}
        lacking = sorted({*original.referring, *written_names(task, original.app)} - given)
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


def written_names(task: Task[CloneOptions], app: App) -> Iterable[str]:
    """Return the variables of an application that this controller has written."""
    options = task.options
    return Fingerprints.read(state_folder(options.state_dir), options.base_url, app.slug, app.id).prints
