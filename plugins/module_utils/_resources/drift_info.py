# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Drift: in what a project differs from its blueprint, and which of the two was changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from .._api.errors import HostedError
from .blueprint import OnBlueprint, planned_parts, read_checked
from .blueprint_info import read_export
from .blueprints.applied import last_applied
from .blueprints.document import SourceOptions
from .blueprints.drift import DRIFT, Comparison, Difference, not_in_file
from .blueprints.members import find_home
from .blueprints.parts import Arguments, Part, Parts
from .shared.plan import Plan, Task
from .shared.task_errors import Invalid


@dataclass(frozen=True, kw_only=True)
class DriftInfoOptions(SourceOptions):
    """Which blueprint to compare."""

    allow_lookups: bool = False
    """Read by the action, which renders the file."""


class DriftInfoResource(OnBlueprint[DriftInfoOptions]):
    """A blueprint and the project that it describes."""

    result_key = "drift"

    def plan(self, task: Task[DriftInfoOptions]) -> Plan:
        """Compare; there is nothing to do."""
        # What an apply would warn of is none of this.
        task = replace(task, check_mode=True, warnings=[])
        contents = read_checked(task)
        planned = planned_parts(task, contents)
        refused = planned_without_size(planned)
        last = last_applied(task.options, contents.project)
        comparison = Comparison(contents, planned.found, last, refused)
        found = comparison.differences()
        home = find_home(task.account.projects(), contents)
        if home is not None:
            found += not_in_file(task.options, read_export(task, home), comparison)
        return Plan(result=to_result(contents.project, found))


DRIFT_INFO = DriftInfoResource()


def planned_without_size(parts: Parts) -> dict[Part, HostedError]:
    """Plan what is refused once more without its size, so that the rest of it and of the file is compared.

    A disk that was made larger by hand cannot shrink. Return what was refused.
    """
    refused: dict[Part, HostedError] = {
        part: part.error
        for part in parts.found
        if isinstance(part.error, Invalid) and "dimensions" in part.resource.options
    }
    for part in refused:
        part.error, part.arguments = None, partial(without_size, part.arguments)
    if refused:
        parts.make_plans()
    return refused


def without_size(given: Arguments, part: Part) -> Mapping[str, Any]:
    """Return the options of a part without its size."""
    return {name: value for name, value in given(part).items() if name != "dimensions"}


def to_result(project: str, found: Sequence[Difference]) -> dict[str, object]:
    """Return the differences for the task's result."""
    return {
        "project": project,
        "drifted": any(each.kind in DRIFT for each in found),
        "differences": [each.as_dict() for each in found],
    }
