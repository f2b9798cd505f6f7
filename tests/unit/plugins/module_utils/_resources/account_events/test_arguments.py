# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The arguments of the event source."""

from __future__ import annotations

import ast
import dataclasses
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.hosted.services.plugins.module_utils._api.errors import ConfigurationError
from ansible_collections.hosted.services.plugins.module_utils._resources.account_events.arguments import (
    SourceOptions,
    read_arguments,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.options import (
    FilePath,
    Options,
    hints_of,
    without_none,
)

PLUGIN = ast.parse((Path(__file__).parents[6] / "extensions/eda/plugins/event_source/account.py").read_text())


def text(name: str) -> str:
    """Return a text of the plugin, such as DOCUMENTATION."""
    for node in PLUGIN.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
            return str(ast.literal_eval(node.value))
    raise LookupError(name)


DOCUMENTED: dict[str, Any] = yaml.safe_load(text("DOCUMENTATION"))["options"]


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for each in dataclasses.fields(Options):
        monkeypatch.delenv(each.metadata["environment"], raising=False)


def refusal(**arguments: Any) -> str:
    """Return why arguments are refused."""
    with pytest.raises(ConfigurationError) as caught:
        read_arguments(arguments)
    return caught.value.message


def test_a_slip_in_a_name_is_an_error_that_names_the_known_ones() -> None:
    said = refusal(base_url="https://api.example.com", min_intervall=5)
    assert "unknown argument 'min_intervall'; did you mean 'min_interval'?" in said
    assert "The arguments are: allow_http_hosts, auth_header" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"min_interval": "soon"}, "argument 'min_interval' has a value that it cannot have"),
        ({"balance_days": [1, "x"]}, "argument 'balance_days.1'"),
        ({"min_interval": 0}, "min_interval is 0; it must be from 0.05 to"),
        ({"min_interval": "nan"}, "min_interval is nan"),
        ({"min_interval": 60, "max_interval": 30}, "min_interval is longer than max_interval"),
        ({"backup_max_age": -1}, "backup_max_age is -1"),
        ({"max_daily_spend": "-3"}, "max_daily_spend is -3"),
        ({"max_daily_spend": "NaN"}, "'max_daily_spend'"),
        ({"balance_days": [-1]}, "balance_days has a negative number"),
        ({"blueprints": ["/nowhere.yml"]}, "'/nowhere.yml', which is not a file"),
        ({"backup_services": ["db-*", ""]}, "backup_services has an empty pattern"),
        ({"state_name": " "}, "state_name is blank"),
        ({"state_name": "chat", "state_file": "s.json"}, "state_name has no effect with state_file"),
        ({"backup_services": ["db-*"]}, "backup_max_age, after how many hours to tell, is not set"),
    ],
)
def test_a_wrong_value_is_refused_at_the_start(arguments: dict[str, Any], message: str) -> None:
    assert message in refusal(**arguments)


def test_a_secret_is_not_shown_in_a_refusal() -> None:
    assert "hunter2" not in refusal(token=["hunter2"])


def test_variables_of_a_rulebook_may_be_text() -> None:
    found = read_arguments(
        {"min_interval": "5", "report_existing": "false", "balance_days": ["3"], "max_daily_spend": 1.5}
    )
    assert (found.min_interval, found.report_existing, found.balance_days) == (5.0, False, [3])
    assert found.max_daily_spend == Decimal("1.5")


def test_the_environment_fills_what_is_not_given(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOSTED_SERVICES_URL", "https://api.example.com")
    monkeypatch.setenv("HOSTED_SERVICES_TOKEN", "of the environment")
    monkeypatch.setenv("HOSTED_SERVICES_TIMEOUT", "7.5")
    monkeypatch.setenv("HOSTED_SERVICES_ALLOW_HTTP_HOSTS", "nas.lan,other.lan")
    found = read_arguments({"timeout": None})
    assert (found.base_url, found.token, found.timeout) == (
        "https://api.example.com",
        "of the environment",
        7.5,
    )
    assert found.allow_http_hosts == ["nas.lan", "other.lan"]
    assert read_arguments({"token_file": str(tmp_path)}).token is None


# --- What is documented -------------------------------------------------------------------------------


def test_an_argument_that_is_not_given_has_the_default_that_is_documented() -> None:
    told = {name: option.get("default") for name, option in DOCUMENTED.items()}
    assert told == dataclasses.asdict(read_arguments({}))


@pytest.mark.parametrize("name", DOCUMENTED)
def test_each_argument_has_the_type_that_is_documented(name: str) -> None:
    hint = without_none(hints_of(SourceOptions)[name])
    kind = "path" if hint is FilePath else getattr(hint, "__name__", "").lower()
    assert DOCUMENTED[name]["type"] == {"decimal": "str"}.get(kind, kind)


def test_the_examples_can_be_used() -> None:
    for rules in yaml.safe_load(text("EXAMPLES")):
        for source in rules["sources"]:
            read_arguments(source["hosted.services.account"])
