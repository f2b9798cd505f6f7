# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The variables of a host."""

from __future__ import annotations

from typing import Any

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar

from ansible_collections.hosted.services.plugins.plugin_utils._inventory.hosts import (
    connection_variables,
    split_address,
    variables_of,
)

SFTP = {"host": "203.0.113.10", "port": 2022, "user": "svc"}


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
    """Host and port; nothing where SSH would take the host for an option."""
    assert split_address(address) == expected


@pytest.mark.parametrize(
    ("connect_with", "expected"),
    [
        (
            "sftp",
            {
                "ansible_facts_modules": [],
                "ansible_host": "203.0.113.10",
                "ansible_port": 2022,
                "ansible_user": "svc",
            },
        ),
        ("address", {"ansible_host": "198.51.100.1", "ansible_port": 22}),
        ("none", {}),
    ],
)
def test_reach(connect_with: str, expected: dict[str, Any]) -> None:
    """How Ansible reaches a host is what was asked for."""
    assert connection_variables({"address": "198.51.100.1:22", "sftp": SFTP}, connect_with) == expected


@pytest.mark.parametrize("service", [{"address": None, "sftp": None}, {"address": None}])
def test_out_of_reach(service: dict[str, Any]) -> None:
    """A service without SFTP or address is a host all the same, and gathers no facts over SFTP."""
    assert connection_variables(service, "sftp") == {"ansible_facts_modules": []}
    assert connection_variables(service, "address") == {}


def test_names() -> None:
    """The prefix is before all but what tasks look for; SFTP is under Ansible's own names."""
    service = {"id": "1", "address": None, "sftp": SFTP}
    for_tasks = {"hosted_url": "https://api.example.com", "hosted_token_env": "TOKEN"}
    found = variables_of(
        service,
        "none",
        "x_",
        for_tasks["hosted_url"],
        handed_on={"hosted_token_env": "TOKEN"},
    )
    assert found == {"x_id": "1", "x_address": None, "hosted_service_id": "1", **for_tasks}


@pytest.mark.parametrize(
    "text", ["{{ 6 * 7 }}", "{% if true %}x{% endif %}", "{# gone #}", "#jinja2: x", "a"]
)
def test_never_templates(text: str) -> None:
    """Whatever the platform says comes out of a template as it went in, however deep it is."""
    given = {"list": [text], "text": text, "number": 1, "nothing": None}
    variables = variables_of({"id": "1", "address": None, "outer": given}, "none", "", "u")
    templar = Templar(loader=DataLoader(), variables=variables)
    assert templar.template(variables["outer"]) == {
        "list": [text],
        "text": text,
        "number": 1,
        "nothing": None,
    }
