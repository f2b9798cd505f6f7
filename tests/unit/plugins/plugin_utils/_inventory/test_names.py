# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of hosts and groups."""

from __future__ import annotations

import pytest
from ansible.inventory.group import to_safe_group_name

from ansible_collections.hosted.services.plugins.plugin_utils._inventory.names import (
    group_name,
    host_name,
    host_names,
    project_groups,
    warning_of_namesakes,
)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("db-1.eu_west", "db-1.eu_west"),
        ("_kept_", "_kept_"),
        ("My server (old)", "My_server_old"),
        ("été", "été"),
        ("e\u0301te\u0301", "été"),
        ("сервер 1", "сервер_1"),
        ("../../etc/x", "etc_x"),
        ("..", ""),
        ("-rf /", "rf"),
        ("~web*[0:9]", "web_0_9"),
        ("{{ x }}", "x"),
        ("🎮", ""),
        ("", ""),
    ],
)
def test_host_name(name: str, expected: str) -> None:
    """What can be written on a command line stays."""
    assert host_name(name) == expected


@pytest.mark.parametrize("name", ["games", "my-proj", "a b.c", "été", "9", "", "{{ x }}", "日本"])
def test_group_name_is_what_ansible_makes_of_it(name: str) -> None:
    """Ansible has nothing to warn about in a group's name."""
    expected = to_safe_group_name(f"project_{name}", force=True, silent=True)
    assert group_name("project", name) == expected


def test_one_name_each() -> None:
    """A name that is wanted once is left alone."""
    assert host_names({"1": "a", "2": "b"}, set()) == {"1": "a", "2": "b"}


def test_clashes() -> None:
    """All that clash get the beginning of their ids, reserved names as well, and the others nothing."""
    names = {"6a88b66b-93a1": "db", "6945c630-2ab0": "db", "2c88ccf5-5cdb": "all", "f0768b85-63a0": "web"}
    assert host_names(names, {"all"}) == {
        "6a88b66b-93a1": "db_6a88b66b",
        "6945c630-2ab0": "db_6945c630",
        "2c88ccf5-5cdb": "all_2c88ccf5",
        "f0768b85-63a0": "web",
    }


def test_ids_that_begin_alike() -> None:
    """The whole id is appended where its beginning tells nothing."""
    names = {"service-0001": "db", "service-0002": "db"}
    assert host_names(names, set()) == {"service-0001": "db_service-0001", "service-0002": "db_service-0002"}


def test_clash_with_a_name_that_was_told_apart() -> None:
    """A service that is called as another was just named clashes with it in turn."""
    found = host_names({"1": "db", "2": "db", "3": "db_1"}, set())
    assert found == {"1": "db_1_1", "2": "db_2", "3": "db_1_3"}


def test_odd_ids() -> None:
    """Ids are opaque: nothing of them leads to another folder, and two nameless services differ."""
    found = host_names({"../a": "🎮", "../b": "🎮"}, set())
    assert found == {"../a": "service_..%2Fa", "../b": "service_..%2Fb"}


def test_namesakes_are_told_with_the_names_that_they_got() -> None:
    """Names that make one host are namesakes, however they are written; what has no name has no namesake."""
    wanted = {"1": "my db", "2": "my-db", "3": "my db", "4": "web", "5": "🎮", "6": "🎮"}
    named = {"1": "my_db_1", "2": "my-db", "3": "my_db_3", "4": "web", "5": "service_5", "6": "service_6"}
    said = warning_of_namesakes(wanted, named)
    assert "finds none of them: 'my_db' is now my_db_1 and my_db_3. Rename one" in said
    del wanted["3"]
    assert warning_of_namesakes(wanted, named) == ""


def test_of_many_namesakes_three_are_told() -> None:
    wanted = {f"{name}{number}": name for name in "dbca" for number in (1, 2)}
    said = warning_of_namesakes(wanted, {id: id for id in wanted})
    assert "'a' is now a1 and a2; 'b' is now b1 and b2; 'c' is now c1 and c2; and 1 more. " in said


def test_project_groups() -> None:
    """Projects whose names make one group do not share it."""
    assert project_groups({"11111111-1": "my proj", "22222222-2": "my-proj", "33333333-3": "web"}) == {
        "11111111-1": "project_my_proj_11111111",
        "22222222-2": "project_my_proj_22222222",
        "33333333-3": "project_web",
    }
