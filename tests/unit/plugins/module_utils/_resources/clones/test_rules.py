# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the blueprint of a clone says in place of its source's: names, nodes, sizes, images."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.members import Member
from ansible_collections.hosted.services.plugins.module_utils._resources.clones.environments import (
    Environments,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.clones.options import (
    CloneOptions,
    Rename,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.clones.rules import (
    blueprint_of,
    names_of,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.clones.source import (
    Original,
    SourceProject,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.services.options import Size
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from unit.plugins.module_utils._resources.clones.platform import original, source_of

DIGEST = f"sha256:{'a1' * 32}"
GAME = original("Survival", values={"product": "minecraft", "host": "n1", "dimensions": {"ram_gb": 8}})
WEB = original("acme-web", slug="acme-web")


def names(rename: Rename, *originals: Original) -> dict[str, str]:
    """Return the names of clones by key."""
    source = source_of(*(originals or (GAME, WEB)))
    return names_of(rename, source, {each.key: {} for each in source.originals})


def data(source: SourceProject, there: dict[str, Member] | None = None, **given: Any) -> dict[str, Any]:
    """Return the blueprint of a clone."""
    options = CloneOptions(source="shop", project="copy", **given)
    called = {each.key: f"{each.name}-x" for each in source.originals}
    return blueprint_of(options, source, Environments(source), called, there or {})[0]


@pytest.mark.parametrize(
    ("rename", "expected"),
    [
        (Rename(suffix="-x"), ("Survival-x", "acme-web-x")),
        (Rename(prefix="x-"), ("x-Survival", "x-acme-web")),
        (Rename(pattern="^(.)", replacement=r"x\1"), ("xSurvival", "xacme-web")),
        (Rename(suffix="-x", names={"acme-web": "front", "id-Survival": "Hall"}), ("Hall", "front")),
    ],
)
def test_names_follow_the_rules(rename: Rename, expected: tuple[str, str]) -> None:
    assert tuple(names(rename).values()) == expected


def test_a_name_that_is_said_of_one_alone_wins() -> None:
    """For an application its slug, and for a service its name."""
    own = {"survival": {"name": "Hall", "slug": "no"}, "acme-web": {"slug": "front", "name": "no"}}
    rename = Rename(suffix="-x", names={"Survival": "other"})
    assert names_of(rename, source_of(GAME, WEB), own) == {"survival": "Hall", "acme-web": "front"}


@pytest.mark.parametrize(
    ("rename", "said"),
    [
        (Rename(), "would have the same slug"),
        (Rename(suffix="-" + "x" * 40), "must have 3 to 40"),
        (Rename(suffix="X"), "lowercase letters"),
        (Rename(pattern="["), "rename.pattern"),
        (Rename(pattern="a", replacement=r"\9"), "rename.pattern"),
        (Rename(pattern=".+", replacement="abc"), "survival, acme-web would all be 'abc'"),
        (Rename(suffix="-x", names={"Survival": " "}), "would have no name"),
        (Rename(names={"nobody": "x"}), "rename.names names 'nobody', which is not cloned"),
    ],
)
def test_names_that_are_not_possible_are_refused(rename: Rename, said: str) -> None:
    with pytest.raises(Invalid, match=said):
        names(rename)


def test_services_of_one_name_need_a_rule_each() -> None:
    twins = original("twin"), original("twin", key="twin-2")
    with pytest.raises(Invalid, match=r"rename\.names by their ids"):
        names(Rename(), *twins)


def test_a_clone_differs_as_the_options_say() -> None:
    source = source_of(GAME)
    found = data(source, dimensions=Size(cpu_cores=1), host="n2", public=False)["services"]["survival"]
    assert found == {
        "product": "minecraft",
        "host": "n2",
        "dimensions": {"ram_gb": 8, "cpu_cores": 1},
        "public": False,
        "name": "Survival-x",
    }


def test_what_is_nearer_wins() -> None:
    """A node for one node over the node for all, and what is said of one service over both."""
    there = original("a", record={"host": {"id": "n1", "label": "Paris"}}), original("b"), original("c")
    found = data(
        source_of(*there),
        hosts={"Paris": "lyon"},
        host="all",
        overrides={"b": {"host": "own"}, "id-c": {"name": "C"}},
    )["services"]
    assert [found[key]["host"] for key in "abc"] == ["lyon", "own", "all"]
    assert found["c"]["name"] == "c-x"  # which the names decided


def test_one_that_is_there_is_named_by_its_id() -> None:
    """Whatever the platform made of its name, it is not ordered again."""
    there = {"survival": Member(cast(Any, SimpleNamespace(id="svc_1", name="SURVIVAL-X")))}
    found = data(source_of(GAME), there)["services"]["survival"]
    assert (found["id"], found["name"]) == ("svc_1", "SURVIVAL-X") and "allow_duplicate_name" not in found


def test_what_identifies_the_source_is_no_part_of_its_clone() -> None:
    values = {"id": "svc_1", "name": "one", "slug": "one", "allow_duplicate_name": True, "product": "x"}
    found = data(
        source_of(original("Game", values=values), original("acme-web", slug="acme-web", values=values))
    )
    assert found["services"]["game"] == {"name": "Game-x", "product": "x"}
    assert found["applications"]["acme-web"] == {"slug": "acme-web-x", "product": "x"}


def test_what_is_secret_in_an_environment_stays_in_its_own_section() -> None:
    source = source_of(WEB, original("acme-api", slug="acme-api"))
    given = {"acme-web": ({"A": "1"}, {"KEY": "hunter2"})}
    options = CloneOptions(source="shop", project="copy")
    called = {"acme-web": "w", "acme-api": "a"}
    found = blueprint_of(options, source, Environments(source, given), called, {})[0]["applications"]
    assert found == {
        "acme-web": {"slug": "w", "environment": {"A": "1"}, "secret_environment": {"KEY": "hunter2"}},
        "acme-api": {"slug": "a"},
    }


def test_an_image_is_that_of_the_source() -> None:
    ref = f"registry.example/main/acme-web@{DIGEST}"
    tagged = original(
        "acme-web", slug="acme-web", image_ref=ref, record={"settings": {"source": {"tag": "v2"}}}
    )
    bare = original("acme-api", slug="acme-api", image_ref=ref)
    found = data(source_of(tagged, bare, original("new", slug="acme-new")))["applications"]
    assert found["acme-web"]["image"] == {"tag": "v2", "digest": DIGEST}
    assert found["acme-api"]["image"] == {"tag": "clone-a1a1a1a1a1a1", "digest": DIGEST}
    assert "image" not in found["acme-new"]


def test_a_state_comes_after_the_files() -> None:
    """So it is no part of the blueprint. That of a suspended source is not its clone's."""
    states = {"a": "stopped", "b": "suspended", "c": "started"}
    stated = [original(name, values={"state": state}) for name, state in states.items()]
    source = source_of(*stated, original("d"))
    options = CloneOptions(source="shop", project="copy", overrides={"c": {"state": "suspended"}})
    called = {name: name for name in "abcd"}
    data, states = blueprint_of(options, source, Environments(source), called, {})
    assert states == {"a": "stopped", "c": "suspended"}
    assert all("state" not in values for values in data["services"].values())
