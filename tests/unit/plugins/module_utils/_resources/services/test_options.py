# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sizes and choices are objects inside the collection, and plain data for the platform and the user."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._ansible.options import checked_arguments
from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE
from ansible_collections.hosted.services.plugins.module_utils._resources.services.options import (
    Choice,
    ServiceOptions,
    Size,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.services.order import quote_fields
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from unit.plugins.fakes import FakeClient, task_of

PARTS = {"cpu_cores": 2, "ram_gb": 4, "storage_gb": 20}
ORDER: dict[str, Any] = {"name": "new", "product": "nginx", "host": "nd_1", "dimensions": PARTS}


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ANSIBLE_HOME", str(tmp_path / "home"))


@pytest.mark.parametrize(
    ("given", "missing"), [(PARTS, []), ({"ram_gb": 4}, ["cpu_cores", "storage_gb"]), ({}, list(PARTS))]
)
def test_a_size_names_the_parts_that_it_lacks(given: dict[str, int], missing: list[str]) -> None:
    size = Size(**given)
    assert size.missing == missing
    assert size.as_dict() == {**dict.fromkeys(PARTS), **given}


def test_what_ansible_gives_becomes_objects_and_the_body_of_a_quote_again() -> None:
    given = {**ORDER, "options": [{"option": "slots", "choice": "10"}]}
    options = ServiceOptions.from_ansible(given)
    assert (options.dimensions, options.options) == (Size(**PARTS), [Choice(option="slots", choice="10")])
    assert quote_fields(options) == {
        "productSlug": "nginx",
        "hostId": "nd_1",
        "dimensions": {"cpuCores": 2, "ramGb": 4, "storageGb": 20},
        "options": [{"optionId": "slots", "choiceId": "10"}],
    }


@pytest.mark.parametrize(
    "option", ["id", "name", "project", "new_project", "family", "product", "host", "keep_copy"]
)
def test_an_option_that_selects_holds_something(option: str) -> None:
    """An empty variable must not widen what a task works on, or where its copy goes."""
    with pytest.raises(Invalid, match=f"^{option} is empty"):
        checked_arguments(SERVICE, {option: ""})


def test_results_and_diffs_hold_a_size_as_plain_data() -> None:
    plan = SERVICE.plan(task_of(SERVICE, FakeClient(), True, **ORDER))
    assert isinstance(plan.after, dict)
    told = json.loads(json.dumps([plan.result, {**plan.after, "monthly": None}]))
    assert [shown["dimensions"] for shown in told] == [PARTS, PARTS]


def test_a_service_that_only_an_id_names_has_no_name_to_look_for() -> None:
    assert ServiceOptions(id="s").wanted_name == ""
    assert ServiceOptions(name="web").wanted_name == "web"
