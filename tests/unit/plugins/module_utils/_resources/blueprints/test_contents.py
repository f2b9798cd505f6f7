# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a blueprint says, as far as a plan does not show it; tests/unit/data/blueprint has the rest."""

from __future__ import annotations

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.contents import (
    Contents,
    read_contents,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.document import (
    Answer,
    Document,
    parse_document,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid


def contents(text: str) -> Contents:
    """Return what a text says, whose encrypted values are those of somebody who wants to be hushed."""
    return read_contents(parse_document(text, "shop.yml", lambda unread: Answer("hush")))


def problems(text: str) -> list[str]:
    """Return all that is wrong with a text."""
    with pytest.raises(Invalid) as failure:
        contents(text)
    found: list[str] = failure.value.details["problems"]
    return found


def test_sections_of_plans_that_are_not_written_are_left_alone() -> None:
    assert contents("{project: a, services: {db: {}}}").plans == {}


def test_a_plan_holds_nothing_encrypted_as_it_is_shown() -> None:
    [found] = problems("{project: a, services: {db: {}}, backups: {n: {keep: {last: 1}, name: !vault x}}}")
    assert "backups.n.name: " in found and "a plan is shown" in found


@pytest.mark.parametrize("section", ["environment", "secret_environment"])
def test_values_of_environments_are_never_said(section: str) -> None:
    """A value of the wrong type may be a secret as well."""
    found = problems(f"{{project: a, applications: {{abc: {{{section}: {{A: [hunter2]}}}}}}}}")
    assert "hunter2" not in str(found)
    found = problems("{project: a, services: {db: {variables: hunter2}}}")
    assert "hunter2" not in str(found)
    found = problems("{project: a, applications: {abc: {secret_environment: {A: 'x${abc.HUNTER}y'}}}}")
    assert "a reference in its value refers to the application itself" in str(found)
    assert "HUNTER" not in str(found)


def test_a_number_as_a_key_is_told_beside_a_plan_that_names_another() -> None:
    plan = {"backups": {"n": {"services": ["dbb"], "keep": {"last": 1}}}}
    with pytest.raises(Invalid, match=r"services\.1: it is a number"):
        read_contents(Document({"project": "a", "services": {1: {}, "db": {}}, **plan}, ""))
