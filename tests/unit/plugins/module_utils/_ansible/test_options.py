# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options that all modules share: complete, documented alike, and read as the documentation says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from ansible.module_utils.common.arg_spec import ModuleArgumentSpecValidator

from ansible_collections.hosted.services.plugins.doc_fragments.common import ModuleDocFragment
from ansible_collections.hosted.services.plugins.module_utils._ansible.options import (
    CONNECTION_SPEC,
    WAITING_SPEC,
    argument_spec,
    checked_arguments,
)
from ansible_collections.hosted.services.plugins.module_utils._api.errors import ConfigurationError
from ansible_collections.hosted.services.plugins.module_utils._resources.app_image import APP_IMAGE
from ansible_collections.hosted.services.plugins.module_utils._resources.backup import BACKUP
from ansible_collections.hosted.services.plugins.module_utils._resources.database_query import DATABASE_QUERY
from ansible_collections.hosted.services.plugins.module_utils._resources.file import FILE
from ansible_collections.hosted.services.plugins.module_utils._resources.project import PROJECT
from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE
from ansible_collections.hosted.services.plugins.module_utils._resources.sftp_password import SFTP_PASSWORD
from ansible_collections.hosted.services.plugins.module_utils._resources.sftp_sync import SFTP_SYNC
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.connecting import connection
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.options import Options
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Resource
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from ansible_collections.hosted.services.plugins.module_utils._resources.sleep_plan import SLEEP_PLAN

VARIABLES = {
    "base_url": "HOSTED_SERVICES_URL",
    "token": "HOSTED_SERVICES_TOKEN",
    "token_file": "HOSTED_SERVICES_TOKEN_FILE",
    "auth_header": "HOSTED_SERVICES_AUTH_HEADER",
    "auth_scheme": "HOSTED_SERVICES_AUTH_SCHEME",
    "validate_certs": "HOSTED_SERVICES_VALIDATE_CERTS",
    "ca_path": "HOSTED_SERVICES_CA_PATH",
    "timeout": "HOSTED_SERVICES_TIMEOUT",
    "retries": "HOSTED_SERVICES_RETRIES",
    "allow_http_hosts": "HOSTED_SERVICES_ALLOW_HTTP_HOSTS",
}


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    for variable in VARIABLES.values():
        monkeypatch.delenv(variable, raising=False)
    yield monkeypatch


def validated(**given: Any) -> Options:
    spec = argument_spec(PROJECT)
    result = ModuleArgumentSpecValidator(spec, **PROJECT.rules).validate({"name": "x", **given})
    assert not result.error_messages
    options: Options = PROJECT.read_options(result.validated_parameters)
    return options


def test_every_option_of_the_connection_is_there_and_has_its_variable() -> None:
    assert {name: option["fallback"][1][0] for name, option in CONNECTION_SPEC.items()} == VARIABLES
    assert set(CONNECTION_SPEC) < set(argument_spec(PROJECT))


@pytest.mark.parametrize(("spec", "text"), [(CONNECTION_SPEC, "DOCUMENTATION"), (WAITING_SPEC, "WAIT")])
def test_the_documentation_says_the_same(spec: dict[str, Any], text: str) -> None:
    documented = yaml.safe_load(getattr(ModuleDocFragment, text))["options"]
    assert set(documented) == set(spec)
    for name, option in spec.items():
        for key in ("type", "default", "elements"):
            assert documented[name].get(key) == option.get(key), f"{key} of {name}"


def test_the_environment_fills_what_is_not_given(environment: pytest.MonkeyPatch) -> None:
    values = {
        "base_url": "http://nas.lan",
        "token": "tok",
        "auth_header": "X-Key",
        "auth_scheme": "",
        "validate_certs": "false",
        "timeout": "7.5",
        "retries": "2",
        "allow_http_hosts": "nas.lan,other.lan",
    }
    for name, value in values.items():
        environment.setenv(VARIABLES[name], value)
    made = connection(validated())
    assert (made.base_url, made.headers["X-Key"]) == ("http://nas.lan", "tok")
    assert (made.verify, made.timeout, made.retries) == (False, 7.5, 2)
    assert made.allow_http_hosts == ("nas.lan", "other.lan")
    assert connection(validated(token="mine")).token == "mine"


@pytest.mark.parametrize("name", ["include", "exclude"])
def test_patterns_in_one_text_are_refused(name: str) -> None:
    """Any other list of Ansible is split at commas; a name of a file may hold one."""
    said = rf"^{name} is 'a.log,data.db'.* a list: \['a.log', 'data.db'\], or \['a.log,data.db'\] if"
    with pytest.raises(Invalid, match=said):
        checked_arguments(SFTP_SYNC, {name: "a.log,data.db"})
    assert checked_arguments(SFTP_SYNC, {name: "*.log"}) == {name: ["*.log"]}
    assert checked_arguments(SFTP_SYNC, {name: ["a,b"]}) == {name: ["a,b"]}
    assert checked_arguments(BACKUP, {"services": "web,db"}) == {"services": ["web,db"]}


@pytest.mark.parametrize(
    ("resource", "arguments"),
    [(PROJECT, {"name": 1.1}), (BACKUP, {"services": ["a", 1.1], "name": "x"}), (BACKUP, {"service": 1.1})],
)
def test_a_number_with_a_fraction_is_no_name(resource: Any, arguments: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match=r"is 1\.1, a number, and YAML reads 1\.10 as 1\.1"):
        checked_arguments(resource, arguments)


WINDOWS = "awake holds a string; it must be a list of dictionaries with begins, ends, days"
SIZE = "dimensions holds a string; it must be a dictionary with cpu_cores, ram_gb, storage_gb"


@pytest.mark.parametrize(
    ("resource", "given", "said"),
    [
        (SERVICE, {"dimensions": ""}, SIZE),
        (SERVICE, {"dimensions": "large"}, SIZE),
        (SLEEP_PLAN, {"awake": ""}, WINDOWS),
        (SLEEP_PLAN, {"awake": ["08:00-20:00"]}, WINDOWS),
        (SLEEP_PLAN, {"awake": [{"begins": "08:00"}, "09:00"]}, WINDOWS),
    ],
)
def test_text_that_is_no_dictionary_is_told_with_its_option(
    resource: Resource, given: dict[str, Any], said: str
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        checked_arguments(resource, {"name": "x", **given})
    assert caught.value.message == said


@pytest.mark.parametrize("size", [{"ram_gb": 4}, '{"ram_gb": 4}', "ram_gb=4", None])
def test_a_dictionary_may_be_text(size: Any) -> None:
    given = {"name": "x", "base_url": "https://a.example.com", "token": "t", "dimensions": size}
    validator = ModuleArgumentSpecValidator(argument_spec(SERVICE), **SERVICE.rules)
    found = validator.validate(checked_arguments(SERVICE, given))
    assert found.error_messages == []
    read = found.validated_parameters["dimensions"]
    assert (read and read["ram_gb"]) == (size and 4)


# --- Paths on this machine ------------------------------------------------------------------------------

PATHS: list[tuple[Any, dict[str, Any]]] = [
    (SERVICE, {"secrets_dest": "{}"}),
    (SERVICE, {"token_file": "{}"}),
    (SERVICE, {"ca_path": "{}"}),
    (SFTP_PASSWORD, {"secrets_dest": "{}"}),
    (DATABASE_QUERY, {"csv_dest": "{}"}),
    (FILE, {"src": "{}"}),
    (APP_IMAGE, {"path": "{}"}),
    (SFTP_SYNC, {"src": "{}"}),
    (SFTP_SYNC, {"dest": "{}", "direction": "pull"}),
    (SFTP_SYNC, {"private_key_file": "{}"}),
    (SFTP_SYNC, {"known_hosts": "{}"}),
]


@pytest.mark.parametrize(("resource", "arguments"), PATHS)
@pytest.mark.parametrize("path", ["sec/\0x", "sec/a\nb"])
def test_a_path_with_a_control_character_is_refused(
    resource: Any, arguments: dict[str, Any], path: str
) -> None:
    given = {name: value.format(path) for name, value in arguments.items()}
    with pytest.raises(Invalid, match=r"a path with a control character; remove it"):
        checked_arguments(resource, given)


@pytest.mark.parametrize("resource", [SERVICE, SFTP_PASSWORD])
@pytest.mark.parametrize(("path", "what"), [("", "empty"), (" ", "blank")])
def test_a_place_for_secrets_that_holds_nothing_is_refused(resource: Any, path: str, what: str) -> None:
    with pytest.raises(Invalid, match=f"^secrets_dest is {what}; give it a value, or leave it out"):
        checked_arguments(resource, {"secrets_dest": path})
    assert checked_arguments(resource, {"secrets_dest": None}) == {"secrets_dest": None}
