# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Comparisons: which plan is which difference, who changed it, and what counts as drift."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.errors import HostedError
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.applied import facts_of
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.contents import Contents
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.document import Entry
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.drift import (
    Comparison,
    Difference,
    describe,
    not_in_file,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.export import (
    Export,
    Exported,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.parts import Part
from ansible_collections.hosted.services.plugins.module_utils._resources.environment import ENVIRONMENT
from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.fingerprints import (
    Fingerprints,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import (
    Plan,
    Resource,
    Step,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from unit.plugins.module_utils._resources.shared.test_runner import new_task

DB = Entry("services", "db", {"name": "Main", "public": False})


def part_of(entry: Entry, plan: Plan | None = None, resource: Resource[Any] = SERVICE) -> Part:
    """Return the part of an entry with its plan."""
    part = Part(new_task(), entry.section, entry.key, entry.name, resource, lambda part: {})
    part.plan, part.result = plan, plan and plan.result
    return part


def change(before: Any, after: Any, **result: Any) -> Plan:
    """Return a plan that changes one side into the other."""
    return Plan(result=result, steps=[Step("change it", lambda: None)], before=before, after=after)


def last_applied(folder: Path, *entries: Entry) -> Fingerprints:
    """Return records of entries that were applied; unknown without any."""
    last = Fingerprints(str(folder / "none"), "shop", known=bool(entries))
    last.prints = {name: last.of(name, value) for entry in entries for name, value in facts_of(entry)}
    return last


def compare(part: Part, last: Fingerprints) -> list[Difference]:
    """Return the differences of a blueprint of one service."""
    return Comparison(Contents("shop", services=[DB]), [part], last).differences()


@pytest.mark.parametrize(
    ("before", "changed_by"), [((), None), ((DB,), "platform"), ((Entry("services", "db", {}),), "file")]
)
def test_who_changed_a_field_is_known_from_the_last_apply(
    tmp_path: Path, before: tuple[Entry, ...], changed_by: str | None
) -> None:
    part = part_of(DB, change({"public": True, "monthly": 1}, {"public": False, "monthly": 2}))
    [found] = compare(part, last_applied(tmp_path, *before))
    assert (found.path, found.kind, found.changed_by) == ("services.db.public", "differs", changed_by)
    assert (found.file, found.platform, found.prevails) == (False, True, "file")


def test_a_field_that_the_file_does_not_name_was_changed_by_nobody_known(tmp_path: Path) -> None:
    [found] = compare(part_of(DB, change({"command": "a"}, {"command": "b"})), last_applied(tmp_path, DB))
    assert (found.path, found.changed_by) == ("services.db.command", None)


@pytest.mark.parametrize("steps", [[], [Step("create project 'shop'", lambda: None)]])
def test_a_project_differs_if_an_apply_would_change_it(tmp_path: Path, steps: list[Step]) -> None:
    part = part_of(Entry("project", "shop", {}), Plan(result={"id": "1"}, steps=steps))
    assert [each.said for each in compare(part, last_applied(tmp_path))] == [
        f"an apply would {step.summary}" for step in steps
    ]


def test_a_plan_without_steps_is_no_difference(tmp_path: Path) -> None:
    assert compare(part_of(DB, Plan(result={"id": "1"})), last_applied(tmp_path)) == []


def test_a_change_of_no_known_field_is_told_by_its_actions(tmp_path: Path) -> None:
    [found] = compare(part_of(DB, change({"name": "a"}, {"name": "b"})), last_applied(tmp_path))
    assert (found.path, found.said) == ("services.db", "an apply would change it")


def test_what_is_not_there_is_told_once(tmp_path: Path) -> None:
    parts = [part_of(DB, change({}, {"public": False})), part_of(DB, change({"a": 1}, {"a": 2}))]
    found = Comparison(Contents("shop", services=[DB]), parts, last_applied(tmp_path, DB)).differences()
    assert [(each.path, each.kind, each.changed_by) for each in found] == [
        ("services.db", "missing", "platform")
    ]


def test_what_runs_with_another_image_is_told_once(tmp_path: Path) -> None:
    """Its other fields are those of that image."""
    app = Entry("applications", "web", {"image": "b", "environment": {"A": "1"}})
    parts = [
        part_of(app, change({"image": "a"}, {"image": "b"})),
        part_of(app, change({}, {}, known_before=True, added=["A"], changed=[], removed=[]), ENVIRONMENT),
    ]
    comparison = Comparison(Contents("shop", applications=[app]), parts, last_applied(tmp_path))
    assert [each.path for each in comparison.differences()] == ["applications.web.image"]


def test_what_is_still_being_created_is_not_compared(tmp_path: Path) -> None:
    plan = change({"public": True}, {"public": False}, status="PROVISIONING")
    [found] = compare(part_of(DB, plan), last_applied(tmp_path, DB))
    assert (found.kind, found.as_dict()["drift"]) == ("unknown", False)


@pytest.mark.parametrize(("known", "kind"), [(False, "unknown"), (True, "differs")])
def test_an_environment_is_compared_with_what_was_written(tmp_path: Path, known: bool, kind: str) -> None:
    app = Entry("applications", "web", {"environment": {"A": "1"}})
    plan = change({}, {}, known_before=known, added=["A"], changed=[], removed=["B", "C"])
    part = part_of(app, plan, ENVIRONMENT)
    comparison = Comparison(Contents("shop", applications=[app]), [part], last_applied(tmp_path))
    [found] = comparison.differences()
    assert (found.path, found.kind) == ("applications.web.environment", kind)
    if known:
        assert found.said == "not as last written: added A; removed B, C"


def test_only_errors_of_the_blueprint_are_differences(tmp_path: Path) -> None:
    part = part_of(DB)
    part.error = Invalid("a disk cannot shrink")
    [found] = compare(part, last_applied(tmp_path))
    assert (found.kind, found.said) == ("refused", "cannot be applied: a disk cannot shrink")
    part.error = HostedError("the platform does not answer")
    with pytest.raises(HostedError, match="does not answer"):
        compare(part, last_applied(tmp_path))


@pytest.mark.parametrize(
    ("there", "told"),
    [
        (Exported("1", "main", {"name": "Main"}), []),
        (Exported("2", "main-2", {"name": "Main", "id": "2"}), []),
        (Exported("1", "renamed", {}), []),
        (Exported("3", "cache", {"product": "valkey"}), ["services.cache"]),
    ],
)
def test_what_the_file_describes_by_id_or_name_is_in_it(
    tmp_path: Path, there: Exported, told: list[str]
) -> None:
    part = part_of(DB, Plan(result={"id": "1"}))
    comparison = Comparison(Contents("shop", services=[DB]), [part], last_applied(tmp_path, DB))
    found = not_in_file(Export("shop", services=[there]), comparison, lambda: lambda service: None)
    assert [each.path for each in found] == told
    assert all((each.changed_by, each.prevails) == ("platform", "platform") for each in found)


@pytest.mark.parametrize(
    ("value", "text"),
    [({"ram_gb": 2, "cpu_cores": 1}, "ram_gb 2, cpu_cores 1"), (None, "nothing"), (True, "true"), (3, "3")],
)
def test_values_are_told_for_people(value: Mapping[str, int] | bool | int | None, text: str) -> None:
    assert describe(value) == text
