# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose address and whose token a task uses: the nearest, and never the token of one platform on another."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.errors import ConfigurationError
from ansible_collections.hosted.services.plugins.plugin_utils._controller.connection_sources import (
    CompletedArguments,
    complete_arguments,
)

WEST, EAST = "https://west.example.com", "https://east.example.com"
HOST = {"inventory_hostname": "web", "hosted_url": WEST}


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("URL", "TOKEN", "TOKEN_FILE"):
        monkeypatch.delenv(f"HOSTED_SERVICES_{name}", raising=False)


def found(
    arguments: dict[str, Any] | None = None,
    variables: dict[str, Any] | None = None,
    environment: dict[str, Any] | None = None,
) -> CompletedArguments:
    """Connect a task on a host."""
    return complete_arguments(
        arguments or {}, environment or {}, {**HOST, **(variables or {})}, lambda value: value
    )


def test_a_host_brings_its_platform_and_its_token() -> None:
    result = found({"name": "x"}, {"hosted_services_token": "west-token"})
    assert result.arguments == {"name": "x", "base_url": WEST, "token": "west-token"}
    assert result.same_platform and not result.from_controller and not result.warnings
    assert result.elsewhere == ""


def test_no_token_of_a_host_goes_to_another_platform() -> None:
    """Nor does a token of its own, which the inventory read it with, bind tasks there."""
    variables = {"hosted_services_token": "west-token", "hosted_services_timeout": 5}
    for given in ({"arguments": {"base_url": EAST}}, {"environment": {"HOSTED_SERVICES_URL": EAST}}):
        for own in (variables, {"hosted_token_handed_on": False}):
            result = found(variables=own, **given)
            assert not result.same_platform and result.arguments == given.get("arguments", {})


@pytest.mark.parametrize("own", [{"token": "mine"}, {"token_file": "/mine"}])
def test_the_token_of_a_task_is_nearer_than_that_of_its_host(own: dict[str, str]) -> None:
    variables = {"hosted_services_token": "west-token"}
    by_option = found(own, variables)
    environment = {f"HOSTED_SERVICES_{name.upper()}": value for name, value in own.items()}
    by_keyword = found({}, variables, environment)
    for result in (by_option, by_keyword):
        assert result.arguments == {"base_url": WEST, **own}
        assert "with another token than the task" in result.elsewhere


@pytest.mark.parametrize(
    ("variables", "token", "from_controller"),
    [
        ({"hosted_services_token_file": "/f"}, {"token_file": "/f"}, True),
        ({"hosted_token_file": "/f"}, {"token_file": "/f"}, True),
        ({"hosted_token_env": "WEST_TOKEN"}, {"token": "from-env"}, False),
        ({"hosted_token_variable": "vaulted", "vaulted": "from-vault"}, {"token": "from-vault"}, False),
        ({"hosted_services_token": ""}, {}, False),
    ],
)
def test_where_a_host_says_that_its_token_is(
    variables: dict[str, Any], token: dict[str, str], from_controller: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEST_TOKEN", "from-env")
    result = found(variables=variables)
    assert {name: result.arguments[name] for name in result.arguments if name.startswith("token")} == token
    assert result.from_controller is from_controller


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"arguments": {"base_url": None}}, "base_url is null"),
        ({"arguments": {"token": None}}, "token is null"),
        ({"arguments": {"token": "a", "token_file": "b"}}, "has both token and token_file"),
        (
            {"environment": {"HOSTED_SERVICES_TOKEN": "a", "HOSTED_SERVICES_TOKEN_FILE": "b"}},
            "the environment of the task has both",
        ),
        ({"variables": {"hosted_services_url": EAST}}, "name two platforms"),
        ({"variables": {"hosted_services_token": "a", "hosted_token_file": "/f"}}, "each name a token"),
        ({"variables": {"hosted_token_env": "NOT_SET"}}, "environment variable NOT_SET, which is not set"),
        (
            {"variables": {"hosted_token_variable": "nope"}},
            "the variable nope, which is not set for this host",
        ),
        ({"variables": {"hosted_services_token": "  "}}, "is set, but empty"),
        ({"variables": {"hosted_token_handed_on": False}}, "with its own token"),
    ],
)
def test_what_may_be_of_two_accounts_is_refused(given: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ConfigurationError, match=complaint):
        found(**given)


def test_the_token_of_the_environment_on_another_platform_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOSTED_SERVICES_URL", WEST + "/")
    assert found().warnings == ()
    monkeypatch.setenv("HOSTED_SERVICES_URL", EAST)
    (warning,) = found().warnings
    assert f"names {EAST} as the platform, was used on {WEST}" in warning
    assert found({"token": "mine"}).warnings == ()
    assert found(variables={"hosted_services_token": "west-token"}).warnings == ()
    assert found({"base_url": EAST}).warnings == ()


def test_other_settings_of_a_host_fill_what_the_task_leaves_open() -> None:
    settings = {"timeout": 7, "auth_scheme": "", "retries": ""}
    variables = {f"hosted_services_{name}": value for name, value in settings.items()}
    arguments = found(variables=variables).arguments
    assert arguments["timeout"] == 7 and arguments["auth_scheme"] == "" and "retries" not in arguments
    assert found({"timeout": 3}, variables).arguments["timeout"] == 3
    assert "timeout" not in found({}, variables, {"HOSTED_SERVICES_TIMEOUT": "9"}).arguments


# --- The account of another host ----------------------------------------------------------------------

ELSEWHERE = {"inventory_hostname": "shop", "hosted_url": EAST}


def on_account_of(host: dict[str, Any], **variables: Any) -> CompletedArguments:
    """Connect a task on one host to the account of another."""
    hosts = {"shop": {**ELSEWHERE, **host}}
    return found(variables={**variables, "hosted_account_of": "shop", "hostvars": hosts})


def test_the_account_of_another_host_is_used_as_a_whole() -> None:
    own = {"hosted_services_token": "west-token", "hosted_services_timeout": 7, "hosted_services_retries": 1}
    assert on_account_of({}, **own).arguments == {"base_url": EAST, "timeout": 7, "retries": 1}
    theirs = {"hosted_token_variable": "vaulted", "vaulted": "east-token", "hosted_services_timeout": 5}
    result = on_account_of(theirs, **own)
    assert result.arguments == {"base_url": EAST, "token": "east-token", "timeout": 5, "retries": 1}
    assert on_account_of({"hosted_token_file": "/f"}, **own).from_controller


def test_the_account_of_another_host_is_guarded_like_its_own() -> None:
    with pytest.raises(ConfigurationError, match="read shop with its own token"):
        on_account_of({"hosted_token_handed_on": False})
    with pytest.raises(ConfigurationError, match="'blog', which is no host of the inventory"):
        found(variables={"hosted_account_of": "blog", "hostvars": {}})
