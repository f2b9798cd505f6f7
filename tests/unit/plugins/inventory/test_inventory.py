# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the inventory plugin decides by itself. All else is held by tests/integration/inventory."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from ansible_collections.hosted.services.plugins.doc_fragments.connection import ModuleDocFragment
from ansible_collections.hosted.services.plugins.inventory.inventory import (
    DOCUMENTATION,
    KNOWN,
    InventoryModule,
    cache_key,
)
from ansible_collections.hosted.services.plugins.module_utils._ansible.options import CONNECTION_SPEC
from ansible_collections.hosted.services.plugins.module_utils._api.connection import Connection
from ansible_collections.hosted.services.plugins.module_utils._api.errors import ConfigurationError
from ansible_collections.hosted.services.plugins.module_utils._api.values import FAMILIES, ServiceStatus
from ansible_collections.hosted.services.plugins.module_utils._resources.services.listing import ServiceQuery

OPTIONS = yaml.safe_load(ModuleDocFragment.DOCUMENTATION)["options"]
ENVIRONMENT = yaml.safe_load(ModuleDocFragment.ENVIRONMENT)["options"]


@pytest.mark.parametrize("name", sorted(CONNECTION_SPEC))
def test_connection_options_are_those_of_the_modules(name: str) -> None:
    """Same names, types, defaults and environment variables: one set of settings serves both."""
    option = CONNECTION_SPEC[name]
    variables = option["fallback"][1][:1]
    assert OPTIONS[name]["type"] == option["type"]
    assert OPTIONS[name].get("default") == option.get("default")
    assert [entry["name"] for entry in ENVIRONMENT[name]["env"]] == variables


@pytest.mark.parametrize("names", [("token", "token_env"), ("token_env", "token_variable")])
def test_two_tokens_are_refused(names: tuple[str, str]) -> None:
    with pytest.raises(ConfigurationError, match=f"{names[0]} and {names[1]} each name a token"):
        InventoryModule()._with_named_token({}, dict.fromkeys(names, "A"))


@pytest.mark.parametrize(
    ("name", "known"),
    [("families", FAMILIES), ("statuses", [one for one in ServiceStatus.ALL if one != "DELETED"])],
)
def test_what_can_be_filtered_by(name: str, known: list[str]) -> None:
    """The families and statuses that can be filtered by are those that there are, and all are documented.

    Ansible would compare ``choices`` with a template instead of its value.
    """
    option = yaml.safe_load(DOCUMENTATION)["options"][name]
    assert re.findall(r"V\(([A-Z_]+)\)", "".join(option["description"])) == known == list(KNOWN[name])
    assert "choices" not in option


@pytest.mark.parametrize(
    ("settings", "wanted"),
    [
        ({"token": "other"}, {}),
        ({"base_url": "https://other.example.com"}, {}),
        ({"auth_scheme": "Token"}, {}),
        ({}, {"names": ("a",)}),
        ({}, {"sftp": True}),
    ],
)
def test_cache_key(settings: dict[str, Any], wanted: dict[str, Any]) -> None:
    plain: dict[str, Any] = {"base_url": "https://api.example.com", "token": "t0ken"}
    key = cache_key(Connection(**plain), ServiceQuery())
    assert key == cache_key(Connection(**plain, timeout=5), ServiceQuery())
    assert key != cache_key(Connection(**{**plain, **settings}), ServiceQuery(**wanted))
    assert "t0ken" not in key
