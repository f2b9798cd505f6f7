# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosts of the inventory: where they come from, their names and their variables."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pytest
from ansible.inventory.group import to_safe_group_name
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar

from ansible_collections.hosted.services.plugins.plugin_utils._inventory.hosts import (
    group_name,
    host_name,
    host_names,
    is_other_source,
    project_groups,
    variables_of,
    warning_of_conflicts,
)

NEW = {"hosted_service_id": "1", "hosted_url": "https://a.example.com", "hosted_token_env": "A"}
BY_FILE = {"hosted_token_env": None, "hosted_token_file": "A"}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, False),
        ({"hosted_url": "https://a.example.com/"}, False),
        ({"hosted_service_id": "2"}, True),
        ({"hosted_url": "https://b.example.com"}, True),
        ({"hosted_token_env": "B"}, True),
        ({"hosted_token_env": None}, True),
        (BY_FILE, True),
        ({"hosted_token_handed_on": False}, True),
        ({"hosted_service_id": None, "hosted_url": None, "hosted_token_env": "B"}, False),
        ({"hosted_service_id": None, "hosted_url": "https://b.example.com"}, True),
        ({"hosted_service_id": None, "hosted_token_env": "B"}, False),
        ({"hosted_url": None, "hosted_token_env": None}, False),
    ],
)
def test_is_another(changes: dict[str, Any], expected: bool) -> None:
    """What names no service adds to a host; otherwise service, platform and token have to be the same."""
    there = {name: value for name, value in {**NEW, **changes}.items() if value is not None}
    assert is_other_source(there, NEW) is expected


def test_the_error_names_three_hosts_and_counts_the_others() -> None:
    there = {f"h{n}": {**NEW, "hosted_service_id": f"old-{n}"} for n in range(5)}
    message = warning_of_conflicts(there, dict.fromkeys((*there, "free"), NEW))
    for n in range(3):
        assert f"h{n} is service old-{n} on https://a.example.com (token_env A) there" in message
    assert "; and 2 more. " in message
    assert "h3" not in message and "free" not in message


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
    assert host_name(name) == expected


@pytest.mark.parametrize("name", ["games", "my-proj", "a b.c", "été", "9", "", "{{ x }}", "日本"])
def test_group_name_is_what_ansible_makes_of_it(name: str) -> None:
    """Ansible has nothing to warn about in a group's name."""
    expected = to_safe_group_name(f"project_{name}", force=True, silent=True)
    assert group_name("project", name) == expected


def named(*services: tuple[str, str, str | None], reserved: Collection[str] = ()) -> dict[str, str]:
    """Return the host names of services, told by id, name and project, each created before the next."""
    listed = [
        {"id": id, "project": project, "created_at": f"2026-01-{day:02}T00:00:00.000Z"}
        for day, (id, _name, project) in enumerate(services, 1)
    ]
    return host_names(listed[::-1], {id: name for id, name, _project in services}, reserved)


def test_the_first_keeps_the_name() -> None:
    """Whatever comes later has its project in front, and never the name of an older one."""
    db = [("9", "db", "production"), ("1", "db", "staging"), ("2", "db", "my test")]
    assert named(*db, ("3", "web", "staging")) == {
        "9": "db",
        "1": "staging-db",
        "2": "my_test-db",
        "3": "web",
    }
    assert named(("1", "staging-db", None), ("2", "db", "p"), ("3", "db", "staging"))["3"] == "staging-db_3"


def test_clashes() -> None:
    names = ("6a88b66b-93a1", "db", "p"), ("6945c630-2ab0", "db", "p"), ("6945c630-2ab1", "db", "p")
    found = named(*names, ("6945c630-2ab2", "db", "p"))
    assert [*found.values()] == ["db", "p-db", "p-db_6945c630", "p-db_6945c630-2ab2"]
    found = named(("2c88ccf5-5cdb", "all", None), ("f0", "all", "web"), reserved={"all"})
    assert found == {"2c88ccf5-5cdb": "all_2c88ccf5", "f0": "web-all"}


def test_odd_ids() -> None:
    """Ids are opaque: nothing of them leads to another folder, and two nameless services differ."""
    found = named(("../a", "🎮", "p"), ("../b", "🎮", "p"))
    assert found == {"../a": "service_..%2Fa", "../b": "service_..%2Fb"}


def test_project_groups() -> None:
    assert project_groups({"11111111-1": "my proj", "22222222-2": "my-proj", "33333333-3": "web"}) == {
        "11111111-1": "project_my_proj_11111111_1",
        "22222222-2": "project_my_proj_22222222_2",
        "33333333-3": "project_web",
    }


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("203.0.113.10:22", {"ansible_host": "203.0.113.10", "ansible_port": 22}),
        ("mc.example.com:25565", {"ansible_host": "mc.example.com", "ansible_port": 25565}),
        ("a:b:22", {}),
        (": -oProxyCommand=x", {}),
        ("mc.example.com:", {}),
        ("-oProxyCommand=x:22", {}),
        ("a b:22", {}),
        (":22", {}),
    ],
)
def test_address(address: str, expected: dict[str, Any]) -> None:
    found = variables_of({"id": "1", "address": address}, "address", "x_", "u", {})
    assert {name: value for name, value in found.items() if name.startswith("ansible_")} == expected


@pytest.mark.parametrize(
    "text", ["{{ 6 * 7 }}", "{% if true %}x{% endif %}", "{# gone #}", "#jinja2: x", "a"]
)
def test_never_templates(text: str) -> None:
    """Whatever the platform says comes out of a template as it went in, however deep it is."""
    given = {"list": [text], "text": text, "number": 1, "nothing": None}
    variables = variables_of({"id": "1", "address": None, "outer": given}, "none", "", "u", {})
    templar = Templar(loader=DataLoader(), variables=variables)
    assert templar.template(variables["outer"]) == given
