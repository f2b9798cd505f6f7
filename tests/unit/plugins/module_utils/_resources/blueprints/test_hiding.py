# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What of a blueprint is never shown."""

from __future__ import annotations

from typing import Any

from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.document import Document
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.hiding import (
    hides_command,
    redacted_values_of,
    secret_values_of,
    with_hidden_environment,
)

DATA: dict[str, Any] = {
    "services": {"db": {"command": "run it", "variables": {"A": "four"}}},
    "applications": {
        "web": {"environment": {"B": "five"}, "secret_environment": {"C": "six", "D": "pre${Secret.Part}"}}
    },
    "ssh_keys": {"ops": "seven"},
}


def test_secrets_are_below_their_keys() -> None:
    found = list(secret_values_of(Document(DATA, "")))
    assert found == [{"A": "four"}, {"C": "six", "D": "pre${Secret.Part}"}, "Secret", ["seven"], []]


def test_of_an_encrypted_file_more_is_secret() -> None:
    found = list(secret_values_of(Document(DATA, "", encrypted=True)))
    assert "run it" in found
    assert {"B": "five"} in found


def test_decrypted_values_are_secret_and_those_without_such_a_key_redacted() -> None:
    paths = [("services", "db", "command"), ("applications", "web", "environment", "B")]
    document = Document(DATA, "", decrypted=[(paths[0], "run\nit"), (paths[1], "five")])
    assert ["run\nit", "five"] in list(secret_values_of(document))
    assert list(redacted_values_of(document)) == ["run\nit", "run", "it"]
    assert list(redacted_values_of(Document(DATA, ""))) == []
    assert list(redacted_values_of(Document(DATA, "", encrypted=True))) == ["run it", "run it"]


def test_decrypted_variables_become_secret_ones() -> None:
    values = {"environment": {"A": "x", "B": "y", "C": "z"}, "secret_environment": {"C": "w"}}
    document = Document({}, "shop.yml", decrypted=[((), "y"), ((), "z")])
    written = "applications", "web", "environment", "B"
    document.places[written] = (4, 7)
    found = with_hidden_environment(document, ("applications", "web"), values)
    # C is in both, which is wrong and has to be seen.
    assert found == {"environment": {"A": "x", "C": "z"}, "secret_environment": {"B": "y", "C": "w"}}
    assert document.where(("applications", "web", "secret_environment", "B")).startswith("shop.yml:4:7:")


def test_all_variables_of_an_encrypted_file_do() -> None:
    found = with_hidden_environment(Document({}, "", encrypted=True), (), {"environment": {"A": "x"}})
    assert found == {"environment": {}, "secret_environment": {"A": "x"}}


def test_an_encrypted_command_hides_that_of_the_platform() -> None:
    document = Document(DATA, "", decrypted=[(("services", "db", "command"), "run")])
    assert hides_command(document, "services", "db")
    assert not hides_command(document, "services", "web")
    assert hides_command(Document(DATA, "", encrypted=True), "services", "web")
    inherited = Document(DATA, "", decrypted=[(("defaults", "services", "command"), "run")])
    assert hides_command(inherited, "services", "web") and not hides_command(inherited, "applications", "web")
