# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The blueprint of a recovery: other names, other nodes, and ids of what is there."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.contents import (
    Contents,
    read_contents,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.document import Document
from ansible_collections.hosted.services.plugins.module_utils._resources.clones.options import Rename
from ansible_collections.hosted.services.plugins.module_utils._resources.recoveries.rules import (
    contents_of,
    key_of,
    keys_of,
    names_of,
    projects_of,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from unit.plugins.module_utils._resources.recoveries.platform import BLUEPRINT, member
from unit.plugins.module_utils._resources.recoveries.test_options import options

WITH_APPS: dict[str, Any] = {
    **BLUEPRINT,
    "applications": {
        "api": {"slug": "acme-api"},
        "web": {"slug": "acme-web", "environment": {"API": "${api.URL}"}},
    },
    "ssh_keys": {
        "ops": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIG6yYkCXXvMuxtVVm0hZ8Fcdve0O8Vu6yDCxkQIcwkoA ops@example"
    },
}


@pytest.fixture
def file() -> Contents:
    """What the blueprint says."""
    return read_contents(Document(WITH_APPS, ""))


def test_it_says_the_same_in_the_same_project(file: Contents) -> None:
    """But whether a service runs is settled once it has its files."""
    given = options()
    made, states = contents_of(given, file, names_of(given, file), {})
    assert states == {"world": "started", "lobby": "stopped"}
    assert made.project == "shop" and made.ssh_keys == file.ssh_keys
    assert [entry.name for entry in made.entries[:4]] == ["Survival", "lobby", "acme-api", "acme-web"]
    assert not [entry for entry in made.services if {"state", "allow_duplicate_name"} & entry.values.keys()]
    assert made.applications[1].references == ["api"]


def test_a_drill_has_names_of_its_own_and_no_keys(file: Contents) -> None:
    given = options(
        project="shop-drill",
        drill=True,
        host="node-lyon-1",
        rename=Rename(suffix="-drill", names={"lobby": "hall"}),
        overrides={"world": {"host": "node-paris-1"}},
    )
    made, _states = contents_of(given, file, names_of(given, file), {})
    assert [entry.name for entry in made.entries] == [
        "Survival-drill",
        "hall",
        "acme-api-drill",
        "acme-web-drill",
    ]
    assert [entry.values.get("host") for entry in made.services] == ["node-paris-1", "node-lyon-1"]


def test_what_is_there_is_named_by_its_id_and_what_is_kept_is_left_alone(file: Contents) -> None:
    given, there = options(), {"world": member("Survival"), "lobby": member("lobby")}
    made, states = contents_of(given, file, names_of(given, file), there, kept={"lobby"})
    world, lobby = made.services
    assert world.values["id"] == "svc_Survival" and world.values["dimensions"]
    assert lobby.values == {"name": "lobby", "id": "svc_lobby"}
    assert states == {"world": "started"}


def test_names_that_cannot_be_are_refused(file: Contents) -> None:
    for rename, says in (
        (Rename(names={"nobody": "x"}), "the keys of the blueprint are"),
        (Rename(pattern=".*", replacement="same"), "would all be"),
        (Rename(suffix=" of old"), "acme-api of old"),
    ):
        with pytest.raises(Invalid) as refused:
            names_of(options(rename=rename), file)
        assert says in refused.value.message
    assert key_of(file, "acme-api", "copies_of") == "api"


def test_an_option_names_entries_by_their_keys_or_names(file: Contents) -> None:
    """A key is nearer than a name."""
    assert keys_of(file, ["Survival", "lobby", "acme-web"], "without_data") == {"world", "lobby", "web"}
    twins = {"project": "shop", "services": {"a": {"name": "b"}, "b": {"name": "c"}}}
    assert keys_of(read_contents(Document(twins, "")), ["b"], "overwrite") == {"b"}


def test_what_is_said_of_one_alone_names_it(file: Contents) -> None:
    overrides = {"world": {"name": "Hall", "slug": "no"}, "acme-web": {"slug": "front", "name": "no"}}
    rename = Rename(suffix="-x", names={"world": "other"})
    names = names_of(options(rename=rename, overrides=overrides), file)
    assert names == {"world": "Hall", "lobby": "lobby-x", "api": "acme-api-x", "web": "front"}


def test_copies_know_a_project_by_its_present_and_its_former_name(file: Contents) -> None:
    assert projects_of(file) == ["shop"]
    renamed = read_contents(Document({**BLUEPRINT, "was": "old-shop"}, ""))
    assert projects_of(renamed) == ["shop", "old-shop"]
    for project, was in ((None, "old-shop"), ("shop", "old-shop"), ("other", None)):
        given = options(project=project)
        made, _states = contents_of(given, renamed, names_of(given, renamed), {})
        assert (made.project, made.was) == (project or "shop", was), "a project beside it is not renamed"


def test_an_id_of_the_file_is_that_of_a_service_that_is_gone() -> None:
    """And an application is known by its slug alone."""
    services = {"world": {**BLUEPRINT["services"]["world"], "id": "svc_gone"}}
    file = read_contents(Document({**WITH_APPS, "services": services}, ""))
    given = options()
    made, _states = contents_of(
        given, file, names_of(given, file), {"api": member("acme-api", slug="acme-api")}
    )
    assert "id" not in made.services[0].values and made.services[0].values["name"] == "Survival"
    assert [each.values for each in made.applications] == [
        {"slug": "acme-api"},
        {"slug": "acme-web", "environment": {"API": "${api.URL}"}},
    ]
